// A slice of run-time length is walked in tiles that its own end masks; `s : e`, `s :+ n`, `s:` and `:` beside a span.
kernel fills(A: tensor<f16>[M, N], B: tensor<f32>[L], i: i32, j: i32, x: f32) {
  A[i : j, 0 :+ 8] *= x
  B[i :+ j] = x
  B[i:] = 0.0
  A[:, 2 :+ j] = 1.0
}
// ----
kernel fills(%A: tensor<f16>[M, N], %B: tensor<f32>[L]; %M: index, %N: index, %L: index; %i: i32, %j: i32, %x: f32)
  form "built"
{
  %i.1: index = cast(%i)
  %c: index = const() {value = 0}
  %first: index = binary(%i.1, %c) {kind = "max"}
  %j.1: index = cast(%j)
  %end: index = binary(%j.1, %M) {kind = "min"}
  %c0: index = const() {value = 0}
  %x.1: tile<f32>[256, 8] = splat(%x)
  %c256: index = const() {value = 256}
  for(%first, %end, %c256, []) body(%at: index) {
    %A.1: tile<f16>[256, 8] = load(%A, [%at, %c0], [%M, %N], [%end, %N]) {guards = ["both", "both"], why = ["", ""]}
    %A.2: tile<f32>[256, 8] = cast(%A.1)
    %mul: tile<f32>[256, 8] = binary(%A.2, %x.1) {kind = "mul"}
    %mul.1: tile<f16>[256, 8] = cast(%mul)
    store(%A, [%at, %c0], [%M, %N], %mul.1, [%end, %N]) {guards = ["both", "both"], why = ["", ""]}
    yield([])
  }
  %i.2: index = cast(%i)
  %c.1: index = const() {value = 0}
  %first.1: index = binary(%i.2, %c.1) {kind = "max"}
  %j.2: index = cast(%j)
  %c.2: index = const() {value = 0}
  %min: index = binary(%i.2, %c.2) {kind = "min"}
  %c.3: index = const() {value = 0}
  %max: index = binary(%j.2, %c.3) {kind = "max"}
  %add: index = binary(%max, %min) {kind = "add"}
  %sub: index = binary(%L, %first.1) {kind = "sub"}
  %min.1: index = binary(%add, %sub) {kind = "min"}
  %end.1: index = binary(%first.1, %min.1) {kind = "add"}
  %x.2: tile<f32>[1024] = splat(%x)
  %c1024: index = const() {value = 1024}
  for(%first.1, %end.1, %c1024, []) body(%at.1: index) {
    store(%B, [%at.1], [%L], %x.2, [%end.1]) {guards = ["both"], why = [""]}
    yield([])
  }
  %c.4: f32 = const() {value = 0.0}
  %i.3: index = cast(%i)
  %c.5: tile<f32>[1024] = splat(%c.4)
  %c1024.1: index = const() {value = 1024}
  for(%i.3, %L, %c1024.1, []) body(%at.2: index) {
    store(%B, [%at.2], [%L], %c.5, [%L]) {guards = ["hi"], why = [""]}
    yield([])
  }
  %c.6: f16 = const() {value = 1.0}
  %c0.1: index = const() {value = 0}
  %c2: index = const() {value = 2}
  %first.2: index = const() {value = 2}
  %j.3: index = cast(%j)
  %c.7: index = const() {value = 0}
  %sub.1: index = binary(%N, %first.2) {kind = "sub"}
  %min.2: index = binary(%j.3, %sub.1) {kind = "min"}
  %end.2: index = binary(%first.2, %min.2) {kind = "add"}
  %c.8: tile<f16>[8, 256] = splat(%c.6)
  %c8: index = const() {value = 8}
  for(%c0.1, %M, %c8, []) body(%at.3: index) {
    %c256.1: index = const() {value = 256}
    for(%first.2, %end.2, %c256.1, []) body(%at.4: index) {
      store(%A, [%at.3, %at.4], [%M, %N], %c.8, [%M, %end.2]) {guards = ["hi", "both"], why = ["", ""]}
      yield([])
    }
    yield([])
  }
}

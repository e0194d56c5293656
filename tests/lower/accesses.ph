// Guards start as "both" on every span of constant length; a point has none, and says why.
@aligned(N = 8)
kernel accesses(A: tensor<f32>[M, N], B: tensor<f32>[M, N], S: tensor<f32>[24], n: i32) {
  let i = ctx.block.y
  let row = A[i, 0 :+ 8]
  B[i, 8 :+ 8] = row
  B[0 :+ 4, 0 : 8] = A[M - 4 :+ 4, n :+ 8]
  S[:] = S[0 :+ 24]
  S[8:] = 0.0
  S[:4] += 1.0
  S[n] = A[i + 1, N - 1] * S[3]
}
// ----
kernel accesses(%A: tensor<f32>[M, N], %B: tensor<f32>[M, N], %S: tensor<f32>[24]; %M: index, %N: index; %n: i32)
  form "built"
  attributes {aligned = [aligned(dim = "N", divisor = 8)]}
{
  %c8: index = const() {value = 8}
  %rem: index = binary(%N, %c8) {kind = "rem"}
  %c: index = const() {value = 0}
  %eq: bool = compare(%rem, %c) {kind = "eq"}
  require(%eq) {text = "@aligned(N = 8): N must be a multiple of 8"}
  %i: index = program_id() {axis = 1}
  %c0: index = const() {value = 0}
  %row: tile<f32>[1, 8] = load(%A, [%i, %c0], [%M, %N]) {guards = ["", "both"], why = ["a point is the caller's duty", ""]}
  %c8.1: index = const() {value = 8}
  store(%B, [%i, %c8.1], [%M, %N], %row) {guards = ["", "both"], why = ["a point is the caller's duty", ""]}
  %c4: index = const() {value = 4}
  %sub: index = binary(%M, %c4) {kind = "sub"}
  %n.1: index = cast(%n)
  %A.1: tile<f32>[4, 8] = load(%A, [%sub, %n.1], [%M, %N]) {guards = ["both", "both"], why = ["", ""]}
  %c0.1: index = const() {value = 0}
  %c0.2: index = const() {value = 0}
  store(%B, [%c0.1, %c0.2], [%M, %N], %A.1) {guards = ["both", "both"], why = ["", ""]}
  %c0.3: index = const() {value = 0}
  %c24: index = const() {value = 24}
  %S.1: tile<f32>[24] = load(%S, [%c0.3], [%c24]) {guards = ["both"], why = [""]}
  %c0.4: index = const() {value = 0}
  %c24.1: index = const() {value = 24}
  store(%S, [%c0.4], [%c24.1], %S.1) {guards = ["both"], why = [""]}
  %c.1: f32 = const() {value = 0.0}
  %c.2: tile<f32>[16] = splat(%c.1)
  %c8.2: index = const() {value = 8}
  %c24.2: index = const() {value = 24}
  store(%S, [%c8.2], [%c24.2], %c.2) {guards = ["both"], why = [""]}
  %c0.5: index = const() {value = 0}
  %c24.3: index = const() {value = 24}
  %S.2: tile<f32>[4] = load(%S, [%c0.5], [%c24.3]) {guards = ["both"], why = [""]}
  %c.3: f32 = const() {value = 1.0}
  %c.4: tile<f32>[4] = splat(%c.3)
  %add: tile<f32>[4] = binary(%S.2, %c.4) {kind = "add"}
  %c0.6: index = const() {value = 0}
  %c24.4: index = const() {value = 24}
  store(%S, [%c0.6], [%c24.4], %add) {guards = ["both"], why = [""]}
  %c1: index = const() {value = 1}
  %add.1: index = binary(%i, %c1) {kind = "add"}
  %c1.1: index = const() {value = 1}
  %sub.1: index = binary(%N, %c1.1) {kind = "sub"}
  %A.2: f32 = load_point(%A, [%add.1, %sub.1], [%M, %N])
  %c3: index = const() {value = 3}
  %c24.5: index = const() {value = 24}
  %S.3: f32 = load_point(%S, [%c3], [%c24.5])
  %mul: f32 = binary(%A.2, %S.3) {kind = "mul"}
  %n.2: index = cast(%n)
  %c24.6: index = const() {value = 24}
  store_point(%S, [%n.2], [%c24.6], %mul)
}

// The remaining expressions.
kernel elementwise(X: tensor<f32>[8, 16], R: tensor<f32>[8, 1], B: tensor<bool>[8, 16], s: f32, n: i32) {
  let x = X[:, :]
  let r = R[:, :]
  let y = where(iota(1) < n && B[:, :], max(x, r), exp(-x) / s)
  X[:, :] = fma(y, y, x)
  let k = i32(round(y)) << 3
  X[:, :] = f32(k % 7)
}
// ----
kernel elementwise(%X: tensor<f32>[8, 16], %R: tensor<f32>[8, 1], %B: tensor<bool>[8, 16]; ; %s: f32, %n: i32)
  form "built"
{
  %c0: index = const() {value = 0}
  %c0.1: index = const() {value = 0}
  %c8: index = const() {value = 8}
  %c16: index = const() {value = 16}
  %x: tile<f32>[8, 16] = load(%X, [%c0, %c0.1], [%c8, %c16]) {guards = ["both", "both"], why = ["", ""]}
  %c0.2: index = const() {value = 0}
  %c0.3: index = const() {value = 0}
  %c8.1: index = const() {value = 8}
  %c1: index = const() {value = 1}
  %r: tile<f32>[8, 1] = load(%R, [%c0.2, %c0.3], [%c8.1, %c1]) {guards = ["both", "both"], why = ["", ""]}
  %iota: tile<i32>[8, 16] = iota() {axis = 1}
  %n.1: tile<i32>[8, 16] = splat(%n)
  %lt: tile<bool>[8, 16] = compare(%iota, %n.1) {kind = "lt"}
  %c0.4: index = const() {value = 0}
  %c0.5: index = const() {value = 0}
  %c8.2: index = const() {value = 8}
  %c16.1: index = const() {value = 16}
  %B.1: tile<bool>[8, 16] = load(%B, [%c0.4, %c0.5], [%c8.2, %c16.1]) {guards = ["both", "both"], why = ["", ""]}
  %and: tile<bool>[8, 16] = binary(%lt, %B.1) {kind = "and"}
  %r.1: tile<f32>[8, 16] = broadcast(%r)
  %max: tile<f32>[8, 16] = binary(%x, %r.1) {kind = "max"}
  %neg: tile<f32>[8, 16] = unary(%x) {kind = "neg"}
  %exp: tile<f32>[8, 16] = unary(%neg) {kind = "exp"}
  %s.1: tile<f32>[8, 16] = splat(%s)
  %div: tile<f32>[8, 16] = binary(%exp, %s.1) {kind = "div"}
  %y: tile<f32>[8, 16] = select(%and, %max, %div)
  %fma: tile<f32>[8, 16] = fma(%y, %y, %x)
  %c0.6: index = const() {value = 0}
  %c0.7: index = const() {value = 0}
  %c8.3: index = const() {value = 8}
  %c16.2: index = const() {value = 16}
  store(%X, [%c0.6, %c0.7], [%c8.3, %c16.2], %fma) {guards = ["both", "both"], why = ["", ""]}
  %round: tile<f32>[8, 16] = unary(%y) {kind = "round"}
  %round.1: tile<i32>[8, 16] = cast(%round)
  %c3: i32 = const() {value = 3}
  %c3.1: tile<i32>[8, 16] = splat(%c3)
  %k: tile<i32>[8, 16] = binary(%round.1, %c3.1) {kind = "shl"}
  %c7: i32 = const() {value = 7}
  %c7.1: tile<i32>[8, 16] = splat(%c7)
  %rem: tile<i32>[8, 16] = binary(%k, %c7.1) {kind = "rem"}
  %rem.1: tile<f32>[8, 16] = cast(%rem)
  %c0.8: index = const() {value = 0}
  %c0.9: index = const() {value = 0}
  %c8.4: index = const() {value = 8}
  %c16.3: index = const() {value = 16}
  store(%X, [%c0.8, %c0.9], [%c8.4, %c16.3], %rem.1) {guards = ["both", "both"], why = ["", ""]}
}

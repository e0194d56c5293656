// Which products become fma, and on which side; each store shows one rule of lower_expr.
kernel fuse(X: tensor<f32>[16], Y: tensor<f32>[16], I: tensor<i32>[16], H: tensor<f16>[16], s: f32) {
  let x = X[0 :+ 16]
  let y = Y[0 :+ 16]
  X[0 :+ 16] = x * y + s
  X[0 :+ 16] = s + x * y
  X[0 :+ 16] = x * y - s
  X[0 :+ 16] = s - x * y
  X[0 :+ 16] = x * x + y * y
  X[0 :+ 16] = x * y + x * x + y
  var z = x
  z += x * y
  z -= x * y
  X[0 :+ 16] = z
  let h = H[0 :+ 16]
  H[0 :+ 16] = h * h + h
  Y[0] = s * s + 1.0
}
// ----
kernel fuse(%X: tensor<f32>[16], %Y: tensor<f32>[16], %I: tensor<i32>[16], %H: tensor<f16>[16]; ; %s: f32)
  form "built"
{
  %c0: index = const() {value = 0}
  %c16: index = const() {value = 16}
  %x: tile<f32>[16] = load(%X, [%c0], [%c16]) {guards = ["both"], why = [""]}
  %c0.1: index = const() {value = 0}
  %c16.1: index = const() {value = 16}
  %y: tile<f32>[16] = load(%Y, [%c0.1], [%c16.1]) {guards = ["both"], why = [""]}
  %s.1: tile<f32>[16] = splat(%s)
  %fma: tile<f32>[16] = fma(%x, %y, %s.1)
  %c0.2: index = const() {value = 0}
  %c16.2: index = const() {value = 16}
  store(%X, [%c0.2], [%c16.2], %fma) {guards = ["both"], why = [""]}
  %s.2: tile<f32>[16] = splat(%s)
  %fma.1: tile<f32>[16] = fma(%x, %y, %s.2)
  %c0.3: index = const() {value = 0}
  %c16.3: index = const() {value = 16}
  store(%X, [%c0.3], [%c16.3], %fma.1) {guards = ["both"], why = [""]}
  %s.3: tile<f32>[16] = splat(%s)
  %neg: tile<f32>[16] = unary(%s.3) {kind = "neg"}
  %fma.2: tile<f32>[16] = fma(%x, %y, %neg)
  %c0.4: index = const() {value = 0}
  %c16.4: index = const() {value = 16}
  store(%X, [%c0.4], [%c16.4], %fma.2) {guards = ["both"], why = [""]}
  %s.4: tile<f32>[16] = splat(%s)
  %neg.1: tile<f32>[16] = unary(%x) {kind = "neg"}
  %fma.3: tile<f32>[16] = fma(%neg.1, %y, %s.4)
  %c0.5: index = const() {value = 0}
  %c16.5: index = const() {value = 16}
  store(%X, [%c0.5], [%c16.5], %fma.3) {guards = ["both"], why = [""]}
  %mul: tile<f32>[16] = binary(%y, %y) {kind = "mul"}
  %fma.4: tile<f32>[16] = fma(%x, %x, %mul)
  %c0.6: index = const() {value = 0}
  %c16.6: index = const() {value = 16}
  store(%X, [%c0.6], [%c16.6], %fma.4) {guards = ["both"], why = [""]}
  %mul.1: tile<f32>[16] = binary(%x, %x) {kind = "mul"}
  %fma.5: tile<f32>[16] = fma(%x, %y, %mul.1)
  %add: tile<f32>[16] = binary(%fma.5, %y) {kind = "add"}
  %c0.7: index = const() {value = 0}
  %c16.7: index = const() {value = 16}
  store(%X, [%c0.7], [%c16.7], %add) {guards = ["both"], why = [""]}
  %z: tile<f32>[16] = fma(%x, %y, %x)
  %neg.2: tile<f32>[16] = unary(%x) {kind = "neg"}
  %z.1: tile<f32>[16] = fma(%neg.2, %y, %z)
  %c0.8: index = const() {value = 0}
  %c16.8: index = const() {value = 16}
  store(%X, [%c0.8], [%c16.8], %z.1) {guards = ["both"], why = [""]}
  %c0.9: index = const() {value = 0}
  %c16.9: index = const() {value = 16}
  %h: tile<f16>[16] = load(%H, [%c0.9], [%c16.9]) {guards = ["both"], why = [""]}
  %fma.6: tile<f16>[16] = fma(%h, %h, %h)
  %c0.10: index = const() {value = 0}
  %c16.10: index = const() {value = 16}
  store(%H, [%c0.10], [%c16.10], %fma.6) {guards = ["both"], why = [""]}
  %c: f32 = const() {value = 1.0}
  %fma.7: f32 = fma(%s, %s, %c)
  %c0.11: index = const() {value = 0}
  %c16.11: index = const() {value = 16}
  store_point(%Y, [%c0.11], [%c16.11], %fma.7)
}

// Products that a name, a negation, a conversion or a splat keeps apart, and integers.
kernel not_fused(X: tensor<f32>[16], I: tensor<i32>[16], H: tensor<f16>[16], s: f32) {
  let x = X[0 :+ 16]
  let p = x * x
  X[0 :+ 16] = p + x
  X[0 :+ 16] = -(x * x) + x
  let h = H[0 :+ 16]
  X[0 :+ 16] = h * h + x
  X[0 :+ 16] = s * s + x
  let i = I[0 :+ 16]
  I[0 :+ 16] = i * i + i
  X[0 :+ 16] = x * x * x
  X[0 :+ 16] = x * x / x
}
// ----
kernel not_fused(%X: tensor<f32>[16], %I: tensor<i32>[16], %H: tensor<f16>[16]; ; %s: f32)
  form "built"
{
  %c0: index = const() {value = 0}
  %c16: index = const() {value = 16}
  %x: tile<f32>[16] = load(%X, [%c0], [%c16]) {guards = ["both"], why = [""]}
  %p: tile<f32>[16] = binary(%x, %x) {kind = "mul"}
  %add: tile<f32>[16] = binary(%p, %x) {kind = "add"}
  %c0.1: index = const() {value = 0}
  %c16.1: index = const() {value = 16}
  store(%X, [%c0.1], [%c16.1], %add) {guards = ["both"], why = [""]}
  %mul: tile<f32>[16] = binary(%x, %x) {kind = "mul"}
  %neg: tile<f32>[16] = unary(%mul) {kind = "neg"}
  %add.1: tile<f32>[16] = binary(%neg, %x) {kind = "add"}
  %c0.2: index = const() {value = 0}
  %c16.2: index = const() {value = 16}
  store(%X, [%c0.2], [%c16.2], %add.1) {guards = ["both"], why = [""]}
  %c0.3: index = const() {value = 0}
  %c16.3: index = const() {value = 16}
  %h: tile<f16>[16] = load(%H, [%c0.3], [%c16.3]) {guards = ["both"], why = [""]}
  %mul.1: tile<f16>[16] = binary(%h, %h) {kind = "mul"}
  %mul.2: tile<f32>[16] = cast(%mul.1)
  %add.2: tile<f32>[16] = binary(%mul.2, %x) {kind = "add"}
  %c0.4: index = const() {value = 0}
  %c16.4: index = const() {value = 16}
  store(%X, [%c0.4], [%c16.4], %add.2) {guards = ["both"], why = [""]}
  %mul.3: f32 = binary(%s, %s) {kind = "mul"}
  %mul.4: tile<f32>[16] = splat(%mul.3)
  %add.3: tile<f32>[16] = binary(%mul.4, %x) {kind = "add"}
  %c0.5: index = const() {value = 0}
  %c16.5: index = const() {value = 16}
  store(%X, [%c0.5], [%c16.5], %add.3) {guards = ["both"], why = [""]}
  %c0.6: index = const() {value = 0}
  %c16.6: index = const() {value = 16}
  %i: tile<i32>[16] = load(%I, [%c0.6], [%c16.6]) {guards = ["both"], why = [""]}
  %mul.5: tile<i32>[16] = binary(%i, %i) {kind = "mul"}
  %add.4: tile<i32>[16] = binary(%mul.5, %i) {kind = "add"}
  %c0.7: index = const() {value = 0}
  %c16.7: index = const() {value = 16}
  store(%I, [%c0.7], [%c16.7], %add.4) {guards = ["both"], why = [""]}
  %mul.6: tile<f32>[16] = binary(%x, %x) {kind = "mul"}
  %mul.7: tile<f32>[16] = binary(%mul.6, %x) {kind = "mul"}
  %c0.8: index = const() {value = 0}
  %c16.8: index = const() {value = 16}
  store(%X, [%c0.8], [%c16.8], %mul.7) {guards = ["both"], why = [""]}
  %mul.8: tile<f32>[16] = binary(%x, %x) {kind = "mul"}
  %div: tile<f32>[16] = binary(%mul.8, %x) {kind = "div"}
  %c0.9: index = const() {value = 0}
  %c16.9: index = const() {value = 16}
  store(%X, [%c0.9], [%c16.9], %div) {guards = ["both"], why = [""]}
}

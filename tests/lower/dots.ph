// A dot accumulates on what it is added to, when the types agree.
kernel dots(A: tensor<f16>[16, 16], B: tensor<f16>[16, 16], C: tensor<f32>[16, 16], H: tensor<f16>[16, 16]) {
  let a = A[:, :]
  let b = B[:, :]
  var acc: tile<f32>[16, 16] = 0.0
  acc += dot(a, b)
  acc = dot_t(a, b) + acc
  acc = dot(a, b) + dot(b, a)
  acc -= dot(a, b)
  acc = dot(a, b) * 2.0 + acc
  C[:, :] = acc
  var half: tile<f16>[16, 16] = 0.0
  half += dot(a, b)
  H[:, :] = half
}
// ----
kernel dots(%A: tensor<f16>[16, 16], %B: tensor<f16>[16, 16], %C: tensor<f32>[16, 16], %H: tensor<f16>[16, 16]; ; )
  form "built"
{
  %c0: index = const() {value = 0}
  %c0.1: index = const() {value = 0}
  %c16: index = const() {value = 16}
  %c16.1: index = const() {value = 16}
  %a: tile<f16>[16, 16] = load(%A, [%c0, %c0.1], [%c16, %c16.1]) {guards = ["both", "both"], why = ["", ""]}
  %c0.2: index = const() {value = 0}
  %c0.3: index = const() {value = 0}
  %c16.2: index = const() {value = 16}
  %c16.3: index = const() {value = 16}
  %b: tile<f16>[16, 16] = load(%B, [%c0.2, %c0.3], [%c16.2, %c16.3]) {guards = ["both", "both"], why = ["", ""]}
  %c: f32 = const() {value = 0.0}
  %acc: tile<f32>[16, 16] = splat(%c)
  %acc.1: tile<f32>[16, 16] = dot(%a, %b, %acc)
  %acc.2: tile<f32>[16, 16] = dot(%a, %b, %acc.1) {trans_b = true}
  %zero: f32 = const() {value = 0.0}
  %zero.1: tile<f32>[16, 16] = splat(%zero)
  %dot: tile<f32>[16, 16] = dot(%a, %b, %zero.1)
  %acc.3: tile<f32>[16, 16] = dot(%b, %a, %dot)
  %zero.2: f32 = const() {value = 0.0}
  %zero.3: tile<f32>[16, 16] = splat(%zero.2)
  %dot.1: tile<f32>[16, 16] = dot(%a, %b, %zero.3)
  %acc.4: tile<f32>[16, 16] = binary(%acc.3, %dot.1) {kind = "sub"}
  %zero.4: f32 = const() {value = 0.0}
  %zero.5: tile<f32>[16, 16] = splat(%zero.4)
  %dot.2: tile<f32>[16, 16] = dot(%a, %b, %zero.5)
  %c.1: f32 = const() {value = 2.0}
  %c.2: tile<f32>[16, 16] = splat(%c.1)
  %acc.5: tile<f32>[16, 16] = fma(%dot.2, %c.2, %acc.4)
  %c0.4: index = const() {value = 0}
  %c0.5: index = const() {value = 0}
  %c16.4: index = const() {value = 16}
  %c16.5: index = const() {value = 16}
  store(%C, [%c0.4, %c0.5], [%c16.4, %c16.5], %acc.5) {guards = ["both", "both"], why = ["", ""]}
  %c.3: f16 = const() {value = 0.0}
  %half: tile<f16>[16, 16] = splat(%c.3)
  %half.1: tile<f32>[16, 16] = cast(%half)
  %dot.3: tile<f32>[16, 16] = dot(%a, %b, %half.1)
  %half.2: tile<f16>[16, 16] = cast(%dot.3)
  %c0.6: index = const() {value = 0}
  %c0.7: index = const() {value = 0}
  %c16.6: index = const() {value = 16}
  %c16.7: index = const() {value = 16}
  store(%H, [%c0.6, %c0.7], [%c16.6, %c16.7], %half.2) {guards = ["both", "both"], why = ["", ""]}
}

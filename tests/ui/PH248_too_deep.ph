fn a0(y) { return a1(y) + a1(y) }
fn a1(y) { return a2(y) + a2(y) }
fn a2(y) { return a3(y) + a3(y) }
fn a3(y) { return a4(y) + a4(y) }
fn a4(y) { return a5(y) + a5(y) }
fn a5(y) { return a6(y) + a6(y) }
fn a6(y) { return a7(y) + a7(y) }
fn a7(y) { return a8(y) + a8(y) }
fn a8(y) { return a9(y) + a9(y) }
fn a9(y) { return a10(y) + a10(y) }
fn a10(y) { return a11(y) + a11(y) } //~ PH248
fn a11(y) { return a12(y) + a12(y) }
fn a12(y) { return y }
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = a0(x)
}

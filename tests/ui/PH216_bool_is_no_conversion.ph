kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  if bool(n) { V[0] = x } //~ PH216
}

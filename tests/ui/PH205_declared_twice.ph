kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let y = 1.0
  let y = 2.0 //~ PH205
  V[0] = y
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = barrier() //~ PH231
  let y = barrier() //~ PH231
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = V + 1.0 //~ PH203
  let y = A //~ PH203
}

fn noted(i, j, W) -> f32 {
  W[i] = 1.0
  return 0.0
}
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  A[0 :+ 4, 0 :+ 4] = generate(noted, 4, 4, V) //~ PH250
}

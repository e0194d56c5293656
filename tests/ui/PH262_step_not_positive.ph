kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  for i in range(10, 0, -1) { //~ PH262
    V[i] = 0.0
  }
  for i in range(0, n, 0) { } //~ PH262
}

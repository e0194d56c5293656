kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  for<unroll 0> i in range(0, n) { //~ PH263
    V[i] = 0.0
  }
}

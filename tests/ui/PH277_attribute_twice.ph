@launch(128)
@launch(256) //~ PH277
kernel k(A: tensor<f32>[M, N]) {
  A[0, 0] = 0.0
}

@pipelin(2) //~ PR201
kernel k(A: tensor<f32>[M, N]) {
  A[0, 0] = 0.0
}

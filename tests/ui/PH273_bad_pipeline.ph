@pipeline(0) //~ PH273
kernel k(A: tensor<f32>[M, N]) {
  A[0, 0] = 0.0
}

@pipeline(2, 3) //~ PH273
kernel q(A: tensor<f32>[M]) {
}

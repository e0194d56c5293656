@autotune(TILE in [32])
@aligned(K = TILE) //~ PH272
kernel k(A: tensor<f32>[M, N]) {
  A[0, 0] = 0.0
}

@aligned(M = 0) //~ PH272
@aligned(32) //~ PH272
@aligned(M = 1.5) //~ PH272
kernel q(A: tensor<f32>[M]) {
}

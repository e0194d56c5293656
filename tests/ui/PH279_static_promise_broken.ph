@autotune(COLS in [100], TILE in [32])
@aligned(COLS = TILE) //~ PH279
kernel k(A: tensor<f32>[M, COLS]) {
  A[0, 0] = 0.0
}

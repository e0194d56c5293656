@autotune(TILE = 32) //~ PH270
kernel k(A: tensor<f32>[M, N]) {
  A[0, 0] = 0.0
}

@autotune //~ PH270
@autotune(BIG in [3000000000]) //~ PH270
kernel q(A: tensor<f32>[M, N]) {
}

kernel f(A: tensor<f32>[N]) {
  A[0] = 1.0f //~ PH105
  A[1] = .5 //~ PH105
  A[2] = 1__000 //~ PH105
  A[3] = 0b101 //~ PH105
  A[4] = 0xfg //~ PH105
  A[5] = 1.5e //~ PH105
  A[6] = 1.2.3 //~ PH105
  A[7] = 12abc //~ PH105
  for i in range(0..4) { } //~ PH105
  A[8] = 1_000.5e-3
}

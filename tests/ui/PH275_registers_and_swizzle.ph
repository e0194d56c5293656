@registers(8) //~ PH275
kernel k(A: tensor<f32>[M, N]) {
  A[0, 0] = 0.0
}

@swizzle //~ PH275
@registers(n = 4) //~ PH275
kernel q(A: tensor<f32>[M]) {
}

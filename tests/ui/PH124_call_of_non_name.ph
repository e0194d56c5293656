kernel f(A: tensor<f32>[N]) {
  A[0] = 1(2) //~ PH124
  A[0] = A[1](2.0) //~ PH124
  A[0] = (exp)(2.0) //~ PH124
  A[0] = exp(2.0)(3.0) //~ PH124
}

kernel f(A: tensor<f32>[N])
{ //~ PH112
  if A[0] < 0.0
  { //~ PH112
    A[0] = 0.0
  }
  for i in range(0, 4)

  { //~ PH112
  }
}

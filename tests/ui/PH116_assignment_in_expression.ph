kernel f(A: tensor<f32>[N]) {
  if A[0] = 0.0 { //~ PH116
    let x = 1 = 2 //~ PH116
  }
  A[0] = A[1] = 1.0 //~ PH116
  A[0] = A[1] += 1.0 //~ PH116
  A[0] = exp(A[1] = 1.0) //~ PH116
}

kernel f(A: tensor<f32>[N]) {
  if A[0] < 0.0 {
    A[0] = 0.0
  }
  else { //~ PH111
    A[0] = 1.0
  }
  if A[0] < 0.0 {
  } // a comment does not change it
  else if A[1] < 0.0 { //~ PH111
  } else {
  }
}

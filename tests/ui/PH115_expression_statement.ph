kernel f(A: tensor<f32>[N]) {
  A[0] + 1.0 //~ PH115
  A[0] == 1.0 //~ PH115
  A //~ PH115
  (barrier()) //~ PH115
  barrier()
}

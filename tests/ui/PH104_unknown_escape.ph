kernel f(A: tensor<f32>[N]) {
  print("100\% of", A[0]) //~ PH104
  print("line\n\ttab \"quoted\" \\", A[0])
}

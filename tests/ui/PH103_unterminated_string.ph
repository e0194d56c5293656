kernel f(A: tensor<f32>[N]) {
  print("start, A[0])
  //~^ PH103
  print("a backslash at the end \
  //~^ PH103
  print("whole", A[0])
}

kernel f(A: tensor<f32>[N]) {
  let s = "text" //~ PH113
  A[0] = exp("x") //~ PH113
  print("text", A[0])
  assert(N > 0, "no elements")
  print("a", "b" + 1) //~ PH102
}

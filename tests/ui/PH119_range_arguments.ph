kernel f(A: tensor<f32>[N]) {
  for i in range(N) { //~ PH119
  }
  for i in range() { //~ PH119
  }
  for i in range(0, N, 1, 2) { //~ PH119
  }
}

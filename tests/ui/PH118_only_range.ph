kernel f(A: tensor<f32>[N]) {
  for i in foo(0, 4) { //~ PH118
    1 = 2 //~ PH114
  }
  for i in A { //~ PH118
  }
  for i in range { //~ PH118
  }
}

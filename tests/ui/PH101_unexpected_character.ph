kernel f(A: tensor<f32>[N]) {
  A[0] = 1.0 $ 2.0 //~ PH101
  A[1] = 3.0 − 1.0 //~ PH101
  let été = 1.0 //~ PH101
  A[2] = 1.0 ## not a comment
  //~^ PH101
  A[3] = 'a' //~ PH101 PH101
}

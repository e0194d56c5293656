kernel f(A: tensor<f32>[N]) {
  let n = A.shape //~ PH122
  let x = A[0].exp() //~ PH122
  let t = ctz.thread //~ PH122
}

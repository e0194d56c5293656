kernel f(A: tensor<f32>[N]) {
  A[0] = exp(A[0] //~ PH108
  let x = 1.0
  A[1 = 2.0 //~ PH116
  let y = A[(0 //~ PH108
  if exp(x { //~ PH108
    A[0] = x
  }
}

kernel g(A: tensor<f32>[N]) { //~ PH108
  let x = 1.0

kernel h(A: tensor<f32>[N]) {
  if true { //~ PH108
    let y = 2.0

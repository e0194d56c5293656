kernel f(A: tensor<f32>[N]) {
  A[0] = 1.0 A[1] = 2.0 //~ PH129
  if A[0] < 1.0 { } A[0] = 1.0 //~ PH129
  let x = 1 let y = 2 //~ PH129
  let z = A[0] < 1.0 and A[1] < 1.0 //~ PH129
  barrier() barrier() //~ PH129
  A[0] = 1.0; A[1] = 2.0;
}

kernel f A: tensor<f32>[N]) { //~ PH102
  let x =
} //~ PH102

kernel g(A: tensor<f32>) { //~ PH102
  let x = A[] //~ PH102
  let y = A[0 : 4 : 2] //~ PH102
  let z = A[:+ 4] //~ PH102
  let = 3 //~ PH102
  x: f32 = 1.0 //~ PH102
  if x { } 5 //~ PH102
  else { } //~ PH102
  for x range(0, 4) { } //~ PH102
  let w: f32[4] = 0.0 //~ PH102
  A[0] = f(1,) //~ PH102
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  if !n { V[0] = 0.0 } //~ PH211
  let a = x % 2.0 //~ PH211
  let b = x & 1.0 //~ PH211
  let c = (x > 0.0) < (x > 1.0) //~ PH211
  let d = n && true //~ PH211
  let e = !A[0 :+ 4, 0 :+ 4] //~ PH211
  let f = -true //~ PH211
}

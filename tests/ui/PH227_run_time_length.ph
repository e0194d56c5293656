kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let t = V[n:] //~ PH227
  let u = V[0 : n] //~ PH227
  let w = A[0, :] //~ PH227
  V[n:] = V[0 :+ 4] //~ PH227
}

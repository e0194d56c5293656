kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  var t: tile<f32>[16, 16] = 0.0
  t = A[0 :+ 16, 0 :+ 32] //~ PH218
  A[0 :+ 4, 0 :+ 8] = A[0 :+ 8, 0 :+ 4] //~ PH218
  V[0] = V[0 :+ 4] //~ PH218
  let u: f32 = t //~ PH218
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  var t: tile<f32>[16, 16]
  A[0 :+ 16, 0 :+ 16] = t + 1.0 //~ PR203
}

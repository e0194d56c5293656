kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let index = iota(0) //~ PH230
  let s = rowsum(iota(1) * 2) //~ PH230
  let t = iota(2) + A[0 :+ 4, 0 :+ 4] //~ PH230
  let u = iota(7) + A[0 :+ 4, 0 :+ 4] //~ PH230
}

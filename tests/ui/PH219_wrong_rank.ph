kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  var t: tile<f32>[2, 4, 8] = 0.0
  let s = rowsum(t) //~ PH219
  let g = gather(A, i32(V[0 :+ 4])) //~ PH219
}

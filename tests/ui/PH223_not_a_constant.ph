kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  var acc: tile<f32>[n, 16] = 0.0 //~ PH223
  let e = extent(A, n) //~ PH223
  let r = elem(V[0 :+ 4])[n] //~ PH223
  var m = 4
  var t: tile<f32>[m, 4] = 0.0 //~ PH223
}

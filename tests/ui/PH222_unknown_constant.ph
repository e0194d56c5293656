kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  var acc: tile<f32>[TILE, 16] = 0.0 //~ PH222
  var t: tile<f32>[M, 16] = 0.0 //~ PH222
}

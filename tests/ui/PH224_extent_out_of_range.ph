@autotune(TILE in [32, 64])
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  var t: tile<f32>[TILE - 64, 16] = 0.0 //~ PH224
}

kernel q(V: tensor<f32>[1, 1, 1, 1, 1, N], W: tensor<f32>[0]) { //~ PH224 PH224
}

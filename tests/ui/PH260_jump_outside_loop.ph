kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  if n > 4 { break } //~ PH260
  continue //~ PH260
}

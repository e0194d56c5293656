kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  if n { V[0] = x } //~ PH212
  while x { V[0] = x } //~ PH212
  if A[0 :+ 4, 0] > 0.0 { } //~ PH212
}

fn sign(y: f32) -> f32 { //~ PH245
  if y > 0.0 { return 1.0 }
}
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = sign(x)
}

fn clip(y) {
  if y > 1.0 { return 1 }
  return y //~ PH246
}
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = clip(x)
}

fn none(y: f32) -> f32 {
  if y > 1.0 { return } //~ PH246
  return y
}
kernel q(V: tensor<f32>[N]) {
  V[0] = none(V[1])
}

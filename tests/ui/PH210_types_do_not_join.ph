kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = x * n //~ PH210
  V[1] = 1.0 + n //~ PH210
  let b = (x > 0.0) == 1 //~ PH210
}

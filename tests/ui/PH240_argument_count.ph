kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = exp(x, 2.0) //~ PH240
  V[1] = fma(x, x) + f32() //~ PH240 PH240
}

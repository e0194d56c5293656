kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = expp(x) //~ PH202
  V[1] = softplus(x) + qq(1) //~ PH202 PH202
}

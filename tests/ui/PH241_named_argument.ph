kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = exp(value = x) //~ PH241
  let v = elem(V[0 :+ 4], width = 4) //~ PH241
}

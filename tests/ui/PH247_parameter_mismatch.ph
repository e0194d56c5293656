fn first(B: tensor<f32>[K]) -> f32 {
  return B[0]
}
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = first(A) //~ PH247
}

fn both(a: tile<f32>[R], b: tile<f32>[R]) -> f32 {
  return a[0] + b[0]
}
kernel q(V: tensor<f32>[N]) {
  V[0] = both(V[0 :+ 4], V[0 :+ 8]) //~ PH247
  V[1] = both(V[0], V[1]) //~ PH247 PH247
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  A[0] = x //~ PH226
  let y = V[0, 0] //~ PH226
  let v = elem(V[0 :+ 4])
  V[0] = v[4] //~ PH226
  V[1] = v[0 :+ 2] //~ PH226
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let y = 1.0
  y = 2.0 //~ PH206
  n = 2 //~ PH206
  M = 3 //~ PH206
  for i in range(0, 4) { i = 2 } //~ PH206
  V = 0.0 //~ PH206
  let t = A[0 :+ 4, 0 :+ 4]
  t[0, 0] = 1.0 //~ PH206
}

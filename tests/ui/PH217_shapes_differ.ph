kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let a = A[0 :+ 4, 0 :+ 8]
  let b = A[0 :+ 8, 0 :+ 4]
  A[0 :+ 4, 0 :+ 8] = a + b //~ PH217
  let c = V[0 :+ 4] * a //~ PH217
  let r = elem(V[0 :+ 4]) + elem(V[0 :+ 8]) //~ PH217
  let q = elem(V[0 :+ 4]) * a //~ PH217
}

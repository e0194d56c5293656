kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = rowsum(x) //~ PH220
  let d = dot(x, A[0 :+ 4, 0 :+ 4]) //~ PH220
  let g = gather(V, n) //~ PH220
  let f = flat(elem(V[0 :+ 4])) //~ PH220
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = exp(n) //~ PH243
  let a = where(n, 1, 2) //~ PH243
  let b = sum(x) //~ PH243
  let c = elem(A[0 :+ 4, 0 :+ 4]) //~ PH243
  let d = flat(A[0 :+ 4, 0 :+ 4]) //~ PH243
  let e = elem(V[0 :+ 4], align = 3) //~ PH243
  let f = extent(A, 2) //~ PH243
  let g = gather(V, V[0 :+ 4]) //~ PH243
  let h = word(elem(V[0 :+ 4])) //~ PH243
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[x] = 0.0 //~ PH213
  for i in range(0, x) { } //~ PH213
  let t = V[0 :+ 4.0] //~ PH213
  let s = V[1.5 :+ 4] //~ PH213
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let t = V[4 : 4] //~ PH228
  let u = V[n : n - 4] //~ PH228
  let w = V[0 :+ 0] //~ PH228
}

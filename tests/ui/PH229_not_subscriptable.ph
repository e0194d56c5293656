kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = x[0] //~ PH229
  let y = M[0] + n[1] //~ PH229 PH229
  let z = (x + 1.0)[0] //~ PH229
}

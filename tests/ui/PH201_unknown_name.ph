kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let scale = 2.0
  V[0] = scales * x //~ PH201
  if n > 0 { let y = 1.0 }
  V[1] = y //~ PH201
  V[zz] = yy + exp //~ PH201 PH201 PH208
}

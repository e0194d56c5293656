fn fact(i: i32) -> i32 {
  if i < 2 { return 1 }
  return i * fact(i - 1) //~ PH244
}
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  V[0] = f32(fact(n))
}

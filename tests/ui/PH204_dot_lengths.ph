kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let a = A[0 :+ 16, 0 :+ 32]
  let b = A[0 :+ 64, 0 :+ 16]
  A[0 :+ 16, 0 :+ 16] = dot(a, b) //~ PH204
}

kernel f(A: tensor<f32>[M, N]) {
  1 = 2 //~ PH114
  A[0][1] = 3.0 //~ PH114
  exp(1.0) = 2.0 //~ PH114
  (A) = 2.0 //~ PH114
  A[0, 0] + 1.0 += 2.0 //~ PH114
  ctx.thread = 3 //~ PH114
  A[0, 1] = 1.0
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  A[ctx.thread :+ 16, 0 :+ 16] = 0.0 //~ PH302
  let t = A[0 :+ 4, 0 :+ 4] * V[ctx.lane] //~ PH302
  var s = 0.0
  for j in range(ctx.lane, n, 32) { s += V[j] }
  A[0 :+ 4, 0 :+ 4] = s //~ PH302
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let i = ctx.block.x * ctx.threads + ctx.thread
  if i < n {
    A[0 :+ 16, 0 :+ 16] = 0.0 //~ PH301
  }
  if ctx.warp == 0 { barrier() } //~ PH301
  for j in range(0, ctx.lane) { let s = cta_sum(x) } //~ PH301
  if V[i] > 0.0 { return }
  let t = A[0 :+ 4, 0 :+ 4] //~ PH301
}

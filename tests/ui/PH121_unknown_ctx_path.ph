kernel f(A: tensor<f32>[N]) {
  A[ctx.thread.x] = 0.0 //~ PH121
  A[ctx.block] = 0.0 //~ PH121
  A[ctx.blok.x] = 0.0 //~ PH121
  A[ctx.block.w] = 0.0 //~ PH121
  A[0] = ctx //~ PH121
  A[ctx.block.x * ctx.threads + ctx.thread] = 0.0
}

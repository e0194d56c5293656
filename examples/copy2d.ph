// run: copy2d M=128 N=192 seed=1 tol=0
// run: copy2d M=64 N=64 seed=2 tol=0

// B = A, one tile per CTA.
@autotune(TM in [64, 16], TN in [64, 256], THREADS in [256, 512])
@launch(THREADS)
@aligned(M = TM, N = TN)
kernel copy2d(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let row = ctx.block.x * TM
  let col = ctx.block.y * TN
  B[row :+ TM, col :+ TN] = A[row :+ TM, col :+ TN]
}

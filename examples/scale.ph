// run: scale M=64 N=256 alpha=3.0 seed=1 tol=1e-6
// run: scale M=32 N=128 alpha=-0.25 seed=2 tol=1e-6

// Y = alpha * X. M and N are promised to be whole tiles, so nothing is masked and rows move 16 bytes at a time.
@autotune(TM in [32], TN in [128])
@aligned(M = TM, N = TN)
kernel scale(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], alpha: f32) {
  let row = ctx.block.x * TM
  let col = ctx.block.y * TN
  let x = X[row :+ TM, col :+ TN]
  Y[row :+ TM, col :+ TN] = alpha * x
}

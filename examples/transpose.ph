// Transpose a matrix. Whole lines are read and written; the exchange of rows for columns goes once through shared memory.
// run: transpose_fp32 M=64 N=96 seed=1
// run: transpose_fp32 M=100 N=36 seed=2
// run: transpose_fp32 M=256 N=128 T=128 seed=3
@autotune(T in [64, 32, 128])
kernel transpose_fp32(X: tensor<f32>[M, N], Y: tensor<f32>[N, M]) {
  let r = ctx.block.x * T
  let c = ctx.block.y * T
  Y[c :+ T, r :+ T] = transpose(X[r :+ T, c :+ T])
}

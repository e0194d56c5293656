// run: row_sum M=5 N=300 COLS=128 seed=1 tol=1e-5
// run: row_sum M=3 N=256 COLS=128 seed=2 tol=1e-5
// run: row_sum M=2 N=0 COLS=128 seed=3 tol=0

// The sum of each row, of any length, walked in chunks.
@autotune(COLS in [4096, 2048, 8192], THREADS in [256, 128, 512])
@launch(THREADS)
kernel row_sum(X: tensor<f32>[M, N], Y: tensor<f32>[M, 1]) {
  let i = ctx.block.x
  var total: tile<f32>[1, 1] = 0.0
  for c in range(0, N, COLS) {
    total += rowsum(X[i, c :+ COLS])
  }
  Y[i, :] = total
}

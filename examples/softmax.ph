// run: softmax M=5 N=96 COLS=128 ROWS=1 seed=1 tol=2e-3
// run: softmax M=6 N=256 COLS=256 ROWS=4 seed=2 tol=2e-3
// run: softmax M=2 N=8000 COLS=8192 ROWS=1 seed=3 tol=2e-3

// Y = softmax of each row of X, in f32 between a load and a store of f16. A CTA holds ROWS whole rows in registers: N is
// at most COLS. Lanes past the end of a row are given a score that no maximum takes and no sum feels.
@autotune(ROWS in [1, 4, 16], COLS in [1024, 8192], THREADS in [256, 128, 512])
@launch(THREADS)
@aligned(N = 8)
kernel softmax(X: tensor<f16>[M, N], Y: tensor<f16>[M, N]) {
  let row = ctx.block.x * ROWS
  let x = where(iota(1) < N, f32(X[row :+ ROWS, 0 :+ COLS]), -1.0e30)
  let e = exp(x - rowmax(x))
  let scale = 1.0 / rowsum(e)
  Y[row :+ ROWS, 0 :+ COLS] = f16(e * scale)
}

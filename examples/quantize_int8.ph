// run: quantize M=5 N=96 COLS=128 seed=1 tol=1e-6
// run: matvec M=20 N=96 ROWS=16 COLS=64 seed=2 data=integers tol=1e-6
// run: matvec M=16 N=128 ROWS=16 COLS=64 seed=3 data=integers tol=1e-6

// Each row of X as 8-bit integers and a scale: X is about Q * S, and the largest of a row is 127.
@autotune(COLS in [1024, 8192])
kernel quantize(X: tensor<f32>[M, N], Q: tensor<i8>[M, N], S: tensor<f32>[M, 1]) {
  let i = ctx.block.x
  let x = X[i, 0 :+ COLS]
  let top = rowmax(tmax(x, -x)) + 1.0e-20
  Q[i, 0 :+ COLS] = i8(i32(round(x * (127.0 / top))))
  S[i, :] = top / 127.0
}

// y = (W x) * S with 8-bit weights and vector: sums of products are exact in 32 bits, scaled once at the end.
@autotune(ROWS in [16, 64], COLS in [256, 1024])
kernel matvec(W: tensor<i8>[M, N], X: tensor<i8>[1, N], S: tensor<f32>[M, 1], Y: tensor<f32>[M, 1]) {
  let row = ctx.block.x * ROWS
  var total: tile<i32>[ROWS, 1] = 0
  for k in range(0, N, COLS) {
    total += rowsum(i32(W[row :+ ROWS, k :+ COLS]) * i32(X[:, k :+ COLS]))
  }
  Y[row :+ ROWS, :] = f32(total) * S[row :+ ROWS, :]
}

// run: grid_stride N=300 grid=2 seed=1 tol=0
// run: lane_stride M=4 K=100 grid=2 seed=2 data=integers tol=0
// run: guarded_points N=64 L=40 n=37 grid=1 seed=3 tol=0
// run: once_per_cta N=5 seed=4 tol=0
// run: once_per_warp N=6 grid=3 seed=5 tol=0
// run: steps N=64 grid=1 seed=6 tol=0
// run: dot_runs M=40 K=24 seed=7 data=integers grid=1 tol=0
// run: dot_bytes M=40 seed=8 grid=1 tol=0
// run: every_length M=40 K=20 seed=16 grid=1 tol=0
// run: mixed_signs M=33 seed=17 grid=1 tol=0
// run: byte_sums M=40 seed=18 grid=1 tol=0
// run: wrapped_sum grid=1 seed=19 tol=0
// run: tails N=100 n=95 seed=9 grid=1 data=integers tol=0
// run: tails N=64 n=64 seed=9 grid=1 data=integers tol=0
// run: through_tiles N=64 seed=10 grid=1 data=integers tol=0
// run: through_barrier N=64 seed=11 grid=1 tol=0
// run: across_rows M=16 N=8 seed=12 grid=1 data=integers tol=0
// run: carried_run N=64 seed=13 grid=1 data=integers tol=0
// run: places N=3 seed=15 grid=3 tol=0
// run: shared_run N=16 seed=14 grid=1 data=integers tol=0

// A thread's number is 32 times its warp's and its lane's (B220).
@launch(96)
kernel places(P: tensor<i32>[N, 96, 2]) {
  P[ctx.block.x, ctx.thread, 0] = i32(ctx.warp * ctx.lanes + ctx.lane)
  P[ctx.block.x, ctx.thread, 1] = i32(ctx.block.x * ctx.grid.x)
}

// Points at a stride of the whole grid.
@launch(64)
kernel grid_stride(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  for i in range(ctx.block.x * ctx.threads + ctx.thread, N, ctx.grid.x * ctx.threads) {
    Y[i] = X[i] * 2.0
  }
}

// A row for each warp, its columns at a stride of the lanes (B221).
@launch(64)
kernel lane_stride(X: tensor<f32>[M, K], P: tensor<f32>[M, 32]) {
  let row = ctx.block.x * ctx.warps + ctx.warp
  var s = 0.0
  for k in range(ctx.lane, K, ctx.lanes) {
    s += X[row, k]
  }
  P[row, ctx.lane] = s
}

// The second condition is a point that exists only where the first one holds; the others leave early.
@launch(64)
kernel guarded_points(X: tensor<f32>[L], Y: tensor<f32>[N], n: i32) {
  let i = ctx.thread
  if i >= n || X[i] <= 0.0 {
    return
  }
  Y[i] = X[i]
}

@launch(64)
kernel once_per_cta(C: tensor<i32>[N]) {
  C[ctx.block.x] = C[ctx.block.x] + 1
}

@launch(64)
kernel once_per_warp(W: tensor<i32>[N]) {
  let w = ctx.block.x * ctx.warps + ctx.warp
  W[w] = W[w] + i32(ctx.warp) * 10 + 1
}

// A loop that each thread leaves at its own time, two ways.
@launch(64)
kernel steps(X: tensor<i32>[N], S: tensor<i32>[N]) {
  var x = X[ctx.thread] & 0xFFFF
  var n: i32 = 0
  while x > 0 {
    if n == 20 { break }
    x /= 2
    n += 1
  }
  S[ctx.thread] = n
}

// One row for each thread, eight columns at a time; products of f16 in f32.
@launch(64)
@aligned(K = 8)
kernel dot_runs(A: tensor<f16>[M, K], x: tensor<f16>[K], y: tensor<f32>[M]) {
  let row = ctx.thread
  if row < M {
    var s = 0.0
    for k in range(0, K, 8) {
      s += sum(A[row, k :+ 8] * x[k :+ 8])
    }
    y[row] = s
  }
}

// Sums of products of bytes are exact (B224).
@launch(64)
kernel dot_bytes(A: tensor<i8>[M, 32], B: tensor<i8>[M, 32], C: tensor<i32>[M]) {
  if ctx.thread < M {
    C[ctx.thread] = sum(A[ctx.thread, 0 :+ 32] * B[ctx.thread, 0 :+ 32])
  }
}

// Lengths that four does and does not divide, on rows that begin at no multiple of 4 (B224).
@launch(64)
kernel every_length(A: tensor<i8>[M, K], B: tensor<i8>[M, K], C: tensor<i32>[M, 8]) {
  let r = ctx.thread
  if r < M {
    C[r, 0] = sum(A[r, 0 :+ 3] * B[r, 0 :+ 3])
    C[r, 1] = sum(A[r, 0 :+ 4] * B[r, 4 :+ 4])
    C[r, 2] = sum(A[r, 1 :+ 5] * B[r, 2 :+ 5])
    C[r, 3] = sum(A[r, 0 :+ 6] * B[r, 12 :+ 6])
    C[r, 4] = sum(A[r, 3 :+ 7] * B[r, 5 :+ 7])
    C[r, 5] = sum(A[r, 0 :+ 12] * B[r, 4 :+ 12])
    C[r, 6] = sum(A[r, 0 :+ 19] * B[r, 1 :+ 19])
    C[r, 7] = sum(A[r, 0 :+ 20] * A[r, 0 :+ 20])
  }
}

// Every pair of signs (B224).
@launch(64)
kernel mixed_signs(A: tensor<i8>[M, 16], B: tensor<u8>[M, 16], C: tensor<i32>[M, 4]) {
  let r = ctx.thread
  if r < M {
    C[r, 0] = sum(elem(A[r, :]) * elem(B[r, :]))
    C[r, 1] = sum(B[r, :] * A[r, :])
    C[r, 2] = sum(B[r, :] * B[r, :])
    C[r, 3] = sum(A[r, :] * A[r, :])
  }
}

// What is made of sums: bytes alone, sums and differences of products, a factor. A product of three is no such sum.
@launch(64)
kernel byte_sums(A: tensor<i8>[M, 8], B: tensor<u8>[M, 8], C: tensor<i32>[M, 5]) {
  let r = ctx.thread
  if r < M {
    C[r, 0] = sum(A[r, :])
    C[r, 1] = sum(B[r, :])
    C[r, 2] = sum(A[r, :] * B[r, :] - B[r, :] * B[r, :] + A[r, :])
    C[r, 3] = sum(-(A[r, :] * B[r, :]) * 1000003)
    C[r, 4] = sum(A[r, :] * B[r, :] * A[r, :])
  }
}

// i32 wraps: 2^17 products of 255 with 255 are more than it holds.
@launch(32)
kernel wrapped_sum(A: tensor<u8>[64], C: tensor<i32>[1]) {
  A[0 :+ 64] = 255
  var s: i32 = 0
  for i in range(0, 2048) {
    s += sum(A[0 :+ 64] * A[0 :+ 64])
  }
  C[0] = s
}

// Whole runs, and the points that are left (B225).
@launch(32)
kernel tails(X: tensor<f32>[N], Y: tensor<f32>[N], n: i32) {
  let base = ctx.thread * 4
  if base + 4 <= n {
    store(Y[base :+ 4], elem(X[base :+ 4]) * 3.0)
  } else {
    for i in range(base, n) {
      Y[i] = X[i] * 3.0
    }
  }
}

// Tile, points of other threads, tile, under uniform control flow: each step sees the one before (B222).
@launch(64)
kernel through_tiles(X: tensor<f32>[N], T: tensor<f32>[N], Y: tensor<f32>[N]) {
  let next = (ctx.thread + 1) % ctx.threads
  T[0 :+ 64] = X[0 :+ 64] * 2.0
  let t = T[next]
  barrier()
  T[ctx.thread] = t + 1.0
  Y[0 :+ 64] = T[0 :+ 64] * 2.0
}

@launch(64)
kernel through_barrier(X: tensor<f32>[N], T: tensor<f32>[N], Y: tensor<f32>[N]) {
  T[ctx.thread] = X[ctx.thread]
  barrier()
  Y[ctx.thread] = T[ctx.threads - 1 - ctx.thread]
}

// Runs down a column, comparisons and choices on them, and their elements.
@launch(32)
kernel across_rows(A: tensor<f32>[M, N], B: tensor<f32>[M, N], S: tensor<f32>[4, N]) {
  let r = ctx.thread / N
  let c = ctx.thread % N
  let v = elem(A[r * 4 :+ 4, c])
  store(B[r * 4 :+ 4, c], where(v > 0.0, v, 0.0))
  S[r, c] = v[0] - v[3]
}

// A run that a loop carries.
@launch(32)
kernel carried_run(X: tensor<f32>[N], Y: tensor<f32>[128]) {
  var acc = elem(X[0 :+ 4])
  for i in range(4, N, 4) {
    acc = acc + elem(X[i :+ 4])
  }
  store(Y[ctx.thread * 4 :+ 4], acc)
}

// A run that is the same in all threads is a statement of the CTA: what it wrote is there for every thread.
@launch(64)
kernel shared_run(X: tensor<f32>[N], Y: tensor<f32>[64]) {
  store(X[0 :+ 4], 5.0)
  Y[ctx.thread] = sum(X[0 :+ 4])
}

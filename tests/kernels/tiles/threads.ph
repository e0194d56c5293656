// run: reversed N=64 seed=1 tol=0
// run: between_tiles seed=2 tol=0 data=integers
// run: strided_points N=300 seed=3 tol=0 data=integers
// run: runs seed=4 tol=0 data=integers
// run: run_widths seed=5 tol=0 data=integers
// run: down_the_rows seed=6 tol=0
// run: by_warp seed=7 tol=0 data=integers
// run: some_threads n=9 seed=8 tol=0 data=integers
// run: rounds n=5 seed=9 tol=0 data=integers
// run: bytes_of_tiles seed=10 tol=0
// run: own_loops seed=11 tol=0 data=integers
// run: passed_on seed=12 tol=0 data=integers
// run: masks_beside seed=13 tol=0
// run: half_runs seed=14 tol=0 data=integers
// run: uniform_run seed=15 tol=0 data=integers

// What one thread stores another reads behind a barrier.
@launch(64)
kernel reversed(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var t: tile<f32>[64]
  t[ctx.thread] = X[ctx.thread]
  barrier()
  Y[ctx.thread] = t[63 - ctx.thread]
}

// Between points of threads and statements of tiles the compiler orders.
@launch(96)
kernel between_tiles(X: tensor<f32>[96], Y: tensor<f32>[96], Z: tensor<f32>[96], W: tensor<f32>[2]) {
  var t: tile<f32>[96]
  let i = ctx.thread
  t[i] = X[i]
  Y[:] = t * 2.0
  t = t + 1.0
  let next = t[(i + 1) % 96]
  t[0 :+ 48] = t[48 :+ 48]
  let after = t[95 - i]
  barrier()
  t[i] = next + after
  W[0] = t[7]
  t[7] = 0.0
  Z[i] = t[(i + 90) % 96]
  barrier()
  t[(i + 1) % 96] = 1.0
  W[1] = t[0]
}

@launch(64)
kernel strided_points(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var t: tile<f32>[320] = 0.0
  for i in range(ctx.thread, N, ctx.threads) {
    t[i] = X[i]
  }
  t[0 :+ 160] += t[160 :+ 160]
  for i in range(ctx.thread, N, ctx.threads) {
    Y[N - 1 - i] = t[i]
  }
}

// B225: runs are stored, read and summed; a product of a run of a tile and one of a tensor.
@launch(64)
kernel runs(X: tensor<f32>[64, 8], Y: tensor<f32>[64, 8], S: tensor<f32>[64]) {
  var t: tile<f32>[64, 8]
  let i = ctx.thread
  store(t[i, 0 :+ 4], elem(X[i, 4 :+ 4]))
  store(t[i, 4 :+ 4], 2.0)
  barrier()
  let j = 63 - i
  store(Y[i, 0 :+ 8], elem(t[j, 0 :+ 8]) * 3.0)
  S[i] = sum(t[j, 0 :+ 4] * X[i, 2 :+ 4]) + sum(t[j, 2 :+ 4])
}

// `align` says less than is proved, and more; the starts are multiples of 4.
@launch(32)
kernel run_widths(X: tensor<f32>[32, 16], Y: tensor<f32>[32, 16]) {
  let t = X[:, :] + 1.0
  let i = ctx.lane
  let at = (i % 3) * 4
  store(Y[i, 0 :+ 4], elem(t[i, 4 :+ 4]))
  store(Y[i, 4 :+ 4], elem(t[i, 4 :+ 4], align = 4))
  store(Y[i, 8 :+ 4], elem(t[i, at :+ 4], align = 16))
  store(Y[i, 12 :+ 3], elem(t[i, at + 1 :+ 3]))
  Y[i, 15] = sum(t[i, 0 :+ 16] * t[31 - i, 0 :+ 16], align = 8)
}

@launch(32)
kernel down_the_rows(X: tensor<f32>[8, 32], Y: tensor<f32>[8, 32]) {
  var t = X[:, :]
  let i = ctx.lane
  let column = elem(t[2 :+ 4, i])
  store(t[0 :+ 4, i], column * 2.0)
  Y[:, :] = t
}

// Once in each warp.
@launch(128)
kernel by_warp(X: tensor<f32>[128], Y: tensor<f32>[128], W: tensor<f32>[4]) {
  var t: tile<f32>[4] = 1.0
  t[ctx.warp] = t[ctx.warp] + X[ctx.warp * 32]
  Y[ctx.thread] = t[ctx.warp] + f32(ctx.lane)
  t *= 2.0
  barrier()
  W[ctx.warp] = t[3 - ctx.warp]
}

// Under a condition that parts the threads.
@launch(64)
kernel some_threads(X: tensor<f32>[64], Y: tensor<f32>[64], n: i32) {
  var t = X[:]
  let i = ctx.thread
  if i < n {
    t[i] = t[i] * 2.0
    if t[i] > 0.0 {
      t[i] += 1.0
    }
  } else {
    t[i] = -1.0
  }
  t[32 :+ 16] = t[0 :+ 16]
  if t[i] > 0.0 {
    Y[i] = t[i]
  }
}

// A loop around both kinds of statement: what a trip leaves, the next one finds.
@launch(64)
kernel rounds(X: tensor<f32>[64], Y: tensor<f32>[64], n: i32) {
  var t = X[:]
  let i = ctx.thread
  for k in range(0, n) {
    let left = t[(i + 63) % 64]
    barrier()
    t[i] = t[i] + left
    t[0 :+ 32] += t[32 :+ 32]
    if t[k] < 0.0 {
      t[k] = 0.0
    }
  }
  Y[:] = t
}

@launch(32)
kernel bytes_of_tiles(A: tensor<i8>[32, 32], B: tensor<u8>[32, 32], Y: tensor<i32>[32, 3], Z: tensor<i8>[32, 32]) {
  var a = A[:, :]
  let b = B[:, :]
  let i = ctx.lane
  Y[i, 0] = sum(a[i, 0 :+ 16] * a[31 - i, 16 :+ 16])
  Y[i, 1] = sum(b[i, 4 :+ 8])
  Y[i, 2] = i32(a[i, 3]) + i32(b[i, i])
  barrier()
  store(a[i, 8 :+ 8], elem(A[i, 0 :+ 8]))
  Z[:, :] = a
}

// Loops of each thread's own length over a tile.
@launch(64)
kernel own_loops(X: tensor<f32>[64], Y: tensor<f32>[64]) {
  let t = X[:]
  let i = ctx.thread
  var s = 0.0
  for j in range(0, i + 1) {
    s += t[j]
  }
  var k = i
  while k < 64 && t[k] < 1.0 {
    k += 1
  }
  Y[i] = s + f32(k)
}

fn neighbour(t, i) {
  return t[(i + 1) % 64] + t[i]
}

@launch(64)
kernel passed_on(X: tensor<f32>[64], Y: tensor<f32>[64]) {
  let t = X[:]
  Y[ctx.thread] = neighbour(t, ctx.thread) * neighbour(X[:] + 1.0, ctx.thread)
}

@launch(32)
kernel masks_beside(A: tensor<bool>[32], Y: tensor<f32>[32]) {
  var m = A[:]
  let i = ctx.lane
  m[i] = !m[i]
  m[0 :+ 8] = m[8 :+ 8]
  Y[i] = where(m[31 - i], 1.0, 2.0)
}

@launch(32)
kernel half_runs(A: tensor<f16>[32, 16], B: tensor<bf16>[32, 16], Y: tensor<f16>[32, 16], S: tensor<f32>[32]) {
  var a = A[:, :]
  let b = B[:, :]
  let i = ctx.lane
  S[i] = sum(a[i, 0 :+ 8] * a[i, 8 :+ 8]) + sum(b[31 - i, 0 :+ 16])
  barrier()
  store(a[31 - i, 0 :+ 8], elem(A[i, 8 :+ 8]))
  Y[:, :] = a
}

// A run under uniform control with uniform operands is one thread's work.
kernel uniform_run(X: tensor<f32>[32], Y: tensor<f32>[32]) {
  var t = X[:]
  store(t[4 :+ 4], elem(X[8 :+ 4]))
  t[0 :+ 4] = t[4 :+ 4] * 2.0
  let s = sum(t[0 :+ 8])
  store(t[8 :+ 4], s)
  Y[:] = t
}

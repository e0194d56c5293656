// run: histogram N=1000 grid=16 seed=1 tol=0
// run: tickets grid=8 seed=2 tol=0
// run: queue grid=1 seed=3 tol=0
// run: once_per_warp grid=3 seed=4 tol=0
// run: how_often grid=2 seed=5 tol=0
// run: between_tiles grid=1 seed=6 tol=0
// run: among_points grid=1 seed=7 tol=0
// run: carried_round n=5 grid=1 seed=8 tol=0
// run: short_circuit grid=1 seed=9 tol=0
// run: assigned M=100 seed=10 grid=7 data=integers tol=0

// Every thread counts one element; the total over all blocks is exact (B204).
@launch(64)
kernel histogram(X: tensor<i32>[N], H: tensor<i32>[16]) {
  let i = ctx.block.x * ctx.threads + ctx.thread
  if i < N {
    atomic_add(H[X[i] & 15], 1)
  }
}

fn doubled(x) {
  return x + x
}

// One ticket for a block, drawn once although it is used several times (A05), and one value for all of its threads: it
// bounds a loop with a barrier (B066).
@launch(64)
kernel tickets(C: tensor<i32>[1], O: tensor<i32>[8], S: tensor<i32>[8, 64], D: tensor<i32>[1], E: tensor<i32>[8]) {
  let t = atomic_add(C[0], 1)
  O[t & 7] = t + t
  var s: i32 = 0
  for i in range(0, t & 7) {
    s += 1
    barrier()
  }
  S[t & 7, ctx.thread] = s
  let u = doubled(atomic_add(D[0], 1))
  E[(u >> 1) & 7] = u
}

// Tickets until there are no more: drawn in a loop, the word that hands them round is used again.
@launch(64)
kernel queue(C: tensor<i32>[1], D: tensor<i32>[6, 64]) {
  C[0] = 0
  var w = atomic_add(C[0], 1)
  while w < 6 {
    D[w, ctx.thread] = w * 100 + i32(ctx.thread)
    w = atomic_add(C[0], 1)
  }
}

// A warp's operand: once in each warp, and all of its lanes have what was found.
@launch(64)
kernel once_per_warp(C: tensor<i32>[3, 2], O: tensor<i64>[3, 2, 32], L: tensor<i64>[3, 2], F: tensor<f16>[3, 2], P: tensor<f16>[3, 2, 32]) {
  let b = ctx.block.x
  let old = atomic_add(C[b, ctx.warp], 3)
  let most = atomic_max(L[b, ctx.warp], 1000000000000)
  let half = atomic_add(F[b, ctx.warp], 0.0)
  O[b, ctx.warp, ctx.lane] = most + i64(old) + i64(ctx.lane)
  P[b, ctx.warp, ctx.lane] = half
  atomic_add(C[b, 0], i32(ctx.warp) * 10)
}

// Once for a block, a warp, a thread; and once for each active thread where they do the same under a condition (B204).
@launch(96)
kernel how_often(C: tensor<i32>[5]) {
  atomic_add(C[0], 1)
  atomic_add(C, 1, i32(ctx.warp) - i32(ctx.warp) + 1)
  atomic_add(C[2], i32(ctx.lane) - i32(ctx.lane) + 1)
  if ctx.lane < 5 {
    atomic_add(C[3], 1)
  }
  if ctx.warp == 1 {
    atomic_add(C[4], 1)
  }
}

// Program order between tiles, each thread's atomics and the block's.
@launch(64)
kernel between_tiles(A: tensor<i32>[64], O: tensor<i32>[64], B: tensor<i32>[64]) {
  A[0 :+ 64] = iota(0)
  let before = atomic_add(A[63 - ctx.thread], 1000)
  let t = A[0 :+ 64]
  let five = atomic_add(A[5], 10)
  O[0 :+ 64] = A[0 :+ 64] + t + five
  B[63 - ctx.thread] = before
}

// The first thread's own points and atomics need no barrier; what others read does.
@launch(64)
kernel among_points(A: tensor<i32>[2], O: tensor<i32>[64]) {
  A[0] = 7
  atomic_add(A[0], 1)
  A[1] = A[0]
  atomic_max(A[1], 5)
  O[ctx.thread] = A[1] + A[0]
}

// In a loop beside tiles; the result goes round.
@launch(64)
kernel carried_round(C: tensor<i32>[1], T: tensor<i32>[64], n: i32) {
  C[0] = 3
  var last: i32 = 0
  var sum: tile<i32>[64] = 0
  for i in range(0, n) {
    last = atomic_add(C[0], last + 1)
    sum += last
    T[0 :+ 64] = sum
  }
}

// The right side of && happens only where the left one holds.
@launch(64)
kernel short_circuit(C: tensor<i32>[2]) {
  C[0] = 0
  C[1] = 0
  if C[0] == 1 && atomic_add(C[1], 1) == 0 {
    C[0] = 9
  }
  if ctx.thread < 10 && atomic_add(C[1], 1) >= 5 {
    atomic_add(C[0], 1)
  }
}

// A product, the best column of each row, and how often each was best (S14).
@launch(64)
kernel assigned(A: tensor<f32>[M, 16], B: tensor<f32>[16, 8], H: tensor<i32>[8]) {
  let i = ctx.block.x * 16
  let best = rowargmax(dot(A[i :+ 16, 0 :+ 16], B[0 :+ 16, 0 :+ 8]))
  if ctx.thread < 16 && i + ctx.thread < M {
    atomic_add(H[best[ctx.thread, 0]], 1)
  }
}

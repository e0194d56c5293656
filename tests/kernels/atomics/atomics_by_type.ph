// run: sums N=40 grid=1 seed=1 data=integers tol=0
// run: literals seed=2 grid=1 tol=0
// run: extremes N=200 grid=2 seed=3 tol=0
// run: integers N=200 grid=2 seed=4 tol=0
// run: swaps seed=5 grid=1 tol=0
// run: by_swaps grid=2 seed=6 tol=0
// run: handed_over grid=1 seed=7 tol=0

// A value is converted to the element's type, whatever that is (A01). All sums are exact.
@launch(64)
kernel sums(X: tensor<f32>[N], F: tensor<f32>[4], H: tensor<f16>[4], B: tensor<bf16>[4], I: tensor<i32>[4], L: tensor<i64>[4]) {
  let i = ctx.thread
  if i < N {
    let v = X[i]
    atomic_add(F[i % 4], v)
    atomic_add(H, i % 4, v)
    atomic_add(B[i % 4], v)
    atomic_add(I[i % 4], i32(v))
    atomic_add(L[i % 4], i32(v))
  }
}

// Literals of f32 and what is found, once for the block, from both ends (A02).
@launch(64)
kernel literals(H: tensor<f16>[2], B: tensor<bf16>[2], F: tensor<f32>[2], O: tensor<f32>[3, 4]) {
  H[0] = -1.0e4
  H[1] = 1.0e4
  B[0] = -1.0e4
  B[1] = 1.0e4
  F[0] = -1.0e4
  F[1] = 1.0e4
  O[0, 0] = atomic_max(H[0], 42.0)
  O[0, 1] = atomic_min(H[1], 42.0)
  O[1, 0] = atomic_max(B[0], 42.0)
  O[1, 1] = atomic_min(B[1], 42.0)
  O[2, 0] = atomic_max(F[0], 42.0)
  O[2, 1] = atomic_min(F[1], 42.0)
  O[0, 2] = atomic_add(H[0], 0.5)
  O[1, 2] = atomic_add(B[0], 0.5)
  O[2, 2] = atomic_add(F[0], 0.1)
  O[0, 3] = atomic_max(H[0], -1.0)
  O[1, 3] = atomic_min(B[0], 100.0)
  O[2, 3] = atomic_max(F[0], 0.0)
}

// Many threads at few elements, neighbours of 16 bits in one word.
@launch(128)
kernel extremes(X: tensor<f32>[N], F: tensor<f32>[4], H: tensor<f16>[4], B: tensor<bf16>[4]) {
  let i = ctx.block.x * ctx.threads + ctx.thread
  if i < N {
    let v = X[i]
    let at = i % 2
    atomic_max(F[at], v)
    atomic_min(F[2 + at], v)
    atomic_max(H[at], v)
    atomic_min(H[2 + at], v)
    atomic_max(B[at], v)
    atomic_min(B[2 + at], v)
  }
}

@launch(128)
kernel integers(X: tensor<i32>[N], I: tensor<i32>[3], L: tensor<i64>[3]) {
  let i = ctx.block.x * ctx.threads + ctx.thread
  if i < N {
    let wide = i64(X[i]) * 3
    atomic_max(I[0], X[i])
    atomic_min(I[1], X[i])
    atomic_add(I[2], X[i])
    atomic_max(L[0], wide)
    atomic_min(L[1], wide)
    atomic_add(L[2], wide)
  }
}

// It swaps only on a match, and gives what was there; of many threads one finds the old value (B207).
@launch(64)
kernel swaps(I: tensor<i32>[1], L: tensor<i64>[2], W: tensor<i32>[4]) {
  I[0] = 5
  W[0] = atomic_cas(I[0], 5, 9)
  W[1] = atomic_cas(I[0], 5, 11)
  L[0] = 0
  L[1] = 1099511627776
  if atomic_cas(L[0], 0, 1 + i64(ctx.thread)) == 0 {
    atomic_add(W[2], 1)
  }
  W[3] = i32(atomic_cas(L[1], 1099511627776, 3) >> 40)
  L[0] = 7
}

// An addition that every thread makes of swaps.
@launch(64)
kernel by_swaps(I: tensor<i32>[1]) {
  var seen = atomic_add(I[0], 0)
  var done = false
  while !done {
    let found = atomic_cas(I[0], seen, seen + i32(ctx.lane))
    done = found == seen
    seen = found
  }
}

// A barrier orders one thread's store to a tile before another thread's read (B207).
@launch(64)
kernel handed_over(O: tensor<i32>[64], C: tensor<i32>[1]) {
  var t: tile<i32>[64] = 0
  t[ctx.thread] = i32(ctx.thread) * 3
  barrier()
  O[ctx.thread] = t[63 - ctx.thread]
  atomic_add(C[0], t[63 - ctx.thread])
}

// run: rank_one N=64 M=40 seed=1 tol=0
// run: row_table N=64 M=40 seed=2 tol=0
// run: tile_tables N=64 M=40 seed=3 tol=0
// run: two_axes N=32 R=12 C=20 seed=4 tol=0
// run: element_types N=32 M=48 seed=5 tol=0
// run: index_types N=32 M=48 seed=6 tol=0
// run: one_place M=20 seed=7 tol=0
// run: guarded_index N=64 M=40 seed=8 tol=0
// run: in_a_loop N=64 seed=9 tol=0
// run: kept_table N=64 M=24 seed=11 tol=0
// run: written_table N=64 seed=10 tol=0

kernel rank_one(T: tensor<f32>[N], P: tensor<u8>[M], Y: tensor<f32>[M]) {
  Y[0 :+ 64] = gather(T, P[0 :+ 64] % 64)
}

kernel row_table(T: tensor<f16>[1, N], P: tensor<u8>[M], Y: tensor<f16>[M]) {
  Y[0 :+ 40] = gather(T, P[0 :+ 40] % 64)
}

// A table that is a tile, of rank 1 and of shape [1, n] (B139).
kernel tile_tables(T: tensor<f32>[N], P: tensor<u8>[M], Y: tensor<f32>[M], Z: tensor<f32>[M]) {
  let t = T[0 :+ 64] * 2.0
  let row: tile<f32>[1, 64] = t + 1.0
  let at = P[0 :+ 40] % 64
  Y[0 :+ 40] = gather(t, at)
  Z[0 :+ 40] = gather(row, at)
}

kernel two_axes(T: tensor<i32>[N], P: tensor<u8>[R, C], Y: tensor<i32>[R, C]) {
  Y[0 :+ 12, 0 :+ 20] = gather(T, i32(P[0 :+ 12, 0 :+ 20]) % 32) + 1
}

kernel element_types(T: tensor<i8>[N], U: tensor<bool>[N], V: tensor<f64>[N], W: tensor<bf16>[N], P: tensor<u8>[M],
                     A: tensor<i8>[M], B: tensor<bool>[M], C: tensor<f64>[M], D: tensor<bf16>[M]) {
  let at = P[0 :+ 48] % 32
  A[0 :+ 48] = gather(T, at)
  B[0 :+ 48] = gather(U, at)
  C[0 :+ 48] = gather(V, at)
  D[0 :+ 48] = gather(W, at)
}

kernel index_types(T: tensor<f32>[N], P: tensor<u8>[M], Y: tensor<f32>[M], Z: tensor<f32>[M]) {
  Y[0 :+ 48] = gather(T, i8(P[0 :+ 48] % 32))
  Z[0 :+ 48] = gather(T, i64(P[0 :+ 48] % 32))
}

// An axis of extent 1, and indices that are masked, which read as 0 (E11).
kernel one_place(T: tensor<f32>[1], P: tensor<u8>[M], Y: tensor<f32>[24]) {
  Y[0 :+ 24] = gather(T, P[0 :+ 24] % 1)
}

// A negative index is outside like any other; the kernel says what stands for it (E16).
kernel guarded_index(T: tensor<f32>[N], P: tensor<i8>[M], Y: tensor<f32>[M]) {
  let at = i32(P[0 :+ 40])
  let inside = at >= 0 && at < N
  Y[0 :+ 40] = where(inside, gather(T, where(inside, at, 0)), 0.0)
}

// Following a chain of places through a table in shared memory.
kernel in_a_loop(T: tensor<u8>[N], Y: tensor<u8>[N]) {
  let t = T[0 :+ 64] % 64
  var at: tile<u8>[64] = u8(iota(0))
  for k in range(0, 5) {
    at = gather(t, at)
  }
  Y[0 :+ 64] = at
}

// A table that was written before it is read, and is written again after.
kernel written_table(T: tensor<f32>[N], Y: tensor<f32>[N]) {
  T[0 :+ 64] = T[0 :+ 64] + 1.0
  let at: tile<i32>[64] = 63 - iota(0)
  Y[0 :+ 64] = gather(T, at)
  T[0 :+ 64] = T[0 :+ 64] * 2.0
}

// A table that lives in shared memory for its whole life, and changes.
kernel kept_table(T: tensor<f32>[N], P: tensor<u8>[M], Y: tensor<f32>[M], Z: tensor<f32>[M]) {
  var t = T[0 :+ 64]
  let at = P[0 :+ 24] % 64
  Y[0 :+ 24] = gather(t, at)
  t[8 :+ 32] = 5.0
  t[0] = 7.0
  Z[0 :+ 24] = gather(t, at) + t[1]
}

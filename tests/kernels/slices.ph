// run: ragged_copy M=44 N=52 seed=1 tol=0
// run: ragged_copy M=4 N=4 seed=2 tol=0
// run: ragged_copy M=3 N=7 seed=3 tol=0
// run: static_edge seed=4 tol=0
// run: range_forms M=16 N=40 seed=5 tol=0
// run: rows M=12 N=64 seed=6 tol=0
// run: negative_start N=64 seed=7 tol=0
// run: past_end N=40 seed=8 tol=0
// run: shifted N=64 seed=9 tol=0
// run: to_the_end seed=10 tol=0
// run: overrun M=8 N=20 seed=11 tol=0
// run: snapshot N=64 seed=12 tol=0

// Ragged on both axes: past the end reads 0, stores there are skipped (B075).
kernel ragged_copy(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 32
  B[i :+ 16, j :+ 32] = A[i :+ 16, j :+ 32] + 1.0
}

// Static extents that the tile does not divide (B073, B074).
kernel static_edge(A: tensor<f32>[10, 12], B: tensor<f32>[16, 16]) {
  B[0 :+ 16, 0 :+ 16] = A[0 :+ 16, 0 :+ 16]
}

// Every way to write a range (B070).
kernel range_forms(A: tensor<f32>[M, 32], B: tensor<f32>[M, N], C: tensor<f32>[8, 32]) {
  B[0 : 8, 0 :+ 32] = A[8 : 16, :]
  B[8 :+ 8, 4 : 36] = A[:8, 0 : 32]
  C[:, :16] = A[0 :+ 8, :16]
}

// A point among slices keeps its axis (B071); points only are scalars (B072).
kernel rows(A: tensor<f32>[M, N], B: tensor<f32>[M, N], C: tensor<f32>[M]) {
  let i = ctx.block.x
  let row = A[i, 0 :+ 64]
  B[i, 0 :+ 64] = row * A[i, 3]
  C[ctx.block.x * 1] = A[i, 0] + A[i, 63]
}

// A negative start is masked like an end.
kernel negative_start(A: tensor<f32>[N], B: tensor<f32>[N]) {
  let s = 0 - 8
  B[0 :+ 32] = A[s :+ 32]
  B[s - 24 :+ 32] = A[0 :+ 32]
}

kernel past_end(A: tensor<f32>[N], B: tensor<f32>[N], C: tensor<f32>[64]) {
  C[0 :+ 64] = A[0 :+ 64]
  B[32 :+ 64] = A[8 :+ 64]
}

// The right side is read before anything is stored.
kernel shifted(A: tensor<f32>[N]) {
  A[0 :+ 8] = A[4 :+ 8]
  A[20 :+ 8] = A[16 :+ 8]
}

// A[s:] on a constant extent is a span that is never masked (B077).
kernel to_the_end(A: tensor<f32>[48], B: tensor<f32>[32]) {
  B[:] = A[16:]
}

// A column tile that overruns must not touch the next row (B076).
kernel overrun(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let i = ctx.block.x * 1
  B[i :+ 1, 16 :+ 16] = A[i :+ 1, 0 :+ 16]
}

// `let` of a slice is a snapshot (section 2).
kernel snapshot(A: tensor<f32>[N], B: tensor<f32>[N]) {
  let a = A[0 :+ 64]
  A[0 :+ 64] = 1.0
  B[0 :+ 64] = a + A[0 :+ 64]
}

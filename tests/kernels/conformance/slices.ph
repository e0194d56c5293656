// run: let_and_var N=40 seed=1 tol=0 data=integers
// run: tail_keeps M=10 N=22 seed=2 tol=0
// run: every_form M=12 N=24 r=3 seed=3 tol=0
// run: ones_over_k M=16 K=1000 seed=4 tol=0 data=ones
// run: ones_over_k M=16 K=12 seed=4 tol=0 data=ones
// run: ones_over_k M=16 K=0 seed=4 tol=0 data=ones
// run: ones_over_k M=16 K=16 seed=4 tol=0 data=ones
// run: other_axis M=20 K=36 seed=5 tol=0 data=integers
// run: promised M=32 N=96 seed=6 tol=0 data=integers
// run: into_ragged M=20 N=28 K=12 seed=7 tol=0 data=integers
// run: column_maximum N=50 seed=8 tol=0
// run: negative_corner M=64 N=128 seed=9 tol=0 data=integers
// run: five_by_five seed=10 tol=0 data=integers
// run: last_block N=1000 seed=11 tol=0
// run: last_block N=1003 seed=11 tol=0
// run: last_block N=1 seed=11 tol=0
// run: row_of_a_view seed=12 tol=0
// run: small_beside_large N=8 seed=13 tol=0 data=integers
// run: short_then_full N=100 seed=14 tol=0 data=ones
// run: unit_extents M=1 N=40 seed=15 tol=0 data=integers
// run: no_rows M=0 N=8 seed=16 grid=1 tol=0 data=integers
// run: three_masked N=41 seed=17 tol=0 data=integers
// run: long_offset N=64 l=24 seed=18 tol=0
// run: shifted_starts N=64 n=0 p=true seed=19 tol=0
// run: shifted_starts N=64 n=3 p=false seed=19 tol=0
// run: swapped_halves N=64 seed=20 tol=0
// run: masked_ones N=16 seed=21 tol=0 data=integers

// B093 B094: `let` and `var` of a slice are snapshots, whether the slice needs a mask (b) or not (a).
kernel let_and_var(A: tensor<f32>[64], B: tensor<f32>[N], C: tensor<f32>[64], D: tensor<f32>[64]) {
  let a = A[0 :+ 64]
  let b = B[0 :+ 64]
  var c = A[0 :+ 64]
  A[0 :+ 64] = 100.0
  B[0 :+ 64] = 100.0
  c += 1.0
  C[:] = a + c
  D[:] = b
}

// B073 B074 B076: what the tile has past the end reads 0; neighbours of a skipped element keep their values.
kernel tail_keeps(A: tensor<f32>[M, N], B: tensor<f32>[M, N], C: tensor<f32>[16, 16]) {
  B[4 :+ 8, 16 :+ 16] = A[0 :+ 8, 0 :+ 16]
  C[:, :] = A[8 :+ 16, 8 :+ 16]
}

// B070 B071 B072: `s : e` is `s :+ e - s`; points keep their axis beside a slice and are a scalar alone.
kernel every_form(A: tensor<i32>[M, N], B: tensor<i32>[M, N], r: i32) {
  B[0, 0 : 8] = A[r, 8 : 16]
  B[1, 0 :+ 8] = A[r, 8 :+ 8]
  B[2 : 4, r : r + 4] = A[r : r + 2, r :+ 4]
  B[4 :+ 4, :8] = A[:4, 0 : 8]
  B[8, 0] = A[r, r] + A[r + 1, N - 1]
}

// B079 B080: the sum over all K, for K that 16 does and does not divide, less than 16, and 0.
kernel ones_over_k(A: tensor<f32>[M, K], Y: tensor<f32>[M, 1]) {
  var acc: tile<f32>[16, 1] = 0.0
  let ones: tile<f32>[16, 1] = 1.0
  for k in range(0, K, 16) {
    acc += dot(A[0 :+ 16, k :+ 16], ones)
  }
  Y[0 :+ 16, :] = acc
}

// B082 B085: the loop takes the mask of the axis it walks only; rows stay masked, in whole tiles and remainder.
@aligned(M = 4)
kernel other_axis(A: tensor<f32>[M, K], Y: tensor<f32>[M, 16]) {
  let i = ctx.block.x * 16
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += A[i :+ 16, k :+ 16]
  }
  Y[i :+ 16, :] = acc
}

// B084: a promise of 32 for spans of 32 and of 16.
@aligned(M = 16, N = 32)
kernel promised(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let i = ctx.block.x * 16
  for j in range(0, N, 32) {
    B[i :+ 16, j :+ 32] = A[i :+ 16, j :+ 32] * 2.0
    B[i :+ 16, j + 16 :+ 16] = A[i :+ 16, j + 16 :+ 16]
  }
}

// B089: a dot may go straight into a ragged slice.
kernel into_ragged(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 16
  C[i :+ 16, j :+ 16] = dot(A[i :+ 16, 0 :+ 12], B[0 :+ 12, j :+ 16])
}

// B092: a maximum over a ragged walk takes the fill of `where`, not the 0 of the mask.
kernel column_maximum(X: tensor<f32>[N], Y: tensor<f32>[16]) {
  var best: tile<f32>[16] = -1.0e30
  for k in range(0, N, 16) {
    let x = -abs(X[k :+ 16]) - 1.0
    best = max(best, where(iota(0) < N - k, x, -1.0e30))
  }
  Y[:] = best
}

// E14: starts of -1, on one axis and on both.
kernel negative_corner(A: tensor<f32>[M, N], B: tensor<f32>[M, N], C: tensor<f32>[8, 16]) {
  C[:, :] = A[-1 :+ 8, -1 :+ 16]
  B[-1 :+ 8, -1 :+ 16] = A[0 :+ 8, 0 :+ 16]
  B[32 :+ 4, -4 :+ 8] = A[63 :+ 4, 124 :+ 8]
}

// E17: a tile smaller than the array, and what is left of it.
kernel five_by_five(A: tensor<f32>[5, 5], B: tensor<f32>[5, 5]) {
  let i = ctx.block.x * 4
  let j = ctx.block.y * 4
  B[i :+ 4, j :+ 4] = A[i :+ 4, j :+ 4] * 2.0 + 1.0
}

// E04: the last, partial block stores inside only.
kernel last_block(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 256
  Y[i :+ 256] = X[i :+ 256] * 3.0
}

// E05: row 1 of 32 columns of rows 40 apart.
kernel row_of_a_view(A: tensor<f32>[2, 40], B: tensor<f32>[2, 40]) {
  B[1, 0 :+ 32] = A[1, 0 :+ 32]
  B[0, 8 :+ 32] = A[1, 0 :+ 32] + 1.0
}

// E07: 8 elements and 4 x 64 in one kernel of 128 threads.
@launch(128)
kernel small_beside_large(V: tensor<f32>[N], A: tensor<f32>[4, 64], B: tensor<f32>[4, 64]) {
  let v = V[0 :+ 8]
  for i in range(0, 4) {
    B[:, :] = A[:, :] + f32(i)
    V[0 :+ 8] = v * 2.0 + f32(i)
  }
}

// E08: the same 256 elements stored to 100, then to all.
kernel short_then_full(X: tensor<f32>[256], Y: tensor<f32>[N], Z: tensor<f32>[256]) {
  let x = X[:] + 1.0
  Y[0 :+ 256] = x
  Z[:] = x
  for k in range(0, N, 64) {
    Y[k :+ 64] = Y[k :+ 64] * 3.0
  }
}

// E10 E11: axes of extent 1, stored, loaded, and masked.
kernel unit_extents(A: tensor<f32>[M, N, 1], B: tensor<f32>[1, M, N], C: tensor<f32>[N, M]) {
  let j = ctx.block.x * 16
  B[0, 0, j :+ 16] = A[0, j :+ 16, 0]
  C[j :+ 16, 0] = A[0, j :+ 16, :]
}

// E13: no rows at all: nothing is read, nothing stored, and the sum of nothing is 0.
kernel no_rows(A: tensor<f32>[M, N], Y: tensor<f32>[8]) {
  var acc: tile<f32>[1, 8] = 0.0
  for i in range(0, M, 4) {
    A[i :+ 4, 0 :+ 8] = 1.0
    acc += A[i, 0 :+ 8] + 1.0
  }
  Y[:] = acc
  A[0 :+ 4, 0 :+ 8] = 2.0
}

// E02: masked lanes change nothing inside.
kernel three_masked(A: tensor<f16>[N], B: tensor<f16>[N], C: tensor<f16>[N], Y: tensor<f16>[N]) {
  let i = ctx.block.x * 32
  Y[i :+ 32] = A[i :+ 32] + B[i :+ 32] + C[i :+ 32]
}

// E20: an i64 offset of a slice and of a point.
kernel long_offset(X: tensor<f32>[N], Y: tensor<f32>[N], l: i64) {
  Y[l :+ 8] = X[l - 8 :+ 8]
  Y[l + 16] = X[l * 2]
}

// E22: a start that is only sometimes a multiple of 4: a shift, a selection, a carried offset.
kernel shifted_starts(X: tensor<f32>[N], Y: tensor<f32>[N], n: i32, p: bool) {
  Y[0 :+ 8] = X[1 << n :+ 8]
  Y[8 :+ 8] = X[where(p, 4, 1) :+ 8]
  var at: i32 = 4
  for i in range(0, 3) {
    Y[16 + at :+ 4] = X[at :+ 4]
    at += 7
  }
}

// P14: a row is written whole, its halves read back swapped and written.
kernel swapped_halves(A: tensor<f32>[N], X: tensor<f32>[64]) {
  A[0 :+ 64] = X[:] * 2.0
  let low = A[0 :+ 32]
  let high = A[32 :+ 32]
  A[0 :+ 32] = high
  A[32 :+ 32] = low
}

// E01: the masked part of 256 elements is 0, and adds nothing to the sum of 16.
kernel masked_ones(X: tensor<f32>[N], Y: tensor<f32>[1, 1]) {
  let ones: tile<f32>[1, 256] = 1.0
  Y[:, :] = dot_t(ones, X[0 :+ 256])
}

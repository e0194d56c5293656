// run: rows M=37 N=20 i=5 j=30 grid=1 seed=1 data=integers tol=0
// run: rows M=37 N=20 i=-4 j=90 grid=1 seed=1 data=integers tol=0
// run: rows M=37 N=20 i=30 j=5 grid=1 seed=1 data=integers tol=0
// run: rows M=600 N=300 i=3 j=577 grid=1 seed=1 data=integers tol=0
// run: rows M=40 N=20 i=-2147483648 j=9 grid=1 seed=1 data=integers tol=0
// run: from_on N=1000 s=7 grid=1 seed=2 data=integers tol=0
// run: from_on N=5001 s=2048 grid=1 seed=2 data=integers tol=0
// run: from_on N=64 s=64 grid=1 seed=2 data=integers tol=0
// run: from_on N=64 s=90 grid=1 seed=2 data=integers tol=0
// run: some_columns M=40 N=12 n=33 x=1.5 grid=1 seed=3 data=integers tol=0
// run: some_columns M=40 N=2 n=50 x=-2.0 grid=1 seed=3 data=integers tol=0
// run: some_columns M=40 N=12 n=-1 x=1.5 grid=1 seed=3 data=integers tol=0
// run: counted N=100 i=90 n=20 grid=1 seed=4 tol=0
// run: counted N=100 i=-5 n=20 grid=1 seed=4 tol=0
// run: counted N=100 i=-20 n=20 grid=1 seed=4 tol=0
// run: counted N=100 i=3 n=-7 grid=1 seed=4 tol=0
// run: counted N=100 i=8 n=2147483647 grid=1 seed=4 tol=0
// run: counted N=100 i=-2147483648 n=-2147483648 grid=1 seed=4 tol=0
// run: whole M=37 N=140 grid=1 seed=5 data=integers tol=0
// run: whole M=1 N=3 grid=1 seed=5 data=integers tol=0
// run: whole M=0 N=8 grid=1 seed=5 data=integers tol=0
// run: five A=3 B=5 C=2 D=4 E=133 i=1 j=4 n=3 grid=1 seed=6 data=integers tol=0
// run: five A=3 B=5 C=2 D=4 E=8 i=-1 j=9 n=100 grid=1 seed=6 data=integers tol=0
// run: with_points M=9 N=21 K=33 i=8 s=4 n=30 grid=1 seed=7 data=integers tol=0
// run: bytes M=6 N=75 i=1 n=70 grid=1 seed=8 tol=0
// run: halves M=6 N=72 n=70 x=0.1 grid=1 seed=9 tol=0
// run: wider N=50 i=3 j=41 grid=1 seed=10 data=integers tol=0
// run: every_operator N=70 n=65 x=3 grid=1 seed=11 tol=0
// run: truths N=70 n=65 grid=1 seed=12 tol=0
// run: long_span M=3 n=2 grid=1 seed=13 data=integers tol=0
// run: in_order N=300 i=3 j=290 grid=1 seed=14 data=integers tol=0
// run: per_block N=1000 n=37 seed=15 data=integers tol=0
// run: promised M=64 N=512 seed=16 grid=1 data=integers tol=0
// run: moving N=200 n=9 grid=1 seed=17 data=integers tol=0
// run: once N=40 K=8 grid=1 seed=18 data=integers tol=0
// run: of_tiles i=3 j=11 grid=1 seed=20 data=integers tol=0
// run: of_tiles i=-3 j=40 grid=1 seed=20 data=integers tol=0
// run: of_tiles i=9 j=9 grid=1 seed=20 data=integers tol=0
// run: of_static i=2 j=9 grid=1 seed=21 data=integers tol=0
// run: of_static i=-2 j=90 grid=1 seed=21 data=integers tol=0
// run: in_a_warp N=100 n=50 grid=1 seed=19 data=integers tol=0

// A negative start and an end behind the extent are masked; an end before the start is nothing (B099).
kernel rows(A: tensor<f32>[M, N], i: i32, j: i32) {
  A[i : j, :] = 0.0
}

// `A[s:]` ends at the extent, and takes no mask of its own (B077).
kernel from_on(A: tensor<f32>[N], s: i32) {
  A[s:] += 1.0
}

// A static span beside it may lie past the end.
kernel some_columns(A: tensor<f32>[M, N], n: i32, x: f32) {
  A[:n, 0 :+ 4] *= x
}

// A length of run time; no sum of start and length is more than an index holds.
kernel counted(A: tensor<i32>[N], i: i32, n: i32) {
  A[i :+ n] = 1
}

kernel whole(A: tensor<f32>[M, N]) {
  A[:, :] = 2.5
}

// Rank 5: several axes of run-time length, points and a static span.
kernel five(T: tensor<f32>[A, B, C, D, E], i: i32, j: i32, n: i32) {
  T[:, i : j, 1, 1 :+ 2, 2 :+ n] -= 0.5
}

kernel with_points(A: tensor<f32>[M, N, K], i: i32, s: i32, n: i32) {
  A[i, s:, 3 :+ n] = -1.0
}

// Bytes wrap, and 16 of them would be one access: the slice's end cuts such a run.
kernel bytes(A: tensor<u8>[M, N], i: i32, n: i32) {
  A[i:, 0 :+ n] += 200
}

// Computed in f32, rounded once: an f16 tile times an f32 scalar is f32.
kernel halves(A: tensor<f16>[M, N], n: i32, x: f32) {
  A[:, :n] *= x
}

kernel wider(A: tensor<f64>[N], i: i32, j: i32) {
  A[i : j] /= 3.0
}

kernel every_operator(A: tensor<i32>[10, N], n: i32, x: i32) {
  A[0, :n] += x
  A[1, :n] -= x
  A[2, :n] *= x
  A[3, :n] /= x
  A[4, :n] %= x
  A[5, :n] &= x
  A[6, :n] |= x
  A[7, :n] ^= x
  A[8, :n] <<= x
  A[9, :n] >>= x
}

kernel truths(A: tensor<bool>[2, N], n: i32) {
  A[0, :n] = true
  A[1, :n] ^= true
}

// A static span that has no room in one tile is walked too.
kernel long_span(A: tensor<f32>[M, 5000], n: i32) {
  A[:n, 3 :+ 4990] += 1.0
}

// Each statement sees the one before, in whatever layout that was.
kernel in_order(A: tensor<f32>[N], B: tensor<f32>[64], i: i32, j: i32) {
  A[10 :+ 64] = 7.0
  A[i : j] += 1.0
  A[j] = A[i] + A[i + 1]
  A[i + 1 : j + 1] *= 2.0
  A[i:] += 3.0
  B[:] = A[j - 60 :+ 64]
}

// The start gives the grid, as that of a static slice does.
kernel per_block(A: tensor<f32>[N], n: i32) {
  A[ctx.block.x * 64 :+ n] = 0.0
}

// The promise takes the masks.
@aligned(M = 64, N = 256)
kernel promised(A: tensor<f32>[M, N]) {
  A[:, :] *= 2.0
}

// In a loop that moves the slice over itself.
kernel moving(A: tensor<f32>[N], n: i32) {
  for k in range(0, n) {
    A[k : k + k * k] += 1.0
    A[k * 7 :+ k] *= 2.0
  }
}

// The value and the subscripts of a compound assignment are read once, before an element changes.
kernel once(A: tensor<f32>[N], P: tensor<i32>[K]) {
  A[P[0] & 15 : 16 + (P[1] & 7)] += A[20]
  P[P[0] & 3 :] = P[1]
}

// Slices of a tile, which is then in shared memory.
kernel of_tiles(A: tensor<f32>[16, 33], B: tensor<f32>[16, 33], i: i32, j: i32) {
  var t = A[:, :]
  t[i : j, :] = 0.0
  t[:j, i :+ 7] += 1.0
  B[:, :] = t * 2.0
  t[8:, i : j] -= 3.0
  A[:, :] = t
}

// Static extents, and starts that are not.
kernel of_static(A: tensor<f32>[10, 12], B: tensor<i8>[7], i: i32, j: i32) {
  A[i : j, j - 8 :+ j] += 1.0
  A[:, i : j] *= 2.0
  B[i + 2 :] = 5
}

// Fewer threads than a row of the tile has vectors.
@launch(96)
kernel in_a_warp(A: tensor<f32>[N], n: i32) {
  A[0 :+ n] += 1.0
}

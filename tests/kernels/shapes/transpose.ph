// run: square R=128 C=64 seed=1 tol=0
// run: square R=100 C=36 seed=2 tol=0
// run: square R=37 C=51 seed=3 tol=0
// run: transposed_halves R=40 C=72 seed=4 tol=0
// run: bytes R=64 C=48 seed=5 tol=0
// run: flags R=24 C=40 seed=6 tol=0
// run: wide R=20 C=12 seed=7 tol=0
// run: oblong R=24 C=56 seed=8 tol=0
// run: thin R=12 C=40 seed=9 tol=0
// run: twice R=32 C=24 seed=10 tol=0
// run: scaled R=32 C=24 seed=11 tol=0
// run: gram M=32 K=16 seed=12 data=integers tol=0
// run: row_sums R=32 C=24 seed=13 data=integers tol=0
// run: carried N=64 seed=14 data=integers tol=0
// run: lower R=24 C=40 seed=15 tol=0
// run: lower_halves R=40 C=24 seed=16 tol=0
// run: lower_ints R=33 C=33 seed=17 tol=0
// run: flat_views R=6 C=20 N=120 seed=18 tol=0
// run: flat_odd N=35 seed=19 tol=0
// run: flat_column N=24 seed=22 tol=0
// run: flat_same N=512 seed=20 tol=0
// run: flat_kept N=128 seed=21 tol=0

// transpose swaps the axes, for tiles that are not square too (B135).
kernel square(X: tensor<f32>[R, C], Y: tensor<f32>[C, R]) {
  let r = ctx.block.x * 64
  let c = ctx.block.y * 64
  Y[c :+ 64, r :+ 64] = transpose(X[r :+ 64, c :+ 64])
}

kernel transposed_halves(X: tensor<f16>[R, C], Y: tensor<f16>[C, R]) {
  let r = ctx.block.x * 64
  let c = ctx.block.y * 32
  Y[c :+ 32, r :+ 64] = transpose(X[r :+ 64, c :+ 32])
}

kernel bytes(X: tensor<i8>[R, C], Y: tensor<i8>[C, R]) {
  let r = ctx.block.x * 32
  let c = ctx.block.y * 64
  Y[c :+ 64, r :+ 32] = transpose(X[r :+ 32, c :+ 64])
}

kernel flags(X: tensor<bool>[R, C], Y: tensor<bool>[C, R]) {
  Y[0 :+ 40, 0 :+ 24] = transpose(X[0 :+ 24, 0 :+ 40])
}

kernel wide(X: tensor<f64>[R, C], Y: tensor<f64>[C, R], Z: tensor<i64>[R, C], W: tensor<i64>[C, R]) {
  Y[0 :+ 12, 0 :+ 20] = transpose(X[0 :+ 20, 0 :+ 12])
  W[0 :+ 12, 0 :+ 20] = transpose(Z[0 :+ 20, 0 :+ 12])
}

// Sides that are not powers of two, larger than the tensor.
kernel oblong(X: tensor<f32>[R, C], Y: tensor<f32>[C, R]) {
  Y[0 :+ 60, 0 :+ 28] = transpose(X[0 :+ 28, 0 :+ 60])
}

// One row or one column: no element moves between the rows.
kernel thin(X: tensor<f32>[R, C], Y: tensor<f32>[C, R]) {
  let i = ctx.block.x
  Y[0 :+ 40, i :+ 1] = transpose(X[i :+ 1, 0 :+ 40])
}

kernel twice(X: tensor<f32>[R, C], Y: tensor<f32>[R, C]) {
  let t = transpose(X[0 :+ 32, 0 :+ 24]) + 1.0
  Y[0 :+ 32, 0 :+ 24] = transpose(t) + X[0 :+ 32, 0 :+ 24]
}

kernel scaled(X: tensor<f32>[R, C], S: tensor<f32>[R], Y: tensor<f32>[C, R]) {
  let row: tile<f32>[1, 32] = S[0 :+ 32]
  Y[0 :+ 24, 0 :+ 32] = transpose(X[0 :+ 32, 0 :+ 24]) * row + iota(0) - iota(1)
}

// An operand of a contraction.
kernel gram(A: tensor<f32>[M, K], C: tensor<f32>[K, K]) {
  let a = A[0 :+ 32, 0 :+ 16]
  C[0 :+ 16, 0 :+ 16] = dot(transpose(a), a)
}

kernel row_sums(X: tensor<f32>[R, C], Y: tensor<f32>[C, 1]) {
  Y[0 :+ 24, 0 :+ 1] = rowsum(transpose(X[0 :+ 32, 0 :+ 24]))
}

// Carried through a loop: the buffer of the exchange is written again.
kernel carried(X: tensor<f32>[N, N]) {
  var t = X[0 :+ 64, 0 :+ 64]
  for k in range(0, 3) {
    t = transpose(t) + k
  }
  X[0 :+ 64, 0 :+ 64] = t
}

// ---- tril -----------------------------------------------------------------------------------------------------

kernel lower(X: tensor<f32>[R, C], Y: tensor<f32>[R, C]) {
  Y[0 :+ 24, 0 :+ 40] = tril(X[0 :+ 24, 0 :+ 40])
}

kernel lower_halves(X: tensor<f16>[R, C], Y: tensor<f16>[R, C]) {
  Y[0 :+ 40, 0 :+ 24] = tril(X[0 :+ 40, 0 :+ 24])
}

kernel lower_ints(X: tensor<u8>[R, C], Y: tensor<u8>[R, C]) {
  Y[0 :+ 33, 0 :+ 33] = tril(X[0 :+ 33, 0 :+ 33])
}

// ---- flat -----------------------------------------------------------------------------------------------------

// The row-major [1, R * C] view (B140).
kernel flat_views(X: tensor<i32>[R, C], Y: tensor<i32>[N], Z: tensor<i32>[1, N]) {
  let t = X[0 :+ 6, 0 :+ 20]
  Y[0 :+ 120] = flat(t)
  Z[0 :+ 1, 0 :+ 120] = flat(t) + iota(1)
}

kernel flat_odd(X: tensor<f16>[5, 7], Y: tensor<f16>[N]) {
  let t = X[0 :+ 5, 0 :+ 7]
  Y[0 :+ 35] = flat(t)
}

// A column only changes its name.
kernel flat_column(X: tensor<f32>[24, 1], Y: tensor<f32>[1, N]) {
  let t = X[0 :+ 24, 0 :+ 1]
  Y[0 :+ 1, 0 :+ 24] = flat(t) + iota(1)
}

// Rows that the threads walk one after another are flat already.
kernel flat_same(X: tensor<f32>[4, 128], Y: tensor<f32>[N]) {
  let t = X[0 :+ 4, 0 :+ 128]
  Y[0 :+ 512] = flat(t) * 2.0
}

// What the view was made of may change while the view lives.
kernel flat_kept(X: tensor<f32>[8, 16], Y: tensor<f32>[N], Z: tensor<f32>[8, 16]) {
  var t = X[0 :+ 8, 0 :+ 16]
  let v = flat(t)
  t = t + 1.0
  let w = flat(t)
  Y[0 :+ 128] = v * 2.0 - w
  Z[0 :+ 8, 0 :+ 16] = t
}

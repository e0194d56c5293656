// run: mask_in_loop N=8 seed=1 tol=0
// run: mask_of_32 N=32 seed=2 tol=0
// run: down R=64 C=40 seed=3 data=integers tol=0
// run: down R=50 C=36 seed=4 data=integers tol=0
// run: one_warp R=100 C=12 seed=5 data=integers tol=0
// run: many_rows R=1024 C=4 seed=6 data=integers tol=0
// run: one_row R=1 C=64 seed=7 data=integers tol=0
// run: one_column R=64 C=1 seed=8 data=integers tol=0
// run: one_element R=1 C=1 seed=9 data=integers tol=0
// run: all_shapes M=64 N=1 A=64 B=1 seed=10 data=integers tol=0
// run: all_shapes M=1 N=64 A=1 B=64 seed=11 data=integers tol=0
// run: all_shapes M=16 N=4 A=16 B=4 seed=12 data=integers tol=0
// run: all_shapes M=2 N=32 A=2 B=32 seed=13 data=integers tol=0
// run: sub_region R=24 C=40 seed=14 data=integers tol=0
// run: some_rows R=40 C=16 seed=15 data=integers tol=0
// run: exclusive R=32 C=24 seed=16 data=integers tol=0
// run: halves R=48 C=24 seed=17 data=integers tol=0
// run: summed_bytes R=300 C=8 seed=18 tol=0
// run: wide_ints R=70 C=6 seed=19 data=integers tol=0
// run: doubles R=33 C=9 seed=20 data=integers tol=0
// run: of_a_product M=64 N=64 K=16 seed=21 data=integers tol=0
// run: normal R=128 C=32 seed=22 tol=1e-5
// run: along_rows R=16 C=48 seed=23 data=integers tol=0
// run: chained N=96 seed=24 data=integers tol=0

// Ones under a mask, in a loop of one trip (S01).
kernel mask_in_loop(X: tensor<f32>[N], Y: tensor<i32>[8, 1]) {
  for k in range(0, 1) {
    let ones = where(X[0 :+ 8] == X[0 :+ 8], 1, 0)
    let column: tile<i32>[8, 1] = ones
    Y[0 :+ 8, 0 :+ 1] = cumsum(column)
  }
}

kernel mask_of_32(X: tensor<f32>[N], Y: tensor<i32>[32, 1]) {
  for k in range(0, 1) {
    let column: tile<i32>[32, 1] = where(X[0 :+ 32] == X[0 :+ 32], 1, 0)
    Y[0 :+ 32, 0 :+ 1] = cumsum(column)
  }
}

// Down the rows, of a tile that is not square (B135).
kernel down(X: tensor<f32>[R, C], Y: tensor<f32>[R, C]) {
  Y[0 :+ 64, 0 :+ 40] = cumsum(X[0 :+ 64, 0 :+ 40])
}

@launch(32)
kernel one_warp(X: tensor<i32>[R, C], Y: tensor<i32>[R, C]) {
  Y[0 :+ 100, 0 :+ 12] = cumsum(X[0 :+ 100, 0 :+ 12])
}

// More rows than threads (S05).
kernel many_rows(X: tensor<i32>[R, C], Y: tensor<i32>[R, C]) {
  Y[0 :+ 1024, 0 :+ 4] = cumsum(X[0 :+ 1024, 0 :+ 4])
}

kernel one_row(X: tensor<i8>[R, C], Y: tensor<i32>[R, C]) {
  Y[0 :+ 1, 0 :+ 64] = cumsum(X[0 :+ 1, 0 :+ 64])
}

kernel one_column(X: tensor<f32>[R, C], Y: tensor<f32>[R, C]) {
  Y[0 :+ 64, 0 :+ 1] = cumsum(X[0 :+ 64, 0 :+ 1])
}

kernel one_element(X: tensor<f32>[R, C], Y: tensor<f32>[R, C]) {
  Y[0 :+ 1, 0 :+ 1] = cumsum(X[0 :+ 1, 0 :+ 1])
}

// Every shape of 64 elements, then broadcast (S06).
@autotune(A in [64, 1, 16, 2], B in [1, 64, 4, 32])
kernel all_shapes(X: tensor<f32>[M, N], Y: tensor<f32>[N, M]) {
  let sums = cumsum(X[0 :+ A, 0 :+ B])
  Y[0 :+ B, 0 :+ A] = transpose(sums) + 0.0
}

// A part of a wider tensor, whose rows are longer (S08).
kernel sub_region(X: tensor<f32>[R, C], Y: tensor<f32>[R, C]) {
  Y[4 :+ 16, 8 :+ 12] = cumsum(X[4 :+ 16, 8 :+ 12])
}

// Rows that do not begin at 0; what is outside stays (S09).
kernel some_rows(X: tensor<f32>[R, C]) {
  let r = 10
  X[r :+ 20, 0 :+ 16] = cumsum(X[r :+ 20, 0 :+ 16])
}

// The operand is still there afterwards (S11).
kernel exclusive(X: tensor<f32>[R, C], Y: tensor<f32>[R, C], Z: tensor<f32>[R, C]) {
  let x = X[0 :+ 32, 0 :+ 24]
  let inclusive = cumsum(x)
  Y[0 :+ 32, 0 :+ 24] = inclusive - x
  Z[0 :+ 32, 0 :+ 24] = x
}

// f16 is summed in f32.
kernel halves(X: tensor<f16>[R, C], Y: tensor<f32>[R, C]) {
  Y[0 :+ 48, 0 :+ 24] = cumsum(X[0 :+ 48, 0 :+ 24] + 1024.0)
}

kernel summed_bytes(X: tensor<i8>[R, C], Y: tensor<i32>[R, C]) {
  Y[0 :+ 300, 0 :+ 8] = cumsum(X[0 :+ 300, 0 :+ 8])
}

kernel wide_ints(X: tensor<i64>[R, C], Y: tensor<i64>[R, C]) {
  Y[0 :+ 70, 0 :+ 6] = cumsum(X[0 :+ 70, 0 :+ 6] * 1000000007)
}

kernel doubles(X: tensor<f64>[R, C], Y: tensor<f64>[R, C]) {
  Y[0 :+ 33, 0 :+ 9] = cumsum(X[0 :+ 33, 0 :+ 9])
}

// An accumulator, whose warps share the columns, goes through shared memory and back.
kernel of_a_product(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[64, 64] = 0.0
  acc += dot(A[0 :+ 64, 0 :+ 16], B[0 :+ 16, 0 :+ 64])
  C[0 :+ 64, 0 :+ 64] = cumsum(acc) + acc
}

kernel normal(X: tensor<f32>[R, C], Y: tensor<f32>[R, C]) {
  Y[0 :+ 128, 0 :+ 32] = cumsum(X[0 :+ 128, 0 :+ 32])
}

kernel along_rows(X: tensor<f32>[R, C], Y: tensor<f32>[R, C]) {
  Y[0 :+ 16, 0 :+ 48] = transpose(cumsum(transpose(X[0 :+ 16, 0 :+ 48])))
}

// A scan over more rows than a tile: the last row is carried on.
kernel chained(X: tensor<i32>[N, 8], Y: tensor<i32>[N, 8]) {
  var before: tile<i32>[1, 8] = 0
  for r in range(0, N, 32) {
    let x = X[r :+ 32, 0 :+ 8]
    Y[r :+ 32, 0 :+ 8] = cumsum(x) + before
    before = before + colsum(x)
  }
}

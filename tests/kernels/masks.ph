// run: indices M=12 N=20 seed=1 tol=0
// run: lower_triangle N=32 seed=2 tol=0
// run: fill_outside M=16 N=50 seed=3 tol=0
// run: compare_all N=128 seed=4 tol=0
// run: bools N=128 seed=5 tol=0

// iota inside a block's tile (B141).
kernel indices(Y: tensor<i32>[M, N]) {
  let i = ctx.block.x * 8
  let j = ctx.block.y * 16
  Y[i :+ 8, j :+ 16] = (iota(0) + i32(i)) * 1000 + iota(1) + i32(j)
}

kernel lower_triangle(A: tensor<f32>[N, N], B: tensor<f32>[N, N]) {
  B[0 :+ 32, 0 :+ 32] = where(iota(1) <= iota(0), A[0 :+ 32, 0 :+ 32], 0.0)
}

// The mask that a ragged maximum needs (B092): columns past N hold the fill, not 0.
kernel fill_outside(A: tensor<f32>[M, N], Y: tensor<f32>[M, 16]) {
  var best: tile<f32>[16, 16] = -1.0e30
  for k in range(0, N, 16) {
    var s = A[0 :+ 16, k :+ 16] - 100.0
    s = where(iota(1) < N - k, s, -1.0e30)
    best = max(best, s)
  }
  Y[0 :+ 16, :] = best
}

// Every comparison, also with NaN: 0 / 0 (B041, IEEE).
kernel compare_all(X: tensor<f32>[N], Y: tensor<f32>[N], Z: tensor<i32>[N]) {
  let i = ctx.block.x * 64
  let x = floor(X[i :+ 64])
  let y = floor(Y[i :+ 64])
  let q = (x - x) / (y - y)
  var z = where(x < y, 1, 0) + where(x <= y, 2, 0) + where(x > y, 4, 0) + where(x >= y, 8, 0)
  z += where(x == y, 16, 0) + where(x != y, 32, 0) + where(q != q, 64, 0) + where(q == q, 128, 0) + where(q < 1.0, 256, 0)
  Z[i :+ 64] = z
}

// tile<bool> and tensor<bool>; the operators on bools.
kernel bools(X: tensor<f32>[N], B: tensor<bool>[N], C: tensor<bool>[N]) {
  let i = ctx.block.x * 64
  let x = X[i :+ 64]
  let inside = x > -0.5 && x < 0.5
  C[i :+ 64] = !inside || (B[i :+ 64] ^ (x > 0.0)) & B[i :+ 64]
}

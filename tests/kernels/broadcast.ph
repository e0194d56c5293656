// run: stretch M=16 N=32 seed=1 tol=1e-6
// run: stretch_ragged M=20 N=36 seed=2 tol=1e-6
// run: where_pairs M=16 N=32 seed=3 tol=0
// run: units M=16 N=32 seed=4 tol=0
// run: index_tiles M=8 N=20 seed=5 tol=0
// run: units_between M=16 N=12 seed=6 tol=0
// run: unit_added M=4 N=8 seed=7 tol=0

// [R, C] with [R, 1], [1, C] and [1, 1] (B111).
kernel stretch(A: tensor<f32>[M, N], R: tensor<f32>[M, 1], C: tensor<f32>[1, N], S: tensor<f32>[1, 1], Y: tensor<f32>[M, N]) {
  let a = A[0 :+ 16, 0 :+ 32]
  let r = R[0 :+ 16, 0 :+ 1]
  let c = C[0 :+ 1, 0 :+ 32]
  let s = S[0 :+ 1, 0 :+ 1]
  Y[0 :+ 16, 0 :+ 32] = (a - r) * c + s / (r * r + 1.0)
}

kernel stretch_ragged(A: tensor<f32>[M, N], R: tensor<f32>[M, 1], C: tensor<f32>[1, N], Y: tensor<f32>[M, N]) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 32
  let r = R[i :+ 16, :]
  let c = C[:, j :+ 32]
  Y[i :+ 16, j :+ 32] = A[i :+ 16, j :+ 32] * r - c
}

// Mask and values of all shapes (conformance B05).
kernel where_pairs(A: tensor<f32>[M, N], R: tensor<f32>[M, 1], C: tensor<f32>[1, N], Y: tensor<f32>[M, N], Z: tensor<f32>[M, N]) {
  let a = A[0 :+ 16, 0 :+ 32]
  let r = R[0 :+ 16, 0 :+ 1]
  let c = C[0 :+ 1, 0 :+ 32]
  Y[0 :+ 16, 0 :+ 32] = where(r < 0.0, a, c)
  Z[0 :+ 16, 0 :+ 32] = where(c < r, r, a)
}

// Axes of extent 1 come and go between the sides of an assignment (section 2, rank).
kernel units(A: tensor<f32>[2, 3, M, N], B: tensor<f32>[M, N], C: tensor<f32>[N]) {
  let t: tile<f32>[16, 32] = A[1, 2, 0 :+ 16, 0 :+ 32]
  B[0 :+ 16, 0 :+ 32] = t
  A[0, 0, 0 :+ 16, 0 :+ 32] = t + 1.0
  C[0 :+ 32] = B[3, 0 :+ 32]
}

// A tile joined with an extent holds indices, and changes its layout through shared memory.
@launch(64)
kernel index_tiles(A: tensor<i32>[M, N], C: tensor<i32>[M, N]) {
  let r = A[0 :+ 8, 1 :+ 1] * M
  C[0 :+ 8, 0 :+ 16] = dot(A[0 :+ 8, 0 :+ 8], A[0 :+ 8, 0 :+ 16]) + r
  A[0 :+ 8, 0 :+ 16] += r
}

// Unit axes are dropped on both sides of an axis whose values are stretched.
@launch(64)
kernel units_between(T: tensor<f32>[2, 3, M, 3, 2], Y: tensor<f32>[M, N, 2]) {
  let r: tile<f32>[16, 1, 2] = T[1, 2, 0 :+ 16, 1, 0 :+ 2]
  Y[0 :+ 16, 0 :+ 8, 0 :+ 2] += r
}

// A unit axis is added in front, of which the other operand has its own layout.
@launch(64)
kernel unit_added(A: tensor<f32>[M, N], B: tensor<f32>[N]) {
  let a = A[0, 0 :+ 7]
  let b: tile<f32>[1, 7] = B[0 :+ 7]
  A[1, 0 :+ 7] = a + b
}

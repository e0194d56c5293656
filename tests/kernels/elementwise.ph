// run: arithmetic M=20 N=36 s=1.5 seed=1 tol=1e-6
// run: negate M=4 N=8 seed=2 tol=0
// run: extremes M=16 N=32 seed=3 tol=0
// run: in_place M=12 N=40 seed=4 tol=1e-5
// run: reads_target M=16 N=32 seed=5 tol=1e-5
// run: compound M=16 N=64 s=0.75 seed=6 tol=1e-6

// Tile with tile, tile with scalar, scalar with tile (B110).
kernel arithmetic(A: tensor<f32>[M, N], B: tensor<f32>[M, N], C: tensor<f32>[M, N], D: tensor<f32>[M, N], s: f32) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 32
  let a = A[i :+ 16, j :+ 32]
  let b = B[i :+ 16, j :+ 32]
  C[i :+ 16, j :+ 32] = (a + b) * s - b / (2.0 + a * a)
  D[i :+ 16, j :+ 32] = s - a + s * b - (1.0 - b)
}

// -t of a tile, also of zero (B113).
kernel negate(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  B[0 :+ 4, 0 :+ 8] = -(A[0 :+ 4, 0 :+ 8] * 0.0)
}

kernel extremes(A: tensor<f32>[M, N], B: tensor<f32>[M, N], C: tensor<f32>[M, N], D: tensor<f32>[M, N]) {
  let a = A[0 :+ 16, 0 :+ 32]
  let b = B[0 :+ 16, 0 :+ 32]
  C[0 :+ 16, 0 :+ 32] = max(min(a, b), -0.5)
  D[0 :+ 16, 0 :+ 32] = tmax(abs(a), b)
}

// t = f(t) (B119).
kernel in_place(A: tensor<f32>[M, N]) {
  let i = ctx.block.x * 8
  let j = ctx.block.y * 16
  var t = A[i :+ 8, j :+ 16]
  t = exp(t)
  t = t * 2.0
  A[i :+ 8, j :+ 16] = t
}

// An expression that reads what it is assigned to (B120).
kernel reads_target(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let a = A[0 :+ 16, 0 :+ 32]
  var b = B[0 :+ 16, 0 :+ 32]
  b = exp(a * 2.0) + max(a, b)
  B[0 :+ 16, 0 :+ 32] = b
}

// Compound assignment of tiles, of slices, and of a scalar to every element (B118, section 2).
kernel compound(A: tensor<f32>[M, N], B: tensor<f32>[M, N], s: f32) {
  var a = A[0 :+ 16, 0 :+ 64]
  a += 1.0
  a *= s
  a -= B[0 :+ 16, 0 :+ 64] * s
  A[0 :+ 16, 0 :+ 64] = a
  B[0 :+ 16, 0 :+ 64] /= 2.0 + abs(a)
}

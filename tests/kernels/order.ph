// run: across M=20 N=44 seed=1 tol=0
// run: across M=44 N=20 seed=2 tol=0
// run: deep M=5 N=12 K=20 seed=3 tol=0
// run: skipped M=12 N=36 seed=4 tol=0
// run: numbers M=20 N=28 seed=5 tol=0

// Blocks start along y first; each still gets the tile of its own x and y.
kernel across(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let m = ctx.block.x * 8
  let n = ctx.block.y * 8
  B[m :+ 8, n :+ 8] = A[m :+ 8, n :+ 8] + 1.0
}

// z moves along the rows and passes x and y.
kernel deep(A: tensor<f32>[M, N, K], B: tensor<f32>[M, N, K]) {
  let m = ctx.block.x * 2
  let n = ctx.block.y * 4
  let k = ctx.block.z * 8
  B[m :+ 2, n :+ 4, k :+ 8] = A[m :+ 2, n :+ 4, k :+ 8] * 2.0
}

// z passes x; y is not used.
kernel skipped(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let m = ctx.block.x * 4
  let n = ctx.block.z * 8
  B[m :+ 4, n :+ 8] = A[m :+ 4, n :+ 8] - 1.0
}

// What a block knows of itself does not change with the order.
kernel numbers(A: tensor<i32>[M, N]) {
  let m = ctx.block.x * 8
  let n = ctx.block.y * 8
  A[m :+ 8, n :+ 8] = i32(ctx.block.x) * 1000 + i32(ctx.block.y) * 100 + i32(ctx.grid.x) * 10 + i32(ctx.grid.y)
}

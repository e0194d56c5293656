@autotune(TILE_M in [32, 256], TILE_N in [32, 256], TILE_K in [4, 32])
@launch(256)
@pipeline
@aligned(M = TILE_M, N = TILE_N, K = TILE_K)
kernel gemm(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N], alpha: f32, beta: f32) {
  let pm = ctx.block.x
  let pn = ctx.block.y
  var acc: tile<f32>[TILE_M, TILE_N] = 0.0
  for kt in range(0, K, TILE_K) {
    var a = A[pm * TILE_M :+ TILE_M, kt :+ TILE_K]
    var b = B[kt :+ TILE_K, pn * TILE_N :+ TILE_N]
    acc += dot(a, b)
  }
  let c_old = C[pm * TILE_M :+ TILE_M, pn * TILE_N :+ TILE_N]
  C[pm * TILE_M :+ TILE_M, pn * TILE_N :+ TILE_N] = alpha * acc + beta * c_old
}
// ----
kernel gemm(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N], alpha: f32, beta: f32)
constants TILE_M = 32, TILE_N = 32, TILE_K = 4
dims M, K, N
  let pm: index = ctx.block.x
  let pn: index = ctx.block.y
  var acc: tile<f32>[32, 32] = splat[32, 32](0.0:f32)
  for kt in 0:index .. K step 4:index
    var a: tile<f32>[32, 4] = A[(pm * 32:index) :+ 32, kt :+ 4]
    var b: tile<f32>[4, 32] = B[kt :+ 4, (pn * 32:index) :+ 32]
    acc = (acc + dot<f32>(a, b))
  let c_old: tile<f32>[32, 32] = C[(pm * 32:index) :+ 32, (pn * 32:index) :+ 32]
  C[(pm * 32:index) :+ 32, (pn * 32:index) :+ 32] = ((splat[32, 32](alpha) * acc) + (splat[32, 32](beta) * c_old))

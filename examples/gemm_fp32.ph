// run: gemm M=64 N=96 K=32 alpha=1.0 beta=0.5 seed=1 tol=2e-5
// run: gemm M=32 N=32 K=4 alpha=-2.0 beta=0.0 seed=2 tol=2e-5
// run: gemm M=128 N=64 K=64 alpha=0.5 beta=1.0 TILE_M=64 TILE_N=64 TILE_K=8 seed=3 tol=2e-5

// C = alpha * A B + beta * C in IEEE f32. Each CTA owns one tile of C and walks K; its accumulator stays in registers,
// and the loads of one step run while the step before is multiplied.
@autotune(TILE_M in [32, 256], TILE_N in [32, 256], TILE_K in [4, 32])
@launch(256)
@pipeline
@aligned(M = TILE_M, N = TILE_N, K = TILE_K)
kernel gemm(
  A: tensor<f32>[M, K],
  B: tensor<f32>[K, N],
  C: tensor<f32>[M, N],
  alpha: f32,
  beta: f32
) {
  let row = ctx.block.x * TILE_M
  let col = ctx.block.y * TILE_N

  var acc: tile<f32>[TILE_M, TILE_N] = 0.0
  for k in range(0, K, TILE_K) {
    let a = A[row :+ TILE_M, k :+ TILE_K]
    let b = B[k :+ TILE_K, col :+ TILE_N]
    acc += dot(a, b)
  }

  let old = C[row :+ TILE_M, col :+ TILE_N]
  C[row :+ TILE_M, col :+ TILE_N] = alpha * acc + beta * old
}

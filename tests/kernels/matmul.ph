// run: gemm_ragged M=68 N=36 K=308 alpha=1.0 beta=0.5 seed=1 tol=2e-5
// run: gemm_ragged M=4 N=4 K=4 alpha=1.0 beta=1.0 seed=2 tol=2e-5
// run: gemm_ragged M=36 N=68 K=20 alpha=-1.5 beta=0.0 seed=3 tol=2e-5
// run: gemm_ragged M=33 N=7 K=5 alpha=1.0 beta=1.0 seed=4 tol=2e-5
// run: gemm_t M=32 N=48 K=40 seed=5 tol=1e-5
// run: gemm_f16 M=32 N=32 K=48 seed=6 tol=2e-3
// run: gemm_f16_acc M=32 N=32 K=64 seed=7 tol=1e-2
// run: gemm_i8 M=16 N=16 K=30 seed=8 tol=0
// run: gemm_f64 M=16 N=16 K=24 seed=9 tol=1e-12
// run: two_dots M=16 N=16 K=32 seed=10 tol=1e-5
// run: square N=16 seed=11 tol=1e-5
// run: rank_one M=16 N=16 K=8 seed=12 tol=1e-5

// The GEMM without @aligned: every edge masked, the walk over K ragged (B150, B152, B090).
@autotune(TILE_M in [32, 256], TILE_N in [32, 256], TILE_K in [4, 32])
@launch(256)
kernel gemm_ragged(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N], alpha: f32, beta: f32) {
  let row = ctx.block.x * TILE_M
  let col = ctx.block.y * TILE_N
  var acc: tile<f32>[TILE_M, TILE_N] = 0.0
  for k in range(0, K, TILE_K) {
    acc += dot(A[row :+ TILE_M, k :+ TILE_K], B[k :+ TILE_K, col :+ TILE_N])
  }
  C[row :+ TILE_M, col :+ TILE_N] = alpha * acc + beta * C[row :+ TILE_M, col :+ TILE_N]
}

// dot_t; the accumulator is read after it was stored (B154).
kernel gemm_t(A: tensor<f32>[M, K], B: tensor<f32>[N, K], C: tensor<f32>[M, N], D: tensor<f32>[M, N]) {
  let row = ctx.block.x * 16
  let col = ctx.block.y * 16
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += dot_t(A[row :+ 16, k :+ 16], B[col :+ 16, k :+ 16])
  }
  C[row :+ 16, col :+ 16] = acc
  D[row :+ 16, col :+ 16] = acc * 2.0
}

// f16 operands, f32 accumulator (B156).
kernel gemm_f16(A: tensor<f16>[M, K], B: tensor<f16>[K, N], C: tensor<f16>[M, N]) {
  let row = ctx.block.x * 16
  let col = ctx.block.y * 16
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += dot(A[row :+ 16, k :+ 16], B[k :+ 16, col :+ 16])
  }
  C[row :+ 16, col :+ 16] = acc
}

// An f16 accumulator rounds once per += (B157 as section 6 of the language has it).
kernel gemm_f16_acc(A: tensor<f16>[M, K], B: tensor<f16>[K, N], C: tensor<f16>[M, N]) {
  let row = ctx.block.x * 16
  let col = ctx.block.y * 16
  var acc: tile<f16>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += dot(A[row :+ 16, k :+ 16], B[k :+ 16, col :+ 16])
  }
  C[row :+ 16, col :+ 16] = acc
}

// i8 accumulates in i32 without being told (B158); K = 30.
kernel gemm_i8(A: tensor<i8>[M, K], B: tensor<i8>[N, K], C: tensor<i32>[M, N]) {
  var acc: tile<i32>[16, 16] = 0
  for k in range(0, K, 16) {
    acc += dot_t(A[0 :+ 16, k :+ 16], B[0 :+ 16, k :+ 16])
  }
  C[0 :+ 16, 0 :+ 16] = acc
}

kernel gemm_f64(A: tensor<f64>[M, K], B: tensor<f64>[K, N], C: tensor<f64>[M, N]) {
  var acc: tile<f64>[16, 16] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[0 :+ 16, k :+ 8], B[k :+ 8, 0 :+ 16])
  }
  C[0 :+ 16, 0 :+ 16] = acc
}

// Two contractions into one accumulator per trip (conformance D08).
kernel two_dots(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    let a = A[0 :+ 16, k :+ 16]
    acc += dot(a, B[k :+ 16, 0 :+ 16])
    acc += dot_t(a, a)
  }
  C[0 :+ 16, 0 :+ 16] = acc
}

// p = dot(p, p) (B155).
kernel square(P: tensor<f32>[N, N]) {
  var p = P[0 :+ 16, 0 :+ 16]
  p = dot(p, p)
  P[0 :+ 16, 0 :+ 16] = p
}

// acc += r * c and acc -= r * c, and a contraction of one row (B167, B170).
kernel rank_one(R: tensor<f32>[M, 1], C: tensor<f32>[1, N], Q: tensor<f32>[M, K], V: tensor<f32>[1, K], Y: tensor<f32>[M, N], Z: tensor<f32>[M, 1]) {
  var acc: tile<f32>[16, 16] = 1.0
  let r = R[0 :+ 16, 0 :+ 1]
  let c = C[0 :+ 1, 0 :+ 16]
  acc += r * c
  acc -= (r + 1.0) * c
  Y[0 :+ 16, 0 :+ 16] = acc
  Z[0 :+ 16, 0 :+ 1] = dot_t(Q[0 :+ 16, 0 :+ 8], V[0 :+ 1, 0 :+ 8])
}

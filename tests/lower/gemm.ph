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
// ----
kernel gemm(%A: tensor<f32>[M, K], %B: tensor<f32>[K, N], %C: tensor<f32>[M, N]; %M: index, %K: index, %N: index; %alpha: f32, %beta: f32)
  form "built"
  constants {TILE_M = 32, TILE_N = 32, TILE_K = 4}
  attributes {launch = launch(explicit = true), aligned = [aligned(dim = "M", divisor = 32), aligned(dim = "N", divisor = 32), aligned(dim = "K", divisor = 4)], pipeline = 2}
{
  %c32: index = const() {value = 32}
  %rem: index = binary(%M, %c32) {kind = "rem"}
  %c: index = const() {value = 0}
  %eq: bool = compare(%rem, %c) {kind = "eq"}
  require(%eq) {text = "@aligned(M = 32): M must be a multiple of 32"}
  %c32.1: index = const() {value = 32}
  %rem.1: index = binary(%N, %c32.1) {kind = "rem"}
  %c.1: index = const() {value = 0}
  %eq.1: bool = compare(%rem.1, %c.1) {kind = "eq"}
  require(%eq.1) {text = "@aligned(N = 32): N must be a multiple of 32"}
  %c4: index = const() {value = 4}
  %rem.2: index = binary(%K, %c4) {kind = "rem"}
  %c.2: index = const() {value = 0}
  %eq.2: bool = compare(%rem.2, %c.2) {kind = "eq"}
  require(%eq.2) {text = "@aligned(K = 4): K must be a multiple of 4"}
  %block_x: index = program_id() {axis = 0}
  %c32.2: index = const() {value = 32}
  %row: index = binary(%block_x, %c32.2) {kind = "mul"}
  %block_y: index = program_id() {axis = 1}
  %c32.3: index = const() {value = 32}
  %col: index = binary(%block_y, %c32.3) {kind = "mul"}
  %c.3: f32 = const() {value = 0.0}
  %acc: tile<f32>[32, 32] = splat(%c.3)
  %c0: index = const() {value = 0}
  %c4.1: index = const() {value = 4}
  [%acc.1: tile<f32>[32, 32]] = for(%c0, %K, %c4.1, [%acc]) {stages = 2} body(%k: index, %acc.2: tile<f32>[32, 32]) {
    %a: tile<f32>[32, 4] = load(%A, [%row, %k], [%M, %K]) {guards = ["both", "both"], why = ["", ""]}
    %b: tile<f32>[4, 32] = load(%B, [%k, %col], [%K, %N]) {guards = ["both", "both"], why = ["", ""]}
    %acc.3: tile<f32>[32, 32] = dot(%a, %b, %acc.2)
    yield([%acc.3])
  }
  %old: tile<f32>[32, 32] = load(%C, [%row, %col], [%M, %N]) {guards = ["both", "both"], why = ["", ""]}
  %alpha.1: tile<f32>[32, 32] = splat(%alpha)
  %beta.1: tile<f32>[32, 32] = splat(%beta)
  %mul: tile<f32>[32, 32] = binary(%beta.1, %old) {kind = "mul"}
  %fma: tile<f32>[32, 32] = fma(%alpha.1, %acc.1, %mul)
  store(%C, [%row, %col], [%M, %N], %fma) {guards = ["both", "both"], why = ["", ""]}
}

// run: few_trips K=0 STAGES=1 seed=1 tol=0 data=integers
// run: few_trips K=8 STAGES=1 seed=1 tol=0 data=integers
// run: few_trips K=16 STAGES=1 seed=1 tol=0 data=integers
// run: few_trips K=24 STAGES=1 seed=1 tol=0 data=integers
// run: few_trips K=0 STAGES=2 seed=1 tol=0 data=integers
// run: few_trips K=8 STAGES=2 seed=1 tol=0 data=integers
// run: few_trips K=16 STAGES=2 seed=1 tol=0 data=integers
// run: few_trips K=24 STAGES=2 seed=1 tol=0 data=integers
// run: few_trips K=0 STAGES=3 seed=1 tol=0 data=integers
// run: few_trips K=8 STAGES=3 seed=1 tol=0 data=integers
// run: few_trips K=16 STAGES=3 seed=1 tol=0 data=integers
// run: few_trips K=24 STAGES=3 seed=1 tol=0 data=integers
// run: few_trips K=0 STAGES=4 seed=1 tol=0 data=integers
// run: few_trips K=8 STAGES=4 seed=1 tol=0 data=integers
// run: few_trips K=16 STAGES=4 seed=1 tol=0 data=integers
// run: few_trips K=24 STAGES=4 seed=1 tol=0 data=integers
// run: few_trips K=0 STAGES=5 seed=1 tol=0 data=integers
// run: few_trips K=8 STAGES=5 seed=1 tol=0 data=integers
// run: few_trips K=16 STAGES=5 seed=1 tol=0 data=integers
// run: few_trips K=24 STAGES=5 seed=1 tol=0 data=integers
// run: whole_and_rest K=64 seed=2 tol=0 data=integers
// run: whole_and_rest K=80 seed=2 tol=0 data=integers
// run: whole_and_rest K=16 seed=2 tol=0 data=integers
// run: whole_and_rest K=0 seed=2 tol=0 data=integers
// run: whole_and_rest K=84 seed=2 tol=0 data=integers
// run: whole_and_rest K=4 seed=2 tol=0 data=integers
// run: index_of_each_trip N=8 seed=3 n=1 tol=0 data=integers
// run: sums_beside_products K=100 seed=4 tol=0 data=integers
// run: filled_with_ones K=36 seed=5 tol=0 data=integers
// run: zero_first K=36 seed=6 tol=0 data=integers
// run: overwritten_operand seed=7 tol=0 data=integers
// run: bias_and_relu K=40 seed=8 tol=0 data=integers
// run: two_loops K=40 L=28 STAGES=2 seed=9 tol=0 data=integers
// run: two_loops K=40 L=28 STAGES=4 seed=9 tol=0 data=integers
// run: two_loops K=8 L=40 STAGES=3 seed=9 tol=0 data=integers
// run: tiles_in_turn M=32 N=32 K=20 seed=10 grid=3 tol=0 data=integers
// run: every_tile_once MB=5 NB=13 seed=11 grid=4 tol=0
// run: every_tile_once MB=3 NB=8 seed=11 grid=7 tol=0
// run: written_name K=32 seed=12 tol=0 data=integers

// P01: fewer trips than stages, and none.
@autotune(STAGES in [2])
@pipeline(STAGES)
@launch(64)
kernel few_trips(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], C: tensor<f32>[16, 16]) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[:, k :+ 8], B[k :+ 8, :])
  }
  C[:, :] = acc
}

// B191: whole tiles pipelined and the rest once: even, odd, one, no trips, and a ragged end of each.
@pipeline
@launch(64)
kernel whole_and_rest(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], C: tensor<f32>[16, 16]) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += dot(A[:, k :+ 16], B[k :+ 16, :])
  }
  C[:, :] = acc
}

// P02: an index that each trip loads, and a store at it under a condition known at run time.
@pipeline(2)
@launch(64)
kernel index_of_each_trip(I: tensor<i32>[N], A: tensor<f32>[8, 64], B: tensor<f32>[64, 8], Y: tensor<i32>[8], C: tensor<f32>[8, 8], n: i32) {
  for i in range(0, 8) {
    I[i] = 7 - i32(i)
  }
  var acc: tile<f32>[8, 8] = 0.0
  for k in range(0, 8) {
    let at = I[k]
    acc += dot(A[:, k * 8 :+ 8], B[k * 8 :+ 8, :])
    if n > 0 {
      Y[at] = i32(k) + 1
    }
  }
  C[:, :] = acc
}

// P04: a sum in front of the product, and behind it.
@pipeline(3)
@launch(64)
kernel sums_beside_products(A: tensor<f32>[8, K], B: tensor<f32>[K, 8], C: tensor<f32>[8, 8], S: tensor<f32>[8, 8], T: tensor<f32>[8, 8]) {
  var acc: tile<f32>[8, 8] = 0.0
  var before: tile<f32>[8, 8] = 0.0
  var after: tile<f32>[8, 8] = 0.0
  for k in range(0, K, 8) {
    let a = A[:, k :+ 8]
    before += a
    acc += dot(a, B[k :+ 8, :])
    after += a * 2.0
  }
  C[:, :] = acc
  S[:, :] = before
  T[:, :] = after
}

// P05: past the end stand ones, not zeros.
@pipeline(2)
@launch(64)
kernel filled_with_ones(A: tensor<f32>[8, K], B: tensor<f32>[64, 8], C: tensor<f32>[8, 8]) {
  var acc: tile<f32>[8, 8] = 0.0
  for k in range(0, K, 16) {
    acc += dot(where(iota(1) < K - k, A[:, k :+ 16], 1.0), B[k :+ 16, :])
  }
  C[:, :] = acc
}

// P07: what is zeroed before the loop stays before it.
@pipeline(3)
@launch(64)
kernel zero_first(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], C: tensor<f32>[16, 16]) {
  let zero: tile<f32>[16, 16] = 0.0
  var acc = dot(zero, zero)
  for k in range(0, K, 16) {
    acc += dot(A[:, k :+ 16], B[k :+ 16, :])
  }
  acc += dot(zero, zero)
  C[:, :] = acc
}

// P08: an operand that the loop reads and then overwrites.
@pipeline(2)
@launch(64)
kernel overwritten_operand(A: tensor<f32>[8, 8], B: tensor<f32>[32, 8], C: tensor<f32>[8, 8]) {
  var t = A[:, :]
  for k in range(0, 32, 8) {
    t = dot(t, B[k :+ 8, :]) - t
  }
  C[:, :] = t
}

// P10: a bias read before the loop and used after it: relu(A @ B + bias).
@pipeline(2)
@launch(64)
kernel bias_and_relu(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], V: tensor<f32>[16], C: tensor<f32>[16, 16]) {
  let bias: tile<f32>[1, 16] = V[:]
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[:, k :+ 8], B[k :+ 8, :])
  }
  C[:, :] = max(acc + bias, 0.0)
}

// P11: two loops that share bytes, of different lengths.
@autotune(STAGES in [2])
@pipeline(STAGES)
@launch(64)
kernel two_loops(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], D: tensor<f32>[16, L], E: tensor<f32>[L, 16], C: tensor<f32>[16, 16]) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[:, k :+ 8], B[k :+ 8, :])
  }
  for k in range(0, L, 16) {
    acc += dot(D[:, k :+ 16], E[k :+ 16, :])
  }
  C[:, :] = acc
}

// P13: a block walks several tiles, each with an unrolled, pipelined loop.
@pipeline(2)
@launch(64)
kernel tiles_in_turn(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  for t in range(ctx.block.x, M / 16 * (N / 16), ctx.grid.x) {
    let i = t / (N / 16) * 16
    let j = t % (N / 16) * 16
    var acc: tile<f32>[16, 16] = 0.0
    for<unroll 2> k in range(0, K, 8) {
      acc += dot(A[i :+ 16, k :+ 8], B[k :+ 8, j :+ 16])
    }
    C[i :+ 16, j :+ 16] = acc
  }
}

// P17: blocks that walk a grid of tiles visit each once.
@launch(64)
kernel every_tile_once(C: tensor<i32>[MB, NB]) {
  for t in range(ctx.block.x, MB * NB, ctx.grid.x) {
    C[t / NB, t % NB] += 1
  }
}

// B194: a staged operand whose name the body writes later.
@launch(64)
kernel written_name(A: tensor<f32>[8, K], B: tensor<f32>[8, 8], C: tensor<f32>[8, 8]) {
  var acc: tile<f32>[8, 8] = 0.0
  var b = B[:, :]
  for k in range(0, 32, 8) {
    acc += dot(A[:, k :+ 8], b)
    b = b + A[:, k :+ 8]
  }
  C[:, :] = acc
}

// run: sum_k M=32 K=1000 seed=1 tol=1e-5
// run: sum_k M=32 K=12 seed=2 tol=1e-6
// run: sum_k M=32 K=0 seed=3 tol=0
// run: sum_k M=20 K=16 seed=4 tol=1e-6
// run: sum_from M=16 K=100 lo=20 hi=90 seed=5 tol=1e-5
// run: sum_from M=16 K=100 lo=16 hi=200 seed=6 tol=1e-5
// run: sum_from M=16 K=100 lo=50 hi=40 seed=7 tol=0
// run: past_extent M=16 K=40 hi=100 seed=6 tol=1e-5
// run: past_extent M=16 K=40 hi=33 seed=6 tol=1e-5
// run: nested M=16 K=24 n=3 seed=8 tol=1e-5
// run: stepped N=64 lo=3 hi=50 step=7 seed=9 tol=0
// run: stepped N=64 lo=3 hi=50 step=0 seed=9 tol=0
// run: stepped N=64 lo=3 hi=50 step=-2 seed=9 tol=0
// run: unrolled N=64 n=7 seed=10 tol=1e-6
// run: unrolled N=64 n=8 seed=10 tol=1e-6
// run: causal M=32 K=64 seed=11 tol=1e-5

// The ragged walk: K is and is not a multiple of 16, less than 16, and 0 (B079, B080).
kernel sum_k(A: tensor<f32>[M, K], Y: tensor<f32>[M, 16]) {
  let i = ctx.block.x * 16
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += A[i :+ 16, k :+ 16]
  }
  Y[i :+ 16, :] = acc
}

// lo != 0, hi above and below the extent, no trips (B060, B081). What lies between hi and K is data.
kernel sum_from(A: tensor<f32>[M, K], Y: tensor<f32>[M, 16], lo: i32, hi: i32) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(lo, hi, 16) {
    acc += A[0 :+ 16, k :+ 16]
  }
  Y[0 :+ 16, :] = acc
}

// Trips past the extent read zeros, and run all the same.
kernel past_extent(A: tensor<f32>[M, K], Y: tensor<f32>[M, 16], S: tensor<i32>[4], hi: i32) {
  var acc: tile<f32>[16, 16] = 0.0
  var trips: i32 = 0
  for k in range(0, hi, 16) {
    acc += A[0 :+ 16, k :+ 16]
    trips += 1
  }
  Y[0 :+ 16, :] = acc
  S[0] = trips
}

// Nested loops carrying a tile and a scalar (B063).
kernel nested(A: tensor<f32>[M, K], Y: tensor<f32>[M, 8], S: tensor<i32>[4], n: i32) {
  var acc: tile<f32>[16, 8] = 0.0
  var trips: i32 = 0
  for i in range(0, n) {
    var inner: tile<f32>[16, 8] = 0.0
    for k in range(0, K, 8) {
      inner += A[0 :+ 16, k :+ 8]
      trips += 1
    }
    acc = acc * 0.5 + inner
    trips += 100
  }
  Y[0 :+ 16, :] = acc
  S[0] = trips
}

// A step known at run time; one that is not positive gives no trips (section 3).
kernel stepped(Y: tensor<i32>[N], lo: i32, hi: i32, step: i32) {
  var sum: i32 = 0
  var trips: i32 = 0
  for i in range(lo, hi, step) {
    sum += i32(i)
    trips += 1
  }
  Y[0] = sum
  Y[1] = trips
}

// An unroll count that does and does not divide the trips (B067).
kernel unrolled(X: tensor<f32>[N], Y: tensor<f32>[N], n: i32) {
  var acc: tile<f32>[8] = 0.0
  for<unroll 4> i in range(0, n) {
    acc += X[i * 8 :+ 8]
  }
  Y[0 :+ 8] = acc
}

// A bound that depends on the block: columns up to the diagonal tile.
kernel causal(A: tensor<f32>[M, K], Y: tensor<f32>[M, 16]) {
  let i = ctx.block.x * 16
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, i + 16, 16) {
    acc += A[i :+ 16, k :+ 16]
  }
  Y[i :+ 16, :] = acc
}

// run: constant_bounds N=32 n=0 seed=1 tol=0
// run: constant_bounds N=32 n=3 TRIPS=8 seed=1 tol=0
// run: up_to_hi N=8 lo=3 hi=11 seed=2 tol=0
// run: up_to_hi N=8 lo=11 hi=11 seed=2 tol=0
// run: up_to_hi N=8 lo=12 hi=11 seed=2 tol=0
// run: while_tiles N=64 seed=3 tol=0 data=integers
// run: unrolled_steps N=8 n=6 seed=4 tol=0
// run: unrolled_steps N=8 n=5 seed=4 tol=0
// run: unrolled_steps N=8 n=0 seed=4 tol=0
// run: arguments_once N=32 seed=5 tol=0 data=integers
// run: two_ifs N=4 seed=6 tol=0
// run: flag_off N=4 n=1 seed=7 tol=0
// run: flag_off N=4 n=2 FLAG=1 seed=7 tol=0
// run: one_half N=64 seed=8 tol=0 data=integers
// run: one_half N=128 HALF=1 seed=8 tol=0 data=integers
// run: first_block N=16 seed=9 tol=0 data=ones
// run: while_never N=4 n=0 seed=10 tol=0

// B061: bounds of constants follow the choice; a run-time bound may be any number, 0 included.
@autotune(TRIPS in [4, 8, 16])
@launch(64)
kernel constant_bounds(Y: tensor<i32>[N], n: i32) {
  var fixed: i32 = 0
  var free: i32 = 0
  for i in range(0, TRIPS * 2) {
    fixed += i32(i)
  }
  for i in range(0, n) {
    free += 1
  }
  Y[0] = fixed
  Y[1] = free
}

// B060: up while below hi, by the step; nothing when lo >= hi.
@launch(64)
kernel up_to_hi(Y: tensor<i32>[N], lo: i32, hi: i32) {
  var by_one: i32 = 0
  var by_three: i32 = 0
  var trips: i32 = 0
  for i in range(lo, hi) {
    by_one += i32(i)
  }
  for i in range(lo, hi, 3) {
    by_three += i32(i)
    trips += 1
  }
  Y[0] = by_one
  Y[1] = by_three
  Y[2] = trips
}

// B064: a condition that loads what the body stored is loaded again; tiles are carried through the loop.
@launch(64)
kernel while_tiles(X: tensor<f32>[N], C: tensor<i32>[4]) {
  C[0] = 5
  var t = X[0 :+ 64]
  while C[0] > 0 {
    t = t + 2.0
    C[0] = C[0] - 1
  }
  X[0 :+ 64] = t
}

// N08: an unrolled loop keeps its step.
@launch(64)
kernel unrolled_steps(Y: tensor<i32>[N], n: i32) {
  var constant: i32 = 0
  var sum: i32 = 0
  for<unroll 2> i in range(0, 6, 2) {
    constant = constant * 10 + i32(i)
  }
  for<unroll 4> i in range(0, n, 2) {
    sum = sum * 10 + i32(i) + 1
  }
  Y[0] = constant
  Y[1] = sum
}

fn twice(x, s: f32) {
  return (x + s) + (x + s)
}

fn clipped(v, low, high) {
  if v < low { return low }
  if v > high { return high }
  return v
}

// B227: a call is its body, written out; an argument is evaluated once.
@launch(64)
kernel arguments_once(X: tensor<f32>[N], Y: tensor<f32>[N], C: tensor<i32>[4]) {
  Y[0 :+ 32] = twice(X[0 :+ 32] * 3.0, X[0])
  C[0] = i32(clipped(X[1] * 10.0, -4.0, 4.0))
  C[1] = i32(clipped(X[2], -100.0, 100.0))
}

// A06: the second condition sees what the first body stored.
@launch(64)
kernel two_ifs(A: tensor<i32>[N]) {
  A[0] = 3
  A[1] = 7
  if A[0] > 0 {
    A[0] = 0
  }
  if A[0] > 0 {
    A[1] = 1
  }
}

// A08: a branch that a constant turns off is not taken.
@autotune(FLAG in [0, 1, 2])
@launch(64)
kernel flag_off(Y: tensor<i32>[N], n: i32) {
  Y[0] = 5
  if FLAG == 1 {
    Y[0] = 6
  }
  if FLAG == 1 && n > 0 {
    Y[1] = 1
  } else {
    Y[1] = 2
  }
}

// A11: each choice writes its own half and leaves the other.
@autotune(HALF in [0, 1])
@launch(64)
kernel one_half(X: tensor<f32>[N], Y: tensor<f32>[N], S: tensor<i32>[4]) {
  Y[HALF * 32 :+ 32] = X[HALF * 32 :+ 32] + 1.0
  S[0] = HALF
}

// A12: a store of the first block alone, elsewhere, leaves the contraction of all blocks as it is.
@launch(64)
kernel first_block(A: tensor<f32>[4, 4], V: tensor<f32>[4, 1], Y: tensor<f32>[N, 1], Z: tensor<i32>[4]) {
  let y = dot(A[:, :], V[:, :])
  if ctx.block.x == 0 {
    Z[0] = 1
  }
  Y[ctx.block.x * 4 :+ 4, :] = y
}

// B065: nothing runs when the first condition is false; break leaves one loop only.
@launch(64)
kernel while_never(Y: tensor<i32>[N], n: i32) {
  var r: i32 = 0
  while n > 0 {
    r = 1
  }
  for i in range(0, 3) {
    for j in range(0, 3) {
      if j > i { break }
      if j == 1 { continue }
      r += 10
    }
  }
  Y[0] = r
}

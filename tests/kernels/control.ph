// run: choose N=64 n=3 seed=1 tol=0
// run: choose N=64 n=-3 seed=1 tol=0
// run: choose N=64 n=0 seed=1 tol=0
// run: collatz N=4 n=27 seed=2 tol=0
// run: while_load N=32 seed=3 tol=0
// run: breaks N=64 n=100 seed=4 tol=0
// run: breaks N=64 n=3 seed=4 tol=0
// run: return_early N=64 n=1 seed=5 tol=0
// run: return_early N=64 n=9 seed=5 tol=0
// run: calls N=64 s=-2.0 seed=6 tol=1e-6
// run: calls N=64 s=3.0 seed=6 tol=1e-6
// run: guarded_point N=6 n=4 seed=7 grid=8 tol=1e-6
// run: return_from_loop N=16 n=5 seed=8 tol=0
// run: shadowing N=32 seed=9 tol=0
// run: short_circuit N=8 n=-1 seed=10 tol=0
// run: short_circuit N=8 n=3 seed=10 tol=0

// if, else if, else over tiles and scalars.
kernel choose(X: tensor<f32>[N], Y: tensor<f32>[N], S: tensor<i32>[4], n: i32) {
  var t = X[0 :+ 64]
  var tag: i32 = 0
  if n > 0 {
    t = t + 1.0
    tag = 1
  } else if n == 0 {
    t = t * 2.0
  } else {
    tag = -1
  }
  Y[0 :+ 64] = t
  S[0] = tag
}

// while over scalars (B064).
kernel collatz(Y: tensor<i32>[N], n: i32) {
  var x = n
  var steps: i32 = 0
  while x != 1 {
    if x % 2 == 0 {
      x /= 2
    } else {
      x = 3 * x + 1
    }
    steps += 1
  }
  Y[0] = steps
}

// A condition that loads, evaluated again each time.
kernel while_load(X: tensor<f32>[N], Y: tensor<i32>[4]) {
  X[31] = -100.0
  var i: i32 = 0
  while X[i] > -100.0 {
    i += 1
  }
  Y[0] = i
}

// break and continue, the innermost loop's (B065).
kernel breaks(Y: tensor<i32>[N], n: i32) {
  var sum: i32 = 0
  var outer: i32 = 0
  for i in range(0, n) {
    if i % 3 == 1 {
      continue
    }
    if i > 20 {
      break
    }
    var j: i32 = 0
    while true {
      j += 1
      if j >= i32(i) {
        break
      }
    }
    sum += j
    outer += 1
  }
  Y[0] = sum
  Y[1] = outer
}

// return ends the kernel: nothing after it is done.
kernel return_early(X: tensor<f32>[N], Y: tensor<f32>[N], n: i32) {
  Y[0 :+ 32] = 1.0
  if n > 5 {
    return
  }
  Y[0 :+ 32] = X[0 :+ 32]
  Y[32 :+ 32] = 2.0
}

fn relu_or(x, otherwise) {
  return where(x > 0.0, x, otherwise)
}

fn sign(x: f32) -> f32 {
  if x < 0.0 {
    return -1.0
  }
  return 1.0
}

// fn is inlined; an argument is evaluated once.
kernel calls(X: tensor<f32>[N], Y: tensor<f32>[N], s: f32) {
  let x = X[0 :+ 64]
  Y[0 :+ 64] = relu_or(x * s, x) * sign(s)
}

// A guarded point store (B053), with more blocks than elements.
kernel guarded_point(X: tensor<f32>[N], Y: tensor<f32>[N], Z: tensor<f32>[N], n: i32) {
  let i = ctx.block.x
  if i < n {
    Z[i] = X[i] + Y[i]
  }
}

// return out of two loops.
kernel return_from_loop(Y: tensor<i32>[N], n: i32) {
  for i in range(0, 10) {
    for j in range(0, 10) {
      if i * j == n {
        Y[0] = i32(i)
        return
      }
      Y[1] = i32(i * 10 + j)
    }
  }
}

// Inner declarations shadow and end with their block (B035).
kernel shadowing(Y: tensor<i32>[N]) {
  var x: i32 = 1
  for i in range(0, 3) {
    x += 10
    var x: i32 = 5
    x += 1
    Y[i] = x
  }
  Y[4] = x
}

// The right side of && and || is not evaluated when the left one decides.
kernel short_circuit(X: tensor<i32>[N], Y: tensor<i32>[N], n: i32) {
  var hit: i32 = 0
  if n >= 0 && X[n] == X[n] {
    hit += 1
  }
  if n < 0 || X[n] == X[n] {
    hit += 10
  }
  Y[0] = hit
}

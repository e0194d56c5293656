// run: divide N=256 seed=1 tol=0
// run: bits N=256 seed=2 tol=0
// run: overflow N=256 n=2147483647 seed=3 tol=0
// run: scalars N=8 a=-7 b=2 seed=4 tol=0
// run: scalars N=8 a=7 b=-2 seed=4 tol=0
// run: unsigned N=256 seed=5 tol=0
// run: longs N=256 seed=6 tol=0

// / and % truncate toward zero, the sign follows the dividend (B039).
kernel divide(X: tensor<i32>[N], Q: tensor<i32>[N], R: tensor<i32>[N]) {
  let i = ctx.block.x * 64
  let x = X[i :+ 64]
  let y: tile<i32>[64] = iota(0) % 7 - 3
  let d = where(y == 0, 5, y)
  Q[i :+ 64] = x / d
  R[i :+ 64] = x % d
}

// Shift counts are modulo the width; >> is arithmetic on signed.
kernel bits(X: tensor<i32>[N], Y: tensor<i32>[N], Z: tensor<i32>[N], W: tensor<i32>[N]) {
  let i = ctx.block.x * 64
  let x = X[i :+ 64]
  Y[i :+ 64] = (x << iota(0)) ^ (x >> 1)
  Z[i :+ 64] = (x & 12) | (~x & 3)
  W[i :+ 64] = x << 33
}

// Integers wrap.
kernel overflow(X: tensor<i32>[N], Y: tensor<i32>[N], n: i32) {
  let i = ctx.block.x * 64
  Y[i :+ 64] = n + X[i :+ 64] * n
}

kernel scalars(Y: tensor<i32>[N], a: i32, b: i32) {
  Y[0] = a / b
  Y[1] = a % b
  Y[2] = a - N
  Y[3] = a >> 1
  Y[4] = abs(a) + min(a, b) * max(a, b)
}

// i8 with u8 is i32; u8 shifts are logical.
kernel unsigned(A: tensor<i8>[N], B: tensor<u8>[N], S: tensor<i32>[N], D: tensor<u8>[N]) {
  let i = ctx.block.x * 64
  S[i :+ 64] = A[i :+ 64] * B[i :+ 64] - 300
  D[i :+ 64] = (B[i :+ 64] + 250) >> 2
}

// i64 keeps 64 bits.
kernel longs(X: tensor<i64>[N], Y: tensor<i64>[N]) {
  let i = ctx.block.x * 64
  let x = X[i :+ 64] << 40
  Y[i :+ 64] = x / 3 + x % 1000003
}

// run: widths N=256 seed=1 tol=1e-6
// run: halves N=256 seed=2 tol=0
// run: to_int N=256 seed=3 tol=0
// run: wraps N=256 seed=4 tol=0
// run: signs N=256 seed=5 tol=0
// run: f16_store N=256 s=1.5 t=-0.3 seed=6 tol=2e-3
// run: literal_fill N=256 seed=7 tol=0
// run: chain N=100 seed=8 tol=0

// f32 with f64 computes in f64 (B038).
kernel widths(A: tensor<f32>[N], B: tensor<f64>[N], C: tensor<f64>[N]) {
  let i = ctx.block.x * 64
  C[i :+ 64] = A[i :+ 64] * B[i :+ 64] + 1.0
}

// f16 with bf16 computes in f32 (B114); stores round once.
kernel halves(A: tensor<f16>[N], B: tensor<bf16>[N], S: tensor<f32>[N], H: tensor<f16>[N]) {
  let i = ctx.block.x * 64
  let a = A[i :+ 64]
  let b = B[i :+ 64]
  S[i :+ 64] = a + b
  H[i :+ 64] = f16(f32(a) * 3.0)
}

// Float to int truncates toward zero and saturates (B049).
kernel to_int(X: tensor<f32>[N], Y: tensor<i32>[N], Z: tensor<i8>[N], W: tensor<u8>[N]) {
  let i = ctx.block.x * 64
  let x = X[i :+ 64]
  Y[i :+ 64] = i32(x * 3.0e9)
  Z[i :+ 64] = i8(x * 100.0)
  W[i :+ 64] = u8(x * 200.0)
}

// Int to narrower int wraps on a store into a tensor.
kernel wraps(X: tensor<i32>[N], Y: tensor<i8>[N], Z: tensor<i64>[N]) {
  let i = ctx.block.x * 64
  let x = X[i :+ 64] * 100
  Y[i :+ 64] = x
  Z[i :+ 64] = i64(x) * 100000000
}

// i8 sign-extends, u8 does not (B046, B047); a literal beside a u8 is a u8, and the sum wraps.
kernel signs(A: tensor<i8>[N], B: tensor<u8>[N], F: tensor<f32>[N], I: tensor<i32>[N]) {
  let i = ctx.block.x * 64
  F[i :+ 64] = f32(A[i :+ 64]) * 0.5
  I[i :+ 64] = A[i :+ 64] - (B[i :+ 64] + 250)
}

// s1*t1 + s2*t2 into f16 computes in f32, then rounds (B124).
kernel f16_store(X: tensor<f16>[N], Y: tensor<f16>[N], Z: tensor<f16>[N], s: f32, t: f32) {
  let i = ctx.block.x * 64
  Z[i :+ 64] = s * X[i :+ 64] + t * Y[i :+ 64]
}

// A literal initialises every element of an f16 tile, rounded (B117).
kernel literal_fill(Z: tensor<f16>[N], W: tensor<f32>[N]) {
  let i = ctx.block.x * 64
  var t: tile<f16>[64] = 0.1
  Z[i :+ 64] = t
  W[i :+ 64] = 0.1
}

// A chain of conversions on a masked operand (B121).
kernel chain(X: tensor<f32>[N], Y: tensor<i8>[N]) {
  let i = ctx.block.x * 64
  Y[i :+ 64] = i8(i32(round(X[i :+ 64] * 50.0)))
}

// run: functions N=512 seed=1 tol=2e-6 approx=6e-4
// run: rounding N=512 seed=2 tol=0
// run: softplus N=512 seed=3 tol=2e-6
// run: powers N=512 seed=4 tol=5e-6
// run: fused N=256 seed=5 tol=1e-6

kernel functions(X: tensor<f32>[N], E: tensor<f32>[N], L: tensor<f32>[N], S: tensor<f32>[N], T: tensor<f32>[N], C: tensor<f32>[N]) {
  let i = ctx.block.x * 128
  let x = X[i :+ 128]
  E[i :+ 128] = exp(x) + exp2(x)
  L[i :+ 128] = log(1.0 + abs(x)) + log2(2.0 + abs(x))
  S[i :+ 128] = sqrt(abs(x)) + rsqrt(1.0 + x * x)
  T[i :+ 128] = tanh(x)
  C[i :+ 128] = sin(x) + cos(x)
}

// round: ties to even (B130).
kernel rounding(X: tensor<f32>[N], F: tensor<f32>[N], C: tensor<f32>[N], R: tensor<f32>[N], H: tensor<f32>[N]) {
  let i = ctx.block.x * 128
  let x = X[i :+ 128] * 4.0
  F[i :+ 128] = floor(x)
  C[i :+ 128] = ceil(x)
  R[i :+ 128] = round(x)
  H[i :+ 128] = round(f32(iota(0)) * 0.5)
}

// Compositions (B131).
kernel softplus(X: tensor<f32>[N], P: tensor<f32>[N], Q: tensor<f32>[N]) {
  let i = ctx.block.x * 128
  let x = X[i :+ 128]
  P[i :+ 128] = log(1.0 + exp(x))
  Q[i :+ 128] = x / (1.0 + exp(-x))
}

// pow, also with exponents 0 and below (N02).
kernel powers(X: tensor<f32>[N], Y: tensor<f32>[N], Z: tensor<f32>[N], W: tensor<f32>[N]) {
  let i = ctx.block.x * 128
  let x = abs(X[i :+ 128]) + 0.5
  Y[i :+ 128] = pow(x, 0.0)
  Z[i :+ 128] = pow(x, -2.0)
  W[i :+ 128] = pow(x, X[i :+ 128])
}

kernel fused(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 128
  let x = X[i :+ 128]
  Y[i :+ 128] = fma(x, x, Y[i :+ 128])
}

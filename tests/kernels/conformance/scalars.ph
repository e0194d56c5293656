// run: accumulates N=20 n=6 seed=1 tol=0
// run: extents M=12 N=20 n=5 seed=2 tol=0
// run: halves_with_f32 N=8 h=0.1 x=0.1 seed=3 tol=0
// run: signs_of_division N=16 seed=4 tol=0
// run: bools_compared N=8 p=true q=false seed=5 tol=0
// run: bools_compared N=8 p=true q=true seed=5 tol=0
// run: int_into_float N=8 n=-9 seed=6 tol=0
// run: points_store M=4 N=8 seed=7 tol=0 data=integers
// run: bytes N=8 seed=8 tol=0
// run: through_f32 N=64 seed=9 tol=0
// run: toward_zero N=16 seed=10 tol=0

// B034: a var is a cell that loops and while add to, and keeps its value after them.
@launch(64)
kernel accumulates(X: tensor<i32>[N], Y: tensor<i32>[4], n: i32) {
  var sum: i32 = 0
  for i in range(0, N) {
    sum += X[i]
  }
  var double: i32 = 1
  var left = n
  while left > 0 {
    double *= 2
    left -= 1
  }
  Y[0] = sum
  Y[1] = double
  Y[2] = left
}

// B036: an extent reads as an integer and joins an i32.
@launch(64)
kernel extents(A: tensor<f32>[M, N], Y: tensor<i32>[4], n: i32) {
  Y[0] = M
  Y[1] = N * 2 - M
  Y[2] = N + n
}

// B038: f16 with f32 computes in f32, f32 with f64 in f64: 0.1 differs in each.
@launch(64)
kernel halves_with_f32(Y: tensor<f64>[N], h: f16, x: f32) {
  Y[0] = h + x
  Y[1] = f64(x) + 0.1
  Y[2] = x + f64(h)
  Y[3] = h + h
}

// B039 N01: / and % truncate toward zero for every pair of signs; by zero neither traps nor touches what is beside it.
@launch(64)
kernel signs_of_division(X: tensor<i32>[N], Q: tensor<i32>[16], R: tensor<i32>[16]) {
  let none = X[0 :+ 16] * 0
  let a = where(iota(0) % 2 == 0, none + 7, -7)
  let b = where(iota(0) < 8, where(iota(0) % 4 < 2, none + 2, -2), 0)
  Q[:] = where(b == 0, 99, a / b)
  R[:] = where(b == 0, 99, a % b)
  Q[14] = -72 / 10
  R[14] = -72 % 10
  Q[15] = (-72 + 10 - 1) / 10
}

// B040: == and != work on bools, ! negates one.
@launch(64)
kernel bools_compared(Y: tensor<i32>[N], p: bool, q: bool) {
  var r = 0
  if p == q { r += 1 }
  if p != q { r += 2 }
  if !q { r += 4 }
  if (r > 2) == p { r += 8 }
  if p ^ q || p & q { r += 16 }
  Y[0] = r
}

// B044: an integer stored into an element of floats converts.
@launch(64)
kernel int_into_float(Y: tensor<f32>[N], H: tensor<f16>[N], n: i32) {
  Y[0] = n
  Y[1] = n / 2 + 3
  Y[2] = N
  H[0] = n * 2
  H[1] = 7
}

// B045: single elements are stored and accumulated.
@launch(64)
kernel points_store(A: tensor<f32>[M, N], V: tensor<f32>[N]) {
  A[0, 0] = 1.0
  A[M - 1, N - 1] = A[0, 1] + 2.0
  for i in range(0, N) {
    V[i] += f32(i)
    V[i] *= 2
  }
}

// B046 B047: i8 extends its sign, u8 does not: 200 reads as 200.
@launch(64)
kernel bytes(A: tensor<i8>[N], B: tensor<u8>[N], F: tensor<f32>[N], I: tensor<i32>[N]) {
  let w: i32 = 200
  A[0] = w
  B[0] = w
  F[0] = f32(A[0])
  F[1] = f32(B[0])
  I[0] = A[0]
  I[1] = B[0]
  I[2] = A[0] + B[0]
}

// B049: f16 to bf16 and back is what going through f32 gives, each rounding once.
@launch(64)
kernel through_f32(H: tensor<f16>[N], B: tensor<bf16>[N], P: tensor<bf16>[N], Q: tensor<f16>[N]) {
  let h = H[0 :+ 64]
  let b = B[0 :+ 64] * 1.0e-3
  P[0 :+ 64] = bf16(h)
  Q[0 :+ 64] = f16(b)
}

// B049: float to int truncates toward zero, saturates, and makes NaN 0; int to float keeps the sign.
@launch(64)
kernel toward_zero(X: tensor<f32>[N], Y: tensor<i32>[N], Z: tensor<u8>[N], F: tensor<f32>[N]) {
  let zero = X[0] - X[0]
  Y[0] = i32(zero - 2.7)
  Y[1] = i32(zero + 2.7)
  Y[2] = i32(zero / zero)
  Y[3] = i32(1.0 / zero)
  Y[4] = i32(-1.0 / zero)
  Z[0] = u8(zero - 1.0)
  Z[1] = u8(zero + 255.9)
  Z[2] = u8(zero + 300.0)
  F[0] = f32(Y[0])
  F[1] = f32(Z[1])
}

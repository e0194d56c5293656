// run: band R=24 C=40 k=3 seed=1 tol=0
// run: operand M=32 N=32 K=16 seed=2 data=integers tol=0
// run: of_tensors R=20 C=24 seed=3 tol=0
// run: of_a_tile seed=4 tol=0
// run: with_branches R=16 C=24 seed=5 tol=0
// run: with_a_loop M=16 N=24 K=5 seed=6 data=integers tol=0
// run: numbered N=96 seed=7 tol=0
// run: of_nothing R=8 C=8 s=2.5 seed=8 tol=0

fn banded(i, j, k) {
  let d = i - j
  return where(d < k && d > -k, f32(d), -1.0)
}

kernel band(Y: tensor<f32>[R, C], k: i32) {
  Y[0 :+ 24, 0 :+ 40] = generate(banded, 24, 40, k)
}

fn sign(i, j) { return where((i + j) % 2 == 0, 1.0, -1.0) }

// The same as a tile that was computed before (B229).
kernel operand(A: tensor<f32>[M, K], C: tensor<f32>[M, N], D: tensor<f32>[M, N]) {
  let a = A[0 :+ 32, 0 :+ 16]
  let s = generate(sign, 16, 32)
  C[0 :+ 32, 0 :+ 32] = dot(a, generate(sign, 16, 32))
  D[0 :+ 32, 0 :+ 32] = dot(a, s)
}

fn mixed(i, j, A, B, r0) {
  let row = B[i]
  return A[r0 + i, 2 * j] + row * A[i, 0] - B[3]
}

// Points whose subscripts are the element's own.
kernel of_tensors(A: tensor<f32>[R, C], B: tensor<f32>[R], Y: tensor<f32>[12, 12]) {
  Y[0 :+ 12, 0 :+ 12] = generate(mixed, 12, 12, A, B, 4)
}

fn turned(i, j, t) { return t[j, 4 - i] }

kernel of_a_tile(A: tensor<f16>[8, 8], Y: tensor<f16>[5, 8]) {
  let t = A[0 :+ 8, 0 :+ 8] * f16(2.0)
  Y[0 :+ 5, 0 :+ 8] = generate(turned, 5, 8, t)
}

fn chosen(i, j) {
  if i == j { return 1.0 }
  var x = f32(i)
  if i > j { x = x * 2.0 } else { x = -f32(j) }
  return x
}

kernel with_branches(Y: tensor<f32>[R, C]) {
  Y[0 :+ 16, 0 :+ 24] = generate(chosen, 16, 24)
}

fn product(i, j, A, B, n) {
  var sum = 0.0
  for k in range(0, n) {
    sum += A[i, k] * B[k, j]
  }
  return sum
}

kernel with_a_loop(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  C[0 :+ 16, 0 :+ 24] = generate(product, 16, 24, A, B, K)
}

fn shifted(i, j, k) { return i32(i) * 4 + i32(j) + k }

kernel numbered(Y: tensor<i32>[N, 4]) {
  for r in range(0, N, 32) {
    Y[r :+ 32, 0 :+ 4] = generate(shifted, 32, 4, i32(r))
  }
}

fn same(i, j, s) { return s * 2.0 }

kernel of_nothing(Y: tensor<f32>[R, C], s: f32) {
  Y[0 :+ 8, 0 :+ 8] = generate(same, 8, 8, s)
}

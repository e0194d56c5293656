// run: accumulated K=24 seed=1 tol=0 data=integers
// run: accumulated K=37 seed=2 tol=0 data=integers
// run: two_products seed=3 tol=0 data=integers
// run: scores seed=4 tol=0 data=integers
// run: long_inner seed=5 tol=0 data=integers
// run: half_operands K=16 seed=6 tol=0 data=integers
// run: staged K=64 seed=7 tol=0 data=integers

// 32 KiB of accumulator: 256 registers for each of 32 threads.
@launch(32)
kernel accumulated(A: tensor<f32>[64, K], B: tensor<f32>[K, 128], C: tensor<f32>[64, 128]) {
  var acc: tile<f32>[64, 128] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[:, k :+ 8], B[k :+ 8, :])
  }
  C[:, :] = acc
}

// A large product is an operand of another one.
@launch(32)
kernel two_products(A: tensor<f32>[64, 16], B: tensor<f32>[16, 96], D: tensor<f32>[96, 100], E: tensor<f32>[64, 100]) {
  let s = dot(A[:, :], B[:, :])
  E[:, :] = dot(s * 2, D[:, :]) + 1
}

@launch(32)
kernel scores(Q: tensor<f32>[64, 16], K: tensor<f32>[96, 16], V: tensor<f32>[96, 16], O: tensor<f32>[64, 16], M: tensor<f32>[64, 1]) {
  let s = dot_t(Q[:, :], K[:, :])
  let m = rowmax(s)
  M[:, :] = m
  O[:, :] = dot(where(s == m, 1.0, 0.0), V[:, :])
}

// Both operands and the result are large.
@launch(32)
kernel long_inner(A: tensor<f32>[70, 300], B: tensor<f32>[300, 66], C: tensor<f32>[70, 66]) {
  C[:, :] = dot(A[:, :] + 1, B[:, :])
}

@launch(32)
kernel half_operands(A: tensor<f16>[80, K], B: tensor<f16>[K, 128], C: tensor<f32>[80, 128]) {
  var acc: tile<f32>[80, 128] = 1.0
  for k in range(0, K, 16) {
    acc += dot(A[:, k :+ 16], B[k :+ 16, :])
  }
  C[:, :] = acc * acc
}

@pipeline(2)
@launch(32)
kernel staged(A: tensor<f32>[64, K], B: tensor<f32>[K, 128], C: tensor<f32>[64, 128]) {
  var acc: tile<f32>[64, 128] = 1.0
  for k in range(0, K, 16) {
    acc += dot(A[:, k :+ 16], B[k :+ 16, :])
  }
  C[:, :] = acc
}

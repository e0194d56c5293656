// run: chain M=40 N=200 seed=1 tol=0 data=integers
// run: chain M=64 N=256 seed=2 tol=0 data=integers
// run: in_place M=70 N=250 seed=3 tol=0 data=integers
// run: moved N=300 seed=4 tol=0 data=integers
// run: softmax M=64 seed=5 tol=2e-6 approx=2e-5
// run: kept_once seed=6 tol=2e-6 approx=2e-5
// run: both_reductions M=60 N=256 seed=7 tol=0 data=integers
// run: one_row N=9000 seed=8 tol=0 data=integers
// run: one_column N=9000 seed=9 tol=0 data=integers
// run: carried M=60 N=120 n=3 seed=10 tol=0 data=integers
// run: carried M=60 N=120 n=0 seed=11 tol=0 data=integers
// run: exchanged n=3 seed=12 tol=0 data=integers
// run: exchanged n=4 seed=13 tol=0 data=integers
// run: chosen p=true seed=14 tol=0 data=integers
// run: chosen p=false seed=15 tol=0 data=integers
// run: while_small n=3 seed=16 tol=0 data=integers
// run: nested n=2 seed=17 tol=0 data=integers
// run: halves M=60 N=300 seed=18 tol=0 data=integers
// run: bytes M=64 N=256 seed=19 tol=0 data=integers
// run: turned seed=20 tol=0 data=integers
// run: summed N=128 seed=21 tol=0 data=integers
// run: masked_rows M=50 N=100 seed=22 tol=0 data=integers
// run: largest_at M=33 N=300 seed=23 tol=0 data=integers
// run: long_operand K=4096 seed=24 tol=0 data=integers
// run: sliced seed=25 tol=0 data=integers
// run: left_early n=5 seed=26 tol=0 data=integers
// run: end_to_end seed=27 tol=0 data=integers
// run: looked_up N=40 seed=28 tol=0
// run: small_carried n=3 seed=29 tol=0 data=integers

// 16384 elements in 64 threads: 256 registers a thread. Load, compute and store go box by box, masks included.
@launch(64)
kernel chain(X: tensor<f32>[M, N], V: tensor<f32>[1, N], Y: tensor<f32>[M, N]) {
  let x = X[0 :+ 64, 0 :+ 256]
  let v = V[:, 0 :+ 256]
  Y[0 :+ 64, 0 :+ 256] = where(x > v, x * 2 + v, x * x - 1)
}

// What is written is read at the same places.
@launch(32)
kernel in_place(X: tensor<f32>[M, N]) {
  let i = ctx.block.x * 32
  X[i :+ 32, 0 :+ 256] = X[i :+ 32, 0 :+ 256] * 2 + 1
}

// What is written is read one place further on.
@launch(32)
kernel moved(X: tensor<f32>[8, N], Y: tensor<f32>[8, N]) {
  let x = X[0 :+ 8, 1 :+ 1000]
  Y[0 :+ 8, 0 :+ 1000] = x
  X[0 :+ 8, 0 :+ 1000] = x + Y[0 :+ 8, 0 :+ 1000]
}

// 512 KiB: more than any chip's shared memory, so that each use reads X again.
@launch(64)
kernel softmax(X: tensor<f32>[M, 2048], Y: tensor<f32>[M, 2048]) {
  let x = X[0 :+ 64, :]
  let e = exp(x - rowmax(x))
  Y[0 :+ 64, :] = e / rowsum(e)
}

@launch(64)
kernel kept_once(X: tensor<f32>[4, 3000], Y: tensor<f32>[4, 3000]) {
  let x = X[:, :]
  let e = exp(x - rowmax(x))
  Y[:, :] = e / rowsum(e)
}

@launch(64)
kernel both_reductions(X: tensor<f32>[M, N], R: tensor<f32>[M, 1], C: tensor<f32>[1, N], H: tensor<f32>[M, 1], L: tensor<f32>[1, N]) {
  let x = X[0 :+ 100, 0 :+ 300]
  R[0 :+ 100, 0 :+ 1] = rowsum(x)
  C[0 :+ 1, 0 :+ 300] = colsum(x)
  H[0 :+ 100, 0 :+ 1] = rowmax(x)
  L[0 :+ 1, 0 :+ 300] = colmin(x)
}

// A row that does not fit is reduced in parts.
@launch(32)
kernel one_row(X: tensor<f32>[1, N], S: tensor<f32>[1, 1], H: tensor<f32>[1, 1], A: tensor<i32>[1, 1]) {
  let x = X[0 :+ 1, 0 :+ 10000]
  S[:, :] = rowsum(x)
  H[:, :] = rowmax(x - 100)
  A[:, :] = rowargmax(x)
}

@launch(32)
kernel one_column(X: tensor<f32>[N, 1], S: tensor<f32>[1, 1], Y: tensor<f32>[N, 1]) {
  let x = X[0 :+ 10000, 0 :+ 1]
  S[:, :] = colsum(x)
  Y[0 :+ 10000, 0 :+ 1] = x - colmax(x)
}

@launch(32)
kernel carried(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], n: i32) {
  var acc: tile<f32>[64, 128] = 1.0
  for k in range(0, n) {
    acc = acc + X[0 :+ 64, 0 :+ 128] * 2
  }
  Y[0 :+ 64, 0 :+ 128] = acc
}

// Two buffers that take each other's values.
@launch(32)
kernel exchanged(X: tensor<f32>[48, 96], Y: tensor<f32>[48, 96], Z: tensor<f32>[48, 96], n: i32) {
  var a = X[:, :]
  var b: tile<f32>[48, 96] = 3.0
  for k in range(0, n) {
    let c = a + 1
    a = b
    b = c
  }
  Y[:, :] = a
  Z[:, :] = b
}

@launch(32)
kernel chosen(X: tensor<f32>[64, 96], Y: tensor<f32>[64, 96], p: bool) {
  var a = X[:, :]
  if p {
    a = a * rowsum(a)
  } else {
    if X[0, 0] > 1.0e9 { a = a - 1 }
  }
  Y[:, :] = a + 1
}

@launch(32)
kernel while_small(X: tensor<f32>[64, 96], Y: tensor<f32>[64, 96], n: i32) {
  var a = X[:, :]
  var i = 0
  while i < n {
    a = a + a
    i += 1
  }
  Y[:, :] = a
}

// The loops share one buffer.
@launch(32)
kernel nested(X: tensor<f32>[64, 96], Y: tensor<f32>[64, 96], n: i32) {
  var a = X[:, :]
  for i in range(0, n) {
    for k in range(0, n) {
      a = a * 2 - X[:, :]
    }
    a = a + 1
  }
  Y[:, :] = a
}

@launch(32)
kernel halves(X: tensor<f16>[M, N], Y: tensor<f16>[M, N], S: tensor<f16>[1, N]) {
  let x = X[0 :+ 64, 0 :+ 320]
  let y = x * x + x
  Y[0 :+ 64, 0 :+ 320] = y
  S[0 :+ 1, 0 :+ 320] = colmax(y)
}

@launch(64)
kernel bytes(X: tensor<i8>[M, N], Y: tensor<i32>[M, N], S: tensor<i32>[M, 1]) {
  let x = X[0 :+ 64, 0 :+ 256]
  Y[0 :+ 64, 0 :+ 256] = i32(x) * 3
  S[0 :+ 64, 0 :+ 1] = rowsum(i32(x))
}

@launch(32)
kernel turned(X: tensor<f32>[64, 96], Y: tensor<f32>[96, 64]) {
  let x = X[:, :]
  Y[:, :] = transpose(x * 2) + 1
}

@launch(32)
kernel summed(X: tensor<f32>[50, N], Y: tensor<f32>[50, N], F: tensor<f32>[6400]) {
  let x = X[:, 0 :+ 128]
  Y[:, 0 :+ 128] = cumsum(x)
}

@launch(32)
kernel masked_rows(X: tensor<f32>[M, N], H: tensor<f32>[M, 1]) {
  let x = X[0 :+ 64, 0 :+ 128]
  H[0 :+ 64, 0 :+ 1] = rowmax(where(iota(1) < N, x, -1.0e30)) + rowsum(where(iota(0) < 3, x, 0.0))
}

@launch(32)
kernel largest_at(X: tensor<f32>[M, N], A: tensor<i32>[M, 1]) {
  let x = X[0 :+ 33, 0 :+ 300]
  A[0 :+ 33, 0 :+ 1] = rowargmax(x)
}

// The accumulator is small, the operands are not.
@launch(32)
kernel long_operand(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], C: tensor<f32>[16, 16]) {
  C[:, :] = dot(A[:, 0 :+ 600], B[0 :+ 600, :])
}

// A tile of which parts are addressed lives in shared memory already.
@launch(32)
kernel sliced(X: tensor<f32>[64, 96], Y: tensor<f32>[64, 96]) {
  var a = X[:, :]
  a[3 :+ 2, 0 :+ 96] = 7.0
  let b = a * 2
  a[0 :+ 2, 0 :+ 96] = 5.0
  Y[:, :] = a + b
}

@launch(32)
kernel left_early(X: tensor<f32>[64, 96], Y: tensor<f32>[64, 96], n: i32) {
  var a = X[:, :]
  for k in range(0, n) {
    if k == 3 { break }
    if k == 1 { continue }
    a = a * 2 + f32(k)
  }
  Y[:, :] = a
}

// Whole rows at once, and rows in parts.
@launch(32)
kernel end_to_end(X: tensor<f32>[50, 90], Y: tensor<f32>[4500], W: tensor<f32>[2, 2500], Z: tensor<f32>[5000]) {
  let x = X[:, :]
  let w = W[:, :] + 1
  Y[:] = flat(x) * 2
  Z[:] = flat(w)
}

@launch(32)
kernel looked_up(T: tensor<f32>[N], P: tensor<i32>[6000], Y: tensor<f32>[6000]) {
  Y[:] = gather(T, P[:] % 40 * (P[:] % 40)  % 40) * 2
}

// A column that a loop carries in registers meets a large tile in each trip.
@launch(32)
kernel small_carried(X: tensor<f32>[64, 96], Y: tensor<f32>[64, 96], S: tensor<f32>[64, 1], n: i32) {
  var s: tile<f32>[64, 1] = 1.0
  var a = X[:, :]
  for k in range(0, n) {
    s = s + rowmax(a)
    a = a - s
  }
  Y[:, :] = a
  S[:, :] = s
}

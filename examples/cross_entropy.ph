// run: cross_entropy M=5 V=300 COLS=128 seed=1 tol=1e-5
// run: cross_entropy M=3 V=128 COLS=128 seed=2 tol=1e-5
// run: cross_entropy M=2 V=7 COLS=128 seed=3 tol=1e-5

// L[i] = log(sum(exp(X[i, :]))) - X[i, T[i]]: the loss of each row's target, over any number of classes. A row is walked
// in chunks with a running maximum and a sum that is rescaled when the maximum grows. A target outside the row counts as
// the nearest class.
@autotune(COLS in [1024, 8192])
kernel cross_entropy(X: tensor<f32>[M, V], T: tensor<i32>[M], L: tensor<f32>[M]) {
  let i = ctx.block.x
  var top: tile<f32>[1, 1] = -1.0e30
  var total: tile<f32>[1, 1] = 0.0
  for c in range(0, V, COLS) {
    let x = where(iota(1) < V - c, X[i, c :+ COLS], -1.0e30)
    let next = tmax(top, rowmax(x))
    total = total * exp(top - next) + rowsum(exp(x - next))
    top = next
  }
  let target = min(max(T[i], 0), V - 1)
  L[i :+ 1] = top + log(total) - X[i, target]
}

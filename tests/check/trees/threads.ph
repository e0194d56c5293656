// Per-thread code: runs, sums over them, lanes, atomics; and every kind of compound assignment.
fn row_dot(A: tensor<i8>[R, C], X: tensor<i8>[C], r) -> i32 {
  var s: i32 = 0
  for c in range(ctx.lane * 4, C, 128) { s += sum(A[r, c :+ 4] * X[c :+ 4]) }
  return lane_sum(s)
}

@launch(128)
kernel matvec(A: tensor<i8>[R, C], X: tensor<i8>[C], Y: tensor<f32>[R], count: tensor<i32>[1], scale: f32) {
  let r = ctx.block.x * ctx.warps + ctx.warp
  if r < R {
    let s = row_dot(A, X, r)
    if ctx.lane == 0 {
      Y[r] = scale * f32(s)
      atomic_add(count[0], 1)
    }
  }
  Y[R - 4:] *= 2
  Y[0 : ctx.block.x] = 0
  var t: tile<i8>[4, 8] = 1
  t[0, 0] += 250 / 2
  t[3 :+ 1, :] -= X[0 :+ 8]
  t[0 :+ 2, 4:] = iota(1)
  let v = elem(Y[ctx.thread * 4 :+ 4], align = 16)
  store(Y[ctx.thread * 4 :+ 4], v * v + 1.0)
}
// ----
kernel matvec(A: tensor<i8>[R, C], X: tensor<i8>[C], Y: tensor<f32>[R], count: tensor<i32>[1], scale: f32)
dims R, C
  let r: index = ((ctx.block.x * 4:index) + ctx.warp)
  if (r < R)
    var s: i32 = 0:i32
    for c in (ctx.lane * 4:index) .. C step 128:index
      s = (s + sum<i32>((i32(elem<vec<i8, 4>>(A[r, c :+ 4])) * i32(elem<vec<i8, 4>>(X[c :+ 4])))))
    let s: i32 = lane_sum<i32>(s)
    if (ctx.lane == 0:index)
      Y[r] = (scale * f32(s))
      atomic_add<i32>(count[0:index], 1:i32)
  Y[(R - 4:index):] *= 2.0:f32
  Y[0:index :+ (ctx.block.x - 0:index)] = 0.0:f32
  var t: tile<i8>[4, 8] = splat[4, 8](1:i8)
  t[0:index, 0:index] = (t[0:index, 0:index] + 125:i8)
  t[3:index :+ 1, :] = (t[3:index :+ 1, :] - reshape[1, 8](X[0:index :+ 8]))
  t[0:index :+ 2, 4:index :+ 4] = i8(iota[2, 4](1))
  let v: vec<f32, 4> = elem<vec<f32, 4>>(Y[(ctx.thread * 4:index) :+ 4], align = 16)
  store<nothing>(Y[(ctx.thread * 4:index) :+ 4], ((v * v) + splat[4](1.0:f32)))

// Per-thread code: indices, points and runs with their scopes, control flow that parts the threads.
@launch(64) kernel per_thread(X: tensor<f32>[M, N], W: tensor<i8>[N], Y: tensor<f32>[N], S: tensor<i32>[4], n: i32) {
  Y[0] = X[0, 0]
  Y[ctx.warp] = X[ctx.warp, 0]
  let i = ctx.thread
  Y[i] = X[i, 0]
  if i < n && X[i, 1] > 0.0 { Y[1] = X[0, 0] }
  if n > 0 { Y[2] = 1.0 }
  if ctx.warp == 0 { Y[3] = 1.0 }
  barrier()
  for k in range(ctx.lane, n, ctx.lanes) {
    let v = elem(X[i, k :+ 4], align = 4)
    store(Y[k :+ 4], v * 2.0 + 1.0, align = 16)
    Y[k] = v[3]
  }
  store(Y[0 :+ 4], 0.0)
  S[0] = sum(W[0 :+ 4] * W[i :+ 4], align = 4)
}
// ----
kernel per_thread(%X: tensor<f32>[M, N], %W: tensor<i8>[N], %Y: tensor<f32>[N], %S: tensor<i32>[4]; %M: index, %N: index; %n: i32)
  form "built"
  attributes {launch = launch(threads = 64, explicit = true)}
{
  %c0: index = const() {value = 0}
  %c0.1: index = const() {value = 0}
  %X.1: f32 = load_point(%X, [%c0, %c0.1], [%M, %N])
  %c0.2: index = const() {value = 0}
  store_point(%Y, [%c0.2], [%N], %X.1)
  %warp: index = thread_index() {kind = "warp"}
  %c0.3: index = const() {value = 0}
  %X.2: f32 = load_point(%X, [%warp, %c0.3], [%M, %N]) {scope = "warp"}
  %warp.1: index = thread_index() {kind = "warp"}
  store_point(%Y, [%warp.1], [%N], %X.2) {scope = "warp"}
  %i: index = thread_index() {kind = "thread"}
  %c0.4: index = const() {value = 0}
  %X.3: f32 = load_point(%X, [%i, %c0.4], [%M, %N]) {scope = "thread"}
  store_point(%Y, [%i], [%N], %X.3) {scope = "thread"}
  %n.1: index = cast(%n)
  %lt: bool = compare(%i, %n.1) {kind = "lt"}
  [%land: bool] = if(%lt) then {
    %c1: index = const() {value = 1}
    %X.4: f32 = load_point(%X, [%i, %c1], [%M, %N]) {scope = "thread"}
    %c: f32 = const() {value = 0.0}
    %gt: bool = compare(%X.4, %c) {kind = "gt"}
    yield([%gt])
  } orelse {
    %c.1: bool = const() {value = false}
    yield([%c.1])
  }
  if(%land) then {
    %c0.5: index = const() {value = 0}
    %c0.6: index = const() {value = 0}
    %X.5: f32 = load_point(%X, [%c0.5, %c0.6], [%M, %N]) {scope = "thread"}
    %c1.1: index = const() {value = 1}
    store_point(%Y, [%c1.1], [%N], %X.5) {scope = "thread"}
    yield([])
  } orelse {
    yield([])
  }
  %c0.7: i32 = const() {value = 0}
  %gt.1: bool = compare(%n, %c0.7) {kind = "gt"}
  if(%gt.1) then {
    %c.2: f32 = const() {value = 1.0}
    %c2: index = const() {value = 2}
    store_point(%Y, [%c2], [%N], %c.2)
    yield([])
  } orelse {
    yield([])
  }
  %warp.2: index = thread_index() {kind = "warp"}
  %c0.8: index = const() {value = 0}
  %eq: bool = compare(%warp.2, %c0.8) {kind = "eq"}
  if(%eq) then {
    %c.3: f32 = const() {value = 1.0}
    %c3: index = const() {value = 3}
    store_point(%Y, [%c3], [%N], %c.3) {scope = "thread"}
    yield([])
  } orelse {
    yield([])
  }
  barrier()
  %lane: index = thread_index() {kind = "lane"}
  %n.2: index = cast(%n)
  %c32: index = const() {value = 32}
  for(%lane, %n.2, %c32, []) body(%k: index) {
    %v: vec<f32, 4> = load_run(%X, [%i, %k], [%M, %N]) {axis = 1, align = 4}
    %c.4: f32 = const() {value = 2.0}
    %c.5: vec<f32, 4> = splat(%c.4)
    %c.6: f32 = const() {value = 1.0}
    %c.7: vec<f32, 4> = splat(%c.6)
    %fma: vec<f32, 4> = fma(%v, %c.5, %c.7)
    store_run(%Y, [%k], [%N], %fma) {axis = 0, align = 16}
    %v.1: f32 = element(%v) {index = 3}
    store_point(%Y, [%k], [%N], %v.1) {scope = "thread"}
    yield([])
  }
  %c.8: f32 = const() {value = 0.0}
  %c.9: vec<f32, 4> = splat(%c.8)
  %c0.9: index = const() {value = 0}
  store_run(%Y, [%c0.9], [%N], %c.9) {axis = 0, scope = "cta"}
  %c0.10: index = const() {value = 0}
  %W.1: vec<i8, 4> = load_run(%W, [%c0.10], [%N]) {axis = 0, align = 4, scope = "cta"}
  %W.2: vec<i32, 4> = cast(%W.1)
  %W.3: vec<i8, 4> = load_run(%W, [%i], [%N]) {axis = 0, align = 4}
  %W.4: vec<i32, 4> = cast(%W.3)
  %mul: vec<i32, 4> = binary(%W.2, %W.4) {kind = "mul"}
  %sum: i32 = sum_run(%mul)
  %c0.11: index = const() {value = 0}
  %c4: index = const() {value = 4}
  store_point(%S, [%c0.11], [%c4], %sum) {scope = "thread"}
}

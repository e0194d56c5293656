// A tile of which a part is addressed is a buffer from its declaration on, whole reads and assignments included; `u` is
// a value.
@launch(64)
kernel memory(X: tensor<f32>[16, 32], Y: tensor<f32>[16, 32], n: i32) {
  var t = X[:, :]
  var u = t + 1.0
  for i in range(0, n) {
    t[i, 0 :+ 8] = t[i + 1, 4 :+ 8]
    u = u + t
  }
  while t[0, 0] > 1.0 {
    t = t * 0.5
  }
  t[ctx.thread % 16, 3] = 1.0
  barrier()
  store(t[0, ctx.lane :+ 4], elem(t[1, 0 :+ 4], align = 4))
  Y[:, :] = t + u
}
// ----
kernel memory(%X: tensor<f32>[16, 32], %Y: tensor<f32>[16, 32]; ; %n: i32)
  form "built"
  attributes {launch = launch(threads = 64, explicit = true)}
{
  %c0: index = const() {value = 0}
  %c0.1: index = const() {value = 0}
  %c16: index = const() {value = 16}
  %c32: index = const() {value = 32}
  %t: tile<f32>[16, 32] = load(%X, [%c0, %c0.1], [%c16, %c32]) {guards = ["both", "both"], why = ["", ""]}
  %t.1: buffer<f32>[16, 32] @swizzled(fast=1) = alloc() {label = "t", why = "line 8 assigns a slice of it"}
  %c0.2: index = const() {value = 0}
  %c16.1: index = const() {value = 16}
  %c32.1: index = const() {value = 32}
  store(%t.1, [%c0.2, %c0.2], [%c16.1, %c32.1], %t) {guards = ["", ""], why = ["the whole tile", "the whole tile"]}
  %c0.3: index = const() {value = 0}
  %c16.2: index = const() {value = 16}
  %c32.2: index = const() {value = 32}
  %t.2: tile<f32>[16, 32] = load(%t.1, [%c0.3, %c0.3], [%c16.2, %c32.2]) {guards = ["", ""], why = ["the whole tile", "the whole tile"]}
  %c: f32 = const() {value = 1.0}
  %c.1: tile<f32>[16, 32] = splat(%c)
  %u: tile<f32>[16, 32] = binary(%t.2, %c.1) {kind = "add"}
  %c0.4: index = const() {value = 0}
  %n.1: index = cast(%n)
  %c1: index = const() {value = 1}
  [%u.1: tile<f32>[16, 32]] = for(%c0.4, %n.1, %c1, [%u]) body(%i: index, %u.2: tile<f32>[16, 32]) {
    %c1.1: index = const() {value = 1}
    %add: index = binary(%i, %c1.1) {kind = "add"}
    %c4: index = const() {value = 4}
    %c16.3: index = const() {value = 16}
    %c32.3: index = const() {value = 32}
    %t.3: tile<f32>[1, 8] = load(%t.1, [%add, %c4], [%c16.3, %c32.3]) {guards = ["", "both"], why = ["a point is the caller's duty", ""]}
    %c0.5: index = const() {value = 0}
    %c16.4: index = const() {value = 16}
    %c32.4: index = const() {value = 32}
    store(%t.1, [%i, %c0.5], [%c16.4, %c32.4], %t.3) {guards = ["", "both"], why = ["a point is the caller's duty", ""]}
    %c0.6: index = const() {value = 0}
    %c16.5: index = const() {value = 16}
    %c32.5: index = const() {value = 32}
    %t.4: tile<f32>[16, 32] = load(%t.1, [%c0.6, %c0.6], [%c16.5, %c32.5]) {guards = ["", ""], why = ["the whole tile", "the whole tile"]}
    %u.3: tile<f32>[16, 32] = binary(%u.2, %t.4) {kind = "add"}
    yield([%u.3])
  }
  while([]) cond {
    %c0.7: index = const() {value = 0}
    %c0.8: index = const() {value = 0}
    %c16.6: index = const() {value = 16}
    %c32.6: index = const() {value = 32}
    %t.5: f32 = load_point(%t.1, [%c0.7, %c0.8], [%c16.6, %c32.6])
    %c.2: f32 = const() {value = 1.0}
    %gt: bool = compare(%t.5, %c.2) {kind = "gt"}
    yield([%gt])
  } body {
    %c0.9: index = const() {value = 0}
    %c16.7: index = const() {value = 16}
    %c32.7: index = const() {value = 32}
    %t.6: tile<f32>[16, 32] = load(%t.1, [%c0.9, %c0.9], [%c16.7, %c32.7]) {guards = ["", ""], why = ["the whole tile", "the whole tile"]}
    %c.3: f32 = const() {value = 0.5}
    %c.4: tile<f32>[16, 32] = splat(%c.3)
    %t.7: tile<f32>[16, 32] = binary(%t.6, %c.4) {kind = "mul"}
    %c0.10: index = const() {value = 0}
    %c16.8: index = const() {value = 16}
    %c32.8: index = const() {value = 32}
    store(%t.1, [%c0.10, %c0.10], [%c16.8, %c32.8], %t.7) {guards = ["", ""], why = ["the whole tile", "the whole tile"]}
    yield([])
  }
  %c.5: f32 = const() {value = 1.0}
  %thread: index = thread_index() {kind = "thread"}
  %c16.9: index = const() {value = 16}
  %rem: index = binary(%thread, %c16.9) {kind = "rem"}
  %c3: index = const() {value = 3}
  %c16.10: index = const() {value = 16}
  %c32.9: index = const() {value = 32}
  store_point(%t.1, [%rem, %c3], [%c16.10, %c32.9], %c.5) {scope = "thread"}
  barrier()
  %c1.2: index = const() {value = 1}
  %c0.11: index = const() {value = 0}
  %c16.11: index = const() {value = 16}
  %c32.10: index = const() {value = 32}
  %t.8: vec<f32, 4> = load_run(%t.1, [%c1.2, %c0.11], [%c16.11, %c32.10]) {axis = 1, align = 4, scope = "cta"}
  %c0.12: index = const() {value = 0}
  %lane: index = thread_index() {kind = "lane"}
  %c16.12: index = const() {value = 16}
  %c32.11: index = const() {value = 32}
  store_run(%t.1, [%c0.12, %lane], [%c16.12, %c32.11], %t.8) {axis = 1}
  %c0.13: index = const() {value = 0}
  %c16.13: index = const() {value = 16}
  %c32.12: index = const() {value = 32}
  %t.9: tile<f32>[16, 32] = load(%t.1, [%c0.13, %c0.13], [%c16.13, %c32.12]) {guards = ["", ""], why = ["the whole tile", "the whole tile"]}
  %add.1: tile<f32>[16, 32] = binary(%t.9, %u.1) {kind = "add"}
  %c0.14: index = const() {value = 0}
  %c0.15: index = const() {value = 0}
  %c16.14: index = const() {value = 16}
  %c32.13: index = const() {value = 32}
  store(%Y, [%c0.14, %c0.15], [%c16.14, %c32.13], %add.1) {guards = ["both", "both"], why = ["", ""]}
}

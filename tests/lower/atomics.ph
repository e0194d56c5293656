// Atomics: kinds, scopes, conversions; a result that is used twice, or by nobody, is one op (A05).
@launch(64) kernel atomics(C: tensor<i32>[N], L: tensor<i64>[N], H: tensor<f16>[N], x: f32) {
  let t = atomic_add(C[0], 1)
  C[1] = t + t
  atomic_max(H, ctx.warp, x)
  if ctx.lane == 0 { atomic_min(L[2], 3) }
  let u = atomic_cas(C[ctx.thread], t, 5)
}
// ----
kernel atomics(%C: tensor<i32>[N], %L: tensor<i64>[N], %H: tensor<f16>[N]; %N: index; %x: f32)
  form "built"
  attributes {launch = launch(threads = 64, explicit = true)}
{
  %c0: index = const() {value = 0}
  %c1: i32 = const() {value = 1}
  %t: i32 = atomic(%C, [%c0], [%N], [%c1]) {kind = "add"}
  %add: i32 = binary(%t, %t) {kind = "add"}
  %c1.1: index = const() {value = 1}
  store_point(%C, [%c1.1], [%N], %add)
  %warp: index = thread_index() {kind = "warp"}
  %x.1: f16 = cast(%x)
  %old: f16 = atomic(%H, [%warp], [%N], [%x.1]) {kind = "max", scope = "warp"}
  %lane: index = thread_index() {kind = "lane"}
  %c0.1: index = const() {value = 0}
  %eq: bool = compare(%lane, %c0.1) {kind = "eq"}
  if(%eq) then {
    %c2: index = const() {value = 2}
    %c3: i64 = const() {value = 3}
    %old.1: i64 = atomic(%L, [%c2], [%N], [%c3]) {kind = "min", scope = "thread"}
    yield([])
  } orelse {
    yield([])
  }
  %thread: index = thread_index() {kind = "thread"}
  %c5: i32 = const() {value = 5}
  %u: i32 = atomic(%C, [%thread], [%N], [%t, %c5]) {kind = "cas", scope = "thread"}
}

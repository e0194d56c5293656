// A step known only at run time: not positive means no trips.
kernel steps(Y: tensor<i32>[8], n: i32, step: i32) {
  var a: i32 = 0
  for<unroll 2> i in range(n, 100, step) {
    a += 1
  }
  Y[0] = a
}
// ----
kernel steps(%Y: tensor<i32>[8]; ; %n: i32, %step: i32)
  form "built"
{
  %a: i32 = const() {value = 0}
  %n.1: index = cast(%n)
  %c100: index = const() {value = 100}
  %step.1: index = cast(%step)
  %c: index = const() {value = 0}
  %gt: bool = compare(%step.1, %c) {kind = "gt"}
  %stop: index = select(%gt, %c100, %n.1)
  %c.1: index = const() {value = 1}
  %step.2: index = select(%gt, %step.1, %c.1)
  [%a.1: i32] = for(%n.1, %stop, %step.2, [%a]) {unroll = 2} body(%i: index, %a.2: i32) {
    %c1: i32 = const() {value = 1}
    %a.3: i32 = binary(%a.2, %c1) {kind = "add"}
    yield([%a.3])
  }
  %c0: index = const() {value = 0}
  %c8: index = const() {value = 8}
  store_point(%Y, [%c0], [%c8], %a.1)
}

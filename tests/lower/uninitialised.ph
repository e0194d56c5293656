// What nobody wrote is zero where a region needs a value for it, and nothing where none does (B182).
kernel uninitialised(X: tensor<f32>[16], n: i32) {
  var t: tile<f32>[8]
  var u: tile<f32>[8]
  if n > 0 {
    t = X[0 :+ 8]
  }
  u = t + 1.0
  X[8 :+ 8] = u
}
// ----
kernel uninitialised(%X: tensor<f32>[16]; ; %n: i32)
  form "built"
{
  %c0: i32 = const() {value = 0}
  %gt: bool = compare(%n, %c0) {kind = "gt"}
  [%t: tile<f32>[8]] = if(%gt) then {
    %c0.1: index = const() {value = 0}
    %c16: index = const() {value = 16}
    %t.1: tile<f32>[8] = load(%X, [%c0.1], [%c16]) {guards = ["both"], why = [""]}
    yield([%t.1])
  } orelse {
    %zero: f32 = const() {value = 0.0}
    %t.2: tile<f32>[8] = splat(%zero)
    yield([%t.2])
  }
  %c: f32 = const() {value = 1.0}
  %c.1: tile<f32>[8] = splat(%c)
  %u: tile<f32>[8] = binary(%t, %c.1) {kind = "add"}
  %c8: index = const() {value = 8}
  %c16.1: index = const() {value = 16}
  store(%X, [%c8], [%c16.1], %u) {guards = ["both"], why = [""]}
}

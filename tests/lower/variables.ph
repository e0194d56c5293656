// A var is carried by exactly the regions that assign it.
kernel variables(X: tensor<f32>[N], Y: tensor<i32>[N], n: i32) {
  var a: i32 = 0
  var b: i32 = 1
  var t = X[0 :+ 8]
  for i in range(0, n, 2) {
    a += b
    if a > 10 {
      t = t + 1.0
    } else {
      a -= 1
    }
    var inner: i32 = 3
    inner += i32(i)
  }
  while a < 100 && Y[0] < 3 {
    a *= 2
  }
  X[0 :+ 8] = t
  Y[0] = a + b
}
// ----
kernel variables(%X: tensor<f32>[N], %Y: tensor<i32>[N]; %N: index; %n: i32)
  form "built"
{
  %a: i32 = const() {value = 0}
  %b: i32 = const() {value = 1}
  %c0: index = const() {value = 0}
  %t: tile<f32>[8] = load(%X, [%c0], [%N]) {guards = ["both"], why = [""]}
  %c0.1: index = const() {value = 0}
  %n.1: index = cast(%n)
  %c2: index = const() {value = 2}
  [%a.1: i32, %t.1: tile<f32>[8]] = for(%c0.1, %n.1, %c2, [%a, %t]) body(%i: index, %a.2: i32, %t.2: tile<f32>[8]) {
    %a.3: i32 = binary(%a.2, %b) {kind = "add"}
    %c10: i32 = const() {value = 10}
    %gt: bool = compare(%a.3, %c10) {kind = "gt"}
    [%a.4: i32, %t.3: tile<f32>[8]] = if(%gt) then {
      %c: f32 = const() {value = 1.0}
      %c.1: tile<f32>[8] = splat(%c)
      %t.4: tile<f32>[8] = binary(%t.2, %c.1) {kind = "add"}
      yield([%a.3, %t.4])
    } orelse {
      %c1: i32 = const() {value = 1}
      %a.5: i32 = binary(%a.3, %c1) {kind = "sub"}
      yield([%a.5, %t.2])
    }
    %inner: i32 = const() {value = 3}
    %i.1: i32 = cast(%i)
    %inner.1: i32 = binary(%inner, %i.1) {kind = "add"}
    yield([%a.4, %t.3])
  }
  [%a.6: i32] = while([%a.1]) cond(%a.7: i32) {
    %c100: i32 = const() {value = 100}
    %lt: bool = compare(%a.7, %c100) {kind = "lt"}
    [%land: bool] = if(%lt) then {
      %c0.2: index = const() {value = 0}
      %Y.1: i32 = load_point(%Y, [%c0.2], [%N])
      %c3: i32 = const() {value = 3}
      %lt.1: bool = compare(%Y.1, %c3) {kind = "lt"}
      yield([%lt.1])
    } orelse {
      %c.2: bool = const() {value = false}
      yield([%c.2])
    }
    yield([%land, %a.7])
  } body(%a.8: i32) {
    %c2.1: i32 = const() {value = 2}
    %a.9: i32 = binary(%a.8, %c2.1) {kind = "mul"}
    yield([%a.9])
  }
  %c0.3: index = const() {value = 0}
  store(%X, [%c0.3], [%N], %t.1) {guards = ["both"], why = [""]}
  %add: i32 = binary(%a.6, %b) {kind = "add"}
  %c0.4: index = const() {value = 0}
  store_point(%Y, [%c0.4], [%N], %add)
}

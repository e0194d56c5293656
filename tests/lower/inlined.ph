// A fn is inlined; its returns are flags only where something follows them.
fn clamp(x: i32, low: i32) -> i32 {
  if x < low {
    return low
  }
  return x
}

fn first(n: i32) -> i32 {
  for i in range(0, 10) {
    if i * i > n {
      return i32(i)
    }
  }
  return -1
}

kernel inlined(Y: tensor<i32>[8], n: i32) {
  Y[0] = clamp(n, 3) + first(n)
}
// ----
kernel inlined(%Y: tensor<i32>[8]; ; %n: i32)
  form "built"
{
  %result: i32 = const() {value = 0}
  %c3: i32 = const() {value = 3}
  %lt: bool = compare(%n, %c3) {kind = "lt"}
  [%result.1: i32] = if(%lt) then {
    %result.2: i32 = const() {value = 3}
    yield([%result.2])
  } orelse {
    yield([%n])
  }
  %result.3: i32 = const() {value = 0}
  %left: bool = const() {value = false}
  %c0: index = const() {value = 0}
  %c10: index = const() {value = 10}
  %c1: index = const() {value = 1}
  [%result.4: i32, %left.1: bool] = for(%c0, %c10, %c1, [%result.3, %left]) body(%i: index, %result.5: i32, %left.2: bool) {
    %not: bool = unary(%left.2) {kind = "not"}
    [%result.6: i32, %left.3: bool] = if(%not) then {
      %mul: index = binary(%i, %i) {kind = "mul"}
      %n.1: index = cast(%n)
      %gt: bool = compare(%mul, %n.1) {kind = "gt"}
      [%result.7: i32, %left.4: bool] = if(%gt) then {
        %result.8: i32 = cast(%i)
        %left.5: bool = const() {value = true}
        yield([%result.8, %left.5])
      } orelse {
        yield([%result.5, %left.2])
      }
      yield([%result.7, %left.4])
    } orelse {
      yield([%result.5, %left.2])
    }
    yield([%result.6, %left.3])
  }
  %not.1: bool = unary(%left.1) {kind = "not"}
  [%result.9: i32] = if(%not.1) then {
    %result.10: i32 = const() {value = -1}
    yield([%result.10])
  } orelse {
    yield([%result.4])
  }
  %add: i32 = binary(%result.1, %result.9) {kind = "add"}
  %c0.1: index = const() {value = 0}
  %c8: index = const() {value = 8}
  store_point(%Y, [%c0.1], [%c8], %add)
}

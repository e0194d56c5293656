// break, continue and return as flags; only flags that something tests are made.
kernel exits(Y: tensor<i32>[8], n: i32) {
  var a: i32 = 0
  for i in range(0, n) {
    if a == 5 {
      continue
    }
    if a > 10 {
      break
    }
    a += 1
  }
  while true {
    a += 1
    if a > 20 {
      if n == 3 {
        return
      }
      break
    }
    Y[1] = a
  }
  Y[0] = a
}
// ----
kernel exits(%Y: tensor<i32>[8]; ; %n: i32)
  form "built"
{
  %returned: bool = const() {value = false}
  %a: i32 = const() {value = 0}
  %broken: bool = const() {value = false}
  %c0: index = const() {value = 0}
  %n.1: index = cast(%n)
  %c1: index = const() {value = 1}
  [%a.1: i32, %broken.1: bool] = for(%c0, %n.1, %c1, [%a, %broken]) body(%i: index, %a.2: i32, %broken.2: bool) {
    %not: bool = unary(%broken.2) {kind = "not"}
    [%a.3: i32, %broken.3: bool] = if(%not) then {
      %c5: i32 = const() {value = 5}
      %eq: bool = compare(%a.2, %c5) {kind = "eq"}
      [%a.4: i32, %broken.4: bool] = if(%eq) then {
        yield([%a.2, %broken.2])
      } orelse {
        %c10: i32 = const() {value = 10}
        %gt: bool = compare(%a.2, %c10) {kind = "gt"}
        [%a.5: i32, %broken.5: bool] = if(%gt) then {
          %broken.6: bool = const() {value = true}
          yield([%a.2, %broken.6])
        } orelse {
          %c1.1: i32 = const() {value = 1}
          %a.6: i32 = binary(%a.2, %c1.1) {kind = "add"}
          yield([%a.6, %broken.2])
        }
        yield([%a.5, %broken.5])
      }
      yield([%a.4, %broken.4])
    } orelse {
      yield([%a.2, %broken.2])
    }
    yield([%a.3, %broken.3])
  }
  %broken.7: bool = const() {value = false}
  [%returned.1: bool, %a.7: i32, %broken.8: bool] = while([%returned, %a.1, %broken.7]) cond(%returned.2: bool, %a.8: i32, %broken.9: bool) {
    %going: bool = const() {value = false}
    %or: bool = binary(%returned.2, %broken.9) {kind = "or"}
    %not.1: bool = unary(%or) {kind = "not"}
    [%going.1: bool] = if(%not.1) then {
      %going.2: bool = const() {value = true}
      yield([%going.2])
    } orelse {
      yield([%going])
    }
    yield([%going.1, %returned.2, %a.8, %broken.9])
  } body(%returned.3: bool, %a.9: i32, %broken.10: bool) {
    %c1.2: i32 = const() {value = 1}
    %a.10: i32 = binary(%a.9, %c1.2) {kind = "add"}
    %c20: i32 = const() {value = 20}
    %gt.1: bool = compare(%a.10, %c20) {kind = "gt"}
    [%returned.4: bool, %broken.11: bool] = if(%gt.1) then {
      %c3: i32 = const() {value = 3}
      %eq.1: bool = compare(%n, %c3) {kind = "eq"}
      [%returned.5: bool, %broken.12: bool] = if(%eq.1) then {
        %returned.6: bool = const() {value = true}
        yield([%returned.6, %broken.10])
      } orelse {
        %broken.13: bool = const() {value = true}
        yield([%returned.3, %broken.13])
      }
      yield([%returned.5, %broken.12])
    } orelse {
      %c1.3: index = const() {value = 1}
      %c8: index = const() {value = 8}
      store_point(%Y, [%c1.3], [%c8], %a.10)
      yield([%returned.3, %broken.10])
    }
    yield([%returned.4, %a.10, %broken.11])
  }
  %not.2: bool = unary(%returned.1) {kind = "not"}
  if(%not.2) then {
    %c0.1: index = const() {value = 0}
    %c8.1: index = const() {value = 8}
    store_point(%Y, [%c0.1], [%c8.1], %a.7)
    yield([])
  } orelse {
    yield([])
  }
}

// Everything that lowering does not do yet is reported, all of it in one run.
@tensorcore @swizzle(4) kernel not_yet(X: tensor<f32>[64, N], C: tensor<i32>[4], n: i32) {
  var t = X[0 :+ 64, 0 :+ 64]
  let m = rowmax(t)
  t[0 :+ 8, :] = 0.0
  let c = t[0 :+ 8, 0 :+ 8]
  X[0, 0] = t[1, 2]
  let r = elem(t[ctx.lane, 0 :+ 4])
  store(t[ctx.lane, 0 :+ 4], 1.0)
  atomic_add(C[0 :+ 4], 1)
  let i = lane_sum(1)
  let g = generate(under_a_condition, 8, 8, X) + generate(trips, 8, 8)
}
fn under_a_condition(i, j, A) {
  if i > j { return A[i, j] }
  return 0.0
}
fn trips(i, j) {
  var s = 0.0
  for k in range(0, i) { s += 1.0 }
  return s
}
// ----
// error: 2: PH401 not supported yet: the attribute `@tensorcore`
// error: 2: PH401 not supported yet: the attribute `@swizzle`
// error: 10: PH401 not supported yet: `atomic_add` of a slice
// error: 11: PH401 not supported yet: the builtin `lane_sum`
// error: 12: PH401 not supported yet: reading memory under a condition that differs between elements in the fn of `generate`
// error: 12: PH401 not supported yet: a loop whose trips differ between elements in the fn of `generate`

// Everything that lowering does not do yet is reported, all of it in one run.
@tensorcore @swizzle(4) kernel not_yet(X: tensor<f32>[64, N], C: tensor<i32>[4], n: i32) {
  var t = X[0 :+ 64, 0 :+ 64]
  let m = rowmax(t)
  t[0 :+ 8, :] = 0.0
  let c = t[0 :+ 8, 0 :+ 8]
  X[0, 0] = t[1, 2]
  let r = elem(t[ctx.lane, 0 :+ 4])
  store(t[ctx.lane, 0 :+ 4], 1.0)
  X[0 : n, 0 :+ 4] = 0.0
  atomic_add(C[0], 1)
  let i = lane_sum(1)
}
// ----
// error: 2: PH401 not supported yet: the attribute `@tensorcore`
// error: 2: PH401 not supported yet: the attribute `@swizzle`
// error: 4: PH401 not supported yet: the builtin `rowmax`
// error: 5: PH401 not supported yet: assigning through a slice of the tile `t`
// error: 6: PH401 not supported yet: reading a slice of the tile `t`
// error: 7: PH401 not supported yet: reading a point of the tile `t`
// error: 8: PH401 not supported yet: a run of the tile `t`
// error: 9: PH401 not supported yet: a run of the tile `t`
// error: 10: PH401 not supported yet: a slice of run-time length
// error: 11: PH401 not supported yet: the builtin `atomic_add`
// error: 12: PH401 not supported yet: the builtin `lane_sum`

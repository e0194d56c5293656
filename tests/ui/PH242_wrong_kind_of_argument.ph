kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let v = elem(x) //~ PH242
  var t: tile<f32>[4] = 0.0
  atomic_add(t[0], 1.0) //~ PH242
  print(x) //~ PH242
  let g = generate(x, 4, 4) //~ PH242
  atomic_max(V[0 :+ 4], 1.0) //~ PH242
}

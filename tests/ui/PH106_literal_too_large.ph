kernel f(A: tensor<f32>[N]) {
  let a = 18446744073709551616 //~ PH106
  let b = 0x1_0000_0000_0000_0000 //~ PH106
  let c = 1.0e999 //~ PH106
}

kernel f(A: tensor<float>[N], n: int, B: matrix<f32>[N]) { //~ PH125 PH125 PH125
  let x: f33 = 1.0 //~ PH125
  let y: tile<index>[16] = 0.0 //~ PH125
  let z: tile<tile<f32>[4]>[4] = 0.0 //~ PH125
}

kernel f(A: tensor<f32>[N]) {
  let a: f32 //~ PH120
  let b //~ PH120
  var c //~ PH120
  var d: f32 //~ PH120
  var e: tile<f32>[16]
  let g: tile<f32>[16] //~ PH120
}

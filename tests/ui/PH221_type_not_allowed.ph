kernel k(t: tile<f32>[16, 16], V: tensor<f32>[N]) { //~ PH221
  V[0] = t[0, 0]
}

kernel q(V: tensor<f32>[N]) {
  var t: tensor<f32>[16] = 0.0 //~ PH221
}

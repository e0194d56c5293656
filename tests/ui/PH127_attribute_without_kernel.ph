@pipeline //~ PH127
@launch(256)
fn f(x) -> f32 {
  return x
}

kernel k(A: tensor<f32>[N]) {
  @unroll(4) //~ PH127
  for i in range(0, N) {
    1 = 2 //~ PH114
  }
}

@launch(128) //~ PH127

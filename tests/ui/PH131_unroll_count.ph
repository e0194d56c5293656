kernel f(A: tensor<f32>[N], n: i32) {
  for<unroll n> i in range(0, N) { //~ PH131
  }
  for<unroll> i in range(0, N) { //~ PH131
  }
  for<unrol 4> i in range(0, N) { //~ PH102
  }
}

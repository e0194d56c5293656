kernel f(A: tensor<f32>[N], ctx: i32) { //~ PH123
  let in = A[0] //~ PH123
  let ctx = 1 //~ PH123
  for if in range(0, 4) { //~ PH123
  }
}

fn ctx(x) { //~ PH123
}

kernel while() { //~ PH123
}

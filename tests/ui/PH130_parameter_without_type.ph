kernel f(A: tensor<f32>[N], alpha, n: i32) { //~ PH130
}

fn g(x, y: f32) { }

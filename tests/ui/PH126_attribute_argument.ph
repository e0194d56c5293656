@launch(-1) //~ PH126
@autotune(X in [1, -2], Y in [1.0], Z in [a]) //~ PH126 PH126 PH126
@pipeline(2 * 2) //~ PH126
@aligned(N = 2 * X, M = "four") //~ PH126 PH126
@launch(ctx.threads) //~ PH126
kernel f(A: tensor<f32>[N]) {
}

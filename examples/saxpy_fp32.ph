// run: saxpy N=4096 a=2.5 seed=1 tol=1e-6
// run: saxpy N=1000 a=-0.5 seed=2 tol=1e-6
// run: saxpy N=10001 a=1.0 BLOCK=8192 seed=3 tol=1e-6

// Y = a * X + Y in place: one block of the vectors per CTA, the last one masked where N is ragged.
@autotune(BLOCK in [2048, 16384])
@launch(256)
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x * BLOCK
  Y[i :+ BLOCK] = a * X[i :+ BLOCK] + Y[i :+ BLOCK]
}

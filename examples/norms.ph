// run: layer_norm M=5 N=96 COLS=128 eps=1e-5 seed=1 tol=3e-3
// run: layer_norm M=3 N=128 COLS=128 eps=1e-5 seed=2 tol=3e-3
// run: rms_norm M=5 N=96 COLS=128 eps=1e-5 seed=3 tol=3e-3
// run: rms_norm M=3 N=128 COLS=128 eps=1e-5 seed=4 tol=3e-3
// run: rms_norm M=2 N=8192 COLS=8192 THREADS=512 eps=1e-5 seed=5 tol=3e-3

// Layer norm and RMS norm of rows that fit a CTA's registers (N at most COLS): one read of X, one write of Y, f32 between.
@autotune(COLS in [1024, 8192], THREADS in [256, 128, 512])
@launch(THREADS)
@aligned(N = 8)
kernel layer_norm(
  X: tensor<f16>[M, N],
  G: tensor<f16>[N],
  B: tensor<f16>[N],
  Y: tensor<f16>[M, N],
  eps: f32
) {
  let i = ctx.block.x
  let x = f32(X[i, 0 :+ COLS])
  let mean = rowsum(x) / f32(N)
  let xc = where(iota(1) < N, x - mean, 0.0)
  let scale = rsqrt(rowsum(xc * xc) / f32(N) + eps)
  Y[i, 0 :+ COLS] = f16(xc * scale * f32(G[0 :+ COLS]) + f32(B[0 :+ COLS]))
}

@autotune(COLS in [1024, 8192], THREADS in [256, 128, 512])
@launch(THREADS)
@aligned(N = 8)
kernel rms_norm(X: tensor<f16>[M, N], G: tensor<f16>[N], Y: tensor<f16>[M, N], eps: f32) {
  let i = ctx.block.x
  let x = f32(X[i, 0 :+ COLS])
  let scale = rsqrt(rowsum(x * x) / f32(N) + eps)
  Y[i, 0 :+ COLS] = f16(x * scale * f32(G[0 :+ COLS]))
}

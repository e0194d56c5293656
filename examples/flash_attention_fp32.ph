// run: flash_attention B=1 H=2 NQ=64 NK=64 seed=1 tol=2e-5 scale=0.125 BR=32 BC=32 D=16
// run: flash_attention B=2 H=1 NQ=37 NK=51 seed=2 tol=2e-5 scale=0.125 BR=32 BC=32 D=16
// run: flash_attention_causal B=1 H=2 NQ=64 NK=64 seed=3 tol=2e-5 scale=0.125 BR=32 BC=32 D=16
// run: flash_attention_causal B=1 H=1 NQ=52 NK=52 seed=4 tol=2e-5 scale=0.125 BR=32 BC=32 D=16

// O = softmax(scale * Q K^T) V for each batch and head, without the matrix of scores: the online softmax of Milakov and
// Gimelshein in the loop order of FlashAttention-2 (Dao). Scores, running maximum, running sum and output stay in
// registers. Lengths are any; the last keys of a ragged length are masked by hand, since 0 is a score.
@autotune(BR in [64, 128], BC in [32, 64, 128], D in [64, 128], THREADS in [128, 256])
@launch(THREADS)
kernel flash_attention(
  Q: tensor<f32>[B, H, NQ, D],
  K: tensor<f32>[B, H, NK, D],
  V: tensor<f32>[B, H, NK, D],
  O: tensor<f32>[B, H, NQ, D],
  scale: f32
) {
  let row = ctx.block.x * BR
  let h = ctx.block.y
  let b = ctx.block.z
  let q = Q[b, h, row :+ BR, :]
  var top: tile<f32>[BR, 1] = -1.0e30
  var total: tile<f32>[BR, 1] = 0.0
  var o: tile<f32>[BR, D] = 0.0
  for kt in range(0, NK, BC) {
    let s = where(iota(1) < NK - kt, scale * dot_t(q, K[b, h, kt :+ BC, :]), -1.0e30)
    let next = tmax(top, rowmax(s))
    let p = exp(s - next)
    let shrink = exp(top - next)
    total = total * shrink + rowsum(p)
    o *= shrink
    o += dot(p, V[b, h, kt :+ BC, :])
    top = next
  }
  O[b, h, row :+ BR, :] = o / total
}

// The same, and each query sees the keys up to its own place: no block of keys behind the last query is visited.
@autotune(BR in [64, 128], BC in [32, 64, 128], D in [64, 128], THREADS in [128, 256])
@launch(THREADS)
kernel flash_attention_causal(
  Q: tensor<f32>[B, H, NQ, D],
  K: tensor<f32>[B, H, NK, D],
  V: tensor<f32>[B, H, NK, D],
  O: tensor<f32>[B, H, NQ, D],
  scale: f32
) {
  let row = ctx.block.x * BR
  let h = ctx.block.y
  let b = ctx.block.z
  let q = Q[b, h, row :+ BR, :]
  var top: tile<f32>[BR, 1] = -1.0e30
  var total: tile<f32>[BR, 1] = 0.0
  var o: tile<f32>[BR, D] = 0.0
  for kt in range(0, min(NK, row + BR), BC) {
    let scores = scale * dot_t(q, K[b, h, kt :+ BC, :])
    let s = where((iota(1) < NK - kt) && (iota(1) + kt <= iota(0) + row), scores, -1.0e30)
    let next = tmax(top, rowmax(s))
    let p = exp(s - next)
    let shrink = exp(top - next)
    total = total * shrink + rowsum(p)
    o *= shrink
    o += dot(p, V[b, h, kt :+ BC, :])
    top = next
  }
  O[b, h, row :+ BR, :] = o / total
}

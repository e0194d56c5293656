// Rank 4, unit axes dropped and added, iota, an f16 kernel with f32 state.
@autotune(BR in [16], BC in [32], D in [64])
kernel attention(Q: tensor<f16>[B, H, N, D], K: tensor<f16>[B, H, N, D], V: tensor<f16>[B, H, N, D],
                 O: tensor<f16>[B, H, N, D], scale: f32) {
  let row = ctx.block.x * BR
  let b = ctx.block.y
  let h = ctx.block.z
  let q = Q[b, h, row :+ BR, :]
  var m: tile<f32>[BR, 1] = -1.0e30
  var l: tile<f32>[BR, 1] = 0.0
  var acc: tile<f32>[BR, D] = 0.0
  for kt in range(0, N, BC) {
    let k = K[b, h, kt :+ BC, :]
    let v = V[b, h, kt : kt + BC, :]
    var s: tile<f32>[BR, BC] = dot_t(q, k) * scale
    s = where(iota(1) < N - kt, s, -1.0e30)
    let mnew = max(m, rowmax(s))
    let p = exp(s - mnew)
    let r = exp(m - mnew)
    l = l * r + rowsum(p)
    acc = acc * r + dot(f16(p), v)
    m = mnew
  }
  O[b, h, row :+ BR, :] = acc / l
}
// ----
kernel attention(Q: tensor<f16>[B, H, N, 64], K: tensor<f16>[B, H, N, 64], V: tensor<f16>[B, H, N, 64], O: tensor<f16>[B, H, N, 64], scale: f32)
constants BR = 16, BC = 32, D = 64
dims B, H, N
  let row: index = (ctx.block.x * 16:index)
  let b: index = ctx.block.y
  let h: index = ctx.block.z
  let q: tile<f16>[1, 1, 16, 64] = Q[b, h, row :+ 16, :]
  var m: tile<f32>[16, 1] = splat[16, 1](-1.0000000150474662e+30:f32)
  var l: tile<f32>[16, 1] = splat[16, 1](0.0:f32)
  var acc: tile<f32>[16, 64] = splat[16, 64](0.0:f32)
  for kt in 0:index .. N step 32:index
    let k: tile<f16>[1, 1, 32, 64] = K[b, h, kt :+ 32, :]
    let v: tile<f16>[1, 1, 32, 64] = V[b, h, kt :+ 32, :]
    var s: tile<f32>[16, 32] = (dot_t<f32>(reshape[16, 64](q), reshape[32, 64](k)) * splat[16, 32](scale))
    s = where((index(iota[16, 32](1)) < splat[16, 32]((N - kt))), s, splat[16, 32](-1.0000000150474662e+30:f32))
    let mnew: tile<f32>[16, 1] = max(m, rowmax<tile<f32>[16, 1]>(s))
    let p: tile<f32>[16, 32] = exp((s - broadcast[16, 32](mnew)))
    let r: tile<f32>[16, 1] = exp((m - mnew))
    l = ((l * r) + rowsum<tile<f32>[16, 1]>(p))
    acc = ((acc * broadcast[16, 64](r)) + dot<f32>(f16(p), reshape[32, 64](v)))
    m = mnew
  O[b, h, row :+ 16, :] = reshape[1, 1, 16, 64](f16((acc / broadcast[16, 64](l))))

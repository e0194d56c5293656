// run: norms M=12 seed=1 data=integers tol=0
// run: attention B=1 H=2 NQ=40 NK=40 seed=2 data=integers tol=0
// run: attention B=2 H=1 NQ=36 NK=32 seed=3 data=integers tol=0
// run: attention_f16 B=1 H=2 NQ=40 NK=24 seed=5 data=integers tol=0
// run: attention_causal H=1 N=52 seed=6 data=integers tol=0
// run: linear_attention T=40 seed=7 data=integers tol=0
// run: linear_attention T=32 seed=8 data=integers tol=0
// run: nearest M=40 K=16 seed=10 data=integers tol=0
// run: products_summed seed=11 data=integers tol=0
// run: batched B=1 H=2 M=24 N=20 seed=12 data=integers tol=0

fn layer(x, eps) {
  let centred = x - rowsum(x) / 16.0
  return centred / sqrt(rowsum(centred * centred) / 16.0 + eps)
}

// B131: rows of m + s and m - s have the mean m and the variance s * s, so both norms are exact.
@launch(64)
kernel norms(X: tensor<f32>[M, 1], L: tensor<f32>[M, 16], R: tensor<f32>[M, 16]) {
  let r = ctx.block.x * 8
  let m = X[r :+ 8, 0 :+ 1]
  let sign: tile<f32>[8, 16] = 1 - 2 * (iota(1) % 2)
  L[r :+ 8, 0 :+ 16] = layer(m + (abs(m) + 1.0) * sign, 0.0)
  let y = (abs(m) + 1.0) * sign
  R[r :+ 8, 0 :+ 16] = y / sqrt(rowsum(y * y) / 16.0)
}

// B165: scores lie 200 apart, so a weight is 1 or underflows to 0: the mean of the values at the largest scores.
@launch(64)
kernel attention(Q: tensor<f32>[B, H, NQ, 16], K: tensor<f32>[B, H, NK, 16], V: tensor<f32>[B, H, NK, 16], O: tensor<f32>[B, H, NQ, 16]) {
  let row = ctx.block.x * 32
  let q = Q[ctx.block.z, ctx.block.y, row :+ 32, :]
  var best: tile<f32>[32, 1] = -1.0e30
  var total: tile<f32>[32, 1] = 0.0
  var acc: tile<f32>[32, 16] = 0.0
  for k in range(0, NK, 16) {
    var s = 200.0 * dot_t(q, K[ctx.block.z, ctx.block.y, k :+ 16, :])
    s = where(iota(1) < NK - k, s, -1.0e30)
    let above = max(best, rowmax(s))
    let w = exp(s - above)
    let keep = exp(best - above)
    total = total * keep + rowsum(w)
    acc = acc * keep
    acc += dot(w, V[ctx.block.z, ctx.block.y, k :+ 16, :])
    best = above
  }
  O[ctx.block.z, ctx.block.y, row :+ 32, :] = acc / total
}

// B165: the same with f16 operands and f32 state.
@launch(128)
kernel attention_f16(Q: tensor<f16>[B, H, NQ, 16], K: tensor<f16>[B, H, NK, 16], V: tensor<f16>[B, H, NK, 16], O: tensor<f32>[B, H, NQ, 16]) {
  let row = ctx.block.x * 32
  let q = Q[ctx.block.z, ctx.block.y, row :+ 32, :]
  var best: tile<f32>[32, 1] = -1.0e30
  var total: tile<f32>[32, 1] = 0.0
  var acc: tile<f32>[32, 16] = 0.0
  for k in range(0, NK, 16) {
    var s = 200.0 * dot_t(q, K[ctx.block.z, ctx.block.y, k :+ 16, :])
    s = where(iota(1) < NK - k, s, -1.0e30)
    let above = max(best, rowmax(s))
    let w = exp(s - above)
    let keep = exp(best - above)
    total = total * keep + rowsum(w)
    acc = acc * keep
    acc += dot(f16(w), V[ctx.block.z, ctx.block.y, k :+ 16, :])
    best = above
  }
  O[ctx.block.z, ctx.block.y, row :+ 32, :] = acc / total
}

// B165: causal: a query sees the keys up to its own.
@launch(64)
kernel attention_causal(Q: tensor<f32>[H, N, 16], K: tensor<f32>[H, N, 16], V: tensor<f32>[H, N, 16], O: tensor<f32>[H, N, 16]) {
  let row = ctx.block.x * 32
  let q = Q[ctx.block.y, row :+ 32, :]
  var best: tile<f32>[32, 1] = -1.0e30
  var total: tile<f32>[32, 1] = 0.0
  var acc: tile<f32>[32, 16] = 0.0
  for k in range(0, min(row + 32, N), 16) {
    var s = 200.0 * dot_t(q, K[ctx.block.y, k :+ 16, :])
    s = where(iota(1) + k <= iota(0) + row && iota(1) + k < N, s, -1.0e30)
    let above = max(best, rowmax(s))
    let w = exp(s - above)
    let keep = exp(best - above)
    total = total * keep + rowsum(w)
    acc = acc * keep
    acc += dot(w, V[ctx.block.y, k :+ 16, :])
    best = above
  }
  O[ctx.block.y, row :+ 32, :] = acc / total
}

// B169: keys are weighted with the running sum of A within their chunk; earlier steps of the chunk are a lower
// triangle, earlier chunks a state.
@launch(64)
kernel linear_attention(Q: tensor<f32>[T, 16], K: tensor<f32>[T, 16], V: tensor<f32>[T, 16], A: tensor<f32>[T, 16], O: tensor<f32>[T, 16]) {
  var state: tile<f32>[16, 16] = 0.0
  for t in range(0, T, 16) {
    let q = Q[t :+ 16, :]
    let v = V[t :+ 16, :]
    let a = A[t :+ 16, :]
    let k = K[t :+ 16, :] * cumsum(a) * exp(a - a)
    O[t :+ 16, :] = dot(tril(dot_t(q, k)), v) + dot(q, state)
    state += dot(transpose(k), v)
  }
}

// S14: a product, the place of each row's least element, and how often each place occurs.
@launch(64)
kernel nearest(A: tensor<f32>[M, K], B: tensor<f32>[K, 8], P: tensor<i32>[M, 1], C: tensor<i32>[1, 8]) {
  var counts: tile<i32>[1, 8] = 0
  for r in range(0, M, 16) {
    let s = dot(A[r :+ 16, 0 :+ 16], B[0 :+ 16, :])
    let at = rowargmax(-s)
    let inside: tile<i32>[16, 8] = iota(0) + r
    counts += colsum(where(at == iota(1) && inside < M, 1, 0))
    P[r :+ 16, 0 :+ 1] = at
  }
  C[:, :] = counts
}

// D19: a product of broadcasts, summed along either axis by a reduction.
@launch(32)
kernel products_summed(A: tensor<f32>[8, 4], B: tensor<f32>[4, 8], Y: tensor<f32>[8, 8], Z: tensor<f32>[4, 8]) {
  for j in range(0, 8) {
    Y[:, j] = rowsum(A[:, :] * transpose(B[:, j]))
  }
  for i in range(0, 4) {
    Z[i, :] = colsum(A[:, i] * B[i, :])
  }
}

fn doubled(t: tile<f32>[R, C], T: tensor<f32>[P], k: i32) -> tile<f32>[R, C] {
  return t * T[k] + f32(C)
}

fn numbered(i, j, T: tensor<f32>[P]) { return f32(i * 20 + j) * T[j % P] }

// B132 B135: a slice of a tensor of rank 4 is an argument of every function on tiles.
@launch(96)
kernel batched(Q: tensor<f32>[B, H, M, N], T: tensor<f32>[8], S: tensor<f32>[B, H, M, 1], X: tensor<f32>[B, H, M, 1], L: tensor<f32>[B, H, M, 1],
               G: tensor<i32>[B, H, M, 1], CS: tensor<f32>[B, H, 1, N], CX: tensor<f32>[B, H, 1, N], CL: tensor<f32>[B, H, 1, N],
               TR: tensor<f32>[B, H, N, M], TL: tensor<f32>[B, H, M, N], SC: tensor<f32>[B, H, M, N], F: tensor<f32>[B, H, 480],
               GA: tensor<f32>[B, H, M, N], GE: tensor<f32>[B, H, M, N], D: tensor<f32>[B, H, M, M], E: tensor<f32>[B, H, M, M], FN: tensor<f32>[B, H, M, N]) {
  let b = ctx.block.x
  for h in range(0, H) {
    S[b, h, :24, :] = rowsum(Q[b, h, 0 :+ 24, 0 :+ 20])
    X[b, h, :24, :] = rowmax(Q[b, h, 0 :+ 24, 0 :+ 20])
    L[b, h, :24, :] = rowmin(Q[b, h, 0 :+ 24, 0 :+ 20])
    G[b, h, :24, :] = rowargmax(Q[b, h, 0 :+ 24, 0 :+ 20])
    CS[b, h, :, :20] = colsum(Q[b, h, 0 :+ 24, 0 :+ 20])
    CX[b, h, :, :20] = colmax(Q[b, h, 0 :+ 24, 0 :+ 20])
    CL[b, h, :, :20] = colmin(Q[b, h, 0 :+ 24, 0 :+ 20])
    TR[b, h, :20, :24] = transpose(Q[b, h, 0 :+ 24, 0 :+ 20])
    TL[b, h, :24, :20] = tril(Q[b, h, 0 :+ 24, 0 :+ 20])
    SC[b, h, :24, :20] = cumsum(Q[b, h, 0 :+ 24, 0 :+ 20])
    let q = Q[b, h, 0 :+ 24, 0 :+ 20]
    F[b, h, 0 :+ 480] = flat(q)
    GA[b, h, :24, :20] = gather(T, i32(abs(Q[b, h, 0 :+ 24, 0 :+ 20])) % 8)
    GE[b, h, :24, :20] = generate(numbered, 24, 20, T)
    D[b, h, :24, :24] = dot_t(Q[b, h, 0 :+ 24, 0 :+ 20], Q[b, h, 0 :+ 24, 0 :+ 20])
    E[b, h, :24, :24] = dot(Q[b, h, 0 :+ 24, 0 :+ 20], transpose(Q[b, h, 0 :+ 24, 0 :+ 20]))
    FN[b, h, :24, :20] = doubled(Q[b, h, 0 :+ 24, 0 :+ 20], T, h)
  }
}

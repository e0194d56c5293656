// run: kda T=64 seed=1 tol=2e-4 C=16 D=16
// run: kda T=40 seed=2 tol=2e-4 C=16 D=16

// Gated linear attention, one head, chunk by chunk: with a gate a_t = exp(-|A_t|) per channel,
//     S_t = diag(a_t) S_(t-1) + k_t^T v_t,    o_t = q_t S_t.
// Inside a chunk the products of gates are exponentials of running sums (cumsum), earlier steps of the chunk are a lower
// triangle of scores (tril), and the state S is carried from chunk to chunk.
@autotune(C in [16], D in [64])
kernel kda(
  Q: tensor<f32>[T, D],
  K: tensor<f32>[T, D],
  V: tensor<f32>[T, D],
  A: tensor<f32>[T, D],
  O: tensor<f32>[T, D]
) {
  var state: tile<f32>[D, D] = 0.0
  for t in range(0, T, C) {
    let gates = -abs(A[t :+ C, :])
    let decay = cumsum(gates)
    let last = colsum(gates)
    let q = Q[t :+ C, :] * exp(decay)
    let k = K[t :+ C, :]
    let v = V[t :+ C, :]
    let scores = tril(dot_t(q, k * exp(-decay)))
    var o = dot(q, state)
    o += dot(scores, v)
    O[t :+ C, :] = o
    state *= transpose(exp(last))
    state += dot(transpose(k * exp(last - decay)), v)
  }
}

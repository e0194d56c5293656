// run: sizes M=20 N=36 K=52 seed=1 tol=0 data=integers
// run: sizes M=5 N=9 K=1000 seed=1 tol=0 data=ones
// run: sizes M=16 N=16 K=64 seed=1 tol=0 data=integers
// run: one_product N=24 K=48 seed=2 tol=0 data=integers
// run: units_dropped D=8 seed=3 tol=0 data=integers
// run: epilogues s=2.0 t=-3.0 seed=4 tol=0 data=integers
// run: f16_accumulator K=80 seed=5 tol=0 data=ones
// run: large_bytes seed=6 tol=0
// run: scaled_accumulator K=44 seed=7 tol=0 data=integers
// run: stored_operand seed=8 tol=0 data=integers
// run: mean_key D=16 seed=9 tol=0 data=integers
// run: scaled_int8 K=30 s=0.5 seed=10 tol=0
// run: k_tile_24 K=72 seed=11 tol=0 data=ones
// run: k_tile_24 K=64 seed=11 tol=0 data=integers
// run: n_tile N=24 seed=12 tol=0 data=integers
// run: n_tile N=40 TILE=40 seed=12 tol=0 data=integers
// run: n_tile N=72 TILE=72 seed=12 tol=0 data=integers
// run: n_tile N=8 TILE=8 seed=12 tol=0 data=ones
// run: twelve_warps seed=13 tol=0 data=integers
// run: chained seed=14 tol=0 data=ones
// run: into_one_accumulator K=40 seed=15 tol=0 data=integers
// run: bytes_to_f16 K=32 seed=16 tol=0
// run: masked_on_three_sides M=8 N=8 K=8 seed=17 tol=0 data=ones
// run: long_sum K=4096 seed=18 tol=5e-6
// run: zero_accumulator seed=19 tol=0
// run: smallest seed=20 tol=0 data=integers
// run: outer_sums seed=21 tol=0 data=integers
// run: square_of_itself N=16 seed=22 tol=0 data=ones

// B150 B152 B090 D20: sizes that are and are not multiples of 4, 8 and 16; with ones every element is K.
kernel sizes(A: tensor<f32>[M, K], B: tensor<f32>[K, N], T: tensor<f32>[N, K], C: tensor<f32>[M, N], D: tensor<f32>[M, N]) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 16
  var c: tile<f32>[16, 16] = 0.0
  var d: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 64) {
    let a = A[i :+ 16, k :+ 64]
    c += dot(a, B[k :+ 64, j :+ 16])
    d += dot_t(a, T[j :+ 16, k :+ 64])
  }
  C[i :+ 16, j :+ 16] = c
  D[i :+ 16, j :+ 16] = d
}

// B152 B155: a loop over k equals one product; a product of a tile with itself.
kernel one_product(A: tensor<f32>[12, K], B: tensor<f32>[K, N], C: tensor<f32>[12, N], D: tensor<f32>[12, N], E: tensor<f32>[12, 12]) {
  var acc: tile<f32>[12, 24] = 0.0
  for k in range(0, 48, 12) {
    acc += dot(A[:, k :+ 12], B[k :+ 12, 0 :+ 24])
  }
  C[:, 0 :+ 24] = acc
  D[:, 0 :+ 24] = dot(A[:, 0 :+ 48], B[0 :+ 48, 0 :+ 24])
  var p = A[:, 0 :+ 12]
  p = dot(p, p)
  E[:, :] = p
}

// B151: axes of extent 1 drop where a rank of 2 is needed.
kernel units_dropped(Q: tensor<f32>[2, 3, 16, D], K: tensor<f32>[2, 16, 1, D], Y: tensor<f32>[16, 16], Z: tensor<f32>[1, 16, 1, 16]) {
  let s = dot_t(Q[1, 2, 0 :+ 16, 0 :+ 8], K[1, 0 :+ 16, :, 0 :+ 8])
  Y[:, :] = s
  Z[:, :, :, :] = s
}

// B153: acc, s * acc, acc + prev, s * acc + prev, and s * acc + t * prev in either order.
kernel epilogues(A: tensor<f32>[16, 16], B: tensor<f32>[16, 16], P: tensor<f32>[16, 16], C: tensor<f32>[6, 16, 16], s: f32, t: f32) {
  let acc = dot(A[:, :], B[:, :])
  let prev = P[:, :]
  C[0, :, :] = acc
  C[1, :, :] = s * acc
  C[2, :, :] = acc + prev
  C[3, :, :] = s * acc + prev
  C[4, :, :] = s * acc + t * prev
  C[5, :, :] = t * prev + s * acc
}

// B156 B157 B154: an f16 accumulator rounds once per +=, and is read after it was stored.
kernel f16_accumulator(A: tensor<f16>[16, K], B: tensor<bf16>[16, K], C: tensor<f16>[16, 16], D: tensor<f32>[16, 16]) {
  var acc: tile<f16>[16, 16] = 2048.0
  for k in range(0, K, 16) {
    acc += dot_t(A[:, k :+ 16], B[:, k :+ 16])
  }
  C[:, :] = acc
  D[:, :] = acc * 2.0
}

// B158 B159: 127 * 127 * 160 fits an i32, and no narrower type.
kernel large_bytes(C: tensor<i32>[16, 16], D: tensor<i32>[1, 16]) {
  var a: tile<i8>[16, 160] = 127
  var b: tile<i8>[16, 160] = -128
  C[:, :] = dot_t(a, a) + dot_t(b, b)
  var row: tile<i8>[1, 30] = 100
  var k: tile<i8>[16, 30] = -100
  D[:, :] = dot_t(row, k)
}

// B166 B167: an accumulator in registers, scaled by a column, that a product and an outer product go into.
kernel scaled_accumulator(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], R: tensor<f32>[16, 1], C: tensor<f32>[1, 16], Y: tensor<f32>[16, 16]) {
  var acc: tile<f32>[16, 16] = 1.0
  let r = R[:, :]
  let c = C[:, :]
  for k in range(0, K, 16) {
    acc = acc * r
    acc += dot(A[:, k :+ 16], B[k :+ 16, :])
    acc += r * c
    acc -= c * (r + 1.0)
  }
  Y[:, :] = acc
}

// B168: an operand that the body stores to is read anew in each trip.
kernel stored_operand(A: tensor<f32>[8, 8], B: tensor<f32>[8, 8]) {
  for i in range(0, 3) {
    let p = dot(A[:, :], B[:, :])
    B[:, :] = p - 1.0
  }
}

// B170: the mean of keys as a product with ones, and the queries with that one row.
kernel mean_key(Q: tensor<f32>[32, D], K: tensor<f32>[32, D], S: tensor<f32>[32, 1]) {
  let ones: tile<f32>[1, 32] = 1.0
  let mean = dot(ones, K[:, 0 :+ 16]) / 32.0
  S[:, :] = dot_t(Q[:, 0 :+ 16], mean)
}

// B171: an int8 product in registers, scaled by a scalar and a row.
kernel scaled_int8(A: tensor<i8>[16, K], B: tensor<i8>[16, K], R: tensor<f32>[1, 16], Y: tensor<f32>[16, 16], s: f32) {
  Y[:, :] = f32(dot_t(A[:, 0 :+ 30], B[:, 0 :+ 30])) * s + floor(R[:, :])
}

// D01: a k-slice of 24 loses none of its columns.
kernel k_tile_24(A: tensor<f16>[64, K], B: tensor<f16>[K, 64], C: tensor<f32>[64, 64]) {
  var acc: tile<f32>[64, 64] = 0.0
  for k in range(0, K, 24) {
    acc += dot(A[:, k :+ 24], B[k :+ 24, :])
  }
  C[:, :] = acc
}

// D02 D05: output tiles of 8, 24, 40 and 72 columns.
@autotune(TILE in [24, 40, 56, 72, 8])
kernel n_tile(A: tensor<f16>[64, 16], B: tensor<f16>[16, N], C: tensor<f32>[64, N]) {
  let j = ctx.block.x * TILE
  C[:, j :+ TILE] = dot(A[:, :], B[:, j :+ TILE])
}

// D04: 12 warps on 104 columns.
@launch(384)
kernel twelve_warps(A: tensor<f16>[16, 32], B: tensor<f16>[32, 104], C: tensor<f32>[16, 104]) {
  C[:, :] = dot(A[:, :], B[:, :])
}

// D07: products of products through bf16; with ones the result is 64 * 128.
@launch(256)
kernel chained(A: tensor<bf16>[32, 64], B: tensor<bf16>[64, 32], C: tensor<f32>[32, 32]) {
  let s = bf16(dot(A[:, :], B[:, :]))
  let p = bf16(dot(s, s))
  C[:, :] = dot(p, s)
}

// D08: two products into one accumulator in each trip, and into two.
kernel into_one_accumulator(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], C: tensor<f32>[16, 16], D: tensor<f32>[16, 16]) {
  var one: tile<f32>[16, 16] = 0.0
  var first: tile<f32>[16, 16] = 0.0
  var second: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 8) {
    let a = A[:, k :+ 8]
    let b = B[k :+ 8, :]
    one += dot(a, b)
    one += dot_t(a, a)
    first += dot(a, b)
    second += dot_t(a, a)
  }
  C[:, :] = one
  D[:, :] = first + second
}

// D10: i8 converted to f16 in front of a product over 16 columns.
kernel bytes_to_f16(A: tensor<i8>[16, K], B: tensor<i8>[16, K], C: tensor<f32>[16, 16]) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += dot_t(f16(A[:, k :+ 16]), f16(B[:, k :+ 16]))
  }
  C[:, :] = acc
}

// D11: 8 x 8 x 8 in a tile of 16 x 8 x 32, masked on all sides, by one warp.
@launch(32)
kernel masked_on_three_sides(A: tensor<f16>[M, K], B: tensor<f16>[K, N], C: tensor<f32>[M, N]) {
  let acc = dot(A[0 :+ 16, 0 :+ 32], B[0 :+ 32, 0 :+ 8])
  C[0 :+ 16, 0 :+ 8] = acc
}

// D13: f32 stays f32 over long sums.
kernel long_sum(A: tensor<f32>[4, K], B: tensor<f32>[4, K], C: tensor<f32>[4, 4]) {
  var acc: tile<f32>[4, 4] = 0.0
  for k in range(0, K, 64) {
    acc += dot_t(A[:, k :+ 64], B[:, k :+ 64])
  }
  C[:, :] = acc
}

// D14: an integer product with a zero that could be fused with it, and one without.
kernel zero_accumulator(A: tensor<i8>[8, 16], B: tensor<i8>[16, 8], C: tensor<i32>[8, 8], D: tensor<i32>[8, 8]) {
  var acc: tile<i32>[8, 8] = 0
  acc += dot(A[:, :], B[:, :])
  C[:, :] = acc + dot(A[:, :], B[:, :])
  D[:, :] = acc * 1000
}

// D16: the smallest tiles, by one warp.
@launch(32)
kernel smallest(A: tensor<f16>[2, 32], B: tensor<f16>[4, 32], C: tensor<f32>[2, 4], D: tensor<f32>[1, 2]) {
  C[:, :] = dot_t(A[:, :], B[:, :])
  D[:, :] = dot_t(A[1, 0 :+ 32], A[:, :])
}

// D19: a product of broadcasts, summed by hand over its middle axis, is no contraction.
kernel outer_sums(A: tensor<f32>[8, 4, 1], B: tensor<f32>[1, 4, 8], Y: tensor<f32>[8, 8]) {
  var sum: tile<f32>[8, 1, 8] = 0.0
  for i in range(0, 4) {
    sum += A[:, i, :] * B[:, i, :]
  }
  Y[:, :] = sum
}

// B155: with ones, the fourth power of a matrix is N to the 3.
kernel square_of_itself(P: tensor<f32>[N, N]) {
  var p = P[0 :+ 16, 0 :+ 16]
  for i in range(0, 2) {
    p = dot(p, p)
  }
  P[0 :+ 16, 0 :+ 16] = p
}

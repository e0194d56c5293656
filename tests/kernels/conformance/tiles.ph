// run: remainders N=64 n=5 seed=1 tol=0
// run: narrow_times_wide N=64 seed=2 tol=0 data=integers
// run: narrowed N=64 seed=3 tol=0
// run: narrowed_whole N=64 seed=4 tol=0 data=integers
// run: compared N=32 seed=5 tol=0 data=integers
// run: maxima M=16 N=32 x=0.5 seed=6 tol=0
// run: argmax_fold N=100 seed=7 tol=0 data=integers
// run: selects seed=8 tol=0 data=integers
// run: two_broadcasts seed=9 tol=0 data=integers
// run: wrapped_rows M=6 N=10 K=4 seed=10 tol=0
// run: reversed N=64 seed=11 tol=0
// run: nan_and_infinity N=8 seed=12 tol=0
// run: absolute N=64 seed=13 tol=0
// run: fields N=8 seed=14 tol=0
// run: bf16_rounding N=32 seed=15 tol=0
// run: point_widths N=8 seed=16 tol=0
// run: constants_convert N=8 n=300 m=-3 seed=17 tol=0
// run: powers_of_int N=8 seed=18 tol=0
// run: halfway N=32 seed=19 tol=0
// run: in_and_out N=64 seed=20 tol=0 data=integers

// B110: % of tile and tile, tile and scalar, scalar and tile; / likewise.
kernel remainders(X: tensor<i32>[N], Y: tensor<i32>[N], Z: tensor<i32>[N], W: tensor<i32>[N], n: i32) {
  let x = X[0 :+ 64] * 10
  let d = iota(0) % 3 + 2 + x * 0
  Y[0 :+ 64] = x % d + x / d * 100
  Z[0 :+ 64] = x % n + x / 7 * 100
  W[0 :+ 64] = n % d + 1000 / d * 100
}

// B115: an i8 tile times an f32 tile computes in f32.
kernel narrow_times_wide(A: tensor<i8>[N], B: tensor<f32>[N], C: tensor<f32>[N]) {
  C[0 :+ 64] = A[0 :+ 64] * (B[0 :+ 64] + 0.5)
}

// B116: f32 goes into f16 and bf16 with one rounding.
kernel narrowed(X: tensor<f32>[N], H: tensor<f16>[N], B: tensor<bf16>[N]) {
  let x = X[0 :+ 64]
  H[0 :+ 64] = x * 3.0
  B[0 :+ 64] = x * 3.0
}

// B116 B121: and into i8 by its chain, which equals the steps.
kernel narrowed_whole(X: tensor<f32>[N], Q: tensor<i8>[N], R: tensor<i8>[N]) {
  let x = X[0 :+ 64] * 1.5
  Q[0 :+ 64] = i8(i32(round(x)))
  let rounded = round(x)
  let whole = i32(rounded)
  let narrow = i8(whole)
  R[0 :+ 64] = narrow
}

// B125: a comparison of tiles, bound to a name, is a condition of where.
kernel compared(A: tensor<f32>[N], B: tensor<f32>[N], Y: tensor<f32>[N]) {
  let less = A[0 :+ 32] < B[0 :+ 32]
  Y[0 :+ 32] = where(less, 1.0, 2.0) + where(!less && A[0 :+ 32] == B[0 :+ 32], 10.0, 20.0)
}

// B136: tmax broadcasts, and takes scalars.
kernel maxima(A: tensor<f32>[M, N], R: tensor<f32>[M, 1], C: tensor<f32>[1, N], Y: tensor<f32>[M, N], Z: tensor<f32>[M, N], x: f32) {
  let r = R[0 :+ 16, :]
  let c = C[:, 0 :+ 32]
  Y[0 :+ 16, 0 :+ 32] = tmax(tmax(A[0 :+ 16, 0 :+ 32], r), c)
  Z[0 :+ 16, 0 :+ 32] = tmax(r, c) + tmax(x, 0.25)
}

// B137: a fold with where and tmax is an argmax; the first of equals wins.
kernel argmax_fold(X: tensor<f32>[N], V: tensor<f32>[16], P: tensor<i32>[16]) {
  var best: tile<f32>[16] = -1.0e30
  var at: tile<i32>[16] = -1
  for k in range(0, N, 16) {
    let x = where(iota(0) < N - k, X[k :+ 16], -1.0e30)
    at = where(x > best, iota(0) + i32(k), at)
    best = tmax(best, x)
  }
  V[:] = best
  P[:] = at
}

// B05 B111: mask and values of shapes (16, 32), (1, 32), (16, 1) and (1, 1), in every pair.
kernel selects(A: tensor<f32>[16, 32], C: tensor<f32>[1, 32], R: tensor<f32>[16, 1], S: tensor<f32>[1, 1], Y: tensor<f32>[16, 32]) {
  let a = A[:, :]
  let c = C[:, :]
  let r = R[:, :]
  let s = S[:, :]
  var y = where(a > 0.0, a, c) + where(a > 0.0, r, s) * 2.0
  y += where(c > 0.0, a, r) * 4.0 + where(c > 0.0, c, s) * 8.0
  y += where(r > 0.0, a, c) * 16.0 + where(r > 0.0, s, r) * 32.0
  y += where(s > 0.0, a, c) * 64.0 + where(s > 0.0, r, s) * 128.0
  Y[:, :] = y
}

// B01: two broadcasts of one source shape, along different axes.
kernel two_broadcasts(A: tensor<f32>[1, 2, 1], B: tensor<f32>[1, 2, 4], C: tensor<f32>[4, 2, 1]) {
  let a = A[:, :, :]
  let b: tile<f32>[1, 2, 4] = 0.0
  let c: tile<f32>[4, 2, 1] = 0.0
  B[:, :, :] = a + b
  C[:, :, :] = a + c
}

// B02: an index modulo an extent that does not divide the loop's.
kernel wrapped_rows(A: tensor<i32>[M, N], B: tensor<i32>[K]) {
  for i in range(0, M) {
    for j in range(0, N) {
      A[i, j] = B[j % K] + i32(i * 100)
    }
  }
}

// B06: indices that count down, and every second element.
kernel reversed(X: tensor<i32>[N], Y: tensor<i32>[N], Z: tensor<i32>[N]) {
  for i in range(0, N) {
    Y[i] = X[N - 1 - i]
  }
  for i in range(0, N, 2) {
    Z[i / 2] = X[N - 2 - i]
  }
}

// B041 N11 R15: comparisons with NaN are IEEE; max and min give the number.
kernel nan_and_infinity(X: tensor<f32>[N], Y: tensor<f32>[N], Z: tensor<i32>[N]) {
  let zero = X[0] - X[0]
  let nan = zero / zero
  let inf = 1.0 / zero
  Y[0] = nan
  Y[1] = inf
  Y[2] = max(nan, 6.0)
  Y[3] = min(inf, nan)
  Y[4] = tmax(-inf, nan)
  Y[5] = -nan * 0.0
  var z: i32 = 0
  if nan != nan { z += 1 }
  if nan == nan { z += 2 }
  if nan < inf { z += 4 }
  if nan >= inf { z += 8 }
  if inf == inf { z += 16 }
  if !(nan < inf) { z += 32 }
  Z[0] = z
}

// R12: the absolute value of an unsigned number is itself.
kernel absolute(W: tensor<u8>[N], Q: tensor<i8>[N], Y: tensor<u8>[N], Z: tensor<i32>[N]) {
  let w = W[0 :+ 64] + 240
  Y[0 :+ 64] = abs(w)
  Z[0 :+ 64] = abs(i32(Q[0 :+ 64])) + i32(max(w, 250))
}

// N04: signed fields of 4 and 8 bits out of a word.
kernel fields(W: tensor<i32>[N], Y: tensor<i32>[N], Z: tensor<i32>[N]) {
  let w = W[0 :+ 8] * 0x12345678 + 0x0f1e2d3c
  Y[0 :+ 8] = (w << (28 - iota(0) * 4)) >> 28
  Z[0 :+ 8] = w << 8 >> 24
}

// N05: bf16 rounds to nearest, ties to even, and keeps NaN and infinity.
kernel bf16_rounding(X: tensor<f32>[N], B: tensor<bf16>[N]) {
  let x = 1.0 + f32(iota(0)) * 0.001953125 + X[0 :+ 32] * 0.0
  let zero = X[0] - X[0]
  B[0 :+ 32] = x
  B[30] = bf16(zero / zero)
  B[31] = bf16(-1.0 / zero)
}

// N07: a scalar out of i64 into i32, and out of i32 into i64.
kernel point_widths(L: tensor<i64>[N], I: tensor<i32>[N]) {
  I[0] = i32(L[1] * 3)
  I[1] = L[2] * 0x100000000 + 5
  L[0] = I[3]
  L[4] = i64(I[4]) << 40
}

// N11: constants convert: f16(0.2) is rounded, i8(n) wraps, u8 of a negative wraps.
kernel constants_convert(H: tensor<f32>[N], I: tensor<i32>[N], n: i32, m: i32) {
  H[0] = f16(0.2)
  H[1] = f32(f16(0.2)) * 1.0
  H[2] = bf16(0.2)
  I[0] = i8(n)
  I[1] = u8(m)
  I[2] = i32(f16(2049.0))
}

// N02: pow with exponents 0, 1, 2 and below 0, of ints and of floats.
kernel powers_of_int(X: tensor<i32>[N], Y: tensor<i32>[N], Z: tensor<i32>[N]) {
  let x = X[0 :+ 8]
  Y[0 :+ 8] = pow(x, 0)
  Z[0 :+ 8] = pow(x, 3)
}

// N10 B130: ties go to even, in round and in a conversion to bf16.
kernel halfway(X: tensor<f32>[N], Y: tensor<f32>[N], B: tensor<bf16>[N]) {
  let x = f32(iota(0)) - 16.0 + X[0 :+ 32] * 0.0
  Y[0 :+ 32] = round(x * 0.5)
  B[0 :+ 32] = 256.0 + x * 0.5
}

// B119 B120: a target on its own right side, through a tensor and through a name.
kernel in_and_out(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var t = X[0 :+ 64]
  t = t * 2.0 - max(t, Y[0 :+ 64])
  X[0 :+ 64] = t + X[0 :+ 64]
  Y[0 :+ 64] = X[0 :+ 64] * 2.0
}

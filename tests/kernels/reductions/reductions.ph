// run: rows M=33 N=50 TR=8 TC=64 seed=1 tol=0 data=integers
// run: rows M=300 N=7 TR=256 TC=8 seed=2 tol=0 data=integers
// run: rows M=130 N=64 TR=128 TC=64 seed=3 tol=0 data=integers
// run: rows M=5 N=260 TR=1 TC=300 seed=4 tol=0 data=integers
// run: rows M=100 N=1 TR=100 TC=1 seed=5 tol=0 data=integers
// run: columns M=50 N=33 TR=64 TC=8 seed=1 tol=0 data=integers
// run: columns M=7 N=300 TR=8 TC=256 seed=2 tol=0 data=integers
// run: columns M=64 N=130 TR=64 TC=128 seed=3 tol=0 data=integers
// run: columns M=260 N=5 TR=300 TC=1 seed=4 tol=0 data=integers
// run: columns M=1 N=100 TR=1 TC=100 seed=5 tol=0 data=integers
// run: centred M=20 N=96 seed=6 tol=0 data=integers
// run: single_columns N=16 seed=7 tol=1e-6
// run: short_widths seed=8 tol=0
// run: groups_of_32 A=2 B=6 C=32 seed=9 tol=0 data=integers
// run: wide_integers N=32 seed=10 tol=0 data=integers
// run: narrow_types N=32 seed=11 tol=0 data=integers
// run: unsigned_sizes N=4 seed=12 tol=0 data=integers
// run: batch_of_rows M=24 N=16 seed=13 tol=0 data=integers
// run: nan_and_infinity N=8 seed=14 tol=0
// run: ties M=10 N=10 seed=15 tol=0 data=integers
// run: largest_is_zero N=128 seed=16 tol=0 data=integers
// run: sum_types N=32 seed=17 tol=0 data=ones
// run: half_identity M=4 N=8 seed=18 tol=0 data=integers
// run: large_tile N=4100 seed=19 tol=0 data=integers
// run: ragged_maximum M=20 N=100 seed=20 tol=0 data=integers
// run: ragged_zeros M=20 N=100 seed=21 tol=0 data=integers
// run: online_softmax M=40 N=200 seed=22 tol=2e-6 approx=2e-5
// run: in_flow M=16 N=64 n=3 p=true seed=23 tol=0 data=integers
// run: in_flow M=16 N=64 n=0 p=false seed=24 tol=0 data=integers
// run: of_contraction M=32 K=16 seed=25 tol=0 data=integers
// run: reduced_twice M=48 N=40 seed=26 tol=0 data=integers
// run: rank_four H=2 M=16 N=32 seed=27 tol=0 data=integers

// B132: rows below, equal to and above the number of threads; masked edges add zeros.
@autotune(TR in [8, 256, 128, 1, 100], TC in [64, 8, 300, 1])
@launch(128)
kernel rows(X: tensor<f32>[M, N], S: tensor<f32>[M, 1], L: tensor<f32>[M, 1], U: tensor<f32>[M, 1], A: tensor<i32>[M, 1]) {
  let r = ctx.block.x * TR
  let x = X[r :+ TR, 0 :+ TC]
  S[r :+ TR, 0 :+ 1] = rowsum(x)
  let low = where(iota(1) < N, x, -1.0e30)
  L[r :+ TR, 0 :+ 1] = rowmax(low)
  U[r :+ TR, 0 :+ 1] = rowmin(where(iota(1) < N, x, 1.0e30))
  A[r :+ TR, 0 :+ 1] = rowargmax(low)
}

@autotune(TR in [64, 8, 300, 1], TC in [8, 256, 128, 1, 100])
@launch(128)
kernel columns(X: tensor<f32>[M, N], S: tensor<f32>[1, N], L: tensor<f32>[1, N], U: tensor<f32>[1, N]) {
  let c = ctx.block.x * TC
  let x = X[0 :+ TR, c :+ TC]
  S[0 :+ 1, c :+ TC] = colsum(x)
  L[0 :+ 1, c :+ TC] = colmax(where(iota(0) < M, x, -1.0e30))
  U[0 :+ 1, c :+ TC] = colmin(where(iota(0) < M, x, 1.0e30))
}

// B132: what a reduction gives meets the tile again.
kernel centred(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], Z: tensor<f32>[M, N]) {
  let x = X[0 :+ 20, 0 :+ 96]
  Y[0 :+ 20, 0 :+ 96] = x - rowmax(x)
  Z[0 :+ 20, 0 :+ 96] = x * colsum(x) - rowsum(x * 2.0)
}

// R01: a tile of one column, smaller than the threads, along both of its axes; and a tile of rank 1.
kernel single_columns(X: tensor<f32>[N, 1], Y: tensor<f32>[4], Z: tensor<f32>[N, 1], V: tensor<f32>[N]) {
  let x = X[0 :+ 16, 0 :+ 1]
  Y[0 :+ 1] = colmax(x)
  Y[1 :+ 1] = colsum(x)
  Y[2 :+ 1] = rowmax(V[0 :+ 16])
  Y[3 :+ 1] = rowsum(V[0 :+ 16])
  Z[0 :+ 16, 0 :+ 1] = rowsum(x) + rowmax(x)
}

// R06: 48 and 96 elements, which is no power of two, in 32, 64 and 96 threads.
@launch(96)
kernel short_widths(Y: tensor<f32>[8], Z: tensor<i32>[8]) {
  let a: tile<f32>[1, 48] = iota(1) + 1
  let b: tile<i32>[1, 96] = iota(1) + 1
  let c: tile<i32>[48, 1] = iota(0) + 1
  Y[0 :+ 1] = rowsum(a)
  Y[1 :+ 1] = rowmax(a)
  Y[2 :+ 1] = rowmin(a)
  Z[0 :+ 1] = rowsum(b)
  Z[1 :+ 1] = rowmax(b)
  Z[2 :+ 1] = rowargmax(b)
  Z[3 :+ 1] = colsum(c)
  Z[4 :+ 1] = colmax(c)
}

// R07: groups that threads do not hold alone are counted once.
@launch(128)
kernel groups_of_32(X: tensor<f32>[A, B, C], Y: tensor<f32>[A, B]) {
  Y[0, 0 :+ 6] = rowsum(X[0, 0 :+ 6, 0 :+ 32])
  Y[1, 0 :+ 6] = rowsum(X[1, 0 :+ 6, 0 :+ 32])
}

// R09: integers past 32 bits keep both halves.
@launch(32)
kernel wide_integers(X: tensor<i64>[N], Y: tensor<i64>[4]) {
  let x = X[0 :+ 32] * 1000000000000 + 4611686018427387904
  Y[0 :+ 1] = rowmax(x)
  Y[1 :+ 1] = rowmin(x)
  Y[2 :+ 1] = rowsum(x)
  Y[3 :+ 1] = rowsum(X[0 :+ 32] * 4294967296)
}

// R10: types narrower than 32 bits in one warp.
@launch(32)
kernel narrow_types(A: tensor<i8>[N], U: tensor<u8>[N], B: tensor<bf16>[N], H: tensor<f16>[N], YA: tensor<i8>[4], YU: tensor<u8>[4],
    YB: tensor<bf16>[4], YH: tensor<f16>[4], S: tensor<i32>[4]) {
  let a = A[0 :+ 32] * 15
  let u = U[0 :+ 32] * 17
  let b = B[0 :+ 32] * 3.0
  let h = H[0 :+ 32] * 3.0
  YA[0 :+ 1] = rowmax(i8(a))
  YA[1 :+ 1] = rowmin(i8(a))
  YU[0 :+ 1] = rowmax(u8(u))
  YU[1 :+ 1] = rowmin(u8(u))
  YB[0 :+ 1] = rowmax(bf16(b))
  YB[1 :+ 1] = rowmin(bf16(b))
  YH[0 :+ 1] = rowmax(f16(h))
  YH[1 :+ 1] = rowmin(f16(h))
  S[0 :+ 1] = rowsum(i8(a))
  S[1 :+ 1] = rowsum(u8(u))
  S[2 :+ 1] = rowargmax(i8(a))
  S[3 :+ 1] = rowargmax(bf16(b))
}

// R12: largest and summed magnitudes of unsigned numbers, four of them.
kernel unsigned_sizes(X: tensor<u8>[N], Y: tensor<i32>[4]) {
  let x = abs(X[0 :+ 4] + u8(200))
  Y[0 :+ 1] = rowmax(x)
  Y[1 :+ 1] = rowsum(x)
  Y[2 :+ 1] = rowmin(x)
}

// R13: rows side by side, each in fewer threads than the block has.
@launch(256)
kernel batch_of_rows(X: tensor<f32>[M, N], Y: tensor<f32>[M, 1], Z: tensor<f32>[M, 1]) {
  let x = X[0 :+ 24, 0 :+ 16]
  Y[0 :+ 24, 0 :+ 1] = rowsum(x)
  Z[0 :+ 24, 0 :+ 1] = rowmax(x)
}

// R15: NaN is ignored, unless there is nothing else; so does rowargmax. 64 threads: some hold no element.
@launch(64)
kernel nan_and_infinity(X: tensor<f32>[N], Y: tensor<f32>[N], Z: tensor<f32>[N], A: tensor<i32>[N], B: tensor<i32>[N]) {
  let zero = abs(X[0 :+ 3] * 0.0)
  let inf = (zero + 1.0) / zero
  let nan = zero / zero
  let i: tile<i32>[3] = iota(0)
  let p = where(i == 0, nan, inf)
  let q = where(i == 0, inf, nan)
  let r = where(i == 0, nan, zero - 8.0 + f32(i))
  Y[0 :+ 1] = rowmax(p)
  Y[1 :+ 1] = rowmax(q)
  Y[2 :+ 1] = rowmax(r)
  Y[3 :+ 1] = rowmax(nan)
  Y[4 :+ 1] = rowmax(-inf)
  Y[5 :+ 1] = rowsum(r)
  Y[6 :+ 1] = rowsum(inf)
  Y[7 :+ 1] = rowmax(-zero)
  Z[0 :+ 1] = rowmin(p)
  Z[1 :+ 1] = rowmin(q)
  Z[2 :+ 1] = rowmin(r)
  Z[3 :+ 1] = rowmin(nan)
  Z[4 :+ 1] = rowmin(inf)
  A[0 :+ 1] = rowargmax(p)
  A[1 :+ 1] = rowargmax(q)
  A[2 :+ 1] = rowargmax(r)
  A[3 :+ 1] = rowargmax(nan)
  A[4 :+ 1] = rowargmax(-inf)
  B[0 :+ 1] = rowargmax(where(i == 0, nan, -inf))
}

// B138 R16: of equal elements the first.
kernel ties(X: tensor<i32>[M, N], F: tensor<f32>[M, N], Y: tensor<i32>[M, 1], Z: tensor<i32>[M, 1]) {
  Y[0 :+ 10, 0 :+ 1] = rowargmax((X[0 :+ 10, 0 :+ 10] + 8) % 4 + 1)
  Z[0 :+ 10, 0 :+ 1] = rowargmax(floor(F[0 :+ 10, 0 :+ 10] * 0.25))
}

// R18: a maximum that is exactly 0 in a row of numbers that are not positive.
@launch(128)
kernel largest_is_zero(X: tensor<f32>[N], Y: tensor<f32>[2]) {
  let x = where(iota(0) == 77, 0.0, -abs(X[0 :+ 128]) - 1.0)
  Y[0 :+ 1] = rowmax(x)
  Y[1 :+ 1] = rowmin(-x)
}

// R19 B134: what is summed in which type.
kernel sum_types(B: tensor<bf16>[N, N], H: tensor<f16>[N, N], I: tensor<i32>[N, N], Y: tensor<f32>[4], Z: tensor<i32>[4]) {
  let sevens = i8(I[0 :+ 32, 0 :+ 32] * 0 + 7)
  let truths = sevens == i8(7)
  Y[0 :+ 1] = colsum(rowsum(B[0 :+ 32, 0 :+ 32]))
  Y[1 :+ 1] = colsum(rowsum(H[0 :+ 32, 0 :+ 32] * 100.0))
  Z[0 :+ 1] = colsum(rowsum(sevens))
  Z[1 :+ 1] = colsum(rowsum(where(truths, i8(1), i8(0))))
}

// R21: slots that hold nothing do not win, in f16 either.
@launch(256)
kernel half_identity(X: tensor<f16>[M, N], Y: tensor<f16>[M, 1], Z: tensor<f16>[1, N]) {
  let x = X[0 :+ 3, 0 :+ 7] - 100.0
  Y[0 :+ 3, 0 :+ 1] = rowmax(x)
  Z[0 :+ 1, 0 :+ 7] = colmin(-x)
}

// R22: a large tile in few threads, whose last slots hold nothing.
@launch(32)
kernel large_tile(X: tensor<f32>[N], Y: tensor<f32>[2], Z: tensor<i32>[2]) {
  let x = X[0 :+ 4100] + 100.0
  Y[0 :+ 1] = rowmin(x)
  Y[1 :+ 1] = rowmax(-x)
  Z[0 :+ 1] = rowargmax(-x)
}

// B092: masked by `where`, the largest of the ragged rows is right.
kernel ragged_maximum(S: tensor<f32>[M, N], Y: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 16
  var best: tile<f32>[16, 1] = -1.0e30
  for c in range(0, N, 64) {
    let s = S[r :+ 16, c :+ 64] - 50.0
    best = max(best, rowmax(where(iota(1) < N - c, s, -1.0e30)))
  }
  Y[r :+ 16, 0 :+ 1] = best
}

// B091: without it, a row of negative numbers gives the zeros past the edge.
kernel ragged_zeros(S: tensor<f32>[M, N], Y: tensor<f32>[M, 1], Z: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 16
  Y[r :+ 16, 0 :+ 1] = rowmax(S[r :+ 16, 64 :+ 64] * 0.0625 - 1.0 + abs(S[r :+ 16, 64 :+ 64] * 0.0625 - 1.0) * 0.0)
  Z[r :+ 16, 0 :+ 1] = rowmax(-abs(S[r :+ 16, 64 :+ 64]))
}

// B131: the running maximum and sum of a softmax.
@launch(128)
kernel online_softmax(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let r = ctx.block.x * 16
  var m: tile<f32>[16, 1] = -1.0e30
  var l: tile<f32>[16, 1] = 0.0
  for c in range(0, N, 64) {
    let x = where(iota(1) < N - c, X[r :+ 16, c :+ 64], -1.0e30)
    let next = max(m, rowmax(x))
    l = l * exp(m - next) + rowsum(exp(x - next))
    m = next
  }
  for c in range(0, N, 64) {
    Y[r :+ 16, c :+ 64] = exp(X[r :+ 16, c :+ 64] - m) / l
  }
}

// B132: reductions that warps share, under conditions and in loops that carry what they give.
@launch(96)
kernel in_flow(X: tensor<f32>[M, N], Y: tensor<f32>[1, N], Z: tensor<f32>[M, 1], n: i32, p: bool) {
  let x = X[0 :+ 16, 0 :+ 64]
  var total: tile<f32>[1, 64] = 0.0
  var best = rowmax(x)
  for i in range(0, n) {
    total += colsum(x)
    if p {
      total += colmax(x) * 2.0
      best = best + rowsum(x)
    } else {
      total -= colmin(x)
    }
    if i == 1 {
      break
    }
  }
  var k = 0
  while k < n {
    k += 1
    total = total + colmin(x + f32(k))
  }
  Y[0 :+ 1, 0 :+ 64] = total
  Z[0 :+ 16, 0 :+ 1] = best
}

// B132: rows and columns of a contraction's result, and one more contraction that a column scales.
@launch(64)
kernel of_contraction(A: tensor<f32>[M, K], Y: tensor<f32>[M, 1], Z: tensor<f32>[1, M], W: tensor<f32>[M, K]) {
  let a = A[0 :+ 32, 0 :+ 16]
  let s = dot_t(a, a)
  Y[0 :+ 32, 0 :+ 1] = rowmax(s)
  Z[0 :+ 1, 0 :+ 32] = colsum(s)
  var acc: tile<f32>[32, 16] = 1.0
  acc = acc * rowsum(a) + dot(s, a)
  W[0 :+ 32, 0 :+ 16] = acc
}

// B132: one reduction behind another, over both axes.
@launch(256)
kernel reduced_twice(X: tensor<f32>[M, N], Y: tensor<f32>[2], Z: tensor<i32>[1], T: tensor<f32>[1, N]) {
  let x = X[0 :+ 48, 0 :+ 40]
  Y[0 :+ 1] = colsum(rowmax(x))
  Y[1 :+ 1] = rowmax(colsum(x))
  Z[0 :+ 1] = rowargmax(colsum(x))
  T[0 :+ 1, 0 :+ 40] = colsum(x - rowmax(x)) + colmax(x)
}

// R02: of a slice of a tensor of rank 4, whose unit axes are dropped.
kernel rank_four(X: tensor<f32>[H, H, M, N], Y: tensor<f32>[H, H, M, H]) {
  Y[1, 0, 0 :+ 16, 0 :+ 1] = rowsum(X[1, 0, 0 :+ 16, 0 :+ 32])
  Y[1, 0, 0 :+ 16, 1 :+ 1] = rowmax(X[0, 1, 0 :+ 16, 0 :+ 32])
}

// run: ranks_one_and_two M=8 N=24 r=3 seed=1 tol=0 data=integers
// run: ranks_one_and_two M=7 N=21 r=6 seed=1 tol=0 data=integers
// run: ranks_three_to_five M=8 N=24 r=3 seed=2 tol=0 data=integers
// run: ranks_three_to_five M=7 N=13 r=6 seed=2 tol=0 data=integers
// run: compound_slices M=10 N=22 k=-3 seed=3 tol=0 data=integers
// run: compound_slices M=4 N=8 k=5 seed=3 tol=0 data=integers
// run: block_and_loop M=20 N=36 seed=4 tol=0 data=integers
// run: block_and_loop M=16 N=32 seed=4 tol=0 data=integers
// run: block_and_loop M=3 N=5 seed=4 tol=0 data=integers
// run: two_walks M=20 K=28 seed=5 tol=0 data=integers
// run: two_walks M=7 K=50 seed=5 tol=0 data=integers
// run: two_walks M=0 K=28 seed=5 grid=1 tol=0 data=integers
// run: from_the_middle K=100 lo=20 hi=100 seed=6 tol=0 data=integers
// run: from_the_middle K=100 lo=3 hi=77 seed=6 tol=0 data=integers
// run: from_the_middle K=20 lo=-16 hi=64 seed=6 tol=0 data=integers
// run: from_the_middle K=8 lo=0 hi=0 seed=6 tol=0 data=integers
// run: extent_of_another K=40 L=24 seed=7 tol=0 data=integers
// run: extent_of_another K=24 L=40 seed=7 tol=0 data=integers
// run: extent_of_another K=0 L=40 seed=7 tol=0 data=integers
// run: half_promised M=20 N=64 seed=8 tol=0 data=integers
// run: bytes_and_halves M=12 N=44 seed=9 tol=0 data=integers
// run: bytes_and_halves M=9 N=35 seed=9 tol=0 data=integers

// B070 B071 B072 B074: every form, ragged in N.
kernel ranks_one_and_two(A: tensor<f32>[N], B: tensor<f32>[M, N], C: tensor<f32>[16], r: i32) {
  A[16 : 24] = B[r, 8 :+ 8]
  A[:4] = B[r, r : r + 4]
  C[:] = A[8 :+ 16]
  C[12:] = B[0, :4]
  C[8 : 10] = C[0 :+ 2] + C[r]
  B[M - 1, N - 4 :+ 8] = A[0 :+ 8]
}

// The same on ranks 3 to 5; a point keeps its axis, whichever it is.
kernel ranks_three_to_five(
  C: tensor<f32>[2, M, N],
  D: tensor<f32>[M, 3, 2, N],
  E: tensor<f32>[2, 3, M, 2, 8],
  r: i32
) {
  C[1, r :+ 4, 8 :+ 16] = C[0, 0 :+ 4, 0 : 16]
  D[r :+ 4, 1:, :, 4 :+ 8] = D[0 :+ 4, :2, 0 : 2, :8] * 2.0
  E[1, 0 : 2, r :+ 4, 1, 4:] = E[0, 1:, 0 :+ 4, 0, :4] * 3.0
  E[:, 2, 1, :, 0 : 4] += E[:, 0, 0, :, 4:]
  E[0, 0, r, 0, 0] = D[r, 2, 1, N - 1]
}

// B074 B076: compound assignment reads and stores inside only; k may be negative.
kernel compound_slices(A: tensor<i32>[M, N], B: tensor<i32>[M, N], k: i32) {
  A[k :+ 8, 8 :+ 16] += B[0 :+ 8, 0 :+ 16]
  A[0 :+ 16, k :+ 8] -= 5
  B[2, 0 :+ 32] *= A[1, 0 :+ 32]
  B[1, 3] += A[0, 2]
}

// B075 B082: rows by blocks, columns by a loop, both ragged, loads and stores.
kernel block_and_loop(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
  let i = ctx.block.x * 8
  for j in range(0, N, 16) {
    B[i :+ 8, j :+ 16] = A[i :+ 8, j :+ 16] + f32(j)
  }
}

// B079 B080: a split loop in a split loop, each with its remainder.
kernel two_walks(A: tensor<i32>[M, K], S: tensor<i32>[8, 16]) {
  var acc: tile<i32>[8, 16] = 0
  for i in range(0, M, 8) {
    for k in range(0, K, 16) {
      acc += A[i :+ 8, k :+ 16] * (i32(i) + 1)
    }
  }
  S[:, :] = acc
}

// B081: from lo, which no tile need divide and which may be negative, to hi, which may be past the end.
kernel from_the_middle(A: tensor<i32>[K], S: tensor<i32>[16], T: tensor<i32>[1], lo: i32, hi: i32) {
  var acc: tile<i32>[16] = 0
  var trips: i32 = 0
  for k in range(lo, hi, 16) {
    acc += A[k :+ 16]
    trips += 1
  }
  S[:] = acc
  T[0] = trips
}

// A loop over one extent that walks another tensor too, longer or shorter.
kernel extent_of_another(A: tensor<i32>[K], B: tensor<i32>[L], S: tensor<i32>[16], W: tensor<i32>[L]) {
  var acc: tile<i32>[16] = 0
  for k in range(0, K, 16) {
    acc += A[k :+ 16] - B[k :+ 16]
    W[k :+ 16] = B[k :+ 16] * 2
  }
  S[:] = acc
}

// B084 B085: N is promised, M is not: masks on rows alone.
@aligned(N = 32)
kernel half_promised(A: tensor<f16>[M, N], B: tensor<f16>[M, N]) {
  B[ctx.block.x * 16 :+ 16, ctx.block.y * 32 :+ 32] = A[ctx.block.x * 16 :+ 16, ctx.block.y * 32 :+ 32] + 1.0
}

// E02 E04: types of 1 and 2 bytes at both edges.
kernel bytes_and_halves(
  A: tensor<i8>[M, N],
  B: tensor<i8>[M, N],
  C: tensor<bf16>[M, N],
  D: tensor<bf16>[M, N]
) {
  let i = ctx.block.x * 8
  let j = ctx.block.y * 32
  B[i :+ 8, j :+ 32] = A[i - 1 :+ 8, j + 2 :+ 32]
  D[i :+ 8, j :+ 32] = C[i + 1 :+ 8, j - 3 :+ 32]
}

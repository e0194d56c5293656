// run: rows_of_tile seed=1 tol=0
// run: shifts seed=2 tol=0
// run: compound seed=3 tol=0 data=integers
// run: ragged N=24 s=-3 seed=4 tol=0
// run: ragged N=24 s=61 seed=4 tol=0
// run: ragged N=24 s=64 seed=4 tol=0
// run: ragged N=24 s=-100 seed=4 tol=0
// run: ragged N=24 s=20 seed=4 tol=0
// run: dynamic_starts n=5 seed=5 tol=0 data=integers
// run: operand_slices M=20 seed=6 tol=0 data=integers
// run: accumulated_slices K=40 seed=7 tol=0 data=integers
// run: swapped_halves N=64 seed=8 tol=0
// run: doubled seed=9 tol=0 data=integers
// run: first_positive seed=10 tol=0
// run: through_fn seed=11 tol=0 data=integers
// run: either_arm n=3 seed=12 tol=0 data=integers
// run: either_arm n=-3 seed=12 tol=0 data=integers
// run: wide_types seed=13 tol=0 data=integers
// run: narrow_types seed=14 tol=0 data=integers
// run: float_types seed=15 tol=0
// run: truths seed=16 tol=0
// run: copies N=64 seed=17 tol=0 data=integers
// run: filled_by_parts seed=18 tol=0 data=integers
// run: one_per_trip N=48 seed=19 tol=0 data=integers
// run: three_axes seed=20 tol=0
// run: range_forms n=5 seed=21 tol=0 data=integers
// run: one_after_another N=32 seed=22 tol=0 data=integers
// run: reduced seed=24 tol=0 data=integers
// run: uniform_points N=32 n=9 seed=25 tol=0 data=integers
// run: odd_shape seed=26 tol=0
// run: left_early N=40 seed=27 tol=0 data=integers
// run: of_an_expression seed=28 tol=0
// run: converted seed=29 tol=0 data=integers

// B095: rows are read at a run-time place, and assigned through.
kernel rows_of_tile(A: tensor<f32>[8, 32], Y: tensor<f32>[8, 32], Z: tensor<f32>[8, 32]) {
  var t = A[:, :]
  for i in range(0, 8) {
    Y[i, :] = t[7 - i, :] * 2.0
  }
  for i in range(0, 4) {
    t[i, :] = t[i + 4, :]
  }
  Z[:, :] = t
}

// B095: the right side is read before an element is stored, over all warps and both ways.
kernel shifts(A: tensor<f32>[1024], Y: tensor<f32>[1024], Z: tensor<f32>[1024]) {
  var t = A[:]
  t[0 :+ 800] = t[201 :+ 800]
  Y[:] = t
  t[224 :+ 800] = t[3 :+ 800]
  t[0 :+ 8] = t[4 :+ 8]
  Z[:] = t
}

kernel compound(A: tensor<f32>[16, 24], Y: tensor<f32>[16, 24]) {
  var t = A[:, :]
  t[2 :+ 4, :] *= 3.0
  t[:, 4 :+ 8] += t[:, 12 :+ 8]
  t[0 :+ 8, 1] -= t[8 :+ 8, 2]
  t[5, 0 :+ 24] += A[6, :]
  t += 1.0
  Y[:, :] = t
}

// Past the end reads 0 and is not stored; so is a negative start, whatever is known of it.
kernel ragged(A: tensor<f32>[64], B: tensor<f32>[N], Y: tensor<f32>[6, 16], s: i32) {
  var t = A[:]
  Y[0, :] = t[56 :+ 16]
  Y[1, :] = t[-4 :+ 16]
  Y[2, :] = t[s :+ 16]
  t[60 :+ 16] = B[0 :+ 16]
  t[-12 :+ 16] = B[4 :+ 16]
  t[s :+ 16] = B[12 :+ 16]
  Y[3, :] = t[0 :+ 16]
  Y[4, :] = t[48 :+ 16]
  Y[5, :] = t[20 :+ 16]
}

kernel dynamic_starts(A: tensor<f32>[40, 8], Y: tensor<f32>[40, 8], n: i32) {
  var t: tile<f32>[40, 8] = 1.0
  for i in range(0, n) {
    t[i * 7 :+ 5, :] += A[i * 3 :+ 5, :]
    let j = (i * 5) % 8
    t[i :+ 20, j :+ 2] = t[i + 3 :+ 20, j - 1 :+ 2] + f32(i)
  }
  Y[:, :] = t
}

// D17 E05: both 16x16 halves of a 16x32 tile as operands, once of each side.
kernel operand_slices(A: tensor<f32>[M, 32], B: tensor<f32>[16, 16], Y: tensor<f32>[M, 16]) {
  let i = ctx.block.x * 16
  let t = A[i :+ 16, :]
  let b = B[:, :]
  var acc = dot(t[:, 0 :+ 16], b)
  acc += dot(t[:, 16 :+ 16], b)
  acc += dot_t(b[0 :+ 16, :], t[:, 8 :+ 16])
  Y[i :+ 16, :] = acc
}

// A contraction accumulates on a slice.
kernel accumulated_slices(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], Y: tensor<f32>[16, 32]) {
  var acc: tile<f32>[16, 32] = 0.0
  for k in range(0, K, 8) {
    acc[:, 0 :+ 16] += dot(A[:, k :+ 8], B[k :+ 8, :])
    acc[:, 16 :+ 16] -= dot(A[:, k :+ 8], B[k :+ 8, :])
  }
  Y[:, :] = acc
}

// P14: a row of a tile is written whole, its halves read back swapped and written.
kernel swapped_halves(A: tensor<f32>[N], X: tensor<f32>[64]) {
  var t: tile<f32>[2, 64]
  t[1, :] = X[:] * 2.0
  let low = t[1, 0 :+ 32]
  t[1, 0 :+ 32] = t[1, 32 :+ 32]
  t[1, 32 :+ 32] = low
  A[0 :+ 64] = t[1, :]
}

// A point of a tile in the condition of a `while`, assigned in it and after it.
kernel doubled(A: tensor<f32>[96], Y: tensor<f32>[96], Z: tensor<i32>[1]) {
  var t = abs(A[:]) + 1.0
  var n = 0
  while t[95] + t[0] < 200.0 && n < 50 {
    t = t * 2.0
    n += 1
  }
  t[0] = f32(n)
  t[95] = t[0] + 1.0
  Y[:] = t
  Z[0] = n
}

kernel first_positive(A: tensor<f32>[64], Y: tensor<i32>[2]) {
  let t = A[:]
  var i = 0
  while i < 64 && t[i] <= 0.0 {
    i += 1
  }
  Y[0] = i
  var j = 64
  while true {
    j -= 1
    if j < 0 || t[j] > 0.0 {
      break
    }
  }
  Y[1] = j
}

fn ends(t: tile<f32>[R, C]) {
  return t[0, :] - t[R - 1, :]
}

fn rotated(t, by) {
  var out = t
  out[0 :+ 12, :] = t[by :+ 12, :]
  out[12 :+ 4, :] = t[0 :+ 4, :]
  if t[0, 0] > 0.0 {
    return out
  }
  return out + t
}

// Tiles that are parameters of a fn, and one that it makes; the argument keeps what it holds.
kernel through_fn(A: tensor<f32>[16, 32], Y: tensor<f32>[2, 32], Z: tensor<f32>[16, 32]) {
  let t = A[:, :]
  Y[0, :] = ends(t)
  Y[1, :] = ends(A[4 :+ 8, :])
  Z[:, :] = rotated(t, 4) + rotated(A[:, :], 4) * 2.0 + t
}

kernel either_arm(A: tensor<f32>[32], Y: tensor<f32>[32], n: i32) {
  var t = A[:]
  let u = A[:] * 2.0
  if n > 0 {
    t[0 :+ 16] = u[16 :+ 16]
  } else {
    t = u + 1.0
    if u[3] > 0.0 {
      t[3] = 0.0
    }
  }
  Y[:] = t
}

kernel wide_types(A: tensor<f64>[12, 6], I: tensor<i64>[12, 6], J: tensor<i32>[12, 6], Y: tensor<f64>[12, 6], L: tensor<i64>[12, 6], K: tensor<i32>[12, 6]) {
  var a = A[:, :]
  var i = I[:, :]
  var j = J[:, :]
  a[0 :+ 6, :] += a[6 :+ 6, :]
  i[0 :+ 6, :] += i[6 :+ 6, :]
  j[0 :+ 6, :] += j[6 :+ 6, :]
  a[11, 5] = a[0, 0] + 0.5
  i[11, 5] = i[0, 0] + 1
  j[11, 5] = j[0, 0] + 1
  Y[:, :] = a
  L[:, :] = i
  K[:, :] = j
}

kernel narrow_types(A: tensor<i8>[10, 40], B: tensor<u8>[10, 40], Y: tensor<i8>[10, 40], Z: tensor<u8>[10, 40]) {
  var a = A[:, :]
  var b = B[:, :]
  a[1 :+ 8, 3 :+ 32] = a[0 :+ 8, 8 :+ 32]
  b[1 :+ 8, 16 :+ 16] = b[2 :+ 8, 16 :+ 16] + b[0 :+ 8, 0 :+ 16]
  a[9, 39] = a[0, 0]
  b[9, 39] = b[0, 0]
  Y[:, :] = a
  Z[:, :] = b
}

kernel float_types(A: tensor<f16>[8, 48], B: tensor<bf16>[8, 48], Y: tensor<f16>[8, 48], Z: tensor<bf16>[8, 48]) {
  var a = A[:, :]
  var b = B[:, :]
  a[:, 8 :+ 8] = a[:, 16 :+ 8]
  b[:, 8 :+ 8] = b[:, 17 :+ 8]
  a[7, 47] = a[0, 0]
  b[7, 47] = b[0, 0]
  Y[:, :] = a
  Z[:, :] = b
}

// A tile of bool: a byte for each.
kernel truths(A: tensor<f32>[64], Y: tensor<f32>[64]) {
  var c = A[:] > 0.0
  c[0 :+ 32] = c[32 :+ 32]
  c[40] = !c[0]
  Y[:] = where(c, A[:], 7.0)
  if c[1] && !c[2] {
    Y[0] = -1.0
  }
}

// `let` of a slice is a snapshot, and `let` and `var` of a tile are copies, whichever of them is sliced.
kernel copies(A: tensor<f32>[N], Y: tensor<f32>[4, 64]) {
  let t = A[0 :+ 64]
  A[0 :+ 64] = 5.0
  var u = t
  var w = u
  let x = u
  u[0 :+ 8] = 1.0
  w += 1.0
  u = u + 0.5
  Y[0, :] = t
  Y[1, :] = u
  Y[2, :] = w
  Y[3, 0 :+ 32] = t[32 :+ 32]
  Y[3, 32 :+ 32] = x[0 :+ 32]
}

// A tile without a value, written part by part by two loops.
kernel filled_by_parts(A: tensor<f32>[4, 4], Y: tensor<f32>[32, 32]) {
  var t: tile<f32>[32, 32]
  for i in range(0, 4) {
    for j in range(0, 4) {
      t[i * 8 :+ 8, j * 8 :+ 8] = A[i, j] * f32(i + j)
    }
  }
  Y[:, :] = t
}

// A tile that a loop's body declares: each trip has its own, and what it held is carried by another.
kernel one_per_trip(A: tensor<f32>[N, 8], Y: tensor<f32>[16, 8]) {
  var last: tile<f32>[16, 8] = 0.0
  for k in range(0, N, 16) {
    var t = A[k :+ 16, :]
    t[0 :+ 8, :] += last[8 :+ 8, :]
    t[15, :] = t[0, :] + last[0, :]
    last = t
  }
  Y[:, :] = last
}

kernel three_axes(A: tensor<f32>[4, 6, 8], Y: tensor<f32>[4, 6, 8], Z: tensor<f32>[6]) {
  var t = A[:, :, :]
  for i in range(0, 3) {
    t[i, 1 :+ 4, 2 :+ 4] = t[i + 1, 0 :+ 4, 4 :+ 4]
    t[i :+ 2, 5, 0 :+ 8] *= 2.0
  }
  Y[:, :, :] = t
  Z[:] = t[3, :, 7]
}

// Every way to write a range.
kernel range_forms(A: tensor<f32>[16], Y: tensor<f32>[5, 16], n: i32) {
  var t = A[:]
  Y[0, 0 :+ 12] = t[4:]
  Y[1, 0 :+ 6] = t[:6]
  Y[2, 0 :+ 4] = t[n : n + 4]
  Y[3, :] = t[:]
  t[12:] = 0.0
  t[:2] = 1.0
  t[n : n + 2] = 2.0
  t[2 : n] = 3.0
  t[n + 4 :] += 10.0
  Y[4, :] = t
}

// Buffers whose lives follow one another may share bytes; those that a loop goes back to may not.
kernel one_after_another(A: tensor<f32>[N, 64], Y: tensor<f32>[N, 64]) {
  for i in range(0, N, 4) {
    var t = A[i :+ 4, :]
    t[0 :+ 2, :] = t[2 :+ 2, :]
    Y[i :+ 4, :] = t * 2.0
  }
  var total: tile<f32>[1, 64] = 0.0
  for i in range(0, N) {
    var u = A[i :+ 1, :]
    u[:, 0 :+ 32] += total[:, 32 :+ 32]
    total += u
    total[0, 5] = 1.0
  }
  var w = total
  w[0, 0 :+ 32] = total[0, 32 :+ 32]
  Y[0, :] = w
}

// A reduction of a slice, and a slice of its result.
kernel reduced(A: tensor<f32>[16, 32], Y: tensor<f32>[8, 1], Z: tensor<f32>[1, 16]) {
  let t = A[:, :]
  var s = rowsum(t[:, 8 :+ 16])
  s[0 :+ 8, :] -= s[8 :+ 8, :]
  Y[:, :] = s[0 :+ 8, :]
  Z[:, :] = colmax(t[4 :+ 8, :])[:, 16 :+ 16]
}

// Points of uniform statements: stored once, in order with tiles and with each other.
kernel uniform_points(A: tensor<f32>[N], Y: tensor<f32>[N], n: i32) {
  var t = A[0 :+ 32]
  for i in range(0, n) {
    t[i] = t[i] + t[i + 1]
    t[i + 2] += 1.0
    t = t + t[i]
    let at = i * 3
    Y[at] = t[at] + t[n]
  }
  if n > 4 {
    t[4] = t[3]
    t[3] = t[4] + 1.0
  }
  Y[0 :+ 4] = t[2 :+ 4]
}

// Rows that no vector fits.
kernel odd_shape(A: tensor<f32>[5, 7], Y: tensor<f32>[5, 7]) {
  var t = A[:, :]
  t[1 :+ 4, 0 :+ 3] = t[0 :+ 4, 4 :+ 3]
  t[3 :+ 4, 5 :+ 4] *= 2.0
  Y[:, :] = t
}

kernel left_early(A: tensor<f32>[N], Y: tensor<f32>[8]) {
  var t: tile<f32>[8] = 0.0
  for k in range(0, N, 4) {
    t[0 :+ 4] += A[k :+ 4]
    if t[0] > 3.0 {
      t[4 :+ 4] = f32(k)
      break
    }
    if t[1] < 0.0 {
      continue
    }
    t[7] += 1.0
  }
  Y[:] = t
}

// A slice of something that has no name.
kernel of_an_expression(A: tensor<f32>[32], Y: tensor<f32>[16]) {
  Y[:] = (A[:] * 2.0)[8 :+ 16] + where(A[:] > 0.0, A[:], 0.0)[3]
}

// Slices of other element types, and of other ranks, convert and drop axes as those of tensors do.
kernel converted(A: tensor<f32>[4, 16], I: tensor<i32>[16], Y: tensor<f32>[4, 16], J: tensor<i8>[16]) {
  var t = A[:, :]
  var i = I[:]
  t[2, :] = i
  t[3, 0 :+ 8] += i[8 :+ 8]
  var b: tile<i8>[16] = 3
  b[4 :+ 8] = i[0 :+ 8]
  t[0, 1] = i[2]
  Y[:, :] = t
  J[:] = b
}

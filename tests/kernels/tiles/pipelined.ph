// run: beside_pipeline K=40 seed=23 tol=0 data=integers
// run: slice_of_trip K=40 seed=24 tol=0 data=integers

// A pipelined loop beside a tile that it slices: A is fetched ahead, the tile's slice is not.
@pipeline(3)
kernel beside_pipeline(A: tensor<f32>[16, K], B: tensor<f32>[64, 16], Y: tensor<f32>[16, 16]) {
  var b = B[:, :]
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[:, k :+ 8], b[k :+ 8, :])
    b[k + 8 :+ 4, :] = b[k :+ 4, :] + 1.0
  }
  Y[:, :] = acc
}

// What is fetched is sliced, too: nothing is fetched ahead for it, and the other operand still is.
@pipeline(2)
kernel slice_of_trip(A: tensor<f32>[16, K], B: tensor<f32>[K, 16], Y: tensor<f32>[16, 16]) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 8) {
    var a = A[:, k :+ 8]
    a[0 :+ 8, :] = a[8 :+ 8, :]
    a[15, 7] = 1.0
    acc += dot(a[:, :], B[k :+ 8, :])
    acc[0, 0 :+ 8] += a[0, :]
  }
  Y[:, :] = acc
}

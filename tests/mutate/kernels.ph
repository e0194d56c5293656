// Kernels for the mutants that tests/kernels has no like of.

// A block walks the rows of tiles, each with a pipelined loop: slots and barriers from one to the next, ragged on both.
@launch(64)
@pipeline(2)
kernel rows_in_turn(A: tensor<f32>[M, K], B: tensor<f32>[K, 16], C: tensor<f32>[M, 16]) {
  for i in range(0, M, 16) {
    var acc: tile<f32>[16, 16] = 0.0
    for k in range(0, K, 8) {
      acc += dot(A[i :+ 16, k :+ 8], B[k :+ 8, :])
    }
    C[i :+ 16, :] = acc
  }
}

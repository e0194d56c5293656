/* doubles A, //~ PH107
   in place */
kernel f(A: tensor<f32>[N]) {
  A[0] = 2.0 * A[0] // ok: / * and // and /* inside a comment
}

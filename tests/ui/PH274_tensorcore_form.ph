@tensorcore(wmaa) //~ PH274
kernel k(A: tensor<f32>[M, N]) {
  A[0, 0] = 0.0
}

@tensorcore(sync, wmma) //~ PH274
kernel q(A: tensor<f32>[M]) {
}

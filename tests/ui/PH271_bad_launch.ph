@launch(100) //~ PH271
kernel k(A: tensor<f32>[M, N]) {
  A[0, 0] = 0.0
}

@launch(128, 0) //~ PH271
kernel b(A: tensor<f32>[M]) {
}

@launch(128, 2, 300) //~ PH271
kernel c(A: tensor<f32>[M]) {
}

@launch(1, 2, 3, 4) //~ PH271
kernel d(A: tensor<f32>[M]) {
}

@launch(64.0) //~ PH271
kernel e(A: tensor<f32>[M]) {
}

@launch(2048) //~ PH271
kernel f(A: tensor<f32>[M]) {
}

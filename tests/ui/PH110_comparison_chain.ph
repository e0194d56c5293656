kernel f(A: tensor<f32>[N], i: i32) {
  let a = 0 < i < N //~ PH110
  let b = i == 1 == true //~ PH110
  let c = 0 <= i < N <= 10 //~ PH110
  let d = 0 < i && i < N
  let e = (0 < i) == (i < N)
  let g = 0 < i == i < N
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let i: i32 = x //~ PH214
  V[i] = 0.0
  let b: bool = n //~ PH214
  let y: f32 = x > 0.0 //~ PH214
  let c: i8 = n //~ PH214
  var k = 0
  k = i64(n) //~ PH214
  var t: tile<i32>[4] = V[0 :+ 4] //~ PH214
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  let small: i8 = 300 //~ PH215
  V[small] = 0.0
  let a: u8 = -1 //~ PH215
  let b = i32(0xffffffff) //~ PH215
  let c: f16 = 70000.0 //~ PH215
  let d: f32 = 1.0e39 //~ PH215
}

kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], n: i32, x: f32) {
  if ctx.lane < 16 {
    V[0] = lane_sum(x) //~ PH303
  }
}

kernel k(bar: tensor<i32>[2]) {
  grid_barrier(bar) //~ PH278
}

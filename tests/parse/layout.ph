kernel a() {} kernel b(
) {

}
fn c() { return } fn d() {
  ;;
  x = f(
    1,
    (2
    + 3)
  ); y =
    2
  if x { y = 1 } else {
    y = 2 }
}
fn tensor(tile: f32, range, f32: i32, unroll) { in_ = range(tile, f32) + unroll }
// ----
(program
  [(fn c (block [(return)]))
    (fn d
      (block
        [(assign = x (call f [(argument 1) (argument (binary + 2 3))]))
          (assign = y 2)
          (if x (block [(assign = y 1)]) orelse=(block [(assign = y 2)]))]))
    (fn tensor
      [(param tile type=(typeexpr f32)) (param range) (param f32 type=(typeexpr i32)) (param unroll)]
      (block [(assign = in_ (binary + (call range [(argument tile) (argument f32)]) unroll))]))]
  [(kernel a (block)) (kernel b (block))])

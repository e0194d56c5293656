@autotune(TILE_M in [32, 256], TILE_N in [32, 256], TILE_K in [4, 32])
@launch(256)
@pipeline
@aligned(M = TILE_M, N = TILE_N, K = TILE_K)
kernel gemm(A: tensor<f32>[M, K],
              B: tensor<f32>[K, N],
              C: tensor<f32>[M, N],
              alpha: f32,
              beta: f32,
) {
  let pm = ctx.block.x
  let pn = ctx.block.y

  var acc: tile<f32>[TILE_M, TILE_N] = 0.0

  for<unroll 4> kt in range(0, K, TILE_K) {
    var a = A[pm * TILE_M :+ TILE_M, kt :+ TILE_K]
    var b = B[kt :+ TILE_K, pn * TILE_N :+ TILE_N]
    acc += dot(a, b)
    if a < b && !c { break } else if d { continue } else { return }
    print("x\n", A[:], A[1:], A[:2], A[1:-2, 3])
  }
  let c_old = C[pm * TILE_M :+ TILE_M, pn * TILE_N :+ TILE_N]
  C[pm * TILE_M :+ TILE_M, pn * TILE_N :+ TILE_N] = alpha * acc + beta * c_old
}
fn f(x, y: f32) -> f32 { return x + y }
// ----
(program
  [(fn f
      [(param x) (param y type=(typeexpr f32))]
      result=(typeexpr f32)
      (block [(return value=(binary + x y))]))]
  [(kernel gemm
      [(attribute autotune
          [(attrarg in name=TILE_M [32 256])
            (attrarg in name=TILE_N [32 256])
            (attrarg in name=TILE_K [4 32])]
          true)
        (attribute launch [(attrarg value value=256)] true)
        (attribute pipeline false)
        (attribute aligned
          [(attrarg set name=M value=TILE_M)
            (attrarg set name=N value=TILE_N)
            (attrarg set name=K value=TILE_K)]
          true)]
      [(param A type=(typeexpr tensor elem=f32 [M K]))
        (param B type=(typeexpr tensor elem=f32 [K N]))
        (param C type=(typeexpr tensor elem=f32 [M N]))
        (param alpha type=(typeexpr f32))
        (param beta type=(typeexpr f32))]
      (block
        [(let pm ctx.block.x)
          (let pn ctx.block.y)
          (var acc type=(typeexpr tile elem=f32 [TILE_M TILE_N]) value=0.0)
          (for kt 0 K step=TILE_K unroll=4
            (block
              [(var a
                  value=(subscript A
                    [(sub span start=(binary * pm TILE_M) length=TILE_M) (sub span start=kt length=TILE_K)]))
                (var b
                  value=(subscript B
                    [(sub span start=kt length=TILE_K) (sub span start=(binary * pn TILE_N) length=TILE_N)]))
                (assign += acc (call dot [(argument a) (argument b)]))
                (if
                  (binary && (binary < a b) (unary ! c))
                  (block [(break)])
                  orelse=(if d (block [(continue)]) orelse=(block [(return)])))
                (callstmt
                  (call print
                    [(argument "x\n")
                      (argument (subscript A [(sub range)]))
                      (argument (subscript A [(sub range start=1)]))
                      (argument (subscript A [(sub range stop=2)]))
                      (argument (subscript A [(sub range start=1 stop=(unary - 2)) (sub point start=3)]))]))]))
          (let c_old
            (subscript C
              [(sub span start=(binary * pm TILE_M) length=TILE_M)
                (sub span start=(binary * pn TILE_N) length=TILE_N)]))
          (assign =
            (subscript C
              [(sub span start=(binary * pm TILE_M) length=TILE_M)
                (sub span start=(binary * pn TILE_N) length=TILE_N)])
            (binary + (binary * alpha acc) (binary * beta c_old)))]))])

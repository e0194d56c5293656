fn f(x, y: f32, z: tile<f16>[R, C + 1],) -> tensor<i8>[N] {
  let a = 1; let b: f32 = 2.0
  var c = 1e-5; var d: tile<bool>[4, 2 * N]
  var e: i64 = 0xff
  c = 1; c += 1; c -= 1; c *= 2; c /= 2; c %= 2; c &= 1; c |= 1; c ^= 1; c <<= 1; c >>= 1
  A[0] += 1.0
  for i in range(0, 4) { continue }
  for<unroll 4> j in range(a, N, ctx.lanes) {
    if j > 2 { break } else if j > 1 { return } else { return j }
  }
  while c < 4 && true { c += 1 };
  if (c == 1) {}
  barrier()
  print("a \"b\"\n", c, x = 1)
  assert(c > 0, "text")
  return ctx.block.x + ctx.grid.z + ctx.thread
}

fn g() {
  return
}
// ----
(program
  [(fn f
      [(param x) (param y type=(typeexpr f32)) (param z type=(typeexpr tile elem=f16 [R (binary + C 1)]))]
      result=(typeexpr tensor elem=i8 [N])
      (block
        [(let a 1)
          (let b type=(typeexpr f32) 2.0)
          (var c value=1e-05)
          (var d type=(typeexpr tile elem=bool [4 (binary * 2 N)]))
          (var e type=(typeexpr i64) value=255)
          (assign = c 1)
          (assign += c 1)
          (assign -= c 1)
          (assign *= c 2)
          (assign /= c 2)
          (assign %= c 2)
          (assign &= c 1)
          (assign |= c 1)
          (assign ^= c 1)
          (assign <<= c 1)
          (assign >>= c 1)
          (assign += (subscript A [(sub point start=0)]) 1.0)
          (for i 0 4 (block [(continue)]))
          (for j a N step=ctx.lanes unroll=4
            (block
              [(if
                  (binary > j 2)
                  (block [(break)])
                  orelse=(if (binary > j 1) (block [(return)]) orelse=(block [(return value=j)])))]))
          (while (binary && (binary < c 4) true) (block [(assign += c 1)]))
          (if (binary == c 1) (block))
          (callstmt (call barrier))
          (callstmt (call print [(argument "a \"b\"\n") (argument c) (argument name=x 1)]))
          (callstmt (call assert [(argument (binary > c 0)) (argument "text")]))
          (return value=(binary + (binary + ctx.block.x ctx.grid.z) ctx.thread))]))
    (fn g (block [(return)]))])

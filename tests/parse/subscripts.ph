kernel f(A: tensor<f32>[M, N]) {
  A[0, :] = A[1:, :2]
  A[i :+ 4, a : b] = A[:, -1:]
  x = A[0][1] + f(1)[2, 3] + (a + b)[:]
  A[
    i,
    j
  ] = 1.0
  store(A[0 :+ 4], v, align = 4)
}
// ----
(program
  [(kernel f
      [(param A type=(typeexpr tensor elem=f32 [M N]))]
      (block
        [(assign =
            (subscript A [(sub point start=0) (sub range)])
            (subscript A [(sub range start=1) (sub range stop=2)]))
          (assign =
            (subscript A [(sub span start=i length=4) (sub range start=a stop=b)])
            (subscript A [(sub range) (sub range start=(unary - 1))]))
          (assign = x
            (binary +
              (binary +
                (subscript (subscript A [(sub point start=0)]) [(sub point start=1)])
                (subscript (call f [(argument 1)]) [(sub point start=2) (sub point start=3)]))
              (subscript (binary + a b) [(sub range)])))
          (assign = (subscript A [(sub point start=i) (sub point start=j)]) 1.0)
          (callstmt
            (call store
              [(argument (subscript A [(sub span start=0 length=4)])) (argument v) (argument name=align 4)]))]))])

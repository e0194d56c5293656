fn f(a, b, c, d) {
  let a1 = 1 + 2 * 3
  let a2 = 1 * 2 + 3
  let a3 = a - b - c
  let a4 = a || b && c | d ^ a & b == c < d << a + b * -c
  let a5 = a * b + c << d < a == b & c ^ d | a && b || c
  let a6 = -a[0] + !b(1) * ~c
  let a7 = --a - -b
  let a8 = (a + b) * (c - d)
  let a9 = a < b == c < d
  let b1 = a % b / c * d
  let b2 = a << b >> c
  let b3 = a +
    b *
    c
}
// ----
(program
  [(fn f
      [(param a) (param b) (param c) (param d)]
      (block
        [(let a1 (binary + 1 (binary * 2 3)))
          (let a2 (binary + (binary * 1 2) 3))
          (let a3 (binary - (binary - a b) c))
          (let a4
            (binary || a
              (binary && b
                (binary | c
                  (binary ^ d
                    (binary & a
                      (binary == b (binary < c (binary << d (binary + a (binary * b (unary - c))))))))))))
          (let a5
            (binary ||
              (binary &&
                (binary |
                  (binary ^
                    (binary & (binary == (binary < (binary << (binary + (binary * a b) c) d) a) b) c)
                    d)
                  a)
                b)
              c))
          (let a6
            (binary +
              (unary - (subscript a [(sub point start=0)]))
              (binary * (unary ! (call b [(argument 1)])) (unary ~ c))))
          (let a7 (binary - (unary - (unary - a)) (unary - b)))
          (let a8 (binary * (binary + a b) (binary - c d)))
          (let a9 (binary == (binary < a b) (binary < c d)))
          (let b1 (binary * (binary / (binary % a b) c) d))
          (let b2 (binary >> (binary << a b) c))
          (let b3 (binary + a (binary * b c)))]))])

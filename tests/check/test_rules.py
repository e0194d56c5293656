"""What is allowed and what is not, one statement or two at a time; the numbers are those of the conformance list."""

from __future__ import annotations

import pytest

from tests.check.helpers import codes

ALLOWED = [
    "var s = 0.0\nfor i in range(0, N) { s += V[i] }\nV[0] = s",  # B034
    "let y = 1.0\nif p { let y = 2\nV[0] = y }\nV[1] = y",  # B035
    "let m = M + n",  # B036
    "V[0] = n",  # B044
    "A[0, 0] = 1.0\nV[n] += x",  # B045
    "let i = ctx.block.x\nif i < n { V[i] = V[i] + x }",  # B053
    "for i in range(N, 0) { }\nfor i in range(0, N, n) { }",  # B060
    "while V[0] > 0.0 { V[0] = V[0] - 1.0 }",  # B064
    "for i in range(0, 4) { if i == 2 { continue }\nif i == 3 { break } }\nreturn",  # B065
    "for<unroll 4> i in range(0, 10) { V[i] = 0.0 }",  # B067
    "A[n : M, 0 :+ 4] = 0.0\nA[n : M, 0 :+ 4] *= 2",  # B099
    "A[0 :+ 4, :] = 0.0\nA[0 :+ 4, 8:] = n\nV[n : 2 * n] += 1.0",  # B099
    "A[0 :+ 16, 0 :+ 16] = dot(A[0 :+ 16, 0 :+ 4], A[0 :+ 4, 0 :+ 16])",  # B089
    "var t: tile<f32>[R, C] = 0.0\nt[0 :+ 4, :] = 1.0\nlet u = t[4 :+ 4, 0 :+ 8]",  # B095
    "var t: tile<f16>[R, C] = 0.1\nt = A[0 :+ R, 0 :+ C]\nt += A[0 :+ R, 0 :+ C]",  # B116, B117
    "Q[0 :+ R, 0 :+ C] = i8(i32(round(A[0 :+ R, 0 :+ C])))",  # B121
    "var t: tile<f32>[R, C] = 0.0\nt += 1\nt = t * 2.0\nt = exp(t)",  # B118, B119
    "let s: tile<f32>[R, C] = dot_t(A[0 :+ R, 0 :+ 8], A[0 :+ C, 0 :+ 8])\nlet t: tile<f32>[1, R, C] = s",
    "var t: tile<i32>[R, C] = iota(0)\nt = iota(1) + 1\nA[0 :+ R, 0 :+ C] = iota(0) * 2",
    "var acc: tile<f16>[R, R] = 0.0\nacc += dot_t(H[0 :+ R, 0 :+ 16], B[0 :+ R, 0 :+ 16])",  # B157
    "let i: i32 = ctx.block.x\nlet j: i64 = n\nlet f: f32 = n\nlet g: f16 = d",
    "Q[0, 0] = n\nI[0] = l\nW[0] = Q[0, 0]",  # integers narrow into memory
    "var t: tile<i8>[4] = 0\nt = I[0 :+ 4]",
    "let k = T * 2 + 1\nvar t: tile<f32>[k, ctx.warps * ctx.lanes] = 0.0",  # constant expressions
    "var x = 1\nx = n\nx = ctx.thread",
    "if ctx.thread < n && V[ctx.thread] > 0.0 { V[ctx.thread] = 0.0 }",
    "A[0 :+ 8, 0 :+ 8] = A[4 :+ 8, 0 :+ 8]",
    "I[0] <<= 2\nI[0] |= 1\nI[0] %= 3\nF[0] |= p",
    'assert(n > 0, "n is positive")\nprint("n and x", n, x)',
    "atomic_add(A[0 :+ R, 0 :+ C], A[R :+ R, 0 :+ C])\natomic_add(H[0, 0], 1)\ngrid_barrier(bar)\nbarrier()",
    "let v = elem(V[ctx.thread * 4 :+ 4])\nstore(V[ctx.thread * 4 :+ 4], v * 2.0 + 1.0, align = 16)",
    "store(V[0 :+ 4], 0.0)\nvar t: tile<f32>[R, C] = 0.0\nstore(t[0, 0 :+ 4], elem(V[0 :+ 4]))",
    "for k in range(ctx.lane, N, ctx.lanes) { V[k] = 0.0 }\nlet s = lane_sum(x)",  # B221
    "if ctx.block.x == 0 { barrier()\nlet t = A[0 :+ R, 0 :+ C] }",  # B222
    "if ctx.warp == 0 { let s = lane_sum(x) }",  # B223
    "let old = atomic_add(I[0], 1)\nfor i in range(0, old) { barrier() }",  # B066
    "let z = 5 / 2 - -3 % 2",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_allowed(text: str) -> None:
    assert codes(text) == []


REFUSED = [
    ("V[0] = zz", "PH201"),  # B030
    ("V[0] = foo(1.0)", "PH202"),  # B030
    ("let y = A", "PH203"),  # B032
    ("let y = A + 1.0", "PH203"),
    ("let y = exp", "PH208"),
    ("let y = 1\ny = 2", "PH206"),  # B033
    ("n = 2", "PH206"),
    ("M = 2", "PH206"),
    ("T = 2", "PH206"),
    ("for i in range(0, 4) { i = 2 }", "PH206"),
    ("A = 0.0", "PH206"),
    ("let y = 1\nlet y = 2", "PH205"),
    ("let y = 1.0 + n", "PH210"),  # B037
    ("let y = x * M", "PH210"),
    ("let y = p + 1", "PH211"),
    ("let y = p == 1", "PH210"),
    ("let y = p < p", "PH211"),  # B040
    ("let y = !n", "PH211"),
    ("let y = !A[0 :+ 4, 0]", "PH211"),  # B113
    ("let y = ~x", "PH211"),
    ("let y = -p", "PH211"),
    ("let y = x % 2.0", "PH211"),
    ("let y = x & 1", "PH211"),
    ("let y = n && p", "PH211"),
    ("if n { }", "PH212"),  # B042
    ("while x { }", "PH212"),
    ("while A[0 :+ 4, 0] > 0.0 { }", "PH212"),
    ("let y = V[x]", "PH213"),  # B043
    ("for i in range(0, x) { }", "PH213"),
    ("let y = V[x :+ 4]", "PH213"),
    ("let y = V[0 :+ x]", "PH213"),
    ("I[0] = x", "PH214"),  # B044
    ("var c: i32 = 0\nc = 1.5", "PH214"),
    ("var c: i32 = 0\nc = l", "PH214"),
    ("var c = 0\nc = l", "PH214"),
    ("let c: i8 = n", "PH214"),
    ("let c: bool = 1", "PH214"),
    ("let c: f32 = p", "PH214"),
    ("var t: tile<i32>[4] = V[0 :+ 4]", "PH214"),
    ("let c: i8 = 300", "PH215"),
    ("let c: u8 = -1", "PH215"),
    ("let c: f16 = 70000.0", "PH215"),
    ("let c = Q[0, 0] + 200", "PH215"),
    ("let c = 1.0e39 * x", "PH215"),
    ("let c = bool(n)", "PH216"),  # B049
    ("var t: tile<f32>[M, 4] = 0.0", "PH222"),  # B052
    ("var t: tile<f32>[ZZ, 4] = 0.0", "PH222"),
    ("var t: tile<f32>[n, 4] = 0.0", "PH223"),
    ("var t: tile<f32>[T - 32, 4] = 0.0", "PH224"),
    ("var t: tile<f32>[1, 1, 1, 1, 1, 1] = 0.0", "PH224"),
    ("var t: tensor<f32>[T] = 0.0", "PH221"),
    ("break", "PH260"),
    ("continue", "PH260"),
    ("return 1", "PH261"),
    ("for i in range(0, 4, 0) { }", "PH262"),
    ("for i in range(0, 4, T - 40) { }", "PH262"),
    ("for<unroll 0> i in range(0, 4) { }", "PH263"),
    ("let t = A[0 :+ 4, 0 :+ 8]\nt[0, 0] = 1.0", "PH206"),  # B096
    ("let t = A[0 :+ 4, 0 :+ 8]\nt += 1.0", "PH206"),
    ("let y = A[0]", "PH226"),  # B097
    ("let y = V[0, 0]", "PH226"),
    ("var t = V[n :+ n]", "PH227"),  # B097
    ("let t = V[n:]", "PH227"),
    ("let t = V[:]", "PH227"),
    ("V[n:] = V[0 :+ 4]", "PH227"),
    ("V[0 : n] += V[0 :+ 4]", "PH227"),
    ("let t = V[4 : 4]", "PH228"),
    ("let t = V[0 :+ T - 32]", "PH228"),
    ("let t = n[0]", "PH229"),
    ("let t = M[0]", "PH229"),
    ("let t = A[0 :+ 4, 0 :+ 8] + A[0 :+ 8, 0 :+ 4]", "PH217"),  # B112
    ("let t = V[0 :+ 4] + A[0 :+ 4, 0 :+ 4]", "PH217"),
    ("var t: tile<f32>[4, 8] = 0.0\nt = A[0 :+ 8, 0 :+ 4]", "PH218"),
    ("A[0 :+ 4, 0 :+ 8] = V[0 :+ 4]", "PH218"),
    ("V[0] = V[0 :+ 4]", "PH218"),
    ("let t = dot(A[0 :+ 4, 0 :+ 8], A[0 :+ 4, 0 :+ 8])", "PH204"),  # B151
    ("let t = dot_t(A[0 :+ 4, 0 :+ 8], A[0 :+ 8, 0 :+ 4])", "PH204"),
    ("let t = dot(x, A[0 :+ 4, 0 :+ 8])", "PH220"),
    ("let t = dot(A[0 :+ 4, 0 :+ 8], A[0 :+ 8, 0 :])", "PH227"),
    ("let t = dot(Q[0 :+ 4, 0 :+ 8], A[0 :+ 8, 0 :+ 4])", "PH210"),
    ("let t = rowsum(x)", "PH220"),
    ("var t: tile<f32>[2, 4, 8] = 0.0\nlet s = rowsum(t)", "PH219"),  # R02: reductions take rank 2
    ("let t = rowsum(F[0 :+ 4])", "PH243"),
    ("let t = round(I[0 :+ 4])", "PH243"),  # B122
    ("let t = exp(n)", "PH243"),
    ("let t = tmax(A[0 :+ 4, 0], H[0 :+ 4, 0])", "PH210"),  # B136
    ("let t = gather(V, V[0 :+ 4])", "PH243"),  # B139
    ("let t = gather(A, I[0 :+ 4])", "PH219"),
    ("let t = flat(A[0 :+ 4, 0 :+ 4])", "PH243"),  # B140
    ("let t = iota(0)", "PH230"),
    ("let t = rowsum(iota(0) + 1)", "PH230"),
    ("let t = iota(2) + A[0 :+ 4, 0 :+ 4]", "PH230"),
    ("let t = exp(1.0, 2.0)", "PH240"),
    ("let t = exp(x = 1.0)", "PH241"),
    ("let t = barrier()", "PH231"),
    ("atomic_add(Q[0, 0], 1)", "PH243"),
    ("var t: tile<i32>[4] = 0\natomic_add(t[0], 1)", "PH242"),  # B204
    ("atomic_add(1, 1)", "PH242"),
    ("atomic_cas(V[0], 0, 1)", "PH243"),
    ("var t: tile<i32>[2] = 0\ngrid_barrier(t)", "PH242"),  # B205
    ("grid_barrier(V)", "PH243"),
    ("let t = elem(A[0 :+ 2, 0 :+ 4])", "PH243"),
    ("let t = elem(V[0])", "PH243"),
    ("let t = sum(x)", "PH243"),
    ("let v = elem(V[0 :+ 4])\nlet e = v[n]", "PH223"),
    ("let v = elem(V[0 :+ 4])\nlet e = v[4]", "PH226"),
    ("let v = elem(V[0 :+ 4]) + elem(V[0 :+ 8])", "PH217"),
    ("let v = elem(V[0 :+ 4], align = 3)", "PH243"),
    ("let v = word(elem(V[0 :+ 4]))", "PH243"),
    ("let c = where(n, 1, 2)", "PH243"),
    ("let y = lane_sum(V[0 :+ 4])", "PH243"),
    ('let y = assert(p, "text")', "PH231"),
    ("print(n)", "PH242"),
    ("if ctx.lane == 0 { let t = A[0 :+ 4, 0 :+ 4] }", "PH301"),  # B222
    ("if ctx.thread < n { barrier() }", "PH301"),
    ("if ctx.warp == 0 { let s = cta_sum(x) }", "PH301"),  # B223
    ("if ctx.lane == 0 { let s = lane_sum(x) }", "PH303"),
    ("let t = A[ctx.lane :+ 4, 0 :+ 4]", "PH302"),
    ("let t = A[0 :+ 4, 0 :+ 4] * V[ctx.thread]", "PH302"),
    ("exp(x)", "PR204"),
    ("let y = n / 0", "PR206"),
    ("var t: tile<f32>[R, C]\nlet u = t + 1.0", "PR203"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_refused(text: str, code: str) -> None:
    assert codes(text) == [code]

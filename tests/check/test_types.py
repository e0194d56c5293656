"""The types of expressions: literals, joins, conversions, subscripts and builtins."""

from __future__ import annotations

import pytest

from tests.check.helpers import type_of

TILES = """\
let a = A[0 :+ R, 0 :+ C]
let half = H[0 :+ R, 0 :+ C]
let brain = B[0 :+ R, 0 :+ C]
let bytes = Q[0 :+ R, 0 :+ C]
let ints = I[0 :+ C]
let col = A[0 :+ R, 0 :+ 1]
let line = A[n, 0 :+ C]
"""

JOINS = [
    ("1", "index"),
    ("1.5", "f32"),
    ("1 + 2.0", "f32"),
    ("M + 1", "index"),
    ("T", "index"),
    ("n + 1", "i32"),
    ("n + M", "index"),
    ("l + M", "i64"),
    ("l + n", "i64"),
    ("x + 1", "f32"),
    ("h * 2.0", "f16"),
    ("h + x", "f32"),
    ("x + d", "f64"),
    ("d * 2", "f64"),
    ("Q[0, 0] + 1", "i8"),
    ("Q[0, 0] + W[0]", "i32"),
    ("Q[0, 0] + n", "i32"),
    ("W[0] + n", "i32"),
    ("Q[0, 0] + M", "index"),
    ("H[0, 0] + B[0, 0]", "f32"),
    ("n < 3", "bool"),
    ("x != x", "bool"),
    ("p == true", "bool"),
    ("p && n < 3", "bool"),
    ("p & p", "bool"),
    ("!p", "bool"),
    ("~n", "i32"),
    ("n << 3", "i32"),
    ("-n", "i32"),
    ("-h", "f16"),
    ("ctx.block.x * T", "index"),
    ("ctx.threads / 2", "index"),
    # tiles
    ("a + 1", "tile<f32>[16, 64]"),
    ("half * 2.0", "tile<f16>[16, 64]"),
    ("half * x", "tile<f32>[16, 64]"),
    ("x * half", "tile<f32>[16, 64]"),
    ("half + brain", "tile<f32>[16, 64]"),
    ("bytes * a", "tile<f32>[16, 64]"),
    ("bytes * half", "tile<f16>[16, 64]"),
    ("bytes + n", "tile<i32>[16, 64]"),
    ("bytes + 1", "tile<i8>[16, 64]"),
    ("bytes * 2.0", "tile<f32>[16, 64]"),
    ("a + n", "tile<f32>[16, 64]"),
    ("a + M", "tile<f32>[16, 64]"),
    ("a % ints", ""),
    ("bytes % 3", "tile<i8>[16, 64]"),
    ("a + col", "tile<f32>[16, 64]"),
    ("col + line", "tile<f32>[16, 64]"),
    ("A[0 :+ 1, 0 :+ 1] + a", "tile<f32>[16, 64]"),
    ("line + ints", "tile<f32>[64]"),
    ("a < col", "tile<bool>[16, 64]"),
    ("a < 1.0 && p", "tile<bool>[16, 64]"),
    ("!(a < col)", "tile<bool>[16, 64]"),
    ("-a", "tile<f32>[16, 64]"),
    ("F[0 :+ 8] | F[8 :+ 8]", "tile<bool>[8]"),
]


@pytest.mark.parametrize(("expr", "kind"), [j for j in JOINS if j[1]])
def test_operators(expr: str, kind: str) -> None:
    assert type_of(expr, TILES) == kind


CONVERSIONS = [
    ("f64(0.1)", "f64"),
    ("i8(300 - 200)", "i8"),
    ("f32(n)", "f32"),
    ("i32(x)", "i32"),
    ("f32(Q[0, 0])", "f32"),
    ("i8(i32(round(a)))", "tile<i8>[16, 64]"),
    ("i32(p)", "i32"),
    ("f16(a)", "tile<f16>[16, 64]"),
    ("f32(elem(H[0, 0 :+ 4]))", "vec<f32, 4>"),
]


@pytest.mark.parametrize(("expr", "kind"), CONVERSIONS)
def test_conversions(expr: str, kind: str) -> None:
    assert type_of(expr, TILES) == kind


SUBSCRIPTS = [
    ("A[0, n]", "f32"),
    ("A[n, 0 :+ 64]", "tile<f32>[1, 64]"),
    ("A[0 : 16, 4 : 12]", "tile<f32>[16, 8]"),
    ("A[0 :+ 16, :8]", "tile<f32>[16, 8]"),
    ("S[:, :]", "tile<f32>[30, 64]"),
    ("S[16:, 0]", "tile<f32>[14, 1]"),
    ("S[0, n :+ T]", "tile<f32>[1, 32]"),
    ("V[n : n + 16]", "tile<f32>[16]"),
    ("V[n * T : n * T + T]", "tile<f32>[32]"),
    ("V[ctx.block.x * T : (ctx.block.x + 1) * T]", "tile<f32>[32]"),
    ("V[M / 2 - 4 : 4 + M / 2]", "tile<f32>[8]"),
    ("V[I[n] : I[n] + 4]", "tile<f32>[4]"),
    ("a[0, 0]", "f32"),
    ("a[0 :+ 4, n :+ 8]", "tile<f32>[4, 8]"),
    ("a[8:, :]", "tile<f32>[8, 64]"),
    ("(a + 1.0)[0, 0]", "f32"),
    ("A[l, Q[0, 0]]", "f32"),
    ("elem(V[n :+ 4])[3]", "f32"),
]


@pytest.mark.parametrize(("expr", "kind"), SUBSCRIPTS)
def test_subscripts(expr: str, kind: str) -> None:
    assert type_of(expr, TILES) == kind


BUILTINS = [
    ("exp(x)", "f32"),
    ("sqrt(2)", "f32"),
    ("exp(half)", "tile<f16>[16, 64]"),
    ("abs(bytes)", "tile<i8>[16, 64]"),
    ("abs(n)", "i32"),
    ("min(n, 3)", "i32"),
    ("max(a, col)", "tile<f32>[16, 64]"),
    ("tmax(a, 0.0)", "tile<f32>[16, 64]"),
    ("tmax(x, 1.0)", "f32"),
    ("pow(x, 2)", "f32"),
    ("pow(n, 2)", "i32"),
    ("fma(a, x, col)", "tile<f32>[16, 64]"),
    ("where(a > 0.0, a, 0.0)", "tile<f32>[16, 64]"),
    ("where(p, n, 1)", "i32"),
    ("where(p, a, col)", "tile<f32>[16, 64]"),
    ("where(iota(1) < n, a, 0.0)", "tile<f32>[16, 64]"),
    ("iota(0) + ints", "tile<i32>[64]"),
    ("where(iota(1) < col, line, 0.0)", "tile<f32>[16, 64]"),
    ("rowsum(half)", "tile<f32>[16, 1]"),
    ("rowsum(bytes)", "tile<i32>[16, 1]"),
    ("rowsum(L[0 :+ 8])", "tile<i64>[1, 1]"),
    ("rowmax(half)", "tile<f16>[16, 1]"),
    ("rowargmax(a)", "tile<i32>[16, 1]"),
    ("colmin(a)", "tile<f32>[1, 64]"),
    ("transpose(a)", "tile<f32>[64, 16]"),
    ("tril(a)", "tile<f32>[16, 64]"),
    ("cumsum(half)", "tile<f32>[16, 64]"),
    ("flat(a)", "tile<f32>[1, 1024]"),
    ("gather(V, ints)", "tile<f32>[64]"),
    ("gather(line, ints)", "tile<f32>[64]"),
    ("dot(a, transpose(a))", "tile<f32>[16, 16]"),
    ("dot_t(half, brain)", "tile<f32>[16, 16]"),
    ("dot_t(half, half)", "tile<f32>[16, 16]"),
    ("dot_t(bytes, bytes)", "tile<i32>[16, 16]"),
    ("dot_t(f64(a), a)", "tile<f64>[16, 16]"),
    ("generate(f, R, 8, 2)", "tile<f32>[16, 8]"),
    ("elem(Q[n, 0 :+ 16])", "vec<i8, 16>"),
    ("elem(V[n :+ 4], align = 4) * 2.0 + x", "vec<f32, 4>"),
    ("sum(Q[n, 0 :+ 4] * Q[0, 4 :+ 4])", "i32"),
    ("sum(H[n, 0 :+ 4] * x)", "f32"),
    ("sum(L[0 :+ 4])", "i64"),
    ("sum(a[3, 0 :+ 4] * V[0 :+ 4])", "f32"),
    ("lane_sum(x)", "f32"),
    ("lane_sum(Q[0, 0])", "i32"),
    ("lane_max(h)", "f16"),
    ("lane_any(p)", "bool"),
    ("lane_ballot(x > 0.0)", "i32"),
    ("shuffle(h, 3)", "f16"),
    ("shuffle_xor(n, 1)", "i32"),
    ("cta_sum(n)", "i32"),
    ("cta_all(p)", "bool"),
    ("word(elem(Q[0, 0 :+ 4]))", "i32"),
    ("byteperm(n, 1, 0x3210)", "i32"),
    ("popcount(l)", "i32"),
    ("f16bits(h)", "i32"),
    ("f16bits(n)", "f16"),
    ("atomic_add(I[0], 1)", "i32"),
    ("atomic_add(I, n, 1)", "i32"),
    ("atomic_max(V[0], 42)", "f32"),
    ("atomic_cas(L[0], 0, 1)", "i64"),
    ("extent(A, 1) + extent(S, 0) + extent(a, 0)", "index"),
]
FN = "fn f(i, j, k) -> f32 { if i < j * k { return 1.0 }\nreturn 0.0 }"


@pytest.mark.parametrize(("expr", "kind"), BUILTINS)
def test_builtins(expr: str, kind: str) -> None:
    assert type_of(expr, TILES, FN) == kind

"""Elementwise ops: exact values, where rounding happens, what integers do at their edges, NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from phobos.interp import bf16_from_f32, bf16_to_f32

Evaluate = Callable[..., np.ndarray[Any, Any]]
nan, inf = math.nan, math.inf


def same(got: Any, expected: list[float]) -> None:
    """Equal, NaN included, zeros with their signs."""
    assert [repr(float(x)) for x in got] == [repr(float(x)) for x in expected]


def bf16(*numbers: float) -> np.ndarray[Any, Any]:
    return bf16_from_f32(np.array(numbers, np.float32))


@pytest.mark.parametrize(
    ("kind", "x", "expected"),
    [
        ("neg", [1.5, -0.0, inf], [-1.5, 0.0, -inf]),
        ("abs", [-1.5, -0.0, -inf, nan], [1.5, 0.0, inf, nan]),
        ("floor", [1.5, -1.5, -0.0, 2.0**60], [1.0, -2.0, -0.0, 2.0**60]),
        ("ceil", [1.5, -1.5, 0.25], [2.0, -1.0, 1.0]),
        ("round", [0.5, 1.5, 2.5, -0.5, -1.5, nan], [0.0, 2.0, 2.0, -0.0, -2.0, nan]),
        ("sqrt", [4.0, 2.0, -1.0, -0.0], [2.0, float(np.float32(math.sqrt(2.0))), nan, -0.0]),
        ("rsqrt", [4.0, 0.0, inf], [0.5, inf, 0.0]),
        ("exp", [0.0, -inf, 1000.0], [1.0, 0.0, inf]),
        ("exp2", [10.0, -1.0], [1024.0, 0.5]),
        ("log", [1.0, 0.0, -1.0], [0.0, -inf, nan]),
        ("log2", [8.0, 0.5], [3.0, -1.0]),
        ("tanh", [0.0, 100.0, -inf], [0.0, 1.0, -1.0]),
        ("sin", [0.0, inf], [0.0, nan]),
        ("cos", [0.0, nan], [1.0, nan]),
    ],
)
def test_unary_f32(evaluate: Evaluate, kind: str, x: list[float], expected: list[float]) -> None:
    same(evaluate(f'unary(%x) {{kind = "{kind}"}}', "f32", x=(x, "f32")), expected)


def test_functions_round_f64_once(evaluate: Evaluate) -> None:
    x = np.linspace(0.5, 3.0, 40)
    for kind, function in (("exp", np.exp), ("tanh", np.tanh), ("log", np.log)):
        got = evaluate(f'unary(%x) {{kind = "{kind}"}}', "f32", x=(x, "f32"))
        assert np.array_equal(got, function(x.astype(np.float32).astype(np.float64)).astype(np.float32))
        got = evaluate(f'unary(%x) {{kind = "{kind}"}}', "f16", x=(x, "f16"))
        assert np.array_equal(got, function(x.astype(np.float16).astype(np.float64)).astype(np.float16))


def test_unary_integers_and_bools(evaluate: Evaluate) -> None:
    low = -(2**31)
    assert evaluate('unary(%x) {kind = "neg"}', "i32", x=([5, low], "i32")).tolist() == [-5, low]
    assert evaluate('unary(%x) {kind = "abs"}', "i32", x=([-5, low], "i32")).tolist() == [5, low]
    assert evaluate('unary(%x) {kind = "neg"}', "u8", x=([1, 0], "u8")).tolist() == [255, 0]
    assert evaluate('unary(%x) {kind = "inv"}', "u8", x=([0, 1], "u8")).tolist() == [255, 254]
    assert evaluate('unary(%x) {kind = "inv"}', "i64", x=([0, -1], "i64")).tolist() == [-1, 0]
    assert evaluate('unary(%x) {kind = "round"}', "i8", x=([3], "i8")).tolist() == [3]
    assert evaluate('unary(%x) {kind = "not"}', "bool", x=([True, False], "bool")).tolist() == [False, True]


def test_each_f16_op_rounds(evaluate: Evaluate) -> None:
    add = 'binary(%a, %b) {kind = "add"}'
    # 2048 has neighbours 2 apart: 2049 is midway, to even.
    same(evaluate(add, "f16", a=([2048.0, 2050.0, 65504.0], "f16"), b=([1.0, 1.0, 16.0], "f16")), [2048, 2052, inf])
    third = evaluate('binary(%a, %b) {kind = "div"}', "f16", a=([1.0], "f16"), b=([3.0], "f16"))
    same(third, [0.333251953125])
    same(evaluate('binary(%a, %b) {kind = "mul"}', "f16", a=([2.0**-20], "f16"), b=([2.0**-5], "f16")), [0.0])


def test_each_bf16_op_rounds(evaluate: Evaluate) -> None:
    a, b = bf16(256.0, 258.0, 1.0, inf), bf16(1.0, 1.0, 3.0, -inf)
    for kind, expected in (("add", [256.0, 260.0, 4.0, nan]), ("div", [256.0, 258.0, 0.333984375, nan])):
        got = evaluate(f'binary(%a, %b) {{kind = "{kind}"}}', "bf16", a=(a, "bf16"), b=(b, "bf16"))
        same(bf16_to_f32(got), expected)
    got = evaluate('unary(%a) {kind = "exp"}', "bf16", a=(bf16(1.0), "bf16"))
    same(bf16_to_f32(got), [2.71875])


def test_f32_arithmetic(evaluate: Evaluate) -> None:
    a, b = [2.0**24, 1.0, 1.0, 0.0], [1.0, 3.0, 0.0, 0.0]
    third = float(np.float32(1.0) / np.float32(3.0))
    for kind, expected in (
        ("add", [2.0**24, 4.0, 1.0, 0.0]),
        ("sub", [2.0**24 - 1, -2.0, 1.0, 0.0]),
        ("mul", [2.0**24, 3.0, 0.0, 0.0]),
        ("div", [2.0**24, third, inf, nan]),
        ("pow", [2.0**24, 1.0, 1.0, 1.0]),
    ):
        same(evaluate(f'binary(%a, %b) {{kind = "{kind}"}}', "f32", a=(a, "f32"), b=(b, "f32")), expected)


def test_float_remainder_has_the_sign_of_the_dividend(evaluate: Evaluate) -> None:
    a, b = [5.5, -5.5, 5.5, -6.0, 1.0, inf], [2.0, 2.0, -2.0, 3.0, 0.0, 2.0]
    for elem in ("f16", "f32", "f64"):
        got = evaluate('binary(%a, %b) {kind = "rem"}', elem, a=(a, elem), b=(b, elem))
        same(got, [1.5, -1.5, 1.5, -0.0, nan, nan])


@pytest.mark.parametrize("elem", ["f16", "f32", "f64"])
def test_min_and_max_prefer_numbers(evaluate: Evaluate, elem: str) -> None:
    a, b = [1.0, nan, 2.0, nan, -0.0, 0.0, inf], [2.0, 3.0, nan, nan, 0.0, -0.0, -inf]
    same(evaluate('binary(%a, %b) {kind = "min"}', elem, a=(a, elem), b=(b, elem)), [1, 3, 2, nan, -0.0, -0.0, -inf])
    same(evaluate('binary(%a, %b) {kind = "max"}', elem, a=(a, elem), b=(b, elem)), [2, 3, 2, nan, 0.0, 0.0, inf])


@pytest.mark.parametrize("elem", ["i8", "i32", "i64"])
def test_division_truncates_toward_zero(evaluate: Evaluate, elem: str) -> None:
    a, b = [7, -7, 7, -7, 6, -6, 0, 5, -5], [2, 2, -2, -2, 3, 3, 5, 0, 0]
    pair = {"a": (a, elem), "b": (b, elem)}
    assert evaluate('binary(%a, %b) {kind = "div"}', elem, **pair).tolist() == [3, -3, -3, 3, 2, -2, 0, 0, 0]
    assert evaluate('binary(%a, %b) {kind = "rem"}', elem, **pair).tolist() == [1, -1, 1, -1, 0, 0, 0, 5, -5]


def test_division_of_the_least_integer(evaluate: Evaluate) -> None:
    low = -(2**31)
    pair = {"a": ([low, low, low], "i32"), "b": ([-1, 2, 1], "i32")}
    assert evaluate('binary(%a, %b) {kind = "div"}', "i32", **pair).tolist() == [low, -(2**30), low]
    assert evaluate('binary(%a, %b) {kind = "rem"}', "i32", **pair).tolist() == [0, 0, 0]
    unsigned = {"a": ([255, 200], "u8"), "b": ([2, 0], "u8")}
    assert evaluate('binary(%a, %b) {kind = "div"}', "u8", **unsigned).tolist() == [127, 0]
    assert evaluate('binary(%a, %b) {kind = "rem"}', "u8", **unsigned).tolist() == [1, 200]


def test_integers_wrap(evaluate: Evaluate) -> None:
    high = 2**31 - 1
    pair = {"a": ([high, -high - 1, high], "i32"), "b": ([1, 1, high], "i32")}
    assert evaluate('binary(%a, %b) {kind = "add"}', "i32", **pair).tolist() == [-high - 1, -high, -2]
    assert evaluate('binary(%a, %b) {kind = "sub"}', "i32", **pair).tolist() == [high - 1, high, 0]
    assert evaluate('binary(%a, %b) {kind = "mul"}', "i32", **pair).tolist() == [high, -high - 1, 1]
    byte = {"a": ([127], "i8"), "b": ([1], "i8")}
    assert evaluate('binary(%a, %b) {kind = "add"}', "i8", **byte).tolist() == [-128]


@pytest.mark.parametrize(("elem", "bits"), [("i8", 8), ("u8", 8), ("i32", 32), ("i64", 64)])
def test_shift_counts_are_modulo_the_width(evaluate: Evaluate, elem: str, bits: int) -> None:
    counts = [1, bits, bits + 1, 2 * bits - 1]
    ones = {"a": ([3] * 4, elem), "b": (counts, elem)}
    top = 2 ** (bits - 1)
    top = top if elem == "u8" else -top
    assert evaluate('binary(%a, %b) {kind = "shl"}', elem, **ones).tolist() == [6, 3, 6, top]
    assert evaluate('binary(%a, %b) {kind = "shr"}', elem, **ones).tolist() == [1, 3, 1, 0]
    if elem != "u8":
        minus = {"a": ([-4, -4], elem), "b": ([-bits + 1, -1], elem)}
        assert evaluate('binary(%a, %b) {kind = "shr"}', elem, **minus).tolist() == [-2, -1]
    else:
        assert evaluate('binary(%a, %b) {kind = "shr"}', "u8", a=([128], "u8"), b=([1], "u8")).tolist() == [64]


def test_bits_and_bools(evaluate: Evaluate) -> None:
    pair = {"a": ([12, -1], "i32"), "b": ([10, 6], "i32")}
    for kind, expected in (("and", [8, 6]), ("or", [14, -1]), ("xor", [6, -7])):
        assert evaluate(f'binary(%a, %b) {{kind = "{kind}"}}', "i32", **pair).tolist() == expected
    truth = {"a": ([True, True, False], "bool"), "b": ([True, False, False], "bool")}
    for kind, said in (("and", [True, False, False]), ("or", [True, True, False]), ("xor", [False, True, False])):
        assert evaluate(f'binary(%a, %b) {{kind = "{kind}"}}', "bool", **truth).tolist() == said


def test_integer_powers(evaluate: Evaluate) -> None:
    a, b = [3, -2, 2, 0, 1, -1, -1, 5, 0], [4, 3, 31, 0, -5, -3, -4, -1, -1]
    got = evaluate('binary(%a, %b) {kind = "pow"}', "i32", a=(a, "i32"), b=(b, "i32"))
    assert got.tolist() == [81, -8, -(2**31), 1, 1, -1, 1, 0, 0]
    assert evaluate('binary(%a, %b) {kind = "pow"}', "u8", a=([3, 2], "u8"), b=([6, 8], "u8")).tolist() == [217, 0]
    assert evaluate('binary(%a, %b) {kind = "min"}', "i32", a=(a, "i32"), b=(b, "i32")).tolist() == [
        min(p) for p in zip(a, b, strict=True)
    ]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("eq", [False, True, False, False, True]),
        ("ne", [True, False, True, True, False]),
        ("lt", [True, False, False, False, False]),
        ("le", [True, True, False, False, True]),
        ("gt", [False, False, False, False, False]),
        ("ge", [False, True, False, False, True]),
    ],
)
def test_comparisons_are_ieee(evaluate: Evaluate, kind: str, expected: list[bool]) -> None:
    a, b = ([1.0, 2.0, nan, nan, -0.0], "f32"), ([2.0, 2.0, 1.0, nan, 0.0], "f32")
    assert evaluate(f'compare(%a, %b) {{kind = "{kind}"}}', "bool", a=a, b=b).tolist() == expected


def test_unsigned_compares_unsigned(evaluate: Evaluate) -> None:
    assert evaluate('compare(%a, %b) {kind = "gt"}', "bool", a=([200], "u8"), b=([100], "u8")).tolist() == [True]


def test_select_and_fma(evaluate: Evaluate) -> None:
    x = {"c": ([True, False], "bool"), "a": ([1.0, 2.0], "f32"), "b": ([nan, nan], "f32")}
    same(evaluate("select(%c, %a, %b)", "f32", **x), [1.0, nan])
    a = 1.0 + 2.0**-12
    got = evaluate("fma(%a, %b, %c)", "f32", a=([a], "f32"), b=([a], "f32"), c=([2.0**-90], "f32"))
    same(got, [1.0 + 2.0**-11 + 2.0**-23])


def test_casts_of_tiles(evaluate: Evaluate) -> None:
    assert evaluate("cast(%x)", "i8", x=([nan, 300.0, -300.0, -1.9], "f32")).tolist() == [0, 127, -128, -1]
    assert bf16_to_f32(evaluate("cast(%x)", "bf16", x=([1.0 + 2.0**-8, inf], "f32"))).tolist() == [1.0, inf]
    assert evaluate("cast(%x)", "f32", x=(bf16(1.5, -2.0), "bf16")).tolist() == [1.5, -2.0]
    assert evaluate("cast(%x)", "u8", x=([-1, 256], "i32")).tolist() == [255, 0]


def test_shapes(evaluate: Evaluate) -> None:
    row = np.arange(3.0).reshape(1, 3)
    assert evaluate("broadcast(%x)", "f32", (2, 3), x=(row, "f32")).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert evaluate("reshape(%x)", "f32", (3,), x=(row, "f32")).tolist() == [0, 1, 2]
    assert evaluate("iota() {axis = 1}", "i32", x=(np.zeros((2, 3)), "f32")).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert evaluate("iota() {axis = 0}", "i32", x=(np.zeros((2, 3)), "f32")).tolist() == [[0, 0, 0], [1, 1, 1]]


def test_dot_adds_in_order_of_k(evaluate: Evaluate) -> None:
    # In f32, 2**24 + 1 is lost, but 1 + 2**24 - 2**24 is not.
    a = [[2.0**24, 1.0, -(2.0**24)], [1.0, 2.0**24, -(2.0**24)], [2.0**24, -(2.0**24), 1.0]]
    inputs = {"a": (a, "f32"), "b": ([[1.0], [1.0], [1.0]], "f32"), "c": ([[0.0], [0.5], [0.0]], "f32")}
    assert evaluate("dot(%a, %b, %c)", "f32", (3, 1), **inputs).tolist() == [[0.0], [2.0], [1.0]]


def test_dot_fuses_each_product(evaluate: Evaluate) -> None:
    a = 1.0 + 2.0**-12
    inputs = {"a": ([[a]], "f32"), "b": ([[a]], "f32"), "c": ([[-1.0 - 2.0**-11]], "f32")}
    assert evaluate("dot(%a, %b, %c)", "f32", **inputs).tolist() == [[2.0**-24]]


@pytest.mark.parametrize("elem", ["f16", "bf16", "i8"])
def test_dot_of_narrow_operands(evaluate: Evaluate, elem: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-8, 8, (5, 7)), rng.integers(-8, 8, (4, 7))
    acc = "i32" if elem == "i8" else "f32"
    given = [bf16(*x.ravel()).reshape(x.shape) if elem == "bf16" else x for x in (a, b)]
    inputs = {"a": (given[0], elem), "b": (given[1], elem), "c": (np.ones((5, 4)), acc)}
    got = evaluate("dot(%a, %b, %c) {trans_b = true}", acc, (5, 4), **inputs)
    assert np.array_equal(got, a @ b.T + 1)


def test_f16_dot_in_f32_is_the_general_fma(evaluate: Evaluate) -> None:
    """The short cut for f16 operands gives what f32 operands of the same numbers give."""
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((6, 20)).astype(np.float16), rng.standard_normal((20, 6)).astype(np.float16)
    c = (np.zeros((6, 6)), "f32")
    short = evaluate("dot(%a, %b, %c)", "f32", (6, 6), a=(a, "f16"), b=(b, "f16"), c=c)
    assert np.array_equal(short, evaluate("dot(%a, %b, %c)", "f32", (6, 6), a=(a, "f32"), b=(b, "f32"), c=c))


def test_dot_in_f16_rounds_each_step(evaluate: Evaluate) -> None:
    inputs = {"a": ([[2048.0, 1.0, 1.0]], "f16"), "b": ([[1.0], [1.0], [1.0]], "f16"), "c": ([[0.0]], "f16")}
    assert evaluate("dot(%a, %b, %c)", "f16", (1, 1), **inputs).tolist() == [[2048.0]]

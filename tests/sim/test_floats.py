"""f32, f64, f16 and bf16 arithmetic against exact rationals, in every rounding mode, and the special cases."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.sim.harness import apply, bits32, same
from tests.sim.rounding import rounded

Array = NDArray[Any]
NAN, INF = math.nan, math.inf
MODES = ("rn", "rz", "rm", "rp")
OPS: dict[str, Callable[..., Fraction]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
}  # fmt: skip


def awkward(name: str, seed: int) -> Array:
    """Values of all sizes, near each other and near powers of two, subnormal and huge."""
    rng = np.random.default_rng(seed)
    dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.float32}[name]
    span = {"f32": 30, "f64": 200, "f16": 8, "bf16": 30}[name]
    plain = rng.standard_normal(24) * 2.0 ** rng.integers(-span, span, 24)
    edges = {"f16": [65504, 6e-8, 6.1e-5, 1 + 2**-10], "bf16": [3e38, 1e-40, 1.0078125, 2.0**-126]}.get(
        name, [1 + 2**-23, 1 - 2**-24, 2.0**-126, 1e-44]
    )
    values = np.concatenate([plain, edges, np.array(edges) * -1]).astype(dtype)
    if name == "bf16":
        values = (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
    return np.roll(values, seed)


def patterns(values: Array, name: str) -> Array:
    """As the registers hold them."""
    return (values.view(np.uint32) >> 16).astype(np.uint16) if name == "bf16" else values


def check(instruction: str, op: str, name: str, mode: str, arguments: list[Array]) -> None:
    got = apply(instruction, [(name, patterns(each, name)) for each in arguments], name)
    if name == "bf16":
        got = (got.astype(np.uint32) << 16).view(np.float32)
    exact = [OPS[op](*(Fraction(float(v)) for v in row)) for row in zip(*arguments, strict=True)]
    want = [rounded(value, name, mode) for value in exact]
    for row, value, mine, right in zip(zip(*arguments, strict=True), exact, got, want, strict=True):
        assert float(mine) == right, f"{instruction} of {row}: got {mine!r}, want {right!r}, exactly {float(value)!r}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_rounding(name: str, op: str, mode: str) -> None:
    count = 3 if op == "fma" else 2
    letters = ", ".join(f"${letter}" for letter in "abc"[:count])
    check(f"{op}.{mode}.{name} $x, {letters};", op, name, mode, [awkward(name, seed) for seed in (0, 5, 11)[:count]])


@pytest.mark.parametrize("op", ["add", "sub", "mul", "fma"])
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_half_rounding(name: str, op: str) -> None:
    count = 3 if op == "fma" else 2
    letters = ", ".join(f"${letter}" for letter in "abc"[:count])
    check(f"{op}.rn.{name} $x, {letters};", op, name, "rn", [awkward(name, seed) for seed in (0, 5, 11)[:count]])


def test_fma_rounds_once() -> None:
    # a * b + c lies just above the middle of two f32 (f64): rounding the product first would lose it.
    for name, p in (("f32", 24), ("f64", 53)):
        one, tiny = 1.0, 2.0**-p
        a, b, c = [one + 2 ** (1 - p)] * 3, [one + 2 ** (1 - p), 1.0, 1.0], [tiny - 2.0 ** (-2 * p + 2), tiny, -tiny]
        check(
            f"fma.rn.{name} $x, $a, $b, $c;",
            "fma",
            name,
            "rn",
            [np.array(v, f"f{4 if p == 24 else 8}") for v in (a, b, c)],
        )
    a32 = np.array([1 + 2**-12, 1 + 2**-12, 4097.0], np.float32)
    c32 = np.array([2.0**-60, -(2.0**-60), 2.0**-60], np.float32)
    check("fma.rn.f32 $x, $a, $b, $c;", "fma", "f32", "rn", [a32, a32, c32])


def test_fma_of_random_midpoints() -> None:
    rng = np.random.default_rng(7)
    a = rng.integers(1 << 23, 1 << 24, 512).astype(np.float32)
    b = (2.0 ** rng.integers(-3, 3, 512) * (1 + rng.integers(0, 2, 512) * 2.0**-11)).astype(np.float32)
    c = (rng.choice([-1.0, 1.0], 512) * 2.0 ** rng.integers(-30, 1, 512)).astype(np.float32)
    check("fma.rn.f32 $x, $a, $b, $c;", "fma", "f32", "rn", [a, b, c])
    check("fma.rz.f32 $x, $a, $b, $c;", "fma", "f32", "rz", [a, b, c])


def test_fma64_at_the_ends_of_the_range() -> None:
    a = np.array([1e308, 1e-308, 1e-160, 2.0**-537, 1e300, 3e-324, -1e308])
    b = np.array([10.0, 1e-10, 1e-160, 2.0**-537, 1e-300, 0.5, 1.7])
    c = np.array([-1e308, 1e-310, 1e-320, 5e-324, 1e-320, 5e-324, 1e308])
    check("fma.rn.f64 $x, $a, $b, $c;", "fma", "f64", "rn", [a, b, c])
    same(apply("fma.rn.f64 $x, $a, $b, $c;", [("f64", [INF, 0.0, 1.0, -0.0]), ("f64", [0.0, -1.0, INF, 1.0]),
         ("f64", [1.0, -0.0, -INF, -0.0])], "f64"), [NAN, -0.0, NAN, -0.0])  # fmt: skip


def test_special_values() -> None:
    same(apply("add.f32 $x, $a, $b;", [("f32", [INF, 0.0, -0.0, 3e38]), ("f32", [-INF, -0.0, -0.0, 3e38])], "f32"),
         [NAN, 0.0, -0.0, INF])  # fmt: skip
    # The NaN that f32 arithmetic gives is 0x7fffffff.
    assert bits32(apply("mul.f32 $x, $a, $b;", [("f32", [NAN, INF]), ("f32", [1.0, 0.0])], "f32")) == [0x7FFFFFFF] * 2
    assert bits32(apply("fma.rn.f32 $x, $a, $b, $a;", [("f32", [-NAN]), ("f32", [1.0])], "f32")) == [0x7FFFFFFF]
    # A sum that is exactly zero is -0 only when rounding down.
    same(apply("add.rm.f32 $x, $a, $b;", [("f32", [1.0, 0.0]), ("f32", [-1.0, 0.0])], "f32"), [-0.0, 0.0])
    same(apply("fma.rm.f32 $x, $a, $b, $c;", [("f32", [1.0]), ("f32", [1.0]), ("f32", [-1.0])], "f32"), [-0.0])


def test_flush_and_saturate() -> None:
    small = 1e-40
    same(apply("add.ftz.f32 $x, $a, $b;", [("f32", [small, -small]), ("f32", [1e-39, -0.0])], "f32"), [0.0, -0.0])
    same(apply("mul.ftz.f32 $x, $a, $b;", [("f32", [1e-20]), ("f32", [1e-20])], "f32"), [0.0])
    same(apply("add.sat.f32 $x, $a, $b;", [("f32", [0.75, -1, NAN, 0.25]), ("f32", [0.5, 0, 1, 0.5])], "f32"),
         [1.0, 0.0, 0.0, 0.75])  # fmt: skip
    same(apply("fma.rn.sat.f16 $x, $a, $b, $a;", [("f16", [1.0, -1.0]), ("f16", [1.0, 1.0])], "f16"), [1.0, 0.0])
    same(apply("fma.rn.relu.f16 $x, $a, $b, $a;", [("f16", [1.0, -1.0]), ("f16", [1.0, 1.0])], "f16"), [2.0, 0.0])
    same(apply("add.ftz.f16 $x, $a, $b;", [("f16", [6e-8]), ("f16", [6e-8])], "f16"), [0.0])


def test_pairs() -> None:
    def pair(low: float, high: float, dtype: type = np.float16) -> int:
        lo, hi = np.array([low, high], dtype).view(np.uint16)
        return int(lo) | int(hi) << 16

    got = apply(
        "fma.rn.f16x2 $x, $a, $b, $c;",
        [("b32", [pair(1.5, -2)]), ("b32", [pair(2, 0.5)]), ("b32", [pair(1, 9)])],
        "u32",
    )
    same(got, [pair(4.0, 8.0)])
    same(apply("max.f16x2 $x, $a, $b;", [("b32", [pair(1, NAN)]), ("b32", [pair(2, 3)])], "u32"), [pair(2, 3)])
    same(apply("neg.f16x2 $x, $a;", [("b32", [pair(1, -3)])], "u32"), [pair(-1, 3)])
    same(apply("add.rn.bf16x2 $x, $a, $b;", [("b32", [0x3F80_4000]), ("b32", [0x3F80_4000])], "u32"), [0x4000_4080])
    wide = np.array([1.5, 2.5], np.float32).view(np.uint64)
    got = apply("fma.rn.f32x2 $x, $a, $a, $a;", [("b64", wide)], "u64")
    assert got.view(np.float32).tolist() == [3.75, 8.75]


def test_mixed_precision() -> None:
    same(apply("fma.rn.f32.f16 $x, $a, $b, $c;", [("f16", [1.5]), ("f16", [2.0]), ("f32", [0.1])], "f32"),
         [np.float32(rounded(Fraction(3) + Fraction(float(np.float32(0.1))), "f32"))])  # fmt: skip
    same(apply("add.rn.f32.bf16 $x, $a, $b;", [("bf16", [0x3FC0]), ("f32", [0.25])], "f32"), [1.75])
    same(apply("sub.rn.f32.f16 $x, $a, $b;", [("f16", [1.5]), ("f32", [0.25])], "f32"), [1.25])


def test_minimum_and_maximum() -> None:
    a, b = [1.0, NAN, -0.0, NAN, -2.0], [2.0, 1.0, 0.0, NAN, 1.0]
    same(apply("min.f32 $x, $a, $b;", [("f32", a), ("f32", b)], "f32"), [1.0, 1.0, -0.0, NAN, -2.0])
    same(apply("max.f32 $x, $a, $b;", [("f32", a), ("f32", b)], "f32"), [2.0, 1.0, 0.0, NAN, 1.0])
    same(apply("max.NaN.f32 $x, $a, $b;", [("f32", a), ("f32", b)], "f32"), [2.0, NAN, 0.0, NAN, 1.0])
    same(apply("max.xorsign.abs.f32 $x, $a, $b;", [("f32", a), ("f32", b)], "f32"), [2.0, 1.0, -0.0, NAN, -2.0])
    same(apply("max.f64 $x, $a, $b;", [("f64", a), ("f64", b)], "f64"), [2.0, 1.0, 0.0, NAN, 1.0])
    same(apply("min.f32 $x, $a, $b, $c;", [("f32", [3.0]), ("f32", [2.0]), ("f32", [1.0])], "f32"), [1.0])


def test_sign_and_roots() -> None:
    same(apply("neg.f32 $x, $a;", [("f32", [0.0, 1.0])], "f32"), [-0.0, -1.0])
    same(apply("abs.f64 $x, $a;", [("f64", [-0.0, -1.0])], "f64"), [0.0, 1.0])
    same(apply("copysign.f32 $x, $a, $b;", [("f32", [-1.0]), ("f32", [3.0])], "f32"), [-3.0])
    same(apply("sqrt.rn.f32 $x, $a;", [("f32", [2.0, -1.0, -0.0])], "f32"), [np.sqrt(np.float32(2)), NAN, -0.0])
    root = Fraction(float(apply("sqrt.rp.f32 $x, $a;", [("f32", [2.0])], "f32")[0]))
    assert root**2 > 2 > (root - Fraction(2) ** -23) ** 2
    root = Fraction(float(apply("sqrt.rz.f64 $x, $a;", [("f64", [2.0])], "f64")[0]))
    assert root**2 < 2 < (root + Fraction(2) ** -52) ** 2
    same(apply("rcp.rn.f32 $x, $a;", [("f32", [3.0, 0.0, -0.0])], "f32"), [np.float32(1) / np.float32(3), INF, -INF])
    same(apply("rcp.rz.f32 $x, $a;", [("f32", [3.0])], "f32"), [rounded(Fraction(1, 3), "f32", "rz")])


@pytest.mark.parametrize(
    ("instruction", "function", "error"),
    [
        ("ex2.approx.f32", lambda x: 2.0**x, 2**-22.5), ("sin.approx.f32", math.sin, 2**-20.5),
        ("cos.approx.f32", math.cos, 2**-20.5), ("tanh.approx.f32", math.tanh, 2**-11),
        ("rcp.approx.f32", lambda x: 1 / x, 2**-23), ("ex2.approx.ftz.f32", lambda x: 2.0**x, 2**-22.5),
    ],
)  # fmt: skip
def test_approximations(instruction: str, function: Callable[[float], float], error: float) -> None:
    x = np.array([-3.0, -0.5, 0.1, 1.0, 2.75], np.float32)
    got = apply(f"{instruction} $x, $a;", [("f32", x)], "f32")
    for each, mine in zip(x, got, strict=True):
        assert abs(mine - function(float(each))) <= error * max(abs(function(float(each))), 1)


def test_approximations_at_special_values() -> None:
    same(apply("ex2.approx.f32 $x, $a;", [("f32", [-INF, INF, NAN, -0.0, -149.0])], "f32"), [0, INF, NAN, 1, 2.0**-149])
    same(apply("ex2.approx.ftz.f32 $x, $a;", [("f32", [-149.0])], "f32"), [0])
    same(apply("lg2.approx.f32 $x, $a;", [("f32", [0.0, -0.0, -1.0, 8.0, INF])], "f32"), [-INF, -INF, NAN, 3, INF])
    same(apply("sin.approx.f32 $x, $a;", [("f32", [-0.0, INF])], "f32"), [-0.0, NAN])
    same(apply("rsqrt.approx.f32 $x, $a;", [("f32", [4.0, 0.0, -0.0, -1.0, INF])], "f32"), [0.5, INF, -INF, NAN, 0])
    same(apply("sqrt.approx.f32 $x, $a;", [("f32", [4.0, -1.0])], "f32"), [2.0, NAN])
    same(apply("div.approx.f32 $x, $a, $b;", [("f32", [6.0, 1.0, INF]), ("f32", [3.0, 2.0**127, 2.0**127])], "f32"),
         [2.0, 0.0, NAN])  # fmt: skip
    same(apply("div.full.f32 $x, $a, $b;", [("f32", [1.0]), ("f32", [2.0**127])], "f32"), [2.0**-127])
    same(apply("tanh.approx.f16 $x, $a;", [("f16", [0.0, INF])], "f16"), [0.0, 1.0])
    same(apply("ex2.approx.ftz.bf16 $x, $a;", [("bf16", [0x4000])], "bf16"), [0x4080])

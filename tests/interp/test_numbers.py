"""Rounding happens once and to nearest even: bf16, fma, conversions; judged by rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos.interp.numbers import (
    bf16_from_f32,
    bf16_to_f32,
    cast,
    constant,
    f32_to_odd,
    fma,
    fma_exact,
    held,
    sum_to_odd,
)
from phobos.ir.types import BF16, BOOL, F16, F32, F64, I8, I32, I64, INDEX, U8, Scalar

FLOATS = (F16, BF16, F32, F64)


def bits(x: Any, elem: Scalar) -> int:
    """The bit pattern of a held value."""
    if elem is BF16:
        return int(bf16_from_f32(np.float32(x)))
    dtype = held(elem)
    return int(np.asarray(x, dtype).view(f"u{dtype.itemsize}"))


def from_bits(pattern: Any, elem: Scalar) -> Any:
    if elem is BF16:
        return bf16_to_f32(np.asarray(pattern, np.uint16))
    dtype = held(elem)
    return np.asarray(pattern, f"u{dtype.itemsize}").view(dtype)


def nearest(exact: Fraction, elem: Scalar) -> float:
    """The float of a type nearest to a number, ties to even: by the format's numbers, no floating point involved."""
    digits, low, high = {
        "f16": (11, -24, 15),
        "bf16": (8, -133, 127),
        "f32": (24, -149, 127),
        "f64": (53, -1074, 1023),
    }[elem.name]
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - digits + 1, low)
    rounded = round(size / unit) * unit  # Python rounds a Fraction to nearest even
    if rounded >= Fraction(2) ** (high + 1):
        return math.copysign(math.inf, exact)
    return math.copysign(float(rounded), exact)


@pytest.mark.parametrize(
    ("x", "pattern"),
    [
        (1.0, 0x3F80),
        (-0.0, 0x8000),
        (1.0 + 2.0**-8, 0x3F80),  # midway: to even, down
        (1.0 + 3 * 2.0**-8, 0x3F82),  # midway: to even, up
        (1.0 + 2.0**-8 + 2.0**-20, 0x3F81),
        (3.3895e38, 0x7F7F),
        (3.4e38, 0x7F80),  # past the largest by more than half a unit
        (math.inf, 0x7F80),
        (-math.inf, 0xFF80),
        (2.0**-133, 0x0001),
        (2.0**-134, 0x0000),
        (3 * 2.0**-134, 0x0002),
    ],
)
def test_bf16_rounding(x: float, pattern: int) -> None:
    assert int(bf16_from_f32(np.float32(x))) == pattern


def test_bf16_keeps_every_pattern() -> None:
    patterns = np.arange(2**16, dtype=np.uint16)
    numbers = bf16_to_f32(patterns)
    again = bf16_from_f32(numbers)
    nan = np.isnan(numbers)
    assert np.array_equal(again[~nan], patterns[~nan])
    assert np.isnan(bf16_to_f32(again[nan])).all()


def test_bf16_of_a_nan_with_low_payload_is_nan() -> None:
    nan = np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(bf16_to_f32(bf16_from_f32(nan))).all()


def test_round_to_odd() -> None:
    one = np.float64(1.0)
    assert float(sum_to_odd(one, 2.0**-60)) == 1.0 + 2.0**-52
    assert float(sum_to_odd(one, -(2.0**-60))) == 1.0 - 2.0**-53
    assert float(sum_to_odd(one, one)) == 2.0
    with np.errstate(over="ignore"):
        assert float(f32_to_odd(np.float64(1e300))) == float(np.finfo(np.float32).max)
    assert float(f32_to_odd(np.float64(1.0 + 2.0**-40))) == 1.0 + 2.0**-23
    assert float(f32_to_odd(np.float64(-1.0 - 2.0**-40))) == -1.0 - 2.0**-23
    assert float(f32_to_odd(np.float64(1.0 - 2.0**-40))) == 1.0 - 2.0**-24


def test_fma_f32_rounds_once() -> None:
    a = np.float32(1.0 + 2.0**-12)
    # a * a = 1 + 2**-11 + 2**-24: midway between two f32 numbers; c tips it, but is lost in an f64 sum.
    for c, expected in ((2.0**-90, 1.0 + 2.0**-11 + 2.0**-23), (-(2.0**-90), 1.0 + 2.0**-11), (0.0, 1.0 + 2.0**-11)):
        assert float(np.float64(a) * np.float64(a) + c) == 1.0 + 2.0**-11 + 2.0**-24
        assert float(fma(a, a, np.float32(c), F32)) == expected


def test_fma_f16_and_bf16_round_once() -> None:
    a = np.float16(1.0 + 2.0**-5)
    # a * a = 1 + 2**-4 + 2**-10: fits f16; with c = 2**-11 midway; 2**-24 more must tip it up even past f32's reach.
    assert float(fma(a, a, np.float16(2.0**-11), F16)) == 1.0 + 2.0**-4 + 2.0**-9
    b = np.float32(1.0 + 2.0**-4)
    # b * b = 1 + 2**-3 + 2**-8: midway in bf16; c is far below f32's last bit.
    assert float(fma(b, b, np.float32(2.0**-60), BF16)) == 1.0 + 2.0**-3 + 2.0**-7
    assert float(fma(b, b, np.float32(-(2.0**-60)), BF16)) == 1.0 + 2.0**-3
    assert float(fma(b, b, np.float32(0.0), BF16)) == 1.0 + 2.0**-3


@pytest.mark.parametrize("elem", FLOATS, ids=str)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_fma_is_the_nearest_number(elem: Scalar, data: st.DataObject) -> None:
    width = 16 if elem is BF16 else elem.bits
    a, b, c = (from_bits(data.draw(st.integers(0, 2**width - 1)), elem) for _ in range(3))
    if data.draw(st.booleans()):  # most of the product cancels
        with np.errstate(all="ignore"):
            c = cast(-(a.astype(np.float64) * b.astype(np.float64)), F64, elem)
    if not all(np.isfinite([a, b, c])):
        return
    with np.errstate(all="ignore"):
        got = float(fma(a, b, c, elem))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    assert got == nearest(exact, elem)


moderate = st.floats(-1e6, 1e6, allow_subnormal=False)


@settings(max_examples=300)
@given(a=moderate, b=moderate, c=moderate, cancel=st.booleans(), tip=st.integers(-2, 2))
def test_fma_f64_of_moderate_numbers(a: float, b: float, c: float, cancel: bool, tip: int) -> None:
    if cancel:
        c = -(a * b) * (1 + tip * 2.0**-52)
    got = float(fma(np.float64(a), np.float64(b), np.float64(c), F64))
    assert got == nearest(Fraction(a) * Fraction(b) + Fraction(c), F64)


def test_fma_special_values() -> None:
    inf, nan = np.float64(math.inf), np.float64(math.nan)
    with np.errstate(all="ignore"):
        for elem in (F32, F64):
            big, one, zero = (held(elem).type(x) for x in (np.finfo(held(elem)).max, 1.0, 0.0))
            assert float(fma(big, big, -big, elem)) == math.inf
            assert math.isnan(float(fma(held(elem).type(inf), zero, one, elem)))
            assert math.isnan(float(fma(one, one, held(elem).type(nan), elem)))
            assert float(fma(one, one, held(elem).type(-inf), elem)) == -math.inf
            assert math.copysign(1, float(fma(one, -zero, -zero, elem))) == -1
            assert math.copysign(1, float(fma(one, one, -one, elem))) == 1
            assert float(fma(big, held(elem).type(2.0), -big, elem)) == float(big)  # 2 max - max


def test_fma_exact_signs_and_limits() -> None:
    assert fma_exact(2.0**-600, 2.0**-600, 0.0) == 0.0
    assert math.copysign(1, fma_exact(-(2.0**-600), 2.0**-600, 0.0)) == -1
    assert fma_exact(2.0**-600, 2.0**-474, -(2.0**-1074)) == 0.0
    assert fma_exact(1e200, 1e200, 0.0) == math.inf
    assert fma_exact(-1e200, 1e200, 1e300) == -math.inf


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("target", FLOATS, ids=str)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_float_casts_are_the_nearest_number(source: Scalar, target: Scalar, data: st.DataObject) -> None:
    x = from_bits(data.draw(st.integers(0, 2**source.bits - 1)), source)
    with np.errstate(all="ignore"):
        got = float(cast(x, source, target))
    if np.isnan(x):
        assert math.isnan(got)
    elif np.isinf(x):
        assert got == float(x)
    else:
        assert got == nearest(Fraction(float(x)), target)


@pytest.mark.parametrize("target", FLOATS, ids=str)
@given(number=st.integers(-(2**63), 2**63 - 1))
def test_int_to_float_is_the_nearest_number(target: Scalar, number: int) -> None:
    with np.errstate(all="ignore"):
        assert float(cast(np.int64(number), I64, target)) == nearest(Fraction(number), target)


def test_int_to_bf16_rounds_once() -> None:
    # Midway between two bf16 numbers plus 1: an f64 (or f32) on the way loses the 1.
    number = 2**62 + 2**54 + 1
    assert float(np.float64(number)) == 2**62 + 2**54
    assert float(cast(np.int64(number), I64, BF16)) == 2**62 + 2**55
    assert float(cast(np.int64(number - 1), I64, BF16)) == 2**62


@pytest.mark.parametrize(
    ("target", "low", "high"),
    [
        (I8, -128, 127),
        (U8, 0, 255),
        (I32, -(2**31), 2**31 - 1),
        (I64, -(2**63), 2**63 - 1),
        (INDEX, -(2**31), 2**31 - 1),
    ],
    ids=lambda p: str(p),
)
@pytest.mark.parametrize("source", [F32, F64, BF16], ids=str)
def test_float_to_int_saturates(source: Scalar, target: Scalar, low: int, high: int) -> None:
    x = np.array([math.nan, math.inf, -math.inf, 1e30, -1e30, 2.75, -2.75, 0.99, -0.99, -0.0], held(source))
    x = cast(x, source, source)
    minus = max(-2, low)
    with np.errstate(all="ignore"):
        got = cast(x, source, target)
    assert got.dtype == held(target)
    assert got.tolist() == [0, high, low, high, low, 2, minus, 0, 0, 0]


def test_float_to_int_at_the_limits() -> None:
    x = np.array([2.0**31, 2.0**31 - 1, -(2.0**31), -(2.0**31) - 1, 127.9, 128.0, -128.9, -129.0])
    assert cast(x, F64, I32)[:4].tolist() == [2**31 - 1, 2**31 - 1, -(2**31), -(2**31)]
    assert cast(x, F64, I8)[4:].tolist() == [127, 127, -128, -128]
    with np.errstate(all="ignore"):
        assert cast(np.array([2.0**63, -(2.0**63)]), F64, I64).tolist() == [2**63 - 1, -(2**63)]


def test_int_casts_wrap_and_bools_count() -> None:
    assert cast(np.int32(300), I32, I8).tolist() == 44
    assert cast(np.int32(-1), I32, U8).tolist() == 255
    assert cast(np.int32(-1), I32, I64).tolist() == -1
    assert cast(np.int64(2**32 + 5), I64, INDEX, 32).tolist() == 5
    assert cast(np.int64(2**32 + 5), I64, INDEX, 64).tolist() == 2**32 + 5
    assert cast(np.array([True, False]), BOOL, F32).tolist() == [1.0, 0.0]
    assert cast(np.array([2, 0]), I64, BOOL).tolist() == [True, False]
    assert cast(np.array([0.5, math.nan, -0.0]), F64, BOOL).tolist() == [True, True, False]


def test_constants() -> None:
    assert float(constant(0.1, F16)) == float(np.float16(0.1))
    assert bits(constant(0.1, BF16), BF16) == 0x3DCD
    assert constant(2**32 - 1, I32).tolist() == -1
    assert constant(-1, U8).tolist() == 255
    assert constant(2**40 + 1, INDEX, 32).tolist() == 1
    assert constant(2**40 + 1, INDEX, 64).tolist() == 2**40 + 1
    assert constant(1, BOOL).tolist() is True

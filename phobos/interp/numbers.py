"""Numbers as the language rounds them: NumPy arrays, each function exact about where it rounds.

How values are held: f16, f32, f64, integers and bool in the NumPy type of that name; index in int32 or int64; bf16
as float32 numbers that are bf16 already. In arrays handed in by a caller bf16 is np.uint16, the bit patterns.

An exact result is rounded once. Where no NumPy operation does that, the sum is first rounded *to odd* (inexact results
get an odd last bit) in a format with at least two bits more, after which the usual rounding cannot be misled.
Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..ir.types import Scalar

Array = Any
"""An np.ndarray or a NumPy scalar."""

_HELD: dict[str, type[np.generic]] = {
    "f16": np.float16,
    "bf16": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "bool": np.bool_,
}


def held(elem: Scalar, index_bits: int = 32) -> np.dtype[Any]:
    """The NumPy type that holds values of a type."""
    if elem.kind == "index":
        return np.dtype(np.int32 if index_bits == 32 else np.int64)
    return np.dtype(_HELD[elem.name])


def stored(elem: Scalar) -> np.dtype[Any]:
    """The NumPy type of a caller's array with such elements."""
    return np.dtype(np.uint16) if elem.name == "bf16" else held(elem)


# ---- bf16 -----------------------------------------------------------------------------------------------------


def bf16_from_f32(x: Array) -> Array:
    """Bit patterns of float32 numbers rounded to bf16, to nearest even; NaN stays NaN, infinity stays."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    with np.errstate(over="ignore"):
        rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    nan = bits | np.uint32(0x00400000)
    return (np.where(np.isnan(x), nan, rounded) >> np.uint32(16)).astype(np.uint16)


def bf16_to_f32(bits: Array) -> Array:
    """The numbers that bf16 bit patterns stand for, exactly."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_held(array: Array, elem: Scalar) -> Array:
    """Elements of a caller's array as values."""
    return bf16_to_f32(array) if elem.name == "bf16" else array


def to_stored(values: Array, elem: Scalar) -> Array:
    """Values as elements of a caller's array."""
    return bf16_from_f32(values) if elem.name == "bf16" else values


# ---- rounding -------------------------------------------------------------------------------------------------


def sum_to_odd(a: Array, b: Array) -> Array:
    """a + b in f64, rounded to odd."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    s = a + b
    part = s - a
    error = (a - (s - part)) + (b - part)  # exact: Knuth's TwoSum
    even = (np.asarray(s).view(np.int64) & 1) == 0
    beyond = np.nextafter(s, np.where(error > 0, np.inf, -np.inf))
    return np.where(np.isfinite(s) & (error != 0) & even, beyond, s)


def f32_to_odd(x: Array) -> Array:
    """f64 numbers rounded to odd in f32."""
    x = np.asarray(x, np.float64)
    near = x.astype(np.float32)
    back = near.astype(np.float64)
    bits = near.view(np.uint32) - (np.abs(back) > np.abs(x)).astype(np.uint32)  # toward zero
    odd = (bits | np.uint32(1)).view(np.float32)
    return np.where((back == x) | np.isnan(x) | np.isinf(x), near, odd)


def from_f64(x: Array, elem: Scalar) -> Array:
    """f64 numbers rounded once to a float type."""
    if elem.name == "bf16":
        return bf16_to_f32(bf16_from_f32(f32_to_odd(x)))
    return np.asarray(x, np.float64).astype(held(elem))


def from_f32(x: Array, elem: Scalar) -> Array:
    """f32 numbers rounded once to a float type."""
    if elem.name == "bf16":
        return bf16_to_f32(bf16_from_f32(x))
    return np.asarray(x, np.float32).astype(held(elem))


# ---- fma ------------------------------------------------------------------------------------------------------


def fma(a: Array, b: Array, c: Array, elem: Scalar) -> Array:
    """a * b + c with one rounding; wrapping on integers."""
    if not elem.is_float:
        return a * b + c
    if elem.name == "f64":
        return _fma_f64(np.asarray(a), np.asarray(b), np.asarray(c))
    product = np.asarray(a, np.float64) * np.asarray(b, np.float64)  # exact: at most 48 bits
    if elem.name == "f32":
        return _sum_f32(product, np.asarray(c, np.float64))
    return from_f64(sum_to_odd(product, c), elem)


def _sum_f32(a: Array, b: Array) -> Array:
    """a + b rounded once to f32; the f64 sum misleads only where it lies midway between two f32 numbers."""
    s = np.asarray(a + b)
    midway = (s.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    subnormal = (np.abs(s) < 2.0**-125) & (s != 0)
    exact = s if not np.any(midway | subnormal) else sum_to_odd(a, b)
    return exact.astype(np.float32)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a * b as an unevaluated sum (Dekker), for operands far from overflow and underflow."""
    p = a * b
    split = 134217729.0  # 2**27 + 1
    a1 = a * split - (a * split - a)
    b1 = b * split - (b * split - b)
    a2, b2 = a - a1, b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    s = a + b
    part = s - a
    return s, (a - (s - part)) + (b - part)


def _fma_f64(a: Array, b: Array, c: Array) -> Array:
    a, b, c = np.broadcast_arrays(a, b, c)
    product, low = _two_product(a, b)
    middle, rest = _two_sum(c, low)
    high, more = _two_sum(product, middle)
    out = np.asarray(high + sum_to_odd(rest, more))
    plain = a * b + c
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    trivial = (a == 0) | (b == 0) | ~finite
    safe = _moderate(a) & _moderate(b) & _moderate(product) & (_moderate(c) | (c == 0))
    out = np.where(trivial | (safe & (out == 0)), plain, out)
    # What is left is too close to overflow or underflow for the error terms: exact, element by element.
    for at in map(tuple, np.argwhere(~(trivial | safe))):
        out[at] = fma_exact(float(a[at]), float(b[at]), float(c[at]))
    return out


def _moderate(x: Array) -> Array:
    return (np.abs(x) > 2.0**-450) & (np.abs(x) < 2.0**450)


def fma_exact(a: float, b: float, c: float) -> float:
    """a * b + c of finite f64 numbers, rounded once, by rational arithmetic."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c if c == 0 else 0.0
    try:
        return exact.numerator / exact.denominator or (-0.0 if exact < 0 else 0.0)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


# ---- conversions ----------------------------------------------------------------------------------------------


def cast(x: Array, source: Scalar, target: Scalar, index_bits: int = 32) -> Array:
    """Element conversion, as the op `cast` means it; a number becomes bool by comparing with zero."""
    x = np.asarray(x)
    to = held(target, index_bits)
    if target.kind == "bool":
        return x != 0
    if target.is_float:
        if source.is_float:
            return from_f64(x, target) if source.name == "f64" else from_f32(x, target)
        return _float_from_int(x, target)
    return _int_from_float(x, to) if source.is_float else x.astype(to)


def _float_from_int(x: Array, target: Scalar) -> Array:
    if target.name != "bf16":
        return x.astype(held(target))
    wide = x.astype(np.int64)
    return from_f64(sum_to_odd((wide >> 32) * 2.0**32, wide & 0xFFFFFFFF), target)


def _int_from_float(x: Array, to: np.dtype[Any]) -> Array:
    limits = np.iinfo(to)
    whole = np.trunc(x.astype(np.float64))
    # The bounds are powers of two, so exact in f64 even where the largest integer is not.
    above, below = whole >= float(limits.max + 1), whole < float(limits.min)
    fits = ~(above | below | np.isnan(whole))
    out = np.where(fits, whole, 0.0).astype(to)
    return np.where(above, to.type(limits.max), np.where(below, to.type(limits.min), out))


def constant(value: float | bool, elem: Scalar, index_bits: int = 32) -> Array:
    """A Python number as a value of a type: floats are rounded, integers wrap."""
    to = held(elem, index_bits)
    if elem.is_float:
        return from_f64(float(value), elem)
    if elem.kind == "bool":
        return np.asarray(bool(value))
    bits = to.itemsize * 8
    return np.asarray(int(value) & ((1 << bits) - 1), f"u{to.itemsize}").view(to)

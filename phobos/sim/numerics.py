"""Rounding: exact sums, products and fused products in f32, f64 and narrow formats, in every rounding mode.

Values narrower than f64 are computed in f64 together with the sign of what f64 lost, which is enough to round to the
narrow format as if the result were exact. f64 itself is rounded with error-free transformations, and with rational
numbers where those may underflow or overflow. Every function takes arrays of any shape.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NAN32 = np.uint32(0x7FFF_FFFF).view(np.float32)  # the NaN that f32 arithmetic gives
NAN16 = np.uint16(0x7FFF).view(np.float16)
NAN64 = np.uint64(0x7FF8_0000_0000_0000).view(np.float64)
TINY32 = np.float32(2.0**-126)
TINY16 = np.float16(2.0**-14)


def canonical(r: Array) -> Array:
    """NaNs of an f32 result as the canonical one, in place."""
    if r.ndim:
        flat = r.reshape(-1)
        total = flat.dot(flat)  # NaN exactly when some element is
        if total != total:
            r[np.isnan(r)] = NAN32
    return r


def flush32(a: Array) -> Array:
    """Subnormal f32 as zeros of their sign."""
    return np.where(np.abs(a) < TINY32, np.copysign(np.float32(0), a), a)


def saturate(a: Array) -> Array:
    """Clamp to [0, 1]; NaN becomes 0."""
    zero, one = a.dtype.type(0), a.dtype.type(1)
    clamped: Array = np.where(np.isnan(a) | (a <= zero), zero, np.minimum(a, one))
    return clamped


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error (Knuth). The error is 0 where the sum is not finite."""
    s = a + b
    t = s - a
    e = (a - (s - t)) + (b - t)
    return s, np.where(np.isfinite(s), e, 0.0)


def to_odd(s: Array, e: Array) -> Array:
    """An f64 value with the error of its rounding, rounded to odd: narrowing it further rounds only once."""
    inexact = (e != 0) & (s.view(np.uint64) & np.uint64(1) == 0)
    if not inexact.any():
        return s
    away = (e > 0) == (s > 0)
    bits = s.view(np.int64) + np.where(away, 1, -1)
    zero = s == 0
    return np.where(inexact & ~zero, bits.view(np.float64), s)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """f32 a * b + c, rounded once to nearest even."""
    product = np.multiply(a, b, dtype=np.float64) if a.dtype != np.float64 else a * b
    wide = c.astype(np.float64)
    s = product + wide
    r = s.astype(np.float32)
    # Rounding twice can only go wrong where f64 lies on a boundary between two f32, where its low bits are zero.
    low = s.view(np.uint64) & np.uint64(0x0FFF_FFFF)
    if not low.all() and s.ndim:
        _, e = two_sum(product, wide)
        if e.any():
            r = to_odd(s, e).astype(np.float32)
    return canonical(r)


def round32(s: Array, e: Any, mode: str) -> Array:
    """f64 `s`, off by something of the sign of `e`, as f32 in a rounding mode."""
    s = np.asarray(s, np.float64)
    if mode == "rn":
        return canonical(to_odd(s, np.asarray(e, np.float64)).astype(np.float32))
    r = s.astype(np.float32)
    d = np.where(np.isfinite(s), s - r.astype(np.float64), 0.0)
    d = np.where(d == 0, e, d)
    return canonical(_directed(r, d, mode))


def _directed(r: Array, d: Array, mode: str) -> Array:
    """A value rounded to nearest moved to a directed rounding; `d` has the sign of exact minus `r`."""
    t = r.dtype.type
    if mode == "rm":
        return np.where(d < 0, np.nextafter(r, t(-np.inf)), r)
    if mode == "rp":
        return np.where(d > 0, np.nextafter(r, t(np.inf)), r)
    assert mode == "rz", mode
    inward = ((r > 0) & (d < 0)) | ((r < 0) & (d > 0))
    return np.where(inward, np.nextafter(r, t(0)), r)


def minus_zero(result: Array, a: Array, b: Array, mode: str) -> Array:
    """Rounding down, a sum that is exactly zero is -0 unless both of its terms are +0."""
    if mode != "rm":
        return result
    zero = (result == 0) & (np.signbit(a) | np.signbit(b))
    return np.where(zero, result.dtype.type(-0.0), result)


def add32(a: Array, b: Array, mode: str) -> Array:
    """f32 a + b."""
    if mode == "rn":
        return canonical(a + b)
    s, e = two_sum(a.astype(np.float64), b.astype(np.float64))
    return minus_zero(round32(s, e, mode), a, b, mode)


def mul32(a: Array, b: Array, mode: str) -> Array:
    """f32 a * b; the product is exact in f64."""
    if mode == "rn":
        return canonical(a * b)
    return round32(a.astype(np.float64) * b.astype(np.float64), np.float64(0), mode)


def fma32_mode(a: Array, b: Array, c: Array, mode: str) -> Array:
    """f32 a * b + c in a rounding mode."""
    if mode == "rn":
        return fma32(a, b, c)
    product, wide = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    s, e = two_sum(product, wide)
    return minus_zero(round32(s, e, mode), product, wide, mode)


# f64.


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its exact error (Dekker, Veltkamp), for exponents that leave room."""
    p = a * b
    t = 134217729.0 * a
    ah = t - (t - a)
    al = a - ah
    t = 134217729.0 * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def fma64(a: Array, b: Array, c: Array) -> Array:
    """f64 a * b + c, rounded once to nearest even (Boldo and Melquiond)."""
    a, b, c = np.broadcast_arrays(np.asarray(a), np.asarray(b), np.asarray(c))
    uh, ul = _two_product(a, b)
    th, tl = two_sum(c, ul)
    vh, vl = two_sum(uh, th)
    zh, zl = two_sum(tl, vl)
    result: Array = np.asarray(vh + to_odd(zh, zl))
    # Near the ends of the exponent range, and for what is not finite, the transformations are not exact.
    size = np.maximum(np.abs(uh), np.abs(c))
    easy = (size < 1e290) & (np.abs(a) < 1e290) & (np.abs(b) < 1e290) & (
        (np.abs(uh) > 1e-250) | (a == 0) | (b == 0)
    )  # fmt: skip
    easy &= (np.abs(result) > 1e-250) | ((a == 0) | (b == 0))
    if not easy.all():
        result = result.copy()
        for at in np.argwhere(~easy):
            index = tuple(at)
            result[index] = _fma64_exact(float(a[index]), float(b[index]), float(c[index]))
    zero_product = (a == 0) | (b == 0)
    result = np.where(zero_product, a * b + c, result)
    return np.where(np.isnan(result), NAN64, result)


def _fma64_exact(a: float, b: float, c: float) -> float:
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return float(np.float64(a) * np.float64(b) + np.float64(c)) if not np.isfinite(a) or not np.isfinite(b) else c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c)) if a == 0 or b == 0 or c == 0 else 0.0
    return rational64(exact)


def rational64(exact: Fraction) -> float:
    """The nearest f64; past the largest, infinity."""
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def directed64(op: str, operands: tuple[Array, ...], nearest: Array, mode: str) -> Array:
    """An f64 result in a directed rounding mode, from its rounding to nearest and the exact value as a rational."""
    operands = tuple(np.broadcast_to(each, nearest.shape) for each in operands)
    error = np.zeros(nearest.shape)
    for index in np.ndindex(nearest.shape):
        values = [float(each[index]) for each in operands]
        r = float(nearest[index])
        if not all(np.isfinite(values)) or np.isnan(r):
            continue
        error[index] = _residual(op, [Fraction(v) for v in values], r)
    result = _directed(nearest, error, mode)
    if op in ("add", "fma"):
        first = operands[0] if op == "add" else operands[0] * operands[1]
        result = minus_zero(result, first, operands[-1], mode)
    return result


def _residual(op: str, v: list[Fraction], r: float) -> int:
    """The sign of the exact result minus `r`."""
    if np.isinf(r):
        if op == "div" and v[1] == 0:
            return 0
        return -1 if r > 0 else 1
    got = Fraction(r)
    if op == "sqrt":
        if v[0] < 0:
            return 0
        return (v[0] > got * got) - (v[0] < got * got)
    if op == "div" and v[1] == 0:
        return 0
    exact = {
        "add": lambda: v[0] + v[1],
        "mul": lambda: v[0] * v[1],
        "div": lambda: v[0] / v[1],
        "fma": lambda: v[0] * v[1] + v[2],
    }[op]()
    return (exact > got) - (exact < got)


# Narrow formats.


def bf16_to_f32(bits: Array) -> Array:
    """bf16 bits as f32, exactly."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def f32_to_bf16(x: Array, mode: str = "rn") -> Array:
    """f32 to bf16 bits in a rounding mode; NaN is 0x7fff."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    low = bits & np.uint32(0xFFFF)
    if mode == "rn":
        up = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    else:
        negative = bits >> np.uint32(31) != 0
        grow = {"rz": np.zeros_like(negative), "rp": ~negative, "rm": negative, "rna": np.ones_like(negative)}[mode]
        step = np.uint32(0x8000 if mode == "rna" else 0x10000)
        up = np.where(grow & (low != 0), bits + step, bits)
    up = np.where(np.isinf(x), bits, up)
    return np.where(np.isnan(x), np.uint16(0x7FFF), (up >> np.uint32(16)).astype(np.uint16)).astype(np.uint16)


def odd32(s: Array, e: Array) -> Array:
    """f64 with the sign of its error, as f32 rounded to odd, from which bf16 can be rounded once."""
    s = np.asarray(s, np.float64)
    r = s.astype(np.float32)
    d = np.where(np.isfinite(s), s - r.astype(np.float64), 0.0)
    d = np.where(d == 0, e, d)
    r = np.where(np.isinf(r) & np.isfinite(s), np.nextafter(r, np.float32(0)), r)
    inward = ((r > 0) & (d < 0)) | ((r < 0) & (d > 0))
    truncated = np.where(inward & ~np.isinf(s), np.nextafter(r, np.float32(0)), r)
    bits = truncated.view(np.uint32) | np.where((d != 0), np.uint32(1), np.uint32(0))
    # A value below every subnormal truncates to zero and keeps its sign.
    signed = np.where((truncated == 0) & (d != 0), np.where(s < 0, np.uint32(0x8000_0001), np.uint32(1)), bits)
    return np.where(np.isfinite(s), signed.astype(np.uint32), r.view(np.uint32)).astype(np.uint32).view(np.float32)


def to_f16(s: Array, e: Array) -> Array:
    """f64 with the sign of its error, as f16, to nearest even."""
    r = to_odd(np.asarray(s, np.float64), np.asarray(e, np.float64)).astype(np.float16)
    return np.where(np.isnan(r), NAN16, r)


def narrow(x: Array, precision: int, least: int, largest: float, satfinite: bool) -> Array:
    """f64 to a format of `precision` bits whose least normal exponent is `least`, to nearest even, as f64."""
    size = np.abs(x)
    _, exponent = np.frexp(np.where(np.isfinite(size), size, 1.0))
    quantum = np.maximum(exponent - 1, least) - (precision - 1)
    rounded = np.ldexp(np.rint(np.ldexp(size, -quantum)), quantum)
    over = rounded > largest
    rounded = np.where(over, largest if satfinite else np.inf, rounded)
    return np.where(np.isnan(x), np.nan, np.copysign(rounded, x))


def _decoded(exponent_bits: int, mantissa_bits: int, ieee: bool) -> Array:
    """The value of each byte of an 8-bit float format."""
    code = np.arange(256)
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = code & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    normal = np.ldexp(1 + mantissa / (1 << mantissa_bits), exponent - bias)
    value = np.where(exponent == 0, np.ldexp(mantissa / (1 << mantissa_bits), 1 - bias), normal)
    top = exponent == (1 << exponent_bits) - 1
    if ieee:
        value = np.where(top, np.where(mantissa == 0, np.inf, np.nan), value)
    else:
        value = np.where(top & (mantissa == (1 << mantissa_bits) - 1), np.nan, value)
    return np.where(code >= 128, -value, value)


E4M3 = _decoded(4, 3, ieee=False)
E5M2 = _decoded(5, 2, ieee=True)
FP8 = {"e4m3": (E4M3, 4, -6, 448.0, 0x7F), "e5m2": (E5M2, 3, -14, 57344.0, 0x7F)}


def encode_fp8(x: Array, kind: str) -> Array:
    """f64 to the bytes of an 8-bit float, to nearest even, saturating at the largest finite value."""
    table, precision, least, largest, nan = FP8[kind]
    value = narrow(x, precision, least, largest, satfinite=True)
    count = int(np.count_nonzero(table[:128] <= largest))
    code = np.searchsorted(table[:count], np.abs(np.nan_to_num(value)))
    code = np.where(np.isnan(value), nan, code | np.where(np.signbit(value), 128, 0))
    return code.astype(np.uint8)


def decode_fp8(code: Array, kind: str) -> Array:
    """Bytes of an 8-bit float as f64."""
    return FP8[kind][0][code]

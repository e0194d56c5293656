"""Elementwise ops on NumPy arrays: each result is rounded once to its element type.

Left open by the language and settled here: an integer divided by zero gives 0, its remainder the dividend; an integer
to a negative power gives the reciprocal truncated (0 for base 0). The mathematical functions are computed in f64 and
rounded; how far hardware may differ is for whoever compares.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir.types import Scalar
from .numbers import Array, from_f32, from_f64

_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
}
_EXACT: dict[str, Callable[[Array], Array]] = {
    "neg": np.negative,
    "not": np.logical_not,
    "inv": np.invert,
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
}
_ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "rem": np.fmod,
}
_BITS: dict[str, Callable[[Array, Array], Array]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def unary(kind: str, x: Array, elem: Scalar) -> Array:
    """One of `tile_ops.UNARY`."""
    if kind in _FUNCTIONS:
        # sqrt is correctly rounded in f64, and f64 is wide enough that rounding twice is rounding once.
        return from_f64(_FUNCTIONS[kind](x.astype(np.float64)), elem)
    if kind in ("floor", "ceil", "round") and not elem.is_float:
        return x
    return _EXACT[kind](x)


def binary(kind: str, a: Array, b: Array, elem: Scalar) -> Array:
    """One of `tile_ops.BINARY`."""
    if kind in _BITS:
        return _BITS[kind](a, b)
    if kind in ("min", "max"):
        return extreme(kind, a, b, elem)
    if elem.is_float:
        if kind == "pow":
            return from_f64(np.power(a.astype(np.float64), b.astype(np.float64)), elem)
        if elem.name == "bf16":
            # One f32 operation, then one rounding: f32 is wide enough (24 >= 2 * 8 + 2 bits) to make that exact.
            return from_f32(_ARITHMETIC[kind](a, b), elem)
        return _ARITHMETIC[kind](a, b)
    return _INTEGER[kind](a, b)


def extreme(kind: str, a: Array, b: Array, elem: Scalar) -> Array:
    """The number when one operand is NaN; -0 is less than +0."""
    if not elem.is_float:
        return np.minimum(a, b) if kind == "min" else np.maximum(a, b)
    if kind == "min":
        return np.where(a == b, np.where(np.signbit(a), a, b), np.fmin(a, b))
    return np.where(a == b, np.where(np.signbit(a), b, a), np.fmax(a, b))


def compare(kind: str, a: Array, b: Array) -> Array:
    """One of `tile_ops.COMPARE`."""
    return COMPARE[kind](a, b)


# ---- integers -------------------------------------------------------------------------------------------------


def _quotient(a: Array, b: Array) -> Array:
    """Toward zero."""
    divisor = np.where(b == 0, b.dtype.type(1), b)
    floor = np.floor_divide(a, divisor)
    inexact = floor * divisor != a
    toward_zero = floor + (inexact & ((a < 0) != (divisor < 0))).astype(a.dtype)
    return np.where(b == 0, b.dtype.type(0), toward_zero)


def _remainder(a: Array, b: Array) -> Array:
    return a - _quotient(a, b) * b


def _count(b: Array) -> Array:
    """A shift count modulo the width."""
    return b & b.dtype.type(b.dtype.itemsize * 8 - 1)


def _power(a: Array, b: Array) -> Array:
    """By squaring, so that it wraps as a product does."""
    one = a.dtype.type(1)
    result, square, left = np.full(np.broadcast(a, b).shape, one), np.asarray(a), np.maximum(b, b.dtype.type(0))
    while np.any(left):
        result = np.where(left & one, result * square, result)
        square, left = square * square, left >> one
    if a.dtype.kind == "u":
        return result
    odd = (b & one) == 1
    reciprocal = np.where(a == 1, one, np.where(a == -1, np.where(odd, -one, one), a.dtype.type(0)))
    return np.where(b < 0, reciprocal, result)


_INTEGER: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _quotient,
    "rem": _remainder,
    "shl": lambda a, b: np.left_shift(a, _count(b)),
    "shr": lambda a, b: np.right_shift(a, _count(b)),
    "pow": _power,
}

"""Folding of constant operations, exactly as the running program would compute them."""

from __future__ import annotations

import math

from ..ir.types import INDEX, Scalar
from .joins import FLOAT_LITERAL, INT_LITERAL, fitted, wrapped

_NARROW = range(-(1 << 31), 1 << 31)


def fold_ints(op: str, a: int, b: int, s: Scalar) -> int | None:
    """`a op b` in the integer type `s`; None when it is not folded.

    An index is 32 or 64 bits wide, so only what is the same in both widths is folded. The value of two literals is
    not bounded here: it has to fit where it is used.
    """
    literal = s == INT_LITERAL
    if op in ("div", "rem"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        value = quotient if op == "div" else a - quotient * b
    elif op in ("shl", "shr"):
        width = 32 if s == INDEX else s.bits
        if not 0 <= b < width:
            if literal or s == INDEX:
                return None
            b %= width
        value = a << b if op == "shl" else a >> b
    else:
        plain = {
            "add": a + b,
            "sub": a - b,
            "mul": a * b,
            "and": a & b,
            "or": a | b,
            "xor": a ^ b,
            "min": min(a, b),
            "max": max(a, b),
        }
        if op not in plain:
            return None
        value = plain[op]
    if literal:
        return value if value.bit_length() <= 64 else None
    if s == INDEX:
        return value if value in _NARROW else None
    return wrapped(value, s)


def fold_floats(op: str, a: float, b: float) -> float | None:
    """`a op b` of two float literals, in double precision: the result is a literal again."""
    try:
        if op == "div":
            if b == 0.0:
                return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
            return a / b
        if op == "add":
            return a + b
        if op == "sub":
            return a - b
        return a * b if op == "mul" else None
    except OverflowError:
        return None


def fold(op: str, a: int | float, b: int | float, s: Scalar) -> int | float | None:
    if s.is_int:
        assert isinstance(a, int)
        assert isinstance(b, int)
        return fold_ints(op, a, b, s)
    if s == FLOAT_LITERAL:
        return fold_floats(op, float(a), float(b))
    return None


def convert(value: int | float | bool, target: Scalar) -> int | float | None:
    """An explicit conversion of a typed constant: floats truncate and saturate, integers wrap."""
    if target.is_float:
        rounded = fitted(value, target)
        return math.copysign(math.inf, value) if rounded is None else float(rounded)
    if isinstance(value, float):
        return None
    return wrapped(int(value), target)

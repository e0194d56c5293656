"""An independent rounding: exact rationals to a binary format in a rounding mode, bit by bit from IEEE 754's text."""

from __future__ import annotations

import math
from fractions import Fraction

FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
"""Precision, least and largest exponent of a normal number."""


def rounded(exact: Fraction, name: str, mode: str = "rn") -> float:
    """An exact value in a format; past the largest number infinity or, where the mode goes inward, the largest."""
    precision, least, largest = FORMATS[name]
    if exact == 0:
        return 0.0
    sign = -1 if exact < 0 else 1
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, least) - precision + 1)
    whole = size / quantum
    low = whole.numerator // whole.denominator
    rest = whole - low
    outward = {"rz": False, "rp": sign > 0, "rm": sign < 0}.get(mode)
    if mode == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1)
    else:
        up = bool(outward) and rest > 0
    value = (low + up) * quantum
    top = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** largest
    if value > top:
        return sign * (math.inf if mode == "rn" or outward else float(top))
    return sign * float(value)

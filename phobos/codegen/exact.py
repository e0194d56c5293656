"""The numbers that the accurate functions are made of, from integers: constants to any precision, Taylor coefficients.

Nothing here is a table: ln 2 and pi are summed as series of rationals in fixed point, and a polynomial is the Taylor
series cut where what is left out cannot matter on the interval that it is used on.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import factorial

GUARD = 64
"""Bits that are computed and dropped: more than the errors of some thousand terms."""


def _inverse_series(n: int, bits: int, alternating: bool) -> int:
    """atan(1/n), or atanh(1/n), times 2**bits: the sum of 1 / (k n**k) over odd k."""
    power, total, k = (1 << bits) // n, 0, 1
    while power:
        total += -(power // k) if alternating and k % 4 == 3 else power // k
        power //= n * n
        k += 2
    return total


@cache
def ln2(bits: int) -> Fraction:
    """ln 2 = 2 atanh(1/3), to `bits` bits."""
    return Fraction(2 * _inverse_series(3, bits + GUARD, False), 1 << (bits + GUARD))


@cache
def pi(bits: int) -> Fraction:
    """pi = 16 atan(1/5) - 4 atan(1/239) (Machin), to `bits` bits."""
    wide = bits + GUARD
    return Fraction(16 * _inverse_series(5, wide, True) - 4 * _inverse_series(239, wide, True), 1 << wide)


def two_over_pi(bits: int) -> int:
    """The first `bits` bits of 2/pi behind the point."""
    return int(2 / pi(bits + 2) * (1 << bits))


def nearest(value: Fraction, precision: int) -> Fraction:
    """A positive or negative number rounded to a significand of so many bits, ties to even; any exponent."""
    if value == 0:
        return value
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (exponent - precision + 1)
    return round(value / unit) * unit


def two_words(value: Fraction, precision: int, spare: int = 0) -> tuple[Fraction, Fraction]:
    """A number as the sum of two of a precision. spare: how many low bits of the first are zero."""
    high = nearest(value, precision - spare)
    return high, nearest(value - high, precision)


def _cut(terms: list[Fraction], bound: Fraction, bits: int) -> list[Fraction]:
    """The terms of a series in an argument of at most `bound`, up to the first that falls below 2**-bits."""
    for count, term in enumerate(terms):
        if abs(term) * bound**count < Fraction(1, 1 << bits):
            return terms[:count]
    raise AssertionError("more terms are needed")


def exponential(bound: Fraction, bits: int) -> list[Fraction]:
    """q of exp(r) = 1 + r + r**2 q(r), where |r| <= bound, with an error below 2**-bits or so."""
    return _cut([Fraction(1, factorial(k + 2)) for k in range(40)], bound, bits)


def sine(bound: Fraction, bits: int) -> list[Fraction]:
    """q of sin(r) = r + r**3 q(r**2), where r**2 <= bound."""
    return _cut([Fraction((-1) ** (k + 1), factorial(2 * k + 3)) for k in range(40)], bound, bits)


def cosine(bound: Fraction, bits: int) -> list[Fraction]:
    """q of cos(r) = 1 - r**2 / 2 + r**4 q(r**2), where r**2 <= bound."""
    return _cut([Fraction((-1) ** k, factorial(2 * k + 4)) for k in range(40)], bound, bits)


def logarithm(bound: Fraction, bits: int) -> list[Fraction]:
    """q of log((1 + s) / (1 - s)) = 2 s + 2/3 s**3 + s**5 q(s**2), where s**2 <= bound."""
    return _cut([Fraction(2, 2 * k + 5) for k in range(60)], bound, bits)

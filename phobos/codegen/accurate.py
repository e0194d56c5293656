"""Accurate exp, log, sin and the like of f32 and f64: each function once, over the arithmetic of `Real`.

`docs/spec.md` 6.1 has the bounds and `docs/decisions/012-accurate-functions.md` why they are made here. There are no
branches, so lanes stay together; special values are set by selects at the end. f32 uses f32 and 32-bit words alone,
for f64 is slow on many chips.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from ..ir.types import Scalar
from . import exact
from .function import Function
from .real import Pair, Real
from .types import LLVM, word

SPARE = 12
"""Bits of extra precision that sums inside keep beyond the format's."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Of one format: pairs, and polynomials cut for it."""

    ln2: tuple[Fraction, Fraction]
    ln2_short: tuple[Fraction, Fraction]
    """The first has low bits zero, so that an exponent times it is exact."""
    log2_e: tuple[Fraction, Fraction]
    half_pi: tuple[Fraction, Fraction]
    two_thirds: tuple[Fraction, Fraction]
    exponential: list[Fraction]
    logarithm: list[Fraction]
    sine: list[Fraction]
    cosine: list[Fraction]


@cache
def constants(precision: int) -> Constants:
    bits = 8 * precision
    ln2, half_pi = exact.ln2(bits), exact.pi(bits) / 2
    enough = precision + SPARE - 4
    # |r| <= ln 2 / 2 for exp, |r| <= pi / 4 for sin and cos, s**2 <= (3 - sqrt 8)**2 for log.
    quarter_pi_squared = (half_pi / 2) ** 2
    return Constants(
        exact.two_words(ln2, precision),
        exact.two_words(ln2, precision, spare=SPARE),
        exact.two_words(1 / ln2, precision),
        exact.two_words(half_pi, precision),
        exact.two_words(Fraction(2, 3), precision),
        exact.exponential(ln2 / 2, enough - 3),
        exact.logarithm(Fraction(295, 10000), enough - 9),
        exact.sine(quarter_pi_squared, enough - 1),
        exact.cosine(quarter_pi_squared, enough - 2),
    )


# ---- exp ----------------------------------------------------------------------------------------------------


def _exponential(r: Real, high: LLVM, low: LLVM) -> tuple[LLVM, LLVM]:
    """n, a word, and s with exp(high + low) = 2**n (1 + s), where that is neither 0 nor infinite by far."""
    c = constants(r.precision)
    n = r.rint(r.mul(high, c.log2_e[0]))
    back = r.neg(n)
    first = r.fma(back, c.ln2[0], high)  # exact: it cancels
    tail = r.fma(n, c.ln2[1], r.neg(low))
    a = r.sub(first, tail)
    rest = r.sub(r.sub(first, a), tail)
    s = r.add(a, r.fma(r.mul(a, a), r.polynomial(a, c.exponential), rest))
    return r.to_word(n), s


def _limits(r: Real) -> tuple[int, int]:
    """Powers of two that are 0 and infinite, when rounded, with room to spare."""
    return -(r.bias + r.precision + 4), r.bias + 3


def _exp_pair(r: Real, high: LLVM, low: LLVM) -> LLVM:
    """exp(high + low). The arguments must be within `_natural_limits`."""
    n, s = _exponential(r, high, low)
    return r.times_two_to(r.add(s, 1), n)


def _natural_limits(r: Real) -> tuple[float, float]:
    low, high = _limits(r)
    return low * math.log(2.0), high * math.log(2.0)


def exp(r: Real, x: LLVM) -> LLVM:
    return _exp_pair(r, r.within(x, *_natural_limits(r)), r.number(0))


def exp2(r: Real, x: LLVM) -> LLVM:
    x = r.within(x, *_limits(r))
    n = r.rint(x)
    c = constants(r.precision)
    a, rest = r.pair_product((r.sub(x, n), r.number(0)), c.ln2)
    s = r.add(a, r.fma(r.mul(a, a), r.polynomial(a, c.exponential), rest))
    return r.times_two_to(r.add(s, 1), r.to_word(n))


def tanh(r: Real, x: LLVM) -> LLVM:
    """m / (m + 2) of m = exp(2|x|) - 1, which is 2**n s + (2**n - 1)."""
    size = r.abs(x)
    size = r.select(r.greater(size, r.precision), r.precision, size)
    n, s = _exponential(r, r.add(size, size), r.number(0))
    power = r.two_to(n)
    m = r.fma(s, power, r.sub(power, 1))
    return r.signed_like(r.div(m, r.add(m, 2)), x)


# ---- log ----------------------------------------------------------------------------------------------------


def _log_pair(r: Real, size: LLVM) -> Pair:
    """log of a positive finite number, as a pair; some number for others."""
    c, b = constants(r.precision), r.b
    subnormal = r.less(size, Fraction(2) ** (1 - r.bias))
    scaled = r.select(subnormal, r.mul(size, 2**r.precision), size)
    field = r.precision - 1
    # size = 2**k m, with m from sqrt 1/2 to sqrt 2: where the fraction is large, m is half of it.
    fraction = r.of_bits(r.significand(scaled, r.bias))
    large = b.zext(r.greater(fraction, math.sqrt(2.0)), r.word)
    m = r.of_bits(b.sub(r.bits(fraction), b.shl(large, r.integer(field))))
    less = b.select(subnormal, r.integer(r.precision + r.bias), r.integer(r.bias))
    k = r.of_word(b.add(b.sub(r.exponent_field(scaled), less), large))
    # s = (m - 1) / (m + 1) as a pair. m - 1 is exact.
    over = r.sub(m, 1)
    under, under_low = r.fast_two_sum(r.number(1), m)
    s = r.div(over, under)
    left = r.fma(r.neg(s), under_low, r.fma(r.neg(s), under, over))
    s_low = r.div(left, under)
    square = r.pair_product((s, s_low), (s, s_low))
    cube = r.pair_product((s, s_low), square)
    third = r.pair_product(cube, c.two_thirds)
    rest = r.mul(r.mul(cube[0], square[0]), r.polynomial(square[0], c.logarithm))
    high, e0 = r.fast_two_sum(r.mul(k, c.ln2_short[0]), r.add(s, s))
    high, e1 = r.fast_two_sum(high, third[0])
    low = r.add(r.add(r.fma(k, c.ln2_short[1], e0), e1), r.add(r.add(s_low, s_low), r.add(third[1], rest)))
    return r.fast_two_sum(high, low)


def _log_special(r: Real, x: LLVM, value: LLVM) -> LLVM:
    """What a logarithm is where it is not a number of the format."""
    value = r.select(r.equal(x, 0), -math.inf, value)
    value = r.select(r.less(x, 0), math.nan, value)
    keeps = r.b.or_(r.equal(x, math.inf), r.is_nan(x))
    return r.select(keeps, x, value)


def log(r: Real, x: LLVM) -> LLVM:
    return _log_special(r, x, _log_pair(r, r.abs(x))[0])


def log2(r: Real, x: LLVM) -> LLVM:
    high, low = r.pair_product(_log_pair(r, r.abs(x)), constants(r.precision).log2_e)
    return _log_special(r, x, r.add(high, low))


def pow(r: Real, x: LLVM, y: LLVM) -> LLVM:
    """exp(y log|x|), the logarithm and the product as pairs; special values as in C99, annex F."""
    b, size = r.b, r.abs(x)
    high, low = _log_pair(r, size)
    high = r.select(r.equal(size, 0), -math.inf, r.select(r.equal(size, math.inf), math.inf, high))
    product, error = r.two_product(y, high)
    error = r.fma(y, low, error)
    least, most = _natural_limits(r)
    beyond = b.or_(r.less(product, least), r.greater(product, most))
    product, error = r.within(product, least, most), r.select(beyond, 0, error)
    return pow_special(r, x, y, _exp_pair(r, product, error))


def pow_special(r: Real, x: LLVM, y: LLVM, power: LLVM) -> LLVM:
    """pow(x, y), given |x|**y as a formula with logarithms has it: right but where NaN, infinities and signs matter."""
    b, size = r.b, r.abs(x)
    whole = r.equal(r.floor(y), y)
    halved = r.mul(y, 0.5)
    odd = b.and_(whole, b.fcmp_unordered("!=", r.floor(halved), halved))
    # |x| = 1 to an infinite power would be exp(0 * inf).
    power = r.select(b.and_(r.equal(size, 1), b.not_(r.is_nan(y))), 1, power)
    power = r.select(b.or_(r.is_nan(x), r.is_nan(y)), math.nan, power)
    power = r.select(b.and_(r.negative(x), odd), r.neg(power), power)
    broken = b.and_(b.and_(r.less(x, 0), r.less(size, math.inf)), b.not_(whole))
    power = r.select(broken, math.nan, power)
    return r.select(b.or_(r.equal(y, 0), r.equal(x, 1)), 1, power)


# ---- sin and cos --------------------------------------------------------------------------------------------


def _window(r: Real, start: LLVM) -> list[LLVM]:
    """Three words of the bits of 2/pi, the highest first, from a place on that is counted from `precision + 2` zeros.

    Each stage chooses, by one bit of the place's word number, between words that are constants at first.
    """
    most = r.bias + 1
    count = most // r.width + 4
    zeros = r.precision + 2
    table = exact.two_over_pi(count * r.width - zeros)
    mask = (1 << r.width) - 1
    words = [r.integer(table >> (r.width * (count - 1 - i)) & mask) for i in range(count)]
    number = r.b.lshr(start, r.integer(r.width.bit_length() - 1))
    step = 1 << ((most // r.width).bit_length() - 1)
    while step:
        far = r.b.icmp_unsigned("!=", r.b.and_(number, r.integer(step)), r.integer(0))
        # Below this stage at most step - 1 words are skipped, and four are read.
        words = [
            r.b.select(far, words[i + step], w) if i + step < len(words) else w for i, w in enumerate(words[: step + 3])
        ]
        step //= 2
    return [r.funnel(words[i], words[i + 1], start) for i in range(3)]


def _reduced(r: Real, size: LLVM) -> tuple[LLVM, LLVM, LLVM]:
    """A number from pi/4 up as n pi/2 + (a + b): n modulo 4, a word, and the pair, |a| <= pi/4.

    The significand, a whole number M, times three words of 2/pi (Payne and Hanek). The words before them give multiples
    of 4 only; those after them less than 2**-60 of the least remainder that a number of the format leaves.
    """
    b, w, c = r.b, r.width, constants(r.precision)
    m = r.significand(size, 1)
    # size = M 2**(field - bias - precision + 1). The window begins with what weighs 2 in the product.
    start = b.add(r.exponent_field(size), r.integer(1 - r.bias))
    w2, w1, w0 = _window(r, start)
    p0, h0 = r.product(m, w0)
    p1, h1 = r.product(m, w1)
    p1, carry = r.sum(p1, h0)
    p2 = b.add(b.add(b.mul(m, w2), h1), carry)
    two = r.integer(2)
    f2, f1 = r.funnel(p2, p1, two), r.funnel(p1, p0, two)
    n = b.add(b.lshr(p2, r.integer(w - 2)), b.lshr(f2, r.integer(w - 1)))
    sign = b.ashr(f2, r.integer(w - 1))
    g2, g1 = b.xor(f2, sign), b.xor(f1, sign)
    s = r.leading_zeros(g2)
    a1, a0 = r.funnel(g2, g1, s), b.shl(g1, s)
    drop = w - r.precision
    scale = r.two_to(b.sub(r.integer(-r.precision), s))
    high = r.mul(r.of_word(b.lshr(a1, r.integer(drop))), scale)
    below = b.or_(b.shl(a1, r.integer(r.precision)), b.lshr(a0, r.integer(drop)))
    low = r.mul(r.of_word(below, signed=False), r.mul(scale, Fraction(1, 1 << w)))
    a, e = r.pair_product((high, low), c.half_pi)
    away = b.icmp_signed("<", sign, r.integer(0))
    return n, r.select(away, r.neg(a), a), r.select(away, r.neg(e), e)


def _wave(r: Real, x: LLVM, quarter: int) -> LLVM:
    """sin(x + quarter pi/2)."""
    b, c = r.b, constants(r.precision)
    size = r.abs(x)
    small = r.less(size, math.pi / 4)
    n, a, e = _reduced(r, size)
    n, a, e = b.select(small, r.integer(0), n), r.select(small, size, a), r.select(small, 0, e)
    n = b.add(n, r.integer(quarter))
    z = r.mul(a, a)
    sine = r.add(a, r.fma(r.mul(a, z), r.polynomial(z, c.sine), r.fma(r.mul(z, -0.5), e, e)))
    half = r.mul(z, 0.5)
    near = r.sub(1, half)
    lost = r.sub(r.sub(1, near), half)
    cosine = r.add(near, r.add(lost, r.fma(r.mul(z, z), r.polynomial(z, c.cosine), r.neg(r.mul(a, e)))))
    value = r.select(b.trunc(n, word(1)), cosine, sine)
    flip = b.shl(b.lshr(n, r.integer(1)), r.integer(r.width - 1))
    if quarter == 0:
        flip = b.xor(flip, b.and_(r.bits(x), r.integer(1 << (r.width - 1))))
    value = r.of_bits(b.xor(r.bits(value), flip))
    return r.select(r.less(size, math.inf), value, math.nan)


def sin(r: Real, x: LLVM) -> LLVM:
    return r.select(r.less(r.abs(x), Fraction(1, 1 << r.precision // 2 + 2)), x, _wave(r, x, 0))


def cos(r: Real, x: LLVM) -> LLVM:
    return _wave(r, x, 1)


# ---- 1/sqrt -------------------------------------------------------------------------------------------------


def rsqrt(r: Real, x: LLVM) -> LLVM:
    """1 / sqrt(x), then a step of Newton's with the residual as a pair, on a number scaled to the middle."""
    quarter = (r.bias // 4) * 2
    up, down = Fraction(2) ** quarter, Fraction(2) ** -quarter
    small, large = r.less(x, Fraction(2) ** -(r.bias // 2)), r.greater(x, Fraction(2) ** (r.bias // 2))
    scaled = r.mul(x, r.select(small, up, r.select(large, down, 1)))
    root = Fraction(2) ** (quarter // 2)
    back = r.select(small, root, r.select(large, 1 / root, 1))
    y = r.div(1, r.sqrt(scaled))
    square, error = r.two_product(y, y)
    residual = r.fma(r.neg(scaled), error, r.fma(r.neg(scaled), square, 1))
    # 1 / sqrt(1 - e) = 1 + e / 2 + 3/8 e**2 ..
    step = r.fma(r.mul(residual, 0.75), residual, residual)
    better = r.mul(r.fma(r.mul(y, 0.5), step, y), back)
    return r.select(r.b.and_(r.greater(x, 0), r.less(x, math.inf)), better, r.div(1, r.sqrt(x)))


UNARY: dict[str, Callable[[Real, LLVM], LLVM]] = {
    "exp": exp,
    "exp2": exp2,
    "log": log,
    "log2": log2,
    "tanh": tanh,
    "sin": sin,
    "cos": cos,
    "rsqrt": rsqrt,
}


def unary(f: Function, kind: str, elem: Scalar, a: LLVM) -> LLVM:
    """One of UNARY on an f32 or f64."""
    return UNARY[kind](Real(f, elem), a)

"""`Real`: arithmetic on f32 or f64 and on the words that hold their bits, for writing a mathematical function once.

Takes the LLVM function under construction and an element type; its methods emit one LLVM instruction each, or a few.
A *pair* is an unevaluated sum of two numbers, of which the second is below the last bit of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from ..ir.types import F64, Scalar
from .function import Function
from .types import I32, LLVM, constant, word

Number: TypeAlias = LLVM | Fraction | int | float
"""A value, or a constant that is rounded to the format."""
Pair: TypeAlias = tuple[LLVM, LLVM]


class Real:
    """See the module text. `precision` counts the hidden bit."""

    def __init__(self, f: Function, elem: Scalar) -> None:
        self.f, self.b, self.elem = f, f.b, elem
        self.type = f.type(elem)
        self.precision, self.bias = (53, 1023) if elem == F64 else (24, 127)
        self.width = elem.bits
        self.word = word(elem.bits)
        self.suffix = str(self.type.intrinsic_name)

    # ---- numbers --------------------------------------------------------------------------------------------

    def number(self, x: Number) -> LLVM:
        return constant(self.type, float(x)) if isinstance(x, Fraction | int | float) else x

    def add(self, a: Number, b: Number) -> LLVM:
        return self.b.fadd(self.number(a), self.number(b))

    def sub(self, a: Number, b: Number) -> LLVM:
        return self.b.fsub(self.number(a), self.number(b))

    def mul(self, a: Number, b: Number) -> LLVM:
        return self.b.fmul(self.number(a), self.number(b))

    def div(self, a: Number, b: Number) -> LLVM:
        return self.b.fdiv(self.number(a), self.number(b))

    def neg(self, a: LLVM) -> LLVM:
        return self.b.fneg(a)

    def fma(self, a: Number, b: Number, c: Number) -> LLVM:
        return self._call("fma", self.number(a), self.number(b), self.number(c))

    def abs(self, a: LLVM) -> LLVM:
        return self._call("fabs", a)

    def sqrt(self, a: LLVM) -> LLVM:
        return self._call("sqrt", a)

    def rint(self, a: LLVM) -> LLVM:
        """To a whole number, ties to even."""
        return self._call("roundeven", a)

    def floor(self, a: LLVM) -> LLVM:
        return self._call("floor", a)

    def _call(self, name: str, *args: LLVM) -> LLVM:
        return self.f.intrinsic(f"llvm.{name}.{self.suffix}", self.type, args)

    def polynomial(self, x: LLVM, coefficients: Sequence[Fraction]) -> LLVM:
        """Horner's rule, with a fused step for each coefficient but the last."""
        value = self.number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = self.fma(value, x, c)
        return value

    def select(self, condition: LLVM, a: Number, b: Number) -> LLVM:
        return self.b.select(condition, self.number(a), self.number(b))

    def less(self, a: Number, b: Number) -> LLVM:
        """False with a NaN, as the two below."""
        return self.b.fcmp_ordered("<", self.number(a), self.number(b))

    def greater(self, a: Number, b: Number) -> LLVM:
        return self.b.fcmp_ordered(">", self.number(a), self.number(b))

    def equal(self, a: Number, b: Number) -> LLVM:
        return self.b.fcmp_ordered("==", self.number(a), self.number(b))

    def is_nan(self, a: LLVM) -> LLVM:
        return self.b.fcmp_unordered("uno", a, a)

    def within(self, a: LLVM, low: Number, high: Number) -> LLVM:
        """The number, or the bound that it is beyond; a NaN stays."""
        return self.select(self.less(a, low), low, self.select(self.greater(a, high), high, a))

    # ---- pairs ----------------------------------------------------------------------------------------------

    def fast_two_sum(self, a: LLVM, b: LLVM) -> Pair:
        """a + b and its error, where a is 0 or not the smaller (Dekker)."""
        s = self.add(a, b)
        return s, self.sub(b, self.sub(s, a))

    def two_product(self, a: Number, b: Number) -> Pair:
        """a * b and its error."""
        x, y = self.number(a), self.number(b)
        p = self.mul(x, y)
        return p, self.fma(x, y, self.neg(p))

    def pair_product(self, a: Pair, b: tuple[Number, Number]) -> Pair:
        """The product of two pairs, to some bits less than two words; the second part may overlap the first."""
        p, e = self.two_product(a[0], b[0])
        return p, self.fma(a[0], b[1], self.fma(a[1], b[0], e))

    # ---- words ----------------------------------------------------------------------------------------------

    def integer(self, n: int) -> LLVM:
        return constant(self.word, n)

    def bits(self, a: LLVM) -> LLVM:
        return self.b.bitcast(a, self.word)

    def of_bits(self, a: LLVM) -> LLVM:
        return self.b.bitcast(a, self.type)

    def exponent_field(self, a: LLVM) -> LLVM:
        """The biased exponent of a number without sign, as a word."""
        return self.b.lshr(self.bits(a), self.integer(self.precision - 1))

    def significand(self, a: LLVM, exponent: int) -> LLVM:
        """The number's fraction bits as a word, under an exponent field."""
        field = self.precision - 1
        kept = self.b.and_(self.bits(a), self.integer((1 << field) - 1))
        return self.b.or_(kept, self.integer(exponent << field))

    def two_to(self, n: LLVM) -> LLVM:
        """2**n of a word, where that is a normal number."""
        return self.of_bits(self.b.shl(self.b.add(n, self.integer(self.bias)), self.integer(self.precision - 1)))

    def times_two_to(self, a: LLVM, n: LLVM) -> LLVM:
        """a * 2**n in two exact steps, or with the one rounding of a subnormal result; n down to twice the range."""
        half = self.b.ashr(n, self.integer(1))
        return self.mul(self.mul(a, self.two_to(half)), self.two_to(self.b.sub(n, half)))

    def to_word(self, a: LLVM) -> LLVM:
        """A whole number as a signed word; 0 for a NaN."""
        small = self.f.intrinsic(f"llvm.fptosi.sat.i32.{self.suffix}", I32, (a,))
        return small if self.width == 32 else self.b.sext(small, self.word)

    def of_word(self, a: LLVM, signed: bool = True) -> LLVM:
        return (self.b.sitofp if signed else self.b.uitofp)(a, self.type)

    def signed_like(self, a: LLVM, sign: LLVM) -> LLVM:
        """A number without sign, given that of another."""
        top = self.integer(1 << (self.width - 1))
        return self.of_bits(self.b.or_(self.bits(a), self.b.and_(self.bits(sign), top)))

    def negative(self, a: LLVM) -> LLVM:
        """The sign bit."""
        return self.b.icmp_signed("<", self.bits(a), self.integer(0))

    def product(self, a: LLVM, b: LLVM) -> Pair:
        """The low and the high word of a product of unsigned words."""
        wide = word(2 * self.width)
        p = self.b.mul(self.b.zext(a, wide), self.b.zext(b, wide))
        return self.b.trunc(p, self.word), self.b.trunc(self.b.lshr(p, constant(wide, self.width)), self.word)

    def sum(self, a: LLVM, b: LLVM) -> Pair:
        """The sum of unsigned words modulo the word, and its carry as a word."""
        s = self.b.add(a, b)
        return s, self.b.zext(self.b.icmp_unsigned("<", s, a), self.word)

    def funnel(self, high: LLVM, low: LLVM, count: LLVM) -> LLVM:
        """The upper word of two after a shift to the left by less than a word."""
        return self.f.intrinsic(f"llvm.fshl.i{self.width}", self.word, (high, low, count))

    def leading_zeros(self, a: LLVM) -> LLVM:
        """Of a word that is not 0."""
        return self.f.intrinsic(f"llvm.ctlz.i{self.width}", self.word, (a, constant(word(1), 1)))

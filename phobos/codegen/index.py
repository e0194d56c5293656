"""`Expr`: a non-negative i32 with a known range, on which the layouts' formulas run.

`+ * // % ^` fold what the range decides, so a layout's formula over an `Expr` for the lane leaves only the shifts and
masks that the thread needs. Values are coordinates and offsets within a tile: never negative, far below 2^31.
"""

from __future__ import annotations

from ..diagnostics import InternalError
from .types import I32, LLVM, constant

LIMIT = 1 << 31


class Expr:
    """An LLVM i32 between `low` and `high`, both included, and the builder that its arithmetic goes to."""

    __slots__ = ("builder", "high", "low", "value")

    def __init__(self, builder: LLVM, value: LLVM, low: int, high: int) -> None:
        if low < 0 or high >= LIMIT:
            raise InternalError(f"codegen: an offset ranges over {low}..{high}")
        self.builder, self.value, self.low, self.high = builder, value, low, high

    def _make(self, value: LLVM, low: int, high: int) -> Expr:
        return Expr(self.builder, value, low, high)

    def __add__(self, other: Expr | int) -> Expr:
        if isinstance(other, int):
            if other == 0:
                return self
            value = self.builder.add(self.value, constant(I32, other), flags=("nuw", "nsw"))
            return self._make(value, self.low + other, self.high + other)
        value = self.builder.add(self.value, other.value, flags=("nuw", "nsw"))
        return self._make(value, self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __mul__(self, other: int) -> Expr | int:
        if other == 0:
            return 0
        if other == 1:
            return self
        if other & (other - 1) == 0:
            value = self.builder.shl(self.value, constant(I32, other.bit_length() - 1), flags=("nuw", "nsw"))
        else:
            value = self.builder.mul(self.value, constant(I32, other), flags=("nuw", "nsw"))
        return self._make(value, self.low * other, self.high * other)

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Expr | int:
        if other == 1:
            return self
        if self.low // other == self.high // other:
            return self.low // other
        if other & (other - 1) == 0:
            value = self.builder.lshr(self.value, constant(I32, other.bit_length() - 1))
        else:
            value = self.builder.udiv(self.value, constant(I32, other))
        return self._make(value, self.low // other, self.high // other)

    def __mod__(self, other: int) -> Expr | int:
        if other == 1:
            return 0
        if self.high < other:
            return self
        if other & (other - 1) == 0:
            value = self.builder.and_(self.value, constant(I32, other - 1))
        else:
            value = self.builder.urem(self.value, constant(I32, other))
        return self._make(value, 0, other - 1)

    def __xor__(self, other: Expr | int) -> Expr:
        if isinstance(other, int):
            if other == 0:
                return self
            value, high = self.builder.xor(self.value, constant(I32, other)), max(self.high, other)
        else:
            value, high = self.builder.xor(self.value, other.value), max(self.high, other.high)
        return self._make(value, 0, (1 << high.bit_length()) - 1)

    __rxor__ = __xor__

    def at_most(self, bound: int) -> Expr | int:
        """The lesser of this and a number."""
        if self.high <= bound:
            return self
        if self.low >= bound:
            return bound
        limit = constant(I32, bound)
        less = self.builder.icmp_unsigned("<", self.value, limit)
        return self._make(self.builder.select(less, self.value, limit), self.low, bound)


def llvm_i32(value: Expr | int) -> LLVM:
    """The LLVM value of an expression or a number."""
    return value.value if isinstance(value, Expr) else constant(I32, value)

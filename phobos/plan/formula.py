"""Index values of the IR as short formulas over source names, and as numbers where they are constant.

`%1 = mul(%pm, %c32)` reads "ctx.block.x * 32". A value that no formula can show stands as its name.
"""

from __future__ import annotations

from ..ir.core import Op, Value
from ..ir.kernel import Kernel
from ..ir.tile_ops import Binary, Cast, Const, GridSize, ProgramId

AXES = "xyz"
_SYMBOL = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2), "rem": ("%", 2)}
_ATOM = 3
_DEPTH = 8
"""Levels of operators that are still readable; below stands a value's name."""


class Formulas:
    """Formulas of one kernel's values."""

    def __init__(self, kernel: Kernel) -> None:
        self._made: dict[Value, Op] = {v: op for op in kernel.walk() for v in op.results()}

    def number(self, value: Value) -> int | None:
        """The value where it is an integer constant."""
        made = self._made.get(value)
        if isinstance(made, Const) and not isinstance(made.value, float):
            return int(made.value)
        if isinstance(made, Cast):
            return self.number(made.a)
        if isinstance(made, Binary):
            a, b = self.number(made.a), self.number(made.b)
            return None if a is None or b is None else _apply(made.kind, a, b)
        return None

    def text(self, value: Value) -> str:
        """The formula of a value."""
        return self._text(value, _DEPTH)[0]

    def grouped(self, value: Value) -> str:
        """The formula of a value, in parentheses unless it is one term."""
        text, level = self._text(value, _DEPTH)
        return text if level == _ATOM else f"({text})"

    def multiple(self, value: Value) -> tuple[Value, int] | None:
        """(x, c) where the value is x rounded down to a multiple of the constant c, as a split loop's bound is."""
        made = self._made.get(value)
        if not isinstance(made, Binary):
            return None
        for kind, inner_kind in (("mul", "div"), ("sub", "rem")):
            inner = self._made.get(made.a if kind == "mul" else made.b)
            if made.kind != kind or not isinstance(inner, Binary) or inner.kind != inner_kind:
                continue
            divisor = self.number(inner.b)
            same = self.number(made.b) == divisor if kind == "mul" else made.a is inner.a
            if divisor is not None and same:
                return inner.a, divisor
        return None

    def _text(self, value: Value, depth: int) -> tuple[str, int]:
        """A formula and how tightly its outermost operator binds."""
        number = self.number(value)
        if number is not None:
            return str(number), _ATOM if number >= 0 else 0
        made = self._made.get(value)
        if isinstance(made, ProgramId):
            return f"ctx.block.{AXES[made.axis]}", _ATOM
        if isinstance(made, GridSize):
            return f"ctx.grid.{AXES[made.axis]}", _ATOM
        if isinstance(made, Cast):
            return self._text(made.a, depth)
        if not isinstance(made, Binary) or depth == 0:
            return value.name, _ATOM
        if made.kind in ("min", "max"):
            return f"{made.kind}({self._text(made.a, depth - 1)[0]}, {self._text(made.b, depth - 1)[0]})", _ATOM
        if made.kind not in _SYMBOL:
            return value.name, _ATOM
        symbol, level = _SYMBOL[made.kind]
        a, a_level = self._text(made.a, depth - 1)
        b, b_level = self._text(made.b, depth - 1)
        left = a if a_level >= level else f"({a})"
        right = b if b_level > level else f"({b})"
        return f"{left} {symbol} {right}", level


def _apply(kind: str, a: int, b: int) -> int | None:
    """Integer arithmetic of the IR: div and rem truncate toward zero."""
    match kind:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case "div" | "rem" if b != 0:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if kind == "div" else a - quotient * b
        case _:
            return None

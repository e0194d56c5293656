"""`Builder`: makes ops in a row, with a current span, default names and index arithmetic that folds constants.

Names need not be unique: the printer tells equal ones apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..source import NOWHERE, Span
from .core import Block, Op, OpT, Value
from .tile_ops import Binary, Cast, Compare, Const, Fma, If, Select, Splat, Unary, Yield
from .types import BOOL, INDEX, Scalar, Tile, Type, Vec

Index = Value | int


class Region:
    """A block under construction; `block` is there once the `with` is over."""

    def __init__(self, params: tuple[Value, ...]) -> None:
        self.params = params
        self._block: Block | None = None

    @property
    def block(self) -> Block:
        assert self._block is not None, "the block is still open"
        return self._block


class Builder:
    """Collects ops in `ops`. `constants` are values known from elsewhere, for folding."""

    def __init__(self, span: Span = NOWHERE, constants: Mapping[Value, int] | None = None) -> None:
        self.ops: list[Op] = []
        self.span = span
        self._known: dict[Value, int] = dict(constants or {})

    # ---- structure ------------------------------------------------------------------------------------------

    def emit(self, op: OpT) -> OpT:
        """Append an op; one without a span takes the current one."""
        if op.span is NOWHERE and self.span is not NOWHERE:
            op = op.replace(span=self.span)
        self.ops.append(op)
        return op

    def take(self) -> tuple[Op, ...]:
        """The ops so far; the builder starts afresh."""
        ops, self.ops = tuple(self.ops), []
        return ops

    @contextmanager
    def at(self, span: Span) -> Iterator[None]:
        """Give ops this span inside the `with`."""
        before, self.span = self.span, span
        try:
            yield
        finally:
            self.span = before

    @contextmanager
    def block(self, params: Sequence[Value] = ()) -> Iterator[Region]:
        """Collect the ops made inside the `with` in a block of their own."""
        region = Region(tuple(params))
        outer, self.ops = self.ops, []
        try:
            yield region
            region._block = Block(region.params, tuple(self.ops))
        finally:
            self.ops = outer

    def yields(self, *values: Value) -> None:
        self.emit(Yield(values=values))

    def branch(self, cond: Value, then: Block, orelse: Block, outs: Sequence[Value] = ()) -> If:
        return self.emit(If(cond=cond, then=then, orelse=orelse, outs=tuple(outs)))

    # ---- values ---------------------------------------------------------------------------------------------

    def const(self, value: int | float | bool, type: Scalar = INDEX, name: str = "") -> Value:
        out = self.emit(Const(value=value, out=Value(name or "c", type))).out
        if type == INDEX:
            self._known[out] = int(value)
        return out

    def constant(self, value: Index) -> int | None:
        """The number that an index is known to be."""
        return value if isinstance(value, int) else self._known.get(value)

    def index(self, value: Index) -> Value:
        """A value for an index that may be a number."""
        return value if isinstance(value, Value) else self.const(value)

    def unary(self, kind: str, a: Value, name: str = "") -> Value:
        return self.emit(Unary(kind=kind, a=a, out=Value(name or kind, a.type))).out

    def binary(self, kind: str, a: Value, b: Value, name: str = "") -> Value:
        return self.emit(Binary(kind=kind, a=a, b=b, out=Value(name or kind, a.type))).out

    def fma(self, a: Value, b: Value, c: Value, name: str = "") -> Value:
        return self.emit(Fma(a=a, b=b, c=c, out=Value(name or "fma", c.type))).out

    def compare(self, kind: str, a: Index, b: Index, name: str = "") -> Value:
        """A comparison of two scalars or two tiles; the result has their shape and layout."""
        left, right = self.index(a), self.index(b)
        t = left.type
        out = Tile(BOOL, t.shape, t.layout) if isinstance(t, Tile) else BOOL
        return self.emit(Compare(kind=kind, a=left, b=right, out=Value(name or kind, out))).out

    def select(self, cond: Value, a: Index, b: Index, name: str = "") -> Value:
        left, right = self.index(a), self.index(b)
        return self.emit(Select(cond=cond, a=left, b=right, out=Value(name or "select", left.type))).out

    def cast(self, a: Value, type: Type, name: str = "") -> Value:
        return a if a.type == type else self.emit(Cast(a=a, out=Value(name or a.name, type))).out

    def splat(self, a: Value, type: Tile | Vec, name: str = "") -> Value:
        return self.emit(Splat(a=a, out=Value(name or a.name, type))).out

    # ---- index arithmetic -----------------------------------------------------------------------------------

    def add(self, a: Index, b: Index, name: str = "") -> Value:
        x, y = self.constant(a), self.constant(b)
        if x is not None and y is not None:
            return self.const(x + y, name=name)
        if x == 0 or y == 0:
            return self.index(b if x == 0 else a)
        return self.binary("add", self.index(a), self.index(b), name)

    def sub(self, a: Index, b: Index, name: str = "") -> Value:
        x, y = self.constant(a), self.constant(b)
        if x is not None and y is not None:
            return self.const(x - y, name=name)
        if a is b:
            return self.const(0, name=name)
        return self.index(a) if y == 0 else self.binary("sub", self.index(a), self.index(b), name)

    def mul(self, a: Index, b: Index, name: str = "") -> Value:
        x, y = self.constant(a), self.constant(b)
        if x is not None and y is not None:
            return self.const(x * y, name=name)
        if x == 0 or y == 0:
            return self.const(0, name=name)
        if x == 1 or y == 1:
            return self.index(b if x == 1 else a)
        return self.binary("mul", self.index(a), self.index(b), name)

    def div(self, a: Index, b: Index, name: str = "") -> Value:
        """Quotient toward zero."""
        x, y = self.constant(a), self.constant(b)
        if x is not None and y is not None and y != 0:
            return self.const(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1), name=name)
        return self.index(a) if y == 1 else self.binary("div", self.index(a), self.index(b), name)

    def rem(self, a: Index, b: Index, name: str = "") -> Value:
        """Remainder with the sign of the dividend."""
        x, y = self.constant(a), self.constant(b)
        if x is not None and y is not None and y != 0:
            return self.const(abs(x) % abs(y) * (-1 if x < 0 else 1), name=name)
        return self.const(0, name=name) if y in (1, -1) else self.binary("rem", self.index(a), self.index(b), name)

    def min(self, a: Index, b: Index, name: str = "") -> Value:
        return self._extreme("min", a, b, name)

    def max(self, a: Index, b: Index, name: str = "") -> Value:
        return self._extreme("max", a, b, name)

    def _extreme(self, kind: str, a: Index, b: Index, name: str) -> Value:
        x, y = self.constant(a), self.constant(b)
        if x is not None and y is not None:
            return self.const(min(x, y) if kind == "min" else max(x, y), name=name)
        return self.index(a) if a is b else self.binary(kind, self.index(a), self.index(b), name)

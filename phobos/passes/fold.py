"""fold: constants folded, common subexpressions shared, dead pure ops removed.

Requires: form "built". Ensures: no pure op without a use, no two equal pure ops where one dominates the other (two
`alloc`s are never equal), no integer op on constants, no `if` on a constant. Floats are never folded: where they round
is the language's business.
"""

from __future__ import annotations

from typing import Any

from ..ir.core import Block, Effect, Op, Role, Value
from ..ir.cta_ops import Alloc
from ..ir.kernel import Kernel
from ..ir.rewrite import Rewriter, rebase, resolve, uses
from ..ir.tile_ops import Binary, Cast, Compare, Const, If, Select, Yield
from ..ir.types import Scalar
from .options import Options

LIMIT = 1 << 31


def run(kernel: Kernel, options: Options) -> Kernel:
    folder = _Folder()
    body = folder.block(kernel.body, {})
    return kernel.replace(body=_without_dead(body))


class _Folder:
    def __init__(self) -> None:
        self.map: dict[Value, Value] = {}
        self.consts: dict[Value, int | float | bool] = {}

    def block(self, block: Block, seen: dict[Any, tuple[Value, ...]]) -> Block:
        seen = dict(seen)
        out: list[Op] = []
        self._ops(block.ops, seen, out)
        return Block(block.params, tuple(out))

    def _ops(self, ops: tuple[Op, ...], seen: dict[Any, tuple[Value, ...]], out: list[Op]) -> None:
        for old in ops:
            new = rebase(old, self.map)
            folded = self._fold(new)
            if isinstance(folded, Value):
                self.map[new.results()[0]] = folded
                continue
            if isinstance(folded, Op):
                new = folded
            if isinstance(new, If) and new.cond in self.consts:
                self._inline(new, seen, out)
                continue
            names = new.fields(Role.REGION)
            if names:
                new = new.replace(**{n: self.block(getattr(new, n), seen) for n in names})
            elif new.effects is Effect.NONE and not new.terminator and not isinstance(new, Alloc):
                key = (
                    type(new),
                    new.operands(),
                    tuple((name, _distinct(held)) for name, held in sorted(new.attributes().items())),
                    tuple(r.type for r in new.results()),
                )
                if key in seen:
                    for mine, theirs in zip(new.results(), seen[key], strict=True):
                        self.map[mine] = theirs
                    continue
                seen[key] = new.results()
            if isinstance(new, Const):
                self.consts[new.out] = new.value
            out.append(new)

    def _inline(self, op: If, seen: dict[Any, tuple[Value, ...]], out: list[Op]) -> None:
        taken = op.then if self.consts[op.cond] else op.orelse
        self._ops(taken.ops[:-1], seen, out)
        last = taken.ops[-1]
        assert isinstance(last, Yield)
        for o, v in zip(op.outs, last.values, strict=True):
            self.map[o] = resolve(v, self.map)

    def _fold(self, op: Op) -> Value | Op | None:
        """A value that stands for the op's result, a simpler op, or None."""
        if isinstance(op, Select) and op.cond in self.consts:
            return op.a if self.consts[op.cond] else op.b
        if isinstance(op, Cast) and op.a.type == op.out.type:
            return op.a
        if isinstance(op, Cast) and op.a in self.consts and isinstance(op.out.type, Scalar):
            return self._cast(op, self.consts[op.a])
        if isinstance(op, Binary) and isinstance(op.out.type, Scalar) and op.out.type.is_int:
            return self._integer(op, op.out.type)
        if isinstance(op, Compare) and op.a in self.consts and op.b in self.consts:
            a, b = self.consts[op.a], self.consts[op.b]
            if isinstance(op.out.type, Scalar) and isinstance(a, int) and isinstance(b, int):
                value = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[op.kind]
                return Const(value=value, out=op.out, span=op.span)
        return None

    def _cast(self, op: Cast, value: int | float | bool) -> Op | None:
        t = op.out.type
        assert isinstance(t, Scalar)
        source = op.a.type
        if (
            isinstance(source, Scalar)
            and source.is_int
            and t.is_int
            and -(1 << 31) <= int(value) < LIMIT
            and t.bits >= 32
        ):
            return Const(value=int(value), out=op.out, span=op.span)
        return None

    def _integer(self, op: Binary, t: Scalar) -> Value | Op | None:
        a, b = self.consts.get(op.a), self.consts.get(op.b)
        if a is None and b is None:
            return None
        if a is None or b is None:
            known, other = (a, op.b) if b is None else (b, op.a)
            right = b is not None
            if known == 0 and (op.kind in ("add", "or", "xor") or (right and op.kind in ("sub", "shl", "shr"))):
                return other
            if known == 1 and (op.kind == "mul" or (right and op.kind == "div")):
                return other
            if known == 0 and op.kind in ("mul", "and"):
                return Const(value=0, out=op.out, span=op.span)
            return None
        x, y = int(a), int(b)
        value = _evaluate(op.kind, x, y)
        # An index may be 32 bits wide, so a result beyond that stays an op.
        low, high = (-(1 << 31), LIMIT) if t.kind == "index" else _range(t)
        if value is None or not low <= value < high:
            return None
        return Const(value=value, out=op.out, span=op.span)


def _distinct(held: Any) -> Any:
    """An attribute such that different ones compare different: 0.0 and -0.0 are equal in Python."""
    return str(held) if isinstance(held, float) else held


def _range(t: Scalar) -> tuple[int, int]:
    return (0, 1 << t.bits) if t.kind == "uint" else (-(1 << (t.bits - 1)), 1 << (t.bits - 1))


def _evaluate(kind: str, x: int, y: int) -> int | None:
    if kind == "add":
        return x + y
    if kind == "sub":
        return x - y
    if kind == "mul":
        return x * y
    if kind in ("div", "rem") and y != 0:
        q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return q if kind == "div" else x - q * y
    if kind == "min":
        return min(x, y)
    if kind == "max":
        return max(x, y)
    if kind == "and":
        return x & y
    if kind == "or":
        return x | y
    if kind == "xor":
        return x ^ y
    if kind == "shl" and 0 <= y < 32:
        return x << y
    if kind == "shr" and 0 <= y < 32 and x >= 0:
        return x >> y
    return None


def _without_dead(body: Block) -> Block:
    """Drop pure ops that nobody uses, until none is left."""
    while True:
        used = uses(body)
        dropped = False

        def visit(op: Op, rewriter: Rewriter, used: dict[Value, list[Op]] = used) -> tuple[Op, ...] | None:
            nonlocal dropped
            if (
                op.terminator
                or op.all_effects() is not Effect.NONE
                or any(r in used for r in op.results())
                or not op.results()
            ):
                return None
            dropped = True
            return ()

        new = Rewriter(visit).block(body)
        if not dropped:
            return body
        body = new

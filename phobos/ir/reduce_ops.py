"""Reductions along an axis of a tile.

The result has extent 1 there. Where warps share the axis, form "staged" has two in place of one, with shared memory in
between: the first makes each warp's part, and its result has the extent of the warps; the second reduces the parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..layout.register import Blocked
from .core import Op, Value, attribute, op, operand, result
from .tile_ops import element, shape_of
from .types import I32, Tile, Type

REDUCTIONS = ("sum", "max", "min")


@op("reduce")
class Reduce(Op):
    """The sum, max or min along an axis, computed in the element type (f16 and bf16 in f32, rounded at the end).

    The order of a float sum is not specified. max and min ignore NaN and give NaN where all are; -0 is less than +0.
    With a result that is replicated in its lanes only (2), each warp's part, warp by warp.
    """

    kind: str = attribute()
    axis: int = attribute()
    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if self.kind not in REDUCTIONS:
            yield f"unknown kind {self.kind}"
        yield from _reduced(self.axis, self.a.type, self.out.type)


@op("reduce_arg")
class ReduceArg(Op):
    """The largest (max) or smallest (min) element along an axis and the index that stands beside it in `index`.

    NaN is ignored; of equal elements, or where all are NaN, the one of least index counts. Parts as in `reduce`.
    """

    kind: str = attribute()
    axis: int = attribute()
    a: Value = operand()
    index: Value = operand()
    out: Value = result()
    out_index: Value = result()

    def verify(self) -> Iterator[str]:
        if self.kind not in ("max", "min"):
            yield f"unknown kind {self.kind}"
        yield from _reduced(self.axis, self.a.type, self.out.type)
        for value, index in ((self.a.type, self.index.type), (self.out.type, self.out_index.type)):
            same = isinstance(value, Tile) and index == Tile(I32, value.shape, value.layout)
            if not same:
                yield f"{index} beside {value}"


def _reduced(axis: int, a: Type, out: Type) -> Iterator[str]:
    if not isinstance(a, Tile) or not isinstance(out, Tile) or not 0 <= axis < len(a.shape):
        yield f"axis {axis} of {a} into {out}"
        return
    if element(a) != element(out):
        yield f"elements differ: {a}, {out}"
    if isinstance(a.layout, Blocked):
        parts = isinstance(out.layout, Blocked) and a.layout.with_parts(axis, gathered=False) == out.layout
        if not parts and out.layout != a.layout.collapsed(_one(a.shape, axis)):
            yield f"{a} into {out}"
    elif shape_of(out) != _one(a.shape, axis):
        yield f"{a} into {out}"


def _one(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], 1, *shape[axis + 1 :])


def makes_parts(op: Reduce | ReduceArg) -> bool:
    """Whether the result is each warp's part."""
    t = op.out.type
    return isinstance(t, Tile) and isinstance(t.layout, Blocked) and t.layout.replicated[op.axis] == 2

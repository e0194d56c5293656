"""Tile ops that move elements: `transpose`, `scan`, `gather`. Legal in every form.

Where elements go between threads the layouts of operands and results say so; see each op.
"""

from __future__ import annotations

from collections.abc import Iterator

from .core import Effect, Op, Value, attribute, op, operand, result
from .memory import axes_of
from .tile_ops import element, shape_of
from .types import INDEX, Buffer, Scalar, Tensor, Tile

SCANS = ("sum",)


@op("transpose")
class Transpose(Op):
    """A tile with its axes in reverse order. From `placed` on the layout is `a`'s with its axes reversed too."""

    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if element(self.a.type) != element(self.out.type) or shape_of(self.a.type)[::-1] != shape_of(self.out.type):
            yield f"{self.a.type} into {self.out.type}"


@op("scan")
class Scan(Op):
    """Running sums along an axis, each element's own included; the order of a float sum is not specified.

    kind: one of SCANS. From `placed` on the axis stays within a warp: `a` and out have one layout, of one warp there.
    """

    kind: str = attribute()
    axis: int = attribute()
    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if self.kind not in SCANS:
            yield f"unknown kind {self.kind}"
        if self.a.type != self.out.type:
            yield f"{self.a.type} into {self.out.type}"
        if not isinstance(self.a.type, Tile) or not 0 <= self.axis < len(self.a.type.shape):
            yield f"axis {self.axis} of {self.a.type}"


@op("gather", effects=Effect.READ_GLOBAL, memory="tensor")
class Gather(Op):
    """Read, for each element of the result, the element of memory that the indices name, unmasked.

    indices: one per axis of the memory, each an integer tile of the result's shape or an index that all elements share;
    at least one is a tile. extents and invariant as in `load`.
    """

    tensor: Value = operand()
    indices: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    invariant: bool = attribute(default=False)
    out: Value = result()

    def verify(self) -> Iterator[str]:
        memory, out = self.tensor.type, self.out.type
        if not isinstance(memory, Tensor | Buffer) or not isinstance(out, Tile) or memory.elem != out.elem:
            yield f"{out} of {memory}"
            return
        if isinstance(memory, Buffer) and memory.slots != 1:
            yield f"{self.tensor} has {memory.slots} slots"
        rank = len(axes_of(memory))
        if not len(self.indices) == len(self.extents) == rank:
            yield f"rank {rank}: {len(self.indices)} indices, {len(self.extents)} extents"
        tiles = [v.type for v in self.indices if isinstance(v.type, Tile)]
        if not tiles:
            yield "no index is a tile"
        for t in tiles:
            if not t.elem.is_int or (t.shape, t.layout) != (out.shape, out.layout):
                yield f"indices {t} of a {out}"
        scalars = [v for v in (*self.indices, *self.extents) if isinstance(v.type, Scalar)]
        yield from (f"{v} is {v.type}, not index" for v in scalars if v.type != INDEX)

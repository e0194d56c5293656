"""Boxes of tiles: how a tile is cut so that a piece fits registers, and what a piece of an op's result needs.

Pure functions of shapes and ops, and the loops over boxes; `spill` calls them. A box has a static size; its place is
an index value, or a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

from ..ir.build import Builder, Index
from ..ir.core import Op, Value
from ..ir.shape_ops import Gather, Transpose
from ..ir.tile_ops import (
    ELEMENTWISE,
    Broadcast,
    Dot,
    For,
    Iota,
    Load,
    Reshape,
    Splat,
    Yield,
    shape_of,
)
from ..ir.types import INDEX, Tile, matched_axes

Values = tuple[Value, ...]


@dataclass(frozen=True)
class Box:
    """A part of a tile: where it starts on each axis and how long it is there."""

    offsets: tuple[Index, ...]
    sizes: tuple[int, ...]

    def on(self, axis: int, offset: Index, size: int) -> Box:
        """The same box but for one axis."""
        offsets = (*self.offsets[:axis], offset, *self.offsets[axis + 1 :])
        return Box(offsets, (*self.sizes[:axis], size, *self.sizes[axis + 1 :]))


def whole(shape: tuple[int, ...]) -> Box:
    return Box((0,) * len(shape), shape)


def cut(shape: tuple[int, ...], most: int, square: bool) -> tuple[int, ...]:
    """The size of the boxes that a tile is computed in: whole rows as far as `most` elements go.

    square: the last two axes in equal parts, for contractions, which read a row and a column for each of them.
    """
    sizes = [1] * len(shape)
    for axis in reversed(range(len(shape))):
        room = most
        if square and axis == len(shape) - 1 and axis:
            room = max(1 << ((most.bit_length() - 1) // 2), most // shape[-2])
        sizes[axis] = _part(shape[axis], max(room, 1))
        most //= sizes[axis]
    return tuple(sizes)


def _part(length: int, most: int) -> int:
    """A size of boxes along an axis: one that leaves nothing over when it is not much smaller."""
    if length <= most:
        return length
    exact = max(n for n in range(1, most + 1) if length % n == 0)
    return exact if 2 * exact > most else most


def over(b: Builder, shape: tuple[int, ...], sizes: tuple[int, ...], visit: Callable[[Box], None]) -> None:
    """Loops that visit every box of a tile; what is left over at the end of an axis is a smaller box behind them."""

    def axis(at: int, box: Box) -> None:
        if at == len(shape):
            visit(box)
            return

        def part(offset: Index, size: int, carried: Values) -> Values:
            axis(at + 1, Box((*box.offsets, offset), (*box.sizes, size)))
            return ()

        step(b, shape[at], sizes[at], (), part)

    axis(0, Box((), ()))


def step(
    b: Builder, length: int, size: int, first: Values | None, body: Callable[[Index, int, Values], Values]
) -> Values:
    """Loop over an axis in parts of `size`, handing values from part to part; the last part may be shorter.

    first: what the first part is handed; None when that part makes the values.
    """
    full = length // size * size
    start = 0
    if first is None:
        first, start = body(0, min(size, length), ()), size
    carried = first
    if full - start == size:
        carried, start = body(start, size, carried), full
    if full > start:
        at = Value("at", INDEX)
        params = tuple(v.like() for v in carried)
        with b.block((at, *params)) as region:
            b.emit(Yield(values=body(at, size, params)))
        low, high, by = b.const(start), b.const(full), b.const(size)
        outs = tuple(v.like() for v in carried)
        carried = b.emit(For(start=low, stop=high, step=by, inits=carried, body=region.block, outs=outs)).outs
    if full < length:
        carried = body(full, length - full, carried)
    return carried


def computed(op: Op) -> bool:
    """Whether a piece of the op's result can be made from pieces of its operands, at any time."""
    return isinstance(op, (*ELEMENTWISE, Splat, Iota, Broadcast, Transpose, Dot, Load, Gather)) or (
        isinstance(op, Reshape) and op.keeps_axes
    )


def needed(op: Op, box: Box, k: tuple[Index, int] | None = None) -> Iterator[tuple[str, Value, Box]]:
    """The fields that hold tile operands, and the part of each that a box of the op's result needs.

    k: the part of the contracted axis, the whole when not given. A gather's indices have no field of their own.
    """
    if isinstance(op, ELEMENTWISE):
        for name in ("cond", "a", "b", "c"):
            v = getattr(op, name, None)
            if isinstance(v, Value) and isinstance(v.type, Tile):
                yield name, v, box
    elif isinstance(op, Gather):
        yield from (("", v, box) for v in op.indices if isinstance(v.type, Tile))
    elif isinstance(op, Broadcast):
        shape = shape_of(op.a.type)
        offsets = tuple(0 if n == 1 else o for n, o in zip(shape, box.offsets, strict=True))
        yield "a", op.a, Box(offsets, tuple(map(min, shape, box.sizes)))
    elif isinstance(op, Transpose):
        yield "a", op.a, Box(box.offsets[::-1], box.sizes[::-1])
    elif isinstance(op, Reshape):
        axes = matched_axes(shape_of(op.out.type), shape_of(op.a.type))
        offsets = tuple(0 if x is None else box.offsets[x] for x in axes)
        yield "a", op.a, Box(offsets, tuple(1 if x is None else box.sizes[x] for x in axes))
    elif isinstance(op, Dot):
        at, size = k or (0, shape_of(op.a.type)[1])
        (m, n), (rows, columns) = box.offsets, box.sizes
        yield "acc", op.acc, box
        yield "a", op.a, Box((m, at), (rows, size))
        yield "b", op.b, Box((n, at), (columns, size)) if op.trans_b else Box((at, n), (size, columns))


def elements(v: Value) -> int:
    return prod(shape_of(v.type))

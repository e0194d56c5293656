"""The meaning of reductions: halves combined until one is left, which is one order of many for a float sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..ir.reduce_ops import Reduce, ReduceArg, makes_parts
from ..ir.tile_ops import element
from ..ir.types import Scalar, Tile
from ..layout.register import Blocked
from .elementwise import extreme
from .machine import Machine, means
from .numbers import Array, from_f32

REDUCE_OPS = (Reduce, ReduceArg)
Items = tuple[Array, ...]
"""Arrays that are reduced together along their first axis."""
Combine = Callable[[Items, Items], Items]


def _halved(items: Items, combine: Combine) -> Items:
    while (n := len(items[0])) > 1:
        half = -(-n // 2)
        both = combine(tuple(x[: n - half] for x in items), tuple(x[half:] for x in items))
        items = tuple(np.concatenate([b, x[n - half : half]]) for b, x in zip(both, items, strict=True))
    return items


def _reduce(op: Reduce | ReduceArg, items: Items, combine: Combine) -> Items:
    """Along the whole axis, or over the coordinates that each warp holds."""
    along = tuple(np.moveaxis(np.asarray(x), op.axis, 0) for x in items)
    groups = _coordinates(op) if makes_parts(op) else [np.arange(len(along[0]))]
    parts = [_halved(tuple(x[at] for x in along), combine) for at in groups]
    return tuple(np.moveaxis(np.concatenate(column), 0, op.axis) for column in zip(*parts, strict=True))


def _coordinates(op: Reduce | ReduceArg) -> list[np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """Which coordinates along the axis each warp holds."""
    t = op.a.type
    assert isinstance(t, Tile)
    assert isinstance(t.layout, Blocked)
    layout, axis = t.layout, op.axis
    at = np.arange(t.shape[axis])
    warp = at // (layout.vector[axis] * layout.lanes[axis]) % layout.warps[axis]
    return [np.flatnonzero(warp == w) for w in range(layout.parts(axis))]


@means(Reduce)
def _reduction(m: Machine, op: Reduce) -> Sequence[Array]:
    elem = element(op.a.type)
    narrow = elem.name in ("f16", "bf16")

    def combine(x: Items, y: Items) -> Items:
        return (x[0] + y[0] if op.kind == "sum" else extreme(op.kind, x[0], y[0], elem),)

    a = np.asarray(m[op.a])
    (out,) = _reduce(op, (a.astype(np.float32) if narrow else a,), combine)
    return (from_f32(out, elem) if narrow else out,)


@means(ReduceArg)
def _argument(m: Machine, op: ReduceArg) -> Sequence[Array]:
    elem = element(op.a.type)

    def combine(x: Items, y: Items) -> Items:
        second = _second(op.kind, elem, x, y)
        return tuple(np.where(second, b, a) for a, b in zip(x, y, strict=True))

    return _reduce(op, (m[op.a], m[op.index]), combine)


def _second(kind: str, elem: Scalar, x: Items, y: Items) -> Array:
    """Whether y goes before x: a number before NaN, the better number, of equals the lower index."""
    (v, i), (w, j) = x, y
    better, as_good = (w > v if kind == "max" else w < v), w == v
    if elem.is_float:
        better |= np.isnan(v) & ~np.isnan(w)
        as_good |= np.isnan(v) & np.isnan(w)
    return better | (as_good & (j < i))

"""A scalar stored to, or combined with, a slice of run-time length -> loops over a static tile.

    A[i : j, 0 :+ 4] += x   ->   for o in range(max(i, 0), min(j, M), T): A[o :+ T, 0 :+ 4] += x, no row from the end

Every axis of run-time length is walked by a loop from its first index inside the tensor in steps of the tile; the
access says in `limits` where the slice ends, which is inside the tensor, so that the last tile touches nothing behind
it. Starts are cut off at 0, except that of `A[s:]`, which is never masked. A span of static length is one tile, masked
like any other, or walked as well when it is long. The tile holds one vector for each thread, most of it along the last
axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from ..ir.core import Value
from ..ir.tile_ops import For, Load, Store
from ..ir.types import INDEX, Dim, Tensor, Tile, Type
from . import typed as t
from .lower_access import UNMASKED, memory_of
from .lower_state import State

Lower = Callable[[t.TExpr], Value]

VECTOR_BYTES = 16
LANES = 32


@dataclass(frozen=True)
class _Axis:
    """One axis of the slice. start: its first index; end: behind its last one; step: the tile's extent, 0 without a
    loop."""

    start: Value
    end: Value
    step: int
    guard: str
    why: str


def fill(state: State, stmt: t.SliceStore, value: Value, lower: Lower) -> None:
    """Store a scalar to every element of the slice, or `element op scalar`."""
    build, elem = state.build, t.elem_type(stmt.base.type)
    memory, extents = memory_of(state, stmt.base)
    shape = tile_shape(stmt.subs, _dims(stmt.base.type), elem.size_bytes, state.threads)
    axes = [_axis(state, *of, lower) for of in zip(stmt.subs, shape, extents, strict=True)]
    scalar = build.splat(value, Tile(t.elem_type(value.type), shape))
    guards, why = tuple(a.guard for a in axes), tuple(a.why for a in axes)
    limits = tuple(a.end for a in axes)

    def at(offsets: tuple[Value, ...]) -> None:
        if len(offsets) < len(axes):
            axis = axes[len(offsets)]
            if axis.step:
                _loop(state, axis, lambda o: at((*offsets, o)))
            else:
                at((*offsets, axis.start))
            return
        stored = scalar
        if stmt.op:
            out = Value(stmt.base.name, Tile(elem, shape))
            load = Load(tensor=memory, offsets=offsets, extents=extents, limits=limits, guards=guards, why=why, out=out)
            old = build.cast(build.emit(load).out, scalar.type)
            stored = build.cast(build.binary(stmt.op, old, scalar), out.type)
        build.emit(
            Store(tensor=memory, offsets=offsets, extents=extents, limits=limits, value=stored, guards=guards, why=why)
        )

    at(())


def _loop(state: State, axis: _Axis, body: Callable[[Value], None]) -> None:
    build, iv = state.build, Value("at", INDEX)
    step = build.const(axis.step, name=f"c{axis.step}")
    with build.block((iv,)) as region:
        body(iv)
        build.yields()
    build.emit(For(start=axis.start, stop=axis.end, step=step, inits=(), body=region.block, outs=()))


def _dims(type: Type) -> tuple[Dim, ...]:
    assert isinstance(type, Tensor | Tile)
    return type.dims if isinstance(type, Tensor) else type.shape


def tile_shape(subs: tuple[t.Range, ...], dims: tuple[Dim, ...], elem_bytes: int, threads: int) -> tuple[int, ...]:
    """The tile that walks a slice: the spans that have a place in it whole, and the rest of a vector for each thread
    given to the last of the other axes, a warp's row of it when there is an axis before to give the rest to. A static
    extent is not overrun by more than the next power of two."""
    vector = max(VECTOR_BYTES // elem_bytes, 1)
    room, shape = threads * vector, [1] * len(subs)
    for axis in reversed(range(len(subs))):
        sub = subs[axis]
        if sub.kind == "point":
            continue
        if sub.length is not None and sub.length <= room:
            shape[axis] = sub.length
        elif any(s.kind != "point" for s in subs[:axis]) and prod(shape) == 1:
            shape[axis] = min(room, LANES * vector)
        else:
            shape[axis] = room if prod(shape) == 1 else 1 << room.bit_length() - 1
        if sub.length is None and isinstance(extent := dims[axis], int):
            shape[axis] = min(shape[axis], ceil_power(extent))
        room = max(room // shape[axis], 1)
    return tuple(shape)


def ceil_power(n: int) -> int:
    return 1 << (n - 1).bit_length()


def _axis(state: State, sub: t.Range, tile: int, extent: Value, lower: Lower) -> _Axis:
    build = state.build
    start = build.cast(lower(sub.start), INDEX)
    if sub.kind == "point":
        return _Axis(start, extent, 0, "", UNMASKED["point"])
    if sub.kind == "rest":
        return _Axis(start, extent, tile, "hi", "")
    if sub.length == tile:
        return _Axis(start, extent, 0, "both", "")
    first, length = build.max(start, 0, "first"), sub.length_expr
    if isinstance(length, t.Binary) and length.op == "sub" and length.right is sub.start:
        # `s : e`: its length may be more than an index holds.
        return _Axis(first, build.min(build.cast(lower(length.left), INDEX), extent, "end"), tile, "both", "")
    count = build.index(sub.length or 0) if length is None else build.cast(lower(length), INDEX)
    if build.constant(start) == 0:
        return _Axis(first, build.min(count, extent, "end"), tile, "both", "")
    # first + min(count, extent - first), less what lies below 0; no sum on the way is more than an index holds.
    below = build.min(start, 0)
    count = count if build.constant(below) == 0 else build.add(build.max(count, 0), below)
    return _Axis(first, build.add(first, build.min(count, build.sub(extent, first)), "end"), tile, "both", "")

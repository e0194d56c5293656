"""Memory operands: a tensor in global memory or, with the same fields and meaning, a shared buffer of one slot.

Takes the types of an access's operands, gives the rules that they break. `load store load_point store_point load_run
store_run` share these: a buffer's elements are subscripted, masked and accessed as a tensor's of the buffer's shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..layout.shared import Swizzled
from .core import Value
from .types import INDEX, Buffer, Dim, Scalar, Tensor, Tile, Type, Vec

GUARDS = ("", "hi", "lo", "both")
SCOPES = ("cta", "warp", "thread")
Values = tuple[Value, ...]


def axes_of(memory: Type) -> tuple[Dim, ...]:
    """The extents of a tensor or buffer."""
    assert isinstance(memory, Tensor | Buffer)
    return memory.dims if isinstance(memory, Tensor) else memory.shape


def is_plain(buffer: Buffer) -> bool:
    """Whether a buffer's elements lie row by row, as a tensor's do."""
    return buffer.layout == Swizzled(buffer.shape, len(buffer.shape) - 1)


def is_shared(memory: Value) -> bool:
    return isinstance(memory.type, Buffer)


def check_access(
    memory: Value, offsets: Values, extents: Values, limits: Values, guards: tuple[str, ...], tile: Type
) -> Iterator[str]:
    """The rules of a tile's access."""
    if not isinstance(memory.type, Tensor | Buffer):
        yield f"memory is a {memory.type}"
        return
    if not isinstance(tile, Tile):
        yield f"the value is a {tile}"
        return
    rank = len(axes_of(memory.type))
    if not len(offsets) == len(extents) == len(guards) == len(tile.shape) == rank:
        yield f"rank {rank}: {len(offsets)} offsets, {len(extents)} extents, {len(guards)} guards, {tile}"
    if limits and len(limits) != rank:
        yield f"rank {rank}: {len(limits)} limits"
    yield from _alike(memory, tile.elem, f"{tile} of {memory.type}", (*offsets, *extents, *limits))
    yield from (f"unknown guard {g!r}" for g in guards if g not in GUARDS)


def check_point(memory: Value, offsets: Values, extents: Values, elem: Type, scope: str) -> Iterator[str]:
    """The rules of one element's access."""
    if not isinstance(memory.type, Tensor | Buffer):
        yield f"memory is a {memory.type}"
        return
    rank = len(axes_of(memory.type))
    if not len(offsets) == len(extents) == rank:
        yield f"rank {rank}: {len(offsets)} offsets, {len(extents)} extents"
    yield from _alike(memory, elem, f"{elem} of {memory.type}", (*offsets, *extents))
    yield from scope_named(scope)


def check_run(memory: Value, offsets: Values, extents: Values, axis: int, vec: Type, scope: str) -> Iterator[str]:
    """The rules of a thread's own run."""
    if not isinstance(memory.type, Tensor | Buffer):
        yield f"memory is a {memory.type}"
        return
    if not isinstance(vec, Vec):
        yield f"the value is a {vec}"
        return
    rank = len(axes_of(memory.type))
    if not len(offsets) == len(extents) == rank or not 0 <= axis < rank:
        yield f"rank {rank}: {len(offsets)} offsets, {len(extents)} extents, axis {axis}"
    yield from _alike(memory, vec.elem, f"{vec} of {memory.type}", (*offsets, *extents))
    yield from scope_named(scope)


def scope_named(scope: str) -> Iterator[str]:
    """One of SCOPES."""
    if scope not in SCOPES:
        yield f"unknown scope {scope!r}"


def _alike(memory: Value, elem: Scalar | Type, said: str, indices: Values) -> Iterator[str]:
    """Same elements; offsets and extents are indices; a buffer has one slot."""
    t = memory.type
    assert isinstance(t, Tensor | Buffer)
    if elem != t.elem:
        yield said
    if isinstance(t, Buffer) and t.slots != 1:
        yield f"{memory} has {t.slots} slots"
    yield from (f"{v} is {v.type}, not index" for v in indices if v.type != INDEX)

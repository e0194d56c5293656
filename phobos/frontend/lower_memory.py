"""Which tiles of the source live in shared memory, and how a whole one is read and written there.

A tile that anything addresses a part of (a slice, a point, a thread's run) is a shared buffer from its declaration on,
over the whole kernel: `let` and `var` are an `alloc` and a `store`, an assignment is a `store`, and reading the name is
a `load`. Such a tile is memory, so no loop carries it and no `if` yields it. Every other tile is an SSA value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..ir.core import Value
from ..ir.cta_ops import Alloc
from ..ir.tile_ops import Load, Store
from ..ir.types import Buffer, Tile
from ..layout.shared import Swizzled
from . import typed as t
from .lower_state import State
from .walk import expressions, statements, tree

WHOLE = "the whole tile"


def in_memory(body: Iterable[t.TStmt]) -> dict[t.Symbol, str]:
    """The tile symbols that live in shared memory, each with the first reason."""
    found: dict[t.Symbol, str] = {}
    for stmt in statements(body):
        for base, what in _addressed(stmt):
            if isinstance(base.type, Tile):
                found.setdefault(base, f"line {stmt.span.line} {what}")
    return found


def _addressed(stmt: t.TStmt) -> Iterator[tuple[t.Symbol, str]]:
    """The symbols of which a statement itself addresses parts, and what it does."""
    if isinstance(stmt, t.SliceStore):
        yield stmt.base, "assigns a slice of it"
    if isinstance(stmt, t.PointStore):
        yield stmt.base, "assigns a point of it"
    for expr in expressions(stmt):
        for node in tree(expr):
            match node:
                case t.SliceLoad(base=base):
                    yield base, "reads a slice of it"
                case t.PointLoad(base=base):
                    yield base, "reads a point of it"
                case t.Call(name=name, args=args):
                    did = "writes a thread's run of it" if name == "store" else "reads a thread's run of it"
                    yield from ((arg.base, did) for arg in args if isinstance(arg, t.Place))


def declare(state: State, symbol: t.Symbol, value: Value | None) -> None:
    """Make the symbol's buffer here and fill it, unless the declaration has no value."""
    tile = symbol.type
    assert isinstance(tile, Tile)
    made = Buffer(tile.elem, tile.shape, Swizzled(tile.shape, len(tile.shape) - 1))
    op = Alloc(label=symbol.name, why=state.in_memory[symbol], out=Value(symbol.name, made))
    state.buffers[symbol] = state.build.emit(op).out
    if value is not None:
        write(state, symbol, value)


def write(state: State, symbol: t.Symbol, value: Value) -> None:
    """Assign the whole tile."""
    buffer = state.buffers[symbol]
    offsets, extents, guards, why = _whole(state, symbol)
    state.build.emit(Store(tensor=buffer, offsets=offsets, extents=extents, value=value, guards=guards, why=why))


def read(state: State, symbol: t.Symbol, name: str) -> Value:
    """The whole tile as it is now."""
    buffer = state.buffers[symbol]
    offsets, extents, guards, why = _whole(state, symbol)
    out = Value(name or symbol.name, symbol.type)
    op = Load(tensor=buffer, offsets=offsets, extents=extents, guards=guards, why=why, out=out)
    return state.build.emit(op).out


def _whole(
    state: State, symbol: t.Symbol
) -> tuple[tuple[Value, ...], tuple[Value, ...], tuple[str, ...], tuple[str, ...]]:
    """(offsets, extents, guards, why) of an access to all of a tile."""
    tile = symbol.type
    assert isinstance(tile, Tile)
    zero = state.build.const(0, name="c0")
    rank = len(tile.shape)
    return (zero,) * rank, tuple(state.extent(n) for n in tile.shape), ("",) * rank, (WHOLE,) * rank

"""Shape functions -> `transpose`, `scan`, `gather`, `reshape`, and a comparison of indices for `tril`.

A table that is a tile gets a shared buffer of its own, since elements of it are addressed; a table that is a tensor is
read where it lies. A row of shape `[1, n]` is indexed along its last axis; `generate` gathers with an index per axis.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.core import Value
from ..ir.cta_ops import Alloc
from ..ir.shape_ops import Gather, Scan, Transpose
from ..ir.tile_ops import Iota, Reshape, Store
from ..ir.types import I32, INDEX, Buffer, Tensor, Tile
from ..layout.shared import Swizzled
from . import typed as t
from .lower_access import memory_of
from .lower_state import State

Lower = Callable[[t.TExpr], Value]


def lower_shape(state: State, expr: t.Call, lower: Lower, name: str) -> Value:
    """The value of one of `lower_support.SHAPES`."""
    build, to = state.build, t.tile_type(expr)
    out = Value(name or expr.name, to)
    if expr.name == "gather":
        return _gather(state, expr, lower, out)
    tile = lower(expr.args[0])
    match expr.name:
        case "transpose":
            return build.emit(Transpose(a=tile, out=out)).out
        case "flat":
            return build.emit(Reshape(a=tile, out=out)).out
        case "cumsum":
            tile = build.cast(tile, to)
            return build.emit(Scan(kind="sum", axis=0, a=tile, out=out)).out if to.shape[0] > 1 else tile
        case _:
            assert expr.name == "tril"
            row, column = (build.emit(Iota(axis=axis, out=Value("iota", Tile(I32, to.shape)))).out for axis in range(2))
            return build.select(build.compare("le", column, row), tile, state.zero(to, "zero"), out.name)


def _gather(state: State, expr: t.Call, lower: Lower, out: Value) -> Value:
    table, *given = expr.args
    symbol = table.symbol if isinstance(table, t.SymbolRef) else table if isinstance(table, t.Symbol) else None
    if symbol is not None and (symbol in state.buffers or isinstance(symbol.type, Tensor)):
        memory, extents = memory_of(state, symbol)
    else:
        memory, extents = _table(state, lower(table) if symbol is None else state.read(symbol, expr.span))
    indices = tuple(i if isinstance(i.type, Tile) else state.build.cast(i, INDEX) for i in map(lower, given))
    if len(given) < len(extents):
        indices = (state.build.const(0), *indices)
    return state.build.emit(Gather(tensor=memory, indices=indices, extents=extents, out=out)).out


def _table(state: State, tile: Value) -> tuple[Value, tuple[Value, ...]]:
    """A tile in a shared buffer, and its extents."""
    build, held = state.build, tile.type
    assert isinstance(held, Tile)
    layout = Swizzled(held.shape, len(held.shape) - 1)
    label = f"{tile.name}_table"
    buffer = build.emit(
        Alloc(label=label, why="gather reads elements of it", out=Value(label, Buffer(held.elem, held.shape, layout)))
    ).out
    extents = tuple(build.const(n, INDEX, f"c{n}") for n in held.shape)
    guards = ("",) * len(extents)
    build.emit(
        Store(tensor=buffer, offsets=(build.const(0),) * len(extents), extents=extents, value=tile, guards=guards)
    )
    return buffer, extents

"""Accesses of tensors and of tiles in shared memory -> `load`, `store`, `load_point`, `store_point`, `load_run`,
`store_run`, `atomic`.

Guards are provisional: every axis whose span has a constant length starts as "both", with no reason, and the guard
pass drops what it proves. Two kinds of axis never have a guard, whatever is proved, and say why: `A[s:]`, and a point
among slices. Points and a thread's own runs have none at all. An access has one offset and one extent per axis of the
memory, both of them index values.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.core import Value
from ..ir.thread_ops import Atomic, LoadRun, StoreRun
from ..ir.tile_ops import Load, LoadPoint, Store, StorePoint
from ..ir.types import INDEX, Tensor, Tile
from . import typed as t
from .lower_state import State

Lower = Callable[[t.TExpr], Value]
"""Lowers a subexpression in the current state."""

UNMASKED = {"point": "a point is the caller's duty", "rest": "a slice to the end is never masked"}
"""Range kinds that are never masked, with the reason that `why` carries."""


def load(state: State, expr: t.SliceLoad, lower: Lower, name: str) -> Value:
    tensor, offsets, extents = _place(state, expr.base, expr.subs, lower)
    guards, why = _guards(expr.subs)
    out = Value(name or expr.base.name, expr.type)
    op = Load(tensor=tensor, offsets=offsets, extents=extents, guards=guards, why=why, out=out)
    return state.build.emit(op).out


def store(state: State, stmt: t.SliceStore, value: Value, lower: Lower) -> None:
    tensor, offsets, extents = _place(state, stmt.base, stmt.subs, lower)
    guards, why = _guards(stmt.subs)
    state.build.emit(Store(tensor=tensor, offsets=offsets, extents=extents, value=value, guards=guards, why=why))


def load_point(state: State, expr: t.PointLoad, lower: Lower, name: str) -> Value:
    tensor, offsets, extents = _place(state, expr.base, expr.subs, lower)
    out = Value(name or expr.base.name, expr.type)
    scope = state.scopes.get(expr, "cta")
    return state.build.emit(LoadPoint(tensor=tensor, offsets=offsets, extents=extents, scope=scope, out=out)).out


def store_point(state: State, stmt: t.PointStore, value: Value, lower: Lower) -> None:
    tensor, offsets, extents = _place(state, stmt.base, stmt.subs, lower)
    scope = state.scopes.get(stmt, "cta")
    state.build.emit(StorePoint(tensor=tensor, offsets=offsets, extents=extents, value=value, scope=scope))


def atomic(state: State, expr: t.Call, lower: Lower, name: str) -> Value:
    """`atomic_add(A[i], v)` and the like, in the order in which they are written: the subscripts, then the values."""
    place: t.Place = expr.args[0]
    tensor, offsets, extents = _place(state, place.base, place.subs, lower)
    op = Atomic(
        kind=expr.name.removeprefix("atomic_"),
        tensor=tensor,
        offsets=offsets,
        extents=extents,
        values=tuple(lower(value) for value in expr.args[1:]),
        scope=state.scopes[expr],
        out=Value(name or "old", expr.type),
    )
    return state.build.emit(op).out


def load_run(state: State, expr: t.Call, lower: Lower, name: str, align: int) -> Value:
    """`elem(A[.. :+ n])`; align: what the expression around it says, 0 for nothing."""
    place: t.Place = expr.args[0]
    tensor, offsets, extents = _place(state, place.base, place.subs, lower)
    op = LoadRun(
        tensor=tensor,
        offsets=offsets,
        extents=extents,
        axis=_run_axis(place),
        align=expr.attrs.get("align", align),
        scope=state.scopes.get(expr, "thread"),
        out=Value(name or place.base.name, expr.type),
    )
    return state.build.emit(op).out


def store_run(state: State, expr: t.Call, lower: Lower) -> None:
    """`store(A[.. :+ n], v)`. The value is evaluated before the place's subscripts, as in an assignment."""
    place: t.Place = expr.args[0]
    value = lower(expr.args[1])
    tensor, offsets, extents = _place(state, place.base, place.subs, lower)
    op = StoreRun(
        tensor=tensor,
        offsets=offsets,
        extents=extents,
        value=value,
        axis=_run_axis(place),
        align=expr.attrs.get("align", 0),
        scope=state.scopes.get(expr, "thread"),
    )
    state.build.emit(op)


def _run_axis(place: t.Place) -> int:
    return next(axis for axis, sub in enumerate(place.subs) if sub.kind != "point")


def _place(
    state: State, base: t.Symbol, subs: tuple[t.Range, ...], lower: Lower
) -> tuple[Value, tuple[Value, ...], tuple[Value, ...]]:
    """The memory, and the offset and extent of each axis."""
    offsets = tuple(state.build.cast(lower(sub.start), INDEX) for sub in subs)
    memory, extents = memory_of(state, base)
    return memory, offsets, extents


def memory_of(state: State, base: t.Symbol) -> tuple[Value, tuple[Value, ...]]:
    """Where a symbol's elements lie, and the extent of each axis."""
    if isinstance(base.type, Tile):
        return state.buffers[base], tuple(state.extent(n) for n in base.type.shape)
    assert isinstance(base.type, Tensor)
    return state.tensors[base], tuple(state.extent(dim) for dim in base.type.dims)


def _guards(subs: tuple[t.Range, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(guards, why), one of each per axis."""
    guards = tuple("" if sub.kind in UNMASKED else "both" for sub in subs)
    return guards, tuple(UNMASKED.get(sub.kind, "") for sub in subs)

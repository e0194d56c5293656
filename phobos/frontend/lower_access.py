"""Tensor accesses of the typed tree -> `load`, `store`, `load_point`, `store_point`.

Guards are provisional: every axis whose span has a constant length starts as "both", with no reason, and the guard
pass drops what it proves. Two kinds of axis never have a guard, whatever is proved, and say why: `A[s:]`, and a point
among slices. An access has one offset and one extent per axis of the tensor, both of them index values.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.core import Value
from ..ir.tile_ops import Load, LoadPoint, Store, StorePoint
from ..ir.types import INDEX, Tensor
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
    return state.build.emit(LoadPoint(tensor=tensor, offsets=offsets, extents=extents, out=out)).out


def store_point(state: State, stmt: t.PointStore, value: Value, lower: Lower) -> None:
    tensor, offsets, extents = _place(state, stmt.base, stmt.subs, lower)
    state.build.emit(StorePoint(tensor=tensor, offsets=offsets, extents=extents, value=value))


def _place(
    state: State, base: t.Symbol, subs: tuple[t.Range, ...], lower: Lower
) -> tuple[Value, tuple[Value, ...], tuple[Value, ...]]:
    """The tensor, and the offset and extent of each axis."""
    assert isinstance(base.type, Tensor)
    offsets = tuple(state.build.cast(lower(sub.start), INDEX) for sub in subs)
    return state.tensors[base], offsets, tuple(state.extent(dim) for dim in base.type.dims)


def _guards(subs: tuple[t.Range, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(guards, why), one of each per axis."""
    guards = tuple("" if sub.kind in UNMASKED else "both" for sub in subs)
    return guards, tuple(UNMASKED.get(sub.kind, "") for sub in subs)

"""Acquire and release: what strong accesses and fences carry from thread to thread, for the race check.

A release publishes what its thread knows at the location; an acquire of the location learns it. A fence before a strong
store, or after a strong load, does the same. A read-modify-write adds to what its location carries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .access import Access
from .carried import Orderings
from .clocks import Knowledge
from .state import State

Array = NDArray[Any]


def orderings(state: State) -> Orderings:
    """The machine's orderings."""
    if state.orderings is None:
        state.orderings = Orderings()
    return state.orderings


def _each(state: State, lanes: Array | None, place: Array) -> list[tuple[int, int, int]]:
    who = np.arange(state.lanes) if lanes is None else lanes
    threads = state.clocks.thread[who]
    return list(zip(who.tolist(), threads.tolist(), place.tolist(), strict=True))


def stored(state: State, part: Access, lanes: Array | None, place: Array, order: str, adds: bool) -> None:
    """Before a strong store (or, with `adds`, a read-modify-write)."""
    if state.global_races is None and state.shared_races is None:
        return
    table = orderings(state)
    for lane, thread, byte in _each(state, lanes, place):
        knowledge = state.clocks.released(lane) if order in ("release", "acq_rel") else table.fenced.get(thread)
        key = (part.space, byte)
        if knowledge is None:
            if not adds:
                table.at.pop(key, None)
        elif adds and key in table.at:
            table.at[key] = table.at[key].copy()
            table.at[key].join(knowledge)
        else:
            table.at[key] = knowledge


def loaded(state: State, part: Access, lanes: Array | None, place: Array, order: str) -> None:
    """After a strong load."""
    if state.global_races is None and state.shared_races is None:
        return
    table = orderings(state)
    if not table.at:
        return
    for lane, thread, byte in _each(state, lanes, place):
        knowledge = table.at.get((part.space, byte))
        if knowledge is not None:
            if order in ("acquire", "acq_rel"):
                state.clocks.acquire(lane, knowledge)
            else:
                table.seen.setdefault(thread, Knowledge()).join(knowledge)


def fence(state: State, lanes: Array | None) -> None:
    """A fence of these lanes."""
    if state.global_races is None and state.shared_races is None:
        return
    table = orderings(state)
    who = np.arange(state.lanes) if lanes is None else lanes
    for lane, thread in zip(who.tolist(), state.clocks.thread[who].tolist(), strict=True):
        seen = table.seen.pop(thread, None)
        if seen is not None:
            state.clocks.acquire(lane, seen)
        table.fenced[thread] = state.clocks.released(lane)

"""Runs independent instructions of one form as one: sixteen fused multiply-adds cost little more than one.

Within a segment, a pure elementwise step may join an earlier step of the same form when no step in between touches its
registers. The rows of all of them are gathered, the function is applied once, and the rows scattered. Only the order of
pure register work changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .state import State
from .table import Batch, Source, Step

Array = NDArray[Any]
ELEMENTS = 16384  # a batch's rows should stay in the first caches


@dataclass(slots=True)
class Item:
    """A step with the registers that it reads and writes."""

    step: Step
    reads: set[str]
    writes: set[str]


@dataclass(slots=True)
class _Place:
    items: list[Item]
    key: Any
    limit: int = 0


@dataclass(slots=True)
class _Schedule:
    places: list[_Place] = field(default_factory=list)
    last_write: dict[str, int] = field(default_factory=dict)
    last_read: dict[str, int] = field(default_factory=dict)
    open: dict[Any, int] = field(default_factory=dict)

    def put(self, item: Item, key: Any, limit: int) -> None:
        """Join an open place of the key if dependences allow, else open one at the end."""
        at = self.open.get(key, -1) if key is not None else -1
        if at >= 0 and len(self.places[at].items) < limit and self._may_join(item, at):
            self.places[at].items.append(item)
        else:
            at = len(self.places)
            self.places.append(_Place([item], key))
            if key is not None:
                self.open[key] = at
        for name in item.reads:
            self.last_read[name] = max(self.last_read.get(name, -1), at)
        for name in item.writes:
            self.last_write[name] = max(self.last_write.get(name, -1), at)

    def _may_join(self, item: Item, at: int) -> bool:
        # Reads come before the writes of the same batch, so a write may meet a read there but not another write.
        return (
            all(self.last_write.get(name, -1) < at for name in item.reads)
            and all(self.last_write.get(name, -1) < at for name in item.writes)
            and all(self.last_read.get(name, -1) <= at for name in item.writes)
        )


def batched(state: State, items: list[Item]) -> list[Step]:
    """The steps of a segment, those that can be run together put together."""
    limit = max(ELEMENTS // max(state.lanes, 1), 1)
    if limit < 3:
        return [item.step for item in items]
    schedule = _Schedule()
    for item in items:
        schedule.put(item, _key(item.step.batch), limit)
    steps: list[Step] = []
    for place in schedule.places:
        first = place.items[0].step.batch
        # A single NumPy function is cheaper than gathering its operands, until there are many.
        least = 6 if first is not None and isinstance(first.fn, np.ufunc) else 2
        if first is None or len(place.items) < least:
            steps += [item.step for item in place.items]
        else:
            steps.append(_together(state, [item.step.batch for item in place.items if item.step.batch is not None]))
    return steps


def _key(batch: Batch | None) -> Any:
    if batch is None:
        return None
    return batch.key, batch.target.bits, batch.target.dtype, tuple((s.bits, s.dtype) for s in batch.sources)


def _together(state: State, batches: list[Batch]) -> Step:
    fn = batches[0].fn
    gathers = [_gather(state, [batch.sources[at] for batch in batches]) for at in range(len(batches[0].sources))]
    target = batches[0].target
    slab = state.registers.slabs[target.bits]
    out: Array = slab if target.bits == 1 else slab.view(target.dtype)
    rows: Any = _rows([batch.target.row for batch in batches])
    count, lanes = len(batches), state.lanes

    def full() -> None:
        out[rows] = fn(*[gather() for gather in gathers])

    def masked(mask: Array) -> None:
        kept = out[rows].copy()
        result = np.broadcast_to(fn(*[gather() for gather in gathers]), (count, lanes))
        np.copyto(kept, result, where=mask, casting="unsafe")
        out[rows] = kept

    return Step(full, masked)


def _rows(rows: list[int]) -> slice | Array:
    if all(b - a == 1 for a, b in itertools.pairwise(rows)):
        return slice(rows[0], rows[-1] + 1)
    return np.array(rows)


def _gather(state: State, sources: list[Source]) -> Callable[[], Array]:
    if sources[0].bits == 0:
        constants = [source.constant for source in sources]
        first = constants[0]
        assert first is not None
        if all(c is not None and c.ndim == 0 and c == first for c in constants):
            return lambda: first
        stacked = np.stack([np.broadcast_to(c, (state.lanes,)) for c in constants if c is not None])
        if all(c is not None and c.ndim == 0 for c in constants):
            return lambda: stacked
        # Special registers are live rows.
        return lambda: np.stack([np.broadcast_to(c, (state.lanes,)) for c in constants if c is not None])
    slab = state.registers.slabs[sources[0].bits]
    view: Array = slab if sources[0].bits == 1 else slab.view(sources[0].dtype)
    rows = [source.row for source in sources]
    if len(set(rows)) == 1:
        same = view[rows[0] : rows[0] + 1]
        return lambda: same
    place = _rows(rows)
    if isinstance(place, slice):
        straight = view[place]
        return lambda: straight
    taken = place
    return lambda: view.take(taken, axis=0)

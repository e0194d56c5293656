"""The meaning of CTA ops: buffers in shared memory, slots, and async copies that arrive at their `wait`.

What threads do to each other is not seen here (a tile is moved at once, `sync` means nothing); what is seen is whether
the right slot holds the right tile at the right time, and whether buffers that share bytes are in each other's way:
memory starts poisoned, and a copy's target is poison until the copy is waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ..ir.core import Value
from ..ir.cta_ops import Alloc, Commit, CopyAsync, DotFma, Read, Sync, Wait, Write
from ..ir.tile_ops import element, shape_of
from ..ir.types import Buffer, Scalar
from ..layout.shared import Swizzled
from .machine import Machine, contraction, means
from .memory import Access, InterpError
from .numbers import Array, stored, to_held, to_stored

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
CTA_OPS = (Alloc, Commit, CopyAsync, DotFma, Read, Sync, Wait, Write)
POISON = 0xFF
"""NaN in every float type, -1 in every int."""


@dataclass(eq=False)
class SharedMemory:
    """One CTA's shared memory. Before `pack` every buffer has bytes of its own."""

    arena: Bytes = field(default_factory=lambda: np.full(0, POISON, np.uint8))
    bytes_of: dict[Value, Bytes] = field(default_factory=dict)
    open: list[tuple[Bytes, Bytes]] = field(default_factory=list)
    groups: list[list[tuple[Bytes, Bytes]]] = field(default_factory=list)

    def allocate(self, op: Alloc) -> None:
        assert isinstance(op.out.type, Buffer)
        size = op.out.type.size_bytes
        if op.offset_bytes < 0:
            self.bytes_of[op.out] = np.full(size, POISON, np.uint8)
            return
        end = op.offset_bytes + size
        if end > len(self.arena):
            # Views of a smaller arena would miss later writes: make it once, and large enough for any chip.
            assert not len(self.arena), "shared memory outgrew its arena"
            self.arena = np.full(max(end, 1 << 18), POISON, np.uint8)
        self.bytes_of[op.out] = self.arena[op.offset_bytes : end]


def _shared(m: Machine) -> SharedMemory:
    if m.shared is None:
        m.shared = SharedMemory()
    assert isinstance(m.shared, SharedMemory)
    return m.shared


def _slot(m: Machine, op: CopyAsync | Write | Read | DotFma, buffer: Value, slot: Value) -> tuple[Bytes, Buffer]:
    """The bytes of one slot."""
    t = buffer.type
    assert isinstance(t, Buffer)
    number = int(m[slot])
    if not 0 <= number < t.slots:
        raise InterpError(op, f"slot {number} of {buffer}, which has {t.slots}")
    start = number * t.slot_bytes
    return _shared(m).bytes_of[buffer][start : start + t.slot_bytes], t


def _places(t: Buffer) -> np.ndarray[Any, Any]:
    """Offset in elements of each element of the tile."""
    grid = np.meshgrid(*(np.arange(s) for s in t.shape), indexing="ij")
    return np.asarray(t.layout.offset(tuple(grid)))


def _put(into: Bytes, t: Buffer, tile: Array) -> None:
    into.view(stored(t.elem))[_places(t)] = to_stored(tile, t.elem)


def _get(out_of: Bytes, t: Buffer) -> Array:
    return to_held(out_of.view(stored(t.elem))[_places(t)], t.elem)


@means(Alloc)
def _alloc(m: Machine, op: Alloc) -> Sequence[Array]:
    shared = _shared(m)
    shared.allocate(op)
    t = op.out.type
    assert isinstance(t, Buffer)
    if t.slots == 1 and t.layout == Swizzled(t.shape, len(t.shape) - 1):  # what loads and stores may address
        elements = shared.bytes_of[op.out].view(stored(t.elem))[: prod(t.shape)]
        m.arrays[op.out] = elements.reshape(t.shape)  # a view: it sees all later writes
    return (np.int32(0),)


@means(CopyAsync)
def _copy_async(m: Machine, op: CopyAsync) -> Sequence[Array]:
    into, t = _slot(m, op, op.buffer, op.slot)
    offsets, extents = m.numbers(op.offsets), m.numbers(op.extents)
    elem: Scalar = element(op.tensor.type)
    tile = Access(op, op.tensor, elem, m.arrays[op.tensor], offsets, extents, op.guards).load(op.layout.shape)
    arriving = np.full(len(into), POISON, np.uint8)
    _put(arriving, t, tile.reshape(t.shape))
    into[:] = POISON
    _shared(m).open.append((into, arriving))
    return ()


@means(Commit)
def _commit(m: Machine, op: Commit) -> Sequence[Array]:
    shared = _shared(m)
    shared.groups.append(shared.open)
    shared.open = []
    return ()


@means(Wait)
def _wait(m: Machine, op: Wait) -> Sequence[Array]:
    shared = _shared(m)
    while len(shared.groups) > op.pending:
        for into, arriving in shared.groups.pop(0):
            into[:] = arriving
    return ()


@means(Write)
def _write(m: Machine, op: Write) -> Sequence[Array]:
    into, t = _slot(m, op, op.buffer, op.slot)
    _put(into, t, np.broadcast_to(m[op.value], t.shape))
    return ()


@means(Read)
def _read(m: Machine, op: Read) -> Sequence[Array]:
    return (np.reshape(_get(*_slot(m, op, op.buffer, op.slot)), shape_of(op.out.type)),)


@means(DotFma)
def _dot_fma(m: Machine, op: DotFma) -> Sequence[Array]:
    a, b = _get(*_slot(m, op, op.a, op.a_slot)), _get(*_slot(m, op, op.b, op.b_slot))
    assert isinstance(op.a.type, Buffer)
    assert isinstance(op.b.type, Buffer)
    return (contraction(m, (a, op.a.type.elem), (b, op.b.type.elem), op.trans_b, m[op.acc], element(op.acc.type)),)


@means(Sync)
def _sync(m: Machine, op: Sync) -> Sequence[Array]:
    return ()

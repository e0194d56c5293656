"""Which thread touches what: runs a synced kernel through the interpreter and finds accesses that nothing orders.

Between two barriers an element that one thread writes may not be read or written by another. An asynchronous copy holds
what it reads and writes until its thread has waited for it, through barriers too. Elements are told apart by their
address, so two tensors that share memory are one. Points and runs of single threads are followed like tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from phobos.interp import machine, shared
from phobos.interp.machine import Machine
from phobos.ir.core import Op, Value
from phobos.ir.cta_ops import Commit, CopyAsync, DotFma, Read, Sync, Wait, Write
from phobos.ir.kernel import Kernel
from phobos.ir.shape_ops import Gather
from phobos.ir.thread_ops import Barrier, LoadRun, StoreRun
from phobos.ir.tile_ops import Load, LoadPoint, Store, StorePoint
from phobos.ir.types import Buffer, Scalar, Tile, Vec
from phobos.layout.base import RegisterLayout

Ints = np.ndarray[Any, Any]
NOBODY, MANY, FLYING = -1, -2, -3
PAGE_BITS = 12
PAGE_MASK = (1 << PAGE_BITS) - 1


class RaceError(Exception):
    """Two threads met; the text has the op and where."""


class Threads:
    """Who read and wrote each byte since the last barrier, in pages of memory."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._readers: dict[int, Ints] = {}
        self._writers: dict[int, Ints] = {}
        self.open: list[tuple[bool, Ints, Ints]] = []
        self.groups: list[list[tuple[bool, Ints, Ints]]] = []

    def pairs(self, layout: RegisterLayout, owner: bool) -> list[tuple[Ints, tuple[Ints, ...]]]:
        """For each register the threads that hold an element, and its coordinates."""
        tid = np.arange(self.threads)
        base = [np.broadcast_to(np.asarray(b), tid.shape) for b in layout.thread_base(tid % 32, tid // 32)]
        out = []
        for r in range(layout.registers):
            at = [b + o for b, o in zip(base, layout.register_offset(r), strict=True)]
            kept = np.logical_and.reduce([(c < s) for c, s in zip(at, layout.shape, strict=True)])
            threads: Ints
            threads, coords = tid[kept], tuple(c[kept] for c in at)
            if owner and len(threads):
                _, first = np.unique(np.ravel_multi_index(coords, layout.shape), return_index=True)
                threads, coords = threads[first], tuple(c[first] for c in coords)
            out.append((threads, coords))
        return out

    def touch(self, op: Op, writes: bool, threads: Ints, places: Ints) -> None:
        """Threads read or write bytes; of a byte that several of them write only one is given."""
        for page in np.unique(places >> PAGE_BITS).tolist():
            here = places >> PAGE_BITS == page
            who, at = threads[here], places[here] & PAGE_MASK
            written, read = self.writers(page), self.readers(page)
            wrong = (written[at] != NOBODY) & (written[at] != who)
            if writes:
                wrong |= (read[at] != NOBODY) & (read[at] != who)
            if wrong.any():
                i = int(np.flatnonzero(wrong)[0])
                raise RaceError(
                    f"{op.span}: {op.name}: thread {who[i]} {'writes' if writes else 'reads'} what thread "
                    f"{written[at[i]]} wrote or {read[at[i]]} read, and no barrier is between them"
                )
            if writes:
                written[at] = who
            else:
                read[at] = np.where((read[at] == NOBODY) | (read[at] == who), who, MANY)
                read[at[(read[at] != who) & (read[at] != MANY)]] = MANY

    def mark(self, writes: bool, threads: Ints, places: Ints) -> None:
        """Set who touched bytes, whatever was there."""
        for page in np.unique(places >> PAGE_BITS).tolist():
            here = places >> PAGE_BITS == page
            (self.writers if writes else self.readers)(page)[places[here] & PAGE_MASK] = threads[here]

    def writers(self, page: int) -> Ints:
        return self._page(self._writers, page)

    def readers(self, page: int) -> Ints:
        return self._page(self._readers, page)

    def _page(self, pages: dict[int, Ints], number: int) -> Ints:
        if number not in pages:
            pages[number] = np.full(PAGE_MASK + 1, NOBODY, np.int32)
        return pages[number]

    def barrier(self) -> None:
        self._readers.clear()
        self._writers.clear()
        for group in (self.open, *self.groups):
            for writes, who, places in group:
                self.mark(writes, np.full_like(who, FLYING), places)

    def fly(self, op: Op, writes: bool, threads: Ints, places: Ints) -> None:
        """What an asynchronous copy touches is nobody's until its thread has waited."""
        self.touch(op, writes, threads, places)
        self.open.append((writes, threads, places))
        self.mark(writes, np.full_like(threads, FLYING), places)

    def wait(self, pending: int) -> None:
        while len(self.groups) > pending:
            for group in self.groups.pop(0):
                self.mark(*group)


def _threads(m: Machine) -> Threads:
    found = m.__dict__.get("threads")
    assert isinstance(found, Threads)
    return found


def _tensor_places(m: Machine, op: Any, coords: Sequence[Ints]) -> tuple[Ints, Ints]:
    """(addresses, which of the coordinates are inside the guards)."""
    array = m.arrays[op.tensor]
    at, kept = np.zeros(coords[0].shape, np.int64), np.ones(coords[0].shape, bool)
    guards = getattr(op, "guards", ("",) * len(op.offsets))
    for c, offset, extent, guard, stride in zip(
        coords, m.numbers(op.offsets), m.numbers(getattr(op, "ends", op.extents)), guards, array.strides, strict=True
    ):
        here = c + offset
        if guard in ("hi", "both"):
            kept &= here < extent
        if guard in ("lo", "both"):
            kept &= here >= 0
        at += here * stride
    return np.asarray(at + array.__array_interface__["data"][0]), kept


def _size(op: Load | Store | LoadPoint | StorePoint | LoadRun | StoreRun | Gather) -> int:
    """The bytes of an element that are followed: of a buffer all, since buffers of two types may share bytes."""
    t = op.tensor.type
    return t.elem.size_bytes if isinstance(t, Buffer) else 1


def _blocked(value: Value) -> tuple[RegisterLayout, Scalar]:
    """The layout and the element type of a tile."""
    t = value.type
    assert isinstance(t, Tile)
    assert isinstance(t.layout, RegisterLayout)
    return t.layout, t.elem


def _tile(m: Machine, op: Load | Store) -> None:
    threads = _threads(m)
    stores = isinstance(op, Store)
    layout, _ = _blocked(op.value if isinstance(op, Store) else op.out)
    for who, coords in threads.pairs(layout, stores):
        where, kept = _tensor_places(m, op, coords)
        _each_byte(op, threads, stores, who[kept], where[kept], _size(op))


def _gather(m: Machine, op: Gather) -> None:
    """Each thread reads at the indices of the elements that it holds."""
    threads = _threads(m)
    layout, _ = _blocked(op.out)
    array = m.arrays[op.tensor]
    for who, coords in threads.pairs(layout, False):
        where = np.full(who.shape, array.__array_interface__["data"][0], np.int64)
        for index, stride in zip(op.indices, array.strides, strict=True):
            at = np.asarray(m[index])
            where += (at[coords] if isinstance(index.type, Tile) else at).astype(np.int64) * stride
        _each_byte(op, threads, False, who, where, _size(op))


def _points(m: Machine, op: LoadPoint | StorePoint | LoadRun | StoreRun) -> None:
    """Points and runs: each active thread at its own place; a store by as many threads as its scope says.

    Of what a warp loads for a store that it makes once, only the storing lane's matters: that one alone is followed.
    """
    threads = _threads(m)
    writes = isinstance(op, StorePoint | StoreRun)
    who = np.flatnonzero(m.lanes())
    if op.scope == "warp" or (writes and op.scope == "cta"):
        _, first = np.unique(who // 32 if op.scope == "warp" else np.zeros_like(who), return_index=True)
        who = who[first]
    array = m.arrays[op.tensor]
    run = (op.out if isinstance(op, LoadPoint | LoadRun) else op.value).type
    where: Ints = np.full(
        (len(who), run.n if isinstance(run, Vec) else 1), array.__array_interface__["data"][0], np.int64
    )
    for axis, (offset, stride) in enumerate(zip(op.offsets, array.strides, strict=True)):
        where += np.broadcast_to(m[offset], (threads.threads,))[who, None].astype(np.int64) * stride
        if isinstance(op, LoadRun | StoreRun) and axis == op.axis:
            where += np.arange(where.shape[1]) * stride
    who, where = np.repeat(who, where.shape[1]), np.reshape(where, -1)
    if writes and len(np.unique(where)) < len(where):
        raise RaceError(f"{op.span}: {op.name}: two threads write one element at once")
    _each_byte(op, threads, writes, who, where, _size(op))


def _buffer_places(m: Machine, op: Any, buffer: Any, slot: Any, coords: Sequence[Ints], shape: tuple[int, ...]) -> Ints:
    """The addresses of the elements of a tile of a shape."""
    bytes_, t = shared._slot(m, op, buffer, slot)
    assert isinstance(t, Buffer)
    if shape != t.shape:  # the same elements, row by row
        coords = np.unravel_index(np.ravel_multi_index(tuple(coords), shape), t.shape)
    at = np.asarray(t.layout.offset(tuple(coords))) * t.elem.size_bytes
    return np.asarray(at + bytes_.__array_interface__["data"][0])


def _each_byte(op: Op, threads: Threads, writes: bool, who: Ints, where: Ints, size: int) -> None:
    for byte in range(size):
        threads.touch(op, writes, who, where + byte)


def _shared(m: Machine, op: Write | Read) -> None:
    threads = _threads(m)
    writes = isinstance(op, Write)
    layout, elem = _blocked(op.value if isinstance(op, Write) else op.out)
    for who, coords in threads.pairs(layout, writes):
        where = _buffer_places(m, op, op.buffer, op.slot, coords, layout.shape)
        _each_byte(op, threads, writes, who, where, elem.size_bytes)


def _copy(m: Machine, op: CopyAsync) -> None:
    threads = _threads(m)
    t = op.buffer.type
    assert isinstance(t, Buffer)
    for who, coords in threads.pairs(op.layout, True):
        where, kept = _tensor_places(m, op, coords)
        threads.fly(op, False, who[kept], where[kept])
        places = _buffer_places(m, op, op.buffer, op.slot, coords, op.layout.shape)
        for byte in range(t.elem.size_bytes):
            threads.fly(op, True, who, places + byte)


def _dot(m: Machine, op: DotFma) -> None:
    threads = _threads(m)
    layout, _ = _blocked(op.acc)
    rows: dict[int, set[int]] = {}
    columns: dict[int, set[int]] = {}
    for who, (i, j) in threads.pairs(layout, False):
        for t, r, c in zip(who.tolist(), i.tolist(), j.tolist(), strict=True):
            rows.setdefault(r, set()).add(t)
            columns.setdefault(c, set()).add(t)
    for buffer, slot, need, free in (
        (op.a, op.a_slot, rows, 0),
        (op.b, op.b_slot, columns, 0 if op.trans_b else 1),
    ):
        t = buffer.type
        assert isinstance(t, Buffer)
        k = np.arange(t.shape[1 - free])
        for at, readers in need.items():
            line = np.full(k.shape, at)
            where = _buffer_places(m, op, buffer, slot, (line, k) if free == 0 else (k, line), t.shape)
            for reader in _two(readers):
                for byte in range(t.elem.size_bytes):
                    threads.touch(op, False, np.full(k.shape, reader), where + byte)


def _two(readers: Iterable[int]) -> list[int]:
    """Two of the readers say as much as all of them."""
    ordered = sorted(readers)
    return [*ordered[:1], *ordered[-1:]] if len(ordered) > 1 else ordered


HOOKS: dict[type[Op], Any] = {
    Load: _tile,
    Store: _tile,
    Gather: _gather,
    LoadPoint: _points,
    StorePoint: _points,
    LoadRun: _points,
    StoreRun: _points,
    Write: _shared,
    Read: _shared,
    CopyAsync: _copy,
    DotFma: _dot,
}


def run(
    kernel: Kernel,
    arrays: dict[str, np.ndarray[Any, Any]],
    scalars: dict[str, Any],
    grid: tuple[int, int, int],
    index_bits: int = 32,
) -> None:
    """As `interp.run`; raises RaceError."""
    from phobos.interp import run as interpret

    before = dict(machine.MEANING)

    def hooked(meaning: Any, hook: Any) -> Any:
        def both(m: Machine, op: Any) -> Any:
            if "threads" not in m.__dict__:
                m.__dict__["threads"] = Threads(kernel.threads)
            if hook is not None:
                hook(m, op)
            elif isinstance(op, Barrier) or (isinstance(op, Sync) and op.scope == "cta"):
                _threads(m).barrier()
            elif isinstance(op, Commit):
                threads = _threads(m)
                threads.groups.append(threads.open)
                threads.open = []
            elif isinstance(op, Wait):
                _threads(m).wait(op.pending)
            return meaning(m, op)

        return both

    try:
        for cls in (*HOOKS, Barrier, Sync, Commit, Wait):
            machine.MEANING[cls] = hooked(before[cls], HOOKS.get(cls))
        interpret(kernel, arrays, scalars, grid, index_bits)
    finally:
        machine.MEANING.clear()
        machine.MEANING.update(before)

"""How a tile gets from one register layout to another: not at all, by shuffles, or through which shared buffer.

Takes two layouts of one shape. Everything static is finite: what a thread needs and who holds it is enumerated over the
CTA's threads, and the passes that shared memory makes over a buffer are counted over a warp's accesses. Of the
swizzles the one with the fewest passes is taken; where nothing is in the way, both sides reach the least there can be.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..layout.register import Blocked
from ..layout.shared import Swizzled
from .choose import BANK_BYTES, BANKS, VECTOR_BYTES, power_of_two_in

Table = NDArray[np.int64]
WAVE_BYTES = BANKS * BANK_BYTES
MOST_RUNS = 16
"""Accesses of a warp that are counted; further ones repeat their pattern."""
MOST_SHUFFLES = 2
"""Shuffles for each register of the result up to which they are cheaper than a write, a barrier and a read."""


@dataclass(frozen=True)
class Exchange:
    """A shared buffer between two layouts. write_width, read_width: elements of one access along its contiguous axis.
    conflicts: passes over it beyond the least that its bytes need, of the accesses that were counted."""

    buffer: Swizzled
    write_width: int
    read_width: int
    conflicts: int


def held_alike(source: Blocked, target: Blocked, threads: int) -> bool:
    """Whether every thread holds in the source, in the same place, all that it holds in the target.

    So it is where they differ along axes of extent 1 only: the threads beyond such an axis hold nothing.
    """
    tid = np.arange(threads)
    have, want = (layout.thread_base(tid % 32, tid // 32) for layout in (source, target))
    inside = np.ones(threads, bool)
    for at, extent in zip(want, target.shape, strict=True):
        inside &= np.asarray(at) < extent
    if any((inside & (np.asarray(a) != np.asarray(b))).any() for a, b in zip(have, want, strict=True)):
        return False
    registers = {target.register_offset(r) for r in range(target.registers)}
    return registers <= {source.register_offset(r) for r in range(source.registers)}


def places(layout: Blocked, threads: int) -> Table:
    """The row-major number of the element in each register of each thread, [register, thread]; -1 in surplus slots."""
    tid = np.arange(threads)
    base = [np.broadcast_to(np.asarray(b, np.int64), (threads,)) for b in layout.thread_base(tid % 32, tid // 32)]
    offsets = np.array([layout.register_offset(r) for r in range(layout.registers)], np.int64)
    number = np.zeros((layout.registers, threads), np.int64)
    held = np.ones((layout.registers, threads), bool)
    for axis, extent in enumerate(layout.shape):
        at = base[axis][None, :] + offsets[:, axis, None]
        number = number * extent + at
        held &= at < extent
    return np.where(held, number, -1)


def flattened_alike(source: Blocked, target: Blocked, threads: int) -> tuple[int, ...] | None:
    """For two shapes of the same elements: the source's register for each of the target's when every thread holds all
    that it needs, in the same register in every thread; None when it does not. -1 stands for any register."""
    have, want = places(source, threads), places(target, threads)
    found = []
    for row in want:
        needed = row >= 0
        register = next((r for r, held in enumerate(have) if (held[needed] == row[needed]).all()), None)
        if register is None:
            return None
        found.append(register if needed.any() else -1)
    return tuple(found)


@dataclass(frozen=True)
class Shuffles:
    """Each result register is one of some source registers of another lane. registers: those, for each of the
    result's registers."""

    registers: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        return sum(map(len, self.registers))


@lru_cache(maxsize=256)
def shuffles(source: Blocked, target: Blocked, threads: int) -> Shuffles | None:
    """The shuffles that make the target out of the source, where every element that a warp needs is held in it.

    The lane that holds an element is the first along axes that are replicated. None where warps exchange elements.
    """
    if any(r == 2 for r in (*source.replicated, *target.replicated)):
        return None
    have, want = places(source, threads), places(target, threads)
    found: list[tuple[int, ...]] = []
    for row in want:
        registers: set[int] = set()
        for warp in range(threads // 32):
            lanes = slice(warp * 32, warp * 32 + 32)
            needed = row[lanes][row[lanes] >= 0]
            held = have[:, lanes]
            where = {int(e): r for r in reversed(range(len(held))) for e in held[r] if e >= 0}
            if any(int(e) not in where for e in needed):
                return None
            registers |= {where[int(e)] for e in needed}
        found.append(tuple(sorted(registers)))
    return Shuffles(tuple(found))


def by_shuffles(source: Blocked, target: Blocked, threads: int) -> Shuffles | None:
    """The shuffles where they are cheaper than shared memory."""
    found = shuffles(source, target, threads) if target.registers <= MOST_RUNS * 2 else None
    return found if found is not None and found.count <= MOST_SHUFFLES * target.registers else None


def moved(source: Blocked, target: Blocked, threads: int) -> str:
    """How a tile gets from one layout to another: "" where nothing moves, "shuffles" or "shared"."""
    if held_alike(source, target, threads):
        return ""
    return "shuffles" if by_shuffles(source, target, threads) is not None else "shared"


@lru_cache(maxsize=256)
def exchange(source: Blocked, target: Blocked, elem_bytes: int) -> Exchange:
    """The buffer through which a tile goes with the fewest passes of shared memory."""
    best: tuple[int, Exchange] | None = None
    for buffer in _buffers(source.shape, elem_bytes):
        writes, least_writes, write_width = _passes(buffer, source, elem_bytes)
        reads, least_reads, read_width = _passes(buffer, target, elem_bytes)
        conflicts = writes - least_writes + reads - least_reads
        if best is None or conflicts < best[0]:
            best = (conflicts, Exchange(buffer, write_width, read_width, conflicts))
        if not conflicts:
            break
    assert best is not None
    return best[1]


def _buffers(shape: tuple[int, ...], elem_bytes: int) -> list[Swizzled]:
    """Candidates, the plainest and those of the widest chunks first."""
    last = len(shape) - 1
    found = [Swizzled(shape, last)]
    for chunk_bytes in (16, 8, 4):
        chunk = max(chunk_bytes // elem_bytes, 1)
        if shape[last] % chunk or chunk * elem_bytes != chunk_bytes:
            continue
        size = min(WAVE_BYTES // chunk_bytes, power_of_two_in(shape[last] // chunk))
        while size > 1:
            for multiply, shift in itertools.product((1, 8, 2, 4, 3, 5, 7), (31, 1, 2, 3, 4, 5)):
                found.append(Swizzled(shape, last, chunk, multiply, shift, size - 1))
            size //= 2
    return found


def access_elems(buffer: Swizzled, layout: Blocked, elem_bytes: int) -> int:
    """Elements of one access along the buffer's contiguous axis: whole vectors inside a row, and inside a chunk."""
    axis = buffer.fast
    if layout.replicated[axis]:
        return 1
    row = power_of_two_in(buffer.chunk if buffer.mask else buffer.pitch)
    return min(row, power_of_two_in(layout.vector[axis]), max(VECTOR_BYTES // elem_bytes, 1))


def _passes(buffer: Swizzled, layout: Blocked, elem_bytes: int) -> tuple[int, int, int]:
    """Passes of the first and the last warp over the buffer, the least that there can be, the width of an access."""
    width = access_elems(buffer, layout, elem_bytes)
    size = width * elem_bytes
    group = min(32, max(WAVE_BYTES // size, 1))
    passes = least = 0
    starts = [r for r in range(layout.registers) if layout.register_offset(r)[buffer.fast] % width == 0][:MOST_RUNS]
    lane = np.arange(32)
    for warp, register in itertools.product({0, prod(layout.warps) - 1}, starts):
        coords = [np.broadcast_to(np.asarray(c), (32,)) for c in layout.coords(register, lane, warp)]
        held = np.logical_and.reduce([c < s for c, s in zip(coords, layout.shape, strict=True)])
        first = np.asarray(buffer.offset(tuple(np.where(held, c, 0) for c in coords))) * elem_bytes // BANK_BYTES
        words = first[:, None] + np.arange(max(size // BANK_BYTES, 1))
        for start in range(0, 32, group):
            part = np.unique(words[start : start + group][held[start : start + group]])
            if part.size:
                passes += int(np.bincount(part % BANKS).max())
                least += -(-part.size // BANKS)
    return passes, least, width

"""What a launch did: instructions by kind, memory traffic per access, bank conflicts, masked lanes.

Instructions are counted per warp that executes them, as a GPU issues them. Sectors are 32 bytes and lines 128 bytes of
global memory touched by one warp's access. A shared access takes as many passes as its busiest bank has different words
(4-byte words in 32 banks; 8-byte accesses go by half warps, 16-byte ones by quarters); conflicts are passes beyond
those that its width needs anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
WARP = 32


@dataclass(slots=True)
class AccessCount:
    """Traffic of one memory instruction, summed over its executions by warps."""

    name: str
    line: int
    source: str
    warps: int = 0
    bytes: int = 0
    sectors: int = 0
    lines: int = 0
    passes: int = 0
    conflicts: int = 0


@dataclass
class Counters:
    """The sums of a launch. `masked_lanes` are lanes of issued warps that did not take part."""

    instructions: dict[str, int] = field(default_factory=dict)
    masked_lanes: int = 0
    accesses: dict[int, AccessCount] = field(default_factory=dict)
    _patterns: dict[int, tuple[Array, int, int, int, int]] = field(default_factory=dict)

    def merge(self, other: Counters) -> None:
        """Add another launch's or worker's sums."""
        for name, count in other.instructions.items():
            self.instructions[name] = self.instructions.get(name, 0) + count
        self.masked_lanes += other.masked_lanes
        for site, theirs in other.accesses.items():
            mine = self.accesses.setdefault(site, AccessCount(theirs.name, theirs.line, theirs.source))
            for name in ("warps", "bytes", "sectors", "lines", "passes", "conflicts"):
                setattr(mine, name, getattr(mine, name) + getattr(theirs, name))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_patterns": {}}

    @property
    def bank_conflicts(self) -> int:
        return sum(access.conflicts for access in self.accesses.values())

    @property
    def sectors(self) -> int:
        return sum(access.sectors for access in self.accesses.values())

    def global_access(self, site: int, addresses: Array, lanes: Array | None, width: int, untouched: int = 0) -> None:
        """A warp-wide access to global memory: `width` bytes from each address, less those `untouched` in all."""
        self.accesses[site].bytes -= untouched
        self._count(site, addresses, lanes, width, 127, False)

    def shared_access(self, site: int, addresses: Array, lanes: Array | None, width: int) -> None:
        """A warp-wide access to shared memory."""
        self._count(site, addresses, lanes, width, 3, True)

    def _count(self, site: int, addresses: Array, lanes: Array | None, width: int, low: int, shared: bool) -> None:
        entry = self.accesses[site]
        # A pattern moved by whole lines (whole words in shared memory, which only turns the banks) counts the same.
        relative = addresses - (addresses[0] & ~addresses.dtype.type(low))
        known = self._patterns.get(site)
        if lanes is None and known is not None and np.array_equal(known[0], relative):
            _, warps, first, second, total = known
        else:
            warp = (np.arange(len(addresses)) if lanes is None else lanes) >> 5
            warps = len(np.unique(warp))
            total = len(addresses) * width
            if shared:
                first, second = _passes(addresses.astype(np.int64), warp, lanes, width)
            else:
                first, second = (_distinct(addresses.astype(np.int64), warp, width, shift) for shift in (5, 7))
            if lanes is None:
                self._patterns[site] = (relative, warps, first, second, total)
        entry.warps += warps
        entry.bytes += total
        if shared:
            entry.passes += first
            entry.conflicts += second
        else:
            entry.sectors += first
            entry.lines += second


def _distinct(addresses: Array, warp: Array, width: int, shift: int) -> int:
    """How many blocks of 2^shift bytes each warp touches, summed. An aligned access lies in one block."""
    return len(np.unique((warp.astype(np.int64) << 48) ^ (addresses >> shift)))


def _passes(addresses: Array, warp: Array, lanes: Array | None, width: int) -> tuple[int, int]:
    """Passes of a shared access, and how many of them are conflicts."""
    parts = max(width // 4, 1)
    lane = (np.arange(len(addresses)) if lanes is None else lanes) & 31
    group = warp.astype(np.int64) * parts + lane // (WARP // parts)
    words = (addresses >> 2)[None, :] + np.arange(parts)[:, None]
    keys = np.unique((np.broadcast_to(group, words.shape) << 40) | words)
    groups, inverse = np.unique(keys >> 40, return_inverse=True)
    busy = np.zeros((len(groups), 32), np.int64)
    np.add.at(busy, (inverse, keys & 31), 1)
    worst = busy.max(axis=1)
    return int(worst.sum()), int((worst - 1).sum())

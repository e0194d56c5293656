"""The memories: tensors in global memory with virtual addresses, shared memory per CTA, local memory per lane.

Each tensor lies in a region of 2^37 bytes of its own, in the middle of it, so that an index of 32 bits that runs out of
a tensor is still seen to belong to it. The bytes themselves stand in one arena, which workers share.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .types import UNSIGNED

Array = NDArray[Any]

REGION_BITS = 37
REGION = 1 << REGION_BITS
SHARED_WINDOW = 1 << 52
LOCAL_WINDOW = 1 << 53
PARAM_WINDOW = 1 << 54
WINDOW = 1 << 32
ALIGN = 256


@dataclass(frozen=True)
class Tensor:
    """An array argument: where it starts and ends in the bytes of its allocation, and what it is called.

    steps: the bytes from one index of each axis to the next, where the array has gaps; else ().
    """

    name: str
    start: int
    end: int
    itemsize: int
    shape: tuple[int, ...]
    steps: tuple[int, ...] = ()

    def describe(self, offset: int) -> str:
        """Where a byte offset into the allocation lies in the tensor."""
        if self.steps:
            return self._described(offset - self.start)
        element, extent = (offset - self.start) // self.itemsize, (self.end - self.start) // self.itemsize
        text = f"tensor {self.name}: element {element} of {extent}"
        if len(self.shape) > 1:
            subscript = []
            rest = element
            for extent in reversed(self.shape[1:]):
                subscript.append(rest % extent if extent else 0)
                rest = rest // extent if extent else 0
            subscript.append(rest)
            text += f" [{', '.join(map(str, reversed(subscript)))}] in shape {list(self.shape)}"
        return text

    def _described(self, rest: int) -> str:
        where = f"byte {rest} of {self.end - self.start}"
        subscript = []
        for step in self.steps:
            subscript.append(rest // step if step else 0)
            rest = rest % step if step else rest
        inside = all(0 <= i < max(n, 1) for i, n in zip(subscript, self.shape, strict=True))
        at = f"[{', '.join(map(str, subscript))}]" if inside else "between the rows"
        return f"tensor {self.name}: {where}, {at} in shape {list(self.shape)} with steps of {list(self.steps)} bytes"


@dataclass(frozen=True)
class Allocation:
    """Bytes `size` from virtual address `address`, at `place` in the arena."""

    address: int
    place: int
    size: int
    tensors: tuple[Tensor, ...]
    writable: bool = True


class GlobalMemory:
    """All allocations of a launch."""

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []
        self._fill: list[tuple[int, bytes | Array]] = []
        self._top = 0
        self.arena: Array = np.zeros(0, np.uint8)
        self.views: dict[int, Array] = {}

    def add(self, data: bytes | Array, tensors: tuple[Tensor, ...], skew: int = 0, writable: bool = True) -> Allocation:
        """Reserve room for data, `skew` bytes past an aligned address."""
        size = len(data) if isinstance(data, bytes) else data.nbytes
        region = len(self.allocations) + 1
        place = self._top + skew
        address = (region << REGION_BITS) + (REGION >> 1) + skew
        allocation = Allocation(address, place, size, tensors, writable)
        self.allocations.append(allocation)
        self._fill.append((place, data))
        self._top = -(-(place + size) // ALIGN) * ALIGN
        return allocation

    def build(self, shareable: bool) -> None:
        """Lay out the arena, in memory that forked workers share if asked."""
        size = max(self._top, ALIGN)
        self.arena = np.frombuffer(mmap.mmap(-1, size), np.uint8) if shareable else np.zeros(size, np.uint8)
        for place, data in self._fill:
            raw = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
            self.arena[place : place + len(raw)] = raw
        self._fill = []
        self.views = {bits: self.arena.view(dtype) for bits, dtype in UNSIGNED.items()}

    def bytes_of(self, allocation: Allocation) -> Array:
        return self.arena[allocation.place : allocation.place + allocation.size]

    def find(self, address: int) -> Allocation | None:
        """The allocation in whose region an address lies."""
        region = (address >> REGION_BITS) - 1
        return self.allocations[region] if 0 <= region < len(self.allocations) else None

    def describe(self, address: int) -> str:
        """What an address points at, for people."""
        allocation = self.find(address)
        if allocation is None:
            return "no tensor"
        offset = address - allocation.address
        for tensor in allocation.tensors:
            if tensor.start <= offset < tensor.end:
                return tensor.describe(offset)
        return allocation.tensors[0].describe(offset)


class SharedMemory:
    """`size` bytes for each CTA of a wave, side by side."""

    def __init__(self, slots: int, size: int) -> None:
        self.size = size
        self.stride = max(-(-size // 128) * 128, 128)
        self.data: Array = np.zeros(slots * self.stride, np.uint8)
        self.views = {bits: self.data.view(dtype) for bits, dtype in UNSIGNED.items()}


class LocalMemory:
    """`size` bytes for each lane."""

    def __init__(self, lanes: int, size: int) -> None:
        self.size = size
        self.stride = max(-(-size // 16) * 16, 16)
        self.data: Array = np.zeros(lanes * self.stride, np.uint8)
        self.views = {bits: self.data.view(dtype) for bits, dtype in UNSIGNED.items()}

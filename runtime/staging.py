"""Host arrays on the device for the length of a launch: copied in before it, and out again where it wrote.

Host arrays that overlap keep their relation: each run of overlapping address ranges gets one device buffer. A strided
view lies there as it lies in the host's memory, with whatever is between its rows; of that, nothing is written back.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import device
from .arrays import SIZES, Array
from .bind import Bound


@dataclass(frozen=True)
class Run:
    """A stretch of host memory [low, high) and the device buffer that stands for it."""

    low: int
    high: int
    buffer: int


class Staging:
    """The device copies of a call's host arrays. `bound` is the call with their addresses instead of the host's."""

    def __init__(self, bound: Bound) -> None:
        self._host = {name: a for name, a in bound.arrays.items() if not a.on_device}
        self._written = bound.written
        self._runs: list[Run] = []
        self._images: dict[str, np.ndarray[Any, Any]] = {}
        try:
            for low, high in merged([a.bytes for a in self._host.values()]):
                self._runs.append(Run(low, high, device.allocate(high - low)))
        except BaseException:
            self.free()
            raise
        self._device = {name: self._address(a) for name, a in self._host.items()}
        arrays = {
            name: replace(a, pointer=self._device[name], on_device=True) if name in self._device else a
            for name, a in bound.arrays.items()
        }
        self.bound = replace(bound, arrays=arrays)

    def copy_in(self, stream: int) -> None:
        """Everything, what is only written too: a kernel may leave parts of it alone."""
        for name, array in self._host.items():
            low, high = array.bytes
            device.copy_in(self._device[name], low, high - low, stream)

    def copy_out(self, stream: int) -> None:
        """What the kernel may have written; strided views to memory of their own, until `spread`."""
        for name, array in self._host.items():
            if name in self._written and array.size:
                low, high = array.bytes
                if not array.is_dense:
                    self._images[name] = np.empty(high - low, np.uint8)
                    low = self._images[name].ctypes.data
                device.copy_out(low, self._device[name], array.bytes[1] - array.bytes[0], stream)

    def spread(self) -> None:
        """Put the elements of strided views in their places, once the copies have come."""
        for name, image in self._images.items():
            array = self._host[name]
            low, high = array.bytes
            memory = (ctypes.c_ubyte * (high - low)).from_address(low)
            _elements(array, memory)[...] = _elements(array, image)
        self._images = {}

    def free(self) -> None:
        for run in self._runs:
            device.free(run.buffer)
        self._runs = []

    def _address(self, array: Array) -> int:
        low, _ = array.bytes
        for run in self._runs:
            if run.low <= low < run.high:
                return run.buffer + low - run.low
        return 0  # an empty array has no bytes and no buffer


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The union of address ranges as disjoint ones; ranges that only touch stay apart, empty ones vanish."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(r for r in ranges if r[0] < r[1]):
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


def _elements(array: Array, memory: Any) -> np.ndarray[Any, Any]:
    """The elements of an array in an image of its memory, as bare bits."""
    size = SIZES[array.elem]
    return np.ndarray(array.shape, f"u{size}", memory, 0, tuple(s * size for s in array.steps))

"""Host arrays on the device for the length of a launch: copied in before it, and out again where it wrote.

Host arrays that overlap keep their relation: each run of overlapping address ranges gets one device buffer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import device
from .arrays import Array
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
        for name, array in self._host.items():
            if name in self._written:
                low, high = array.bytes
                device.copy_out(low, self._device[name], high - low, stream)

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

"""How long launches take on the GPU, by CUDA events: bursts of back-to-back launches, and the median over bursts."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from . import device

BURST_MS = 4.0
"""A burst is this long or longer: the clock's half microsecond and the first launch's latency are small in it."""


@dataclass(frozen=True)
class Timing:
    """Milliseconds per launch. bursts: the mean of each burst."""

    median_ms: float
    best_ms: float
    worst_ms: float
    launches: int
    bursts: tuple[float, ...]


def measure(launch: Callable[[], None], stream: int = 0, bursts: int = 9, burst_ms: float = BURST_MS) -> Timing:
    """Time what `launch` puts into a stream. It is called as often as it takes, some times before anything counts.

    Nothing is cleared between launches: data that fits the L2 cache is found there.
    """
    launch()
    device.synchronize(stream)
    per_burst = _burst_length(launch, stream, burst_ms)
    _burst(launch, stream, per_burst)
    means = tuple(_burst(launch, stream, per_burst) / per_burst for _ in range(bursts))
    return Timing(statistics.median(means), min(means), max(means), per_burst * bursts, means)


def _burst(launch: Callable[[], None], stream: int, count: int) -> float:
    """Milliseconds of so many launches, one behind the other."""
    with device.stopwatch(stream) as spent:
        for _ in range(count):
            launch()
    return spent[0]


def _burst_length(launch: Callable[[], None], stream: int, burst_ms: float) -> int:
    """Launches that take burst_ms together, at most 10,000."""
    count = 1
    while count < 10_000:
        spent = _burst(launch, stream, count)
        if spent >= burst_ms:
            break
        count = min(10_000, max(2 * count, int(1.2 * count * burst_ms / max(spent, 1e-3))))
    return count

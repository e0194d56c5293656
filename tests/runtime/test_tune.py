"""Timing and tuning, on a driver whose clock advances as the fake kernel says."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import phobos
from phobos.errors import LaunchError
from phobos.runtime import device
from phobos.runtime.timing import measure
from phobos.runtime.tune import choices

from .fakes import POINTER, FakeDriver, Interface, read_params

SOURCE = """\
@autotune(TILE in [64, 256])
@aligned(N = TILE)
@launch(64)
kernel scale(A: tensor<f32>[N]) {
  let i = ctx.block.x * TILE
  A[i :+ TILE] = 2.0 * A[i :+ TILE]
}
"""


class Clock:
    """Milliseconds that pass with each launch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(device, "stopwatch", self.stopwatch)

    @contextmanager
    def stopwatch(self, stream: int) -> Iterator[list[float]]:
        start, spent = self.now, list[float]()
        yield spent
        spent.append(self.now - start)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return FakeDriver().install(monkeypatch)


@pytest.fixture
def clock(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_the_time_of_a_launch_is_the_median_of_bursts(clock: Clock) -> None:
    count = 0

    def launch() -> None:
        nonlocal count
        count += 1
        clock.now += 0.5 if count % 40 else 40.0  # one launch in forty is disturbed

    timing = measure(launch, bursts=9, burst_ms=4.0)
    assert timing.best_ms == pytest.approx(0.5)
    assert timing.median_ms == pytest.approx(0.5)
    assert timing.worst_ms > 1.0
    assert len(timing.bursts) == 9
    assert timing.launches >= 9 * 8


def test_bursts_of_long_launches_are_short(clock: Clock) -> None:
    def launch() -> None:
        clock.now += 100.0

    assert measure(launch, bursts=3).launches == 3


def test_every_choice_is_tried() -> None:
    space = {"A": (1, 2), "B": (3, 4)}
    assert list(choices(space)) == [{"A": 1, "B": 3}, {"A": 1, "B": 4}, {"A": 2, "B": 3}, {"A": 2, "B": 4}]
    assert list(choices({})) == [{}]


def test_the_fastest_choice_is_first_and_broken_promises_are_skipped(driver: FakeDriver, clock: Clock) -> None:
    handle = phobos.compile(SOURCE, target="sm_80").scale

    def run(params: Any) -> None:
        (_, n) = read_params(params, ctypes.c_uint64, ctypes.c_int32)
        blocks = driver.launches[-1][0][0]
        assert n % blocks == 0
        clock.now += 1e-3 * blocks  # fewer blocks are faster

    driver.kernel = run
    table = handle.tune(Interface((128 * 9,), pointer=POINTER))
    measured = [t.constants["TILE"] for t in table.trials if t.timing]
    assert measured == [128, 64]
    assert table.best.kernel.constants == {"TILE": 128}
    assert table.best.registers > 0
    (skipped,) = [t for t in table.trials if not t.timing]
    assert skipped.constants == {"TILE": 256}
    assert "@aligned(N = 256) promises" in skipped.skipped
    assert str(table).splitlines()[-1].startswith("TILE=256: skipped, scale: @aligned")


def test_a_constant_may_be_held(driver: FakeDriver, clock: Clock) -> None:
    def run(params: Any) -> None:
        clock.now += 1e-3

    driver.kernel = run
    handle = phobos.compile(SOURCE, target="sm_80").scale
    table = handle.tune(Interface((128 * 9,), pointer=POINTER), TILE=128)
    assert [t.constants for t in table.trials] == [{"TILE": 128}]
    with pytest.raises(phobos.CompileError, match="no kernel declares the constant TILES"):
        handle.tune(Interface((128,)), TILES=128)


def test_when_nothing_runs_the_reasons_are_said(driver: FakeDriver, clock: Clock) -> None:
    handle = phobos.compile(SOURCE, target="sm_80").scale
    with pytest.raises(LaunchError, match=r"no choice of constants runs on these arguments\n  TILE=64: skipped"):
        _ = handle.tune(Interface((100,))).best


def test_tuning_needs_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "why_no_gpu", lambda: "no driver in this test")
    monkeypatch.setattr(device, "has_gpu", lambda: False)
    with pytest.raises(LaunchError, match="tuning measures on a GPU: no driver in this test"):
        phobos.compile(SOURCE, target="sm_80").scale.tune(Interface((128,)))

"""Finds the fastest `@autotune` constants for given arguments by trying each choice on the GPU.

A choice that these arguments rule out (an `@aligned` promise that their extents do not keep) and one that does not
compile are skipped, with the reason in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

from phobos.diagnostics import CompileError, Severity
from phobos.errors import CudaError, LaunchError

from . import device
from .launch import Prepared
from .timing import Timing, measure
from .variant import Launchable


class Tunable(Launchable, Protocol):
    """A kernel whose constants can be chosen: `phobos.KernelHandle` is one."""

    @property
    def choices(self) -> Mapping[str, tuple[int, ...]]: ...

    def configured(self, **constants: int) -> Tunable: ...


@dataclass(frozen=True)
class Trial:
    """One choice of constants: its time, or why it was skipped."""

    constants: dict[str, int]
    kernel: Tunable
    timing: Timing | None
    skipped: str = ""
    registers: int = 0
    spill_bytes: int = 0

    def __str__(self) -> str:
        choice = " ".join(f"{name}={value}" for name, value in self.constants.items()) or "no constants"
        if self.timing is None:
            return f"{choice}: skipped, {self.skipped}"
        spills = f", {self.spill_bytes} bytes spilled" if self.spill_bytes else ""
        return f"{choice}: {self.timing.median_ms:.4f} ms, {self.registers} registers{spills}"


@dataclass(frozen=True)
class Table:
    """Every trial: the measured ones, fastest first, then the skipped ones."""

    kernel: str
    trials: tuple[Trial, ...]

    @property
    def best(self) -> Trial:
        """The fastest trial. LaunchError when every choice was skipped."""
        if not self.trials or self.trials[0].timing is None:
            reasons = "".join(f"\n  {t}" for t in self.trials)
            raise LaunchError(f"{self.kernel}: no choice of constants runs on these arguments{reasons}")
        return self.trials[0]

    def __str__(self) -> str:
        return "\n".join(map(str, self.trials))


def choices(space: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int]]:
    """Every combination of the constants' values, the last constant fastest."""
    for values in product(*space.values()):
        yield dict(zip(space, values, strict=True))


def tune(
    kernel: Tunable,
    args: tuple[Any, ...],
    grid: int | Sequence[int] | None = None,
    bursts: int = 5,
    held: Mapping[str, int] | None = None,
) -> Table:
    """Time every choice; a constant in `held` has that value in all. The tensors that the kernel writes hold no result
    afterwards."""
    if not device.has_gpu():
        raise LaunchError(f"tuning measures on a GPU: {device.why_no_gpu()}")
    space = {**kernel.choices, **{name: (value,) for name, value in (held or {}).items()}}
    trials = [_try(kernel.configured(**constants), constants, args, grid, bursts) for constants in choices(space)]
    return Table(kernel.name, ordered(trials))


def ordered(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Measured ones first, fastest first."""
    return tuple(sorted(trials, key=lambda t: (t.timing is None, t.timing.median_ms if t.timing else 0.0)))


def _try(
    kernel: Tunable, constants: dict[str, int], args: tuple[Any, ...], grid: int | Sequence[int] | None, bursts: int
) -> Trial:
    try:
        with Prepared(kernel, args, grid) as prepared:
            linked = prepared.artifact.link
            timing = measure(prepared.launch, prepared.stream, bursts)
    except CompileError as error:
        first = next(d for d in error.diagnostics if d.severity is Severity.ERROR)
        return Trial(constants, kernel, None, f"{first.code}: {first.message}")
    except LaunchError as error:
        return Trial(constants, kernel, None, str(error))
    except CudaError as error:
        if error.name != "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES":  # the others leave nothing to go on with
            raise
        return Trial(constants, kernel, None, error.name)
    return Trial(constants, kernel, timing, "", linked.registers, linked.spill_stores)

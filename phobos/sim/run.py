"""`simulate`: PTX text, an entry, NumPy arguments and a launch shape in; arrays written in place, counters out.

CTAs run in waves, many at a time. When the PTX has no atomic, volatile or ordered access to global memory, later waves
may go to other processes; they share the bytes of global memory and return what they accessed, which is compared for
races. Otherwise everything runs in one process and, as far as memory allows, in one wave, since CTAs may wait for each
other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from . import workers
from .checks import Checks
from .counters import Counters
from .errors import Finding, SimFault
from .launch import prepare
from .machine import Machine
from .program import decode
from .reader import read
from .syntax import Module

Array = NDArray[Any]
LANES = 4096  # lanes of a wave: NumPy's calls cost little per lane then, and registers stay in the caches
TOGETHER = 1 << 16  # lanes of a wave whose CTAs may wait for each other
PATIENCE = 1.0  # seconds of work left that are worth starting processes for


@dataclass
class SimResult:
    """What a launch did. `findings` is empty unless they were collected."""

    counters: Counters
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    ctas: int = 0
    processes: int = 1


def simulate(
    ptx: str | Module,
    entry: str,
    args: Sequence[Any],
    grid: tuple[int, ...],
    block: tuple[int, ...],
    dynamic_shared: int = 0,
    checks: Checks | None = None,
    *,
    names: Sequence[str] | None = None,
    collect: bool = False,
    count: bool = True,
    processes: int | None = None,
    lanes: int = LANES,
    batching: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> SimResult:
    """Run a kernel.

    args: an array for each pointer (written in place; bf16 as uint16), a number or NumPy scalar for each value; `None`
    is a null pointer. names: what to call them in findings. collect: gather findings instead of raising the first as
    `SimFault`. count: keep counters. processes: how many at most (None: as many as there are cores, when it pays).
    progress: called with the CTAs done and the CTAs in all.
    """
    started = time.perf_counter()
    module = read(ptx) if isinstance(ptx, str) else ptx
    program = decode(module, entry)
    waits = _may_wait(program.entry.body)
    workers_wanted = 1 if waits else workers.available() if processes is None else processes
    launch = prepare(program, args, _three(grid), _three(block), dynamic_shared, names, workers_wanted > 1)
    total = launch.grid[0] * launch.grid[1] * launch.grid[2]
    if total == 0:
        return SimResult(Counters())
    width = -(-launch.threads // 32) * 32
    room = max((TOGETHER if waits else lanes) // width, 1)
    waves = -(-total // room)
    slots = -(-total // waves)
    state = launch.state(slots, checks or Checks(), count, collect)
    machine = Machine(state, batching)
    used = 1
    done = 0
    while done < total:
        before = time.perf_counter()
        machine.run(done)
        took = time.perf_counter() - before
        done = min(done + slots, total)
        if progress is not None:
            progress(done, total)
        if workers_wanted > 1 and done < total and took * (total - done) / slots > PATIENCE:
            used = workers.run_rest(machine, done, total, slots, workers_wanted, progress)
            break
    machine.tally()
    launch.write_back()
    for stray in launch.strays() if state.checks.bounds else ():
        if not collect:
            raise SimFault(stray)
        state.findings.append(stray)
    counters = state.counters or Counters()
    return SimResult(counters, state.findings, time.perf_counter() - started, total, used)


def _three(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    if not 1 <= len(sizes) <= 3 or any(size < 0 for size in sizes):
        raise ValueError(f"a grid or block has one to three sizes, not {sizes}")
    x, y, z = (*sizes, 1, 1)[:3]
    return int(x), int(y), int(z)


def _may_wait(body: list[Any]) -> bool:
    """Whether CTAs can see each other while they run."""
    ordered = {"volatile", "relaxed", "acquire", "release", "mmio"}
    for i in body:
        if any(modifier.startswith("shared") for modifier in i.modifiers):
            continue
        if i.opcode in ("atom", "red") or (i.opcode in ("ld", "st") and ordered & set(i.modifiers)):
            return True
    return False

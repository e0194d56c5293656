"""The big run: random tile programs through the simulator, or on this machine's GPU, each against the interpreter.

    python -m tests.prop.campaign --count 5000 --targets sm_75,sm_80,sm_90 --seed 1 --jobs 16 --log campaign.log
    python -m tests.prop.campaign --gpu 500 --targets sm_90a --seed 1 --jobs 8 --log gpu.log

Seeds count up from the first one until so many programs were compared. Children do the work: one that crashes or takes
too long is a failure of the seed that it had. The log has a line for each failure and a summary as its last line; the
exit status is 1 when anything failed. `--show` prints the programs that fail; `--seed N --count 1` runs one again.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import os
import platform
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import IO

import numpy as np

CHILD_PROGRAMS = 400
"""After so many a child is replaced, so that memory stays small."""
LONGEST_LINE = 400


@dataclass
class Outcome:
    """What became of a seed. failures: target and text."""

    seed: int
    skipped: str = ""
    compared: list[str] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    program: str = ""
    fatal: bool = False
    """The child cannot go on."""


def outcome(seed: int, targets: tuple[str, ...], gpu: bool) -> Outcome:
    """Compare one program on each target."""
    from tests.prop import cases

    found, chip = Outcome(seed), ""
    try:
        case = cases.made(seed)
        found.program = cases.shown(case)
        base = cases.reference(case)
    except cases.SkipError as reason:
        found.skipped = str(reason)
        return found
    except Exception as error:
        found.failures.append(("all", _line(error)))
        return found
    for place, chip in enumerate(targets):
        try:
            base = cases.simulates(case, base, chip, 32 if gpu else (32, 64)[(seed // 3 + place) % 2])
            if gpu:
                cases.launches(case, base, chip)
            found.compared.append(chip)
        except cases.SkipError as reason:
            found.skipped = str(reason)
        except Exception as error:
            found.failures.append((chip, _line(error)))
            found.fatal = gpu and "Cuda" in type(error).__name__
    return found


def _line(error: Exception) -> str:
    text = " ".join(str(error).split()) or repr(error)
    return f"{type(error).__name__}: {text}"[:LONGEST_LINE]


def serve(pipe: Connection, targets: tuple[str, ...], gpu: bool) -> None:
    """A child's loop: a seed comes, an outcome goes."""
    os.setsid()  # so that its own children can be ended with it
    with suppress(EOFError, BrokenPipeError):  # the parent is gone
        while (seed := pipe.recv()) is not None:
            found = outcome(seed, targets, gpu)
            pipe.send(found)
            if found.fatal:
                return


class Child:
    """A process, the seed it has, and since when."""

    def __init__(self, targets: tuple[str, ...], gpu: bool) -> None:
        self.pipe, theirs = mp.get_context("spawn").Pipe()
        self.process = mp.get_context("spawn").Process(target=serve, args=(theirs, targets, gpu), daemon=True)
        self.process.start()
        theirs.close()
        self.seed, self.since, self.served = -1, 0.0, 0

    def give(self, seed: int) -> None:
        self.seed, self.since = seed, time.monotonic()
        self.served += 1
        self.pipe.send(seed)

    def end(self) -> None:
        with suppress(OSError):
            self.pipe.send(None)
        self.process.join(0.5 if self.seed < 0 else 0.0)
        if self.process.is_alive() and self.process.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        self.process.join()
        self.pipe.close()


class Campaign:
    """Hands out seeds and gathers outcomes."""

    def __init__(self, targets: tuple[str, ...], gpu: bool, jobs: int, limit: float) -> None:
        self.targets, self.gpu, self.jobs, self.limit = targets, gpu, jobs, limit
        self.children: list[Child] = []

    def outcomes(self, seed: int, count: int) -> Iterator[Outcome]:
        """From a seed on, until `count` programs were compared or failed."""
        done = 0
        try:
            while done < count:
                waiting = sum(child.seed >= 0 for child in self.children)
                while waiting < min(self.jobs, count - done):
                    self._idle().give(seed)
                    seed, waiting = seed + 1, waiting + 1
                for found in self._gathered():
                    done += bool(found.compared or found.failures)
                    yield found
        finally:
            for child in self.children:
                child.end()

    def _idle(self) -> Child:
        for child in self.children:
            if child.seed < 0:
                return child
        self.children.append(Child(self.targets, self.gpu))
        return self.children[-1]

    def _gathered(self) -> list[Outcome]:
        """The outcomes that have come; what died or hangs gets one too."""
        busy = [child for child in self.children if child.seed >= 0]
        wait([child.pipe for child in busy], timeout=1.0)
        found = []
        for child in busy:
            seed, gone = child.seed, False
            try:
                if child.pipe.poll():
                    got: Outcome = child.pipe.recv()
                    found.append(got)
                    child.seed, gone = -1, got.fatal or child.served >= CHILD_PROGRAMS
                elif time.monotonic() - child.since > self.limit:
                    found.append(Outcome(seed, failures=[("all", f"took more than {self.limit:.0f} s")]))
                    gone = True
            except (EOFError, OSError):
                child.process.join(1.0)
                found.append(Outcome(seed, failures=[("all", f"the child ended with {child.process.exitcode}")]))
                gone = True
            if gone:
                self.children.remove(child)
                child.end()
        return found


def run(campaign: Campaign, seed: int, count: int, log: IO[str] | None, show: bool) -> int:
    """Do it; how many programs failed."""

    def say(line: str) -> None:
        for out in (sys.stdout, log):
            if out is not None:
                print(line, file=out, flush=True)

    started, last = time.monotonic(), time.monotonic()
    where = "on the GPU" if campaign.gpu else "simulated"
    say(
        f"{count} random tile programs, {where}, {', '.join(campaign.targets)}, from seed {seed}, "
        f"{campaign.jobs} jobs, Python {platform.python_version()}, NumPy {np.__version__}"
    )
    compared: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    made = programs = failed = highest = 0
    for found in campaign.outcomes(seed, count):
        made, highest = made + 1, max(highest, found.seed)
        programs += bool(found.compared)
        compared.update(found.compared)
        if found.skipped and not found.compared:
            skipped[found.skipped] += 1
        failed += bool(found.failures)
        for chip, text in found.failures:
            say(f"FAILED seed {found.seed} {chip}: {text}")
        if found.failures and show:
            print(found.program)
        if time.monotonic() - last > 30:
            last = time.monotonic()
            print(f"{programs} of {count} compared, {failed} failed, {last - started:.0f} s", flush=True)
    took = time.monotonic() - started
    reasons = ", ".join(f"{n} {reason}" for reason, n in skipped.most_common()) or "none"
    each = ", ".join(f"{chip} {compared[chip]}" for chip in campaign.targets)
    say(
        f"{'FAILED' if failed else 'ok'}: {programs} programs compared ({each}), {failed} failed, of {made} made "
        f"(seeds {seed} to {highest}); nothing to compare: {reasons}; {took:.0f} s, "
        f"{took * campaign.jobs / max(1, compared.total()):.2f} s of a job for each comparison"
    )
    return failed


def main() -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="programs to compare in the simulator")
    parser.add_argument("--gpu", type=int, default=0, metavar="COUNT", help="programs to compare on this machine's GPU")
    parser.add_argument("--targets", default="", help="chips, with commas; sm_75,sm_80,sm_90, or sm_90a with --gpu")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds that one program may take")
    parser.add_argument("--log", help="a file for the failures and the summary")
    parser.add_argument("--show", action="store_true", help="print the programs that fail")
    given = parser.parse_args()
    targets = given.targets or ("sm_90a" if given.gpu else "sm_75,sm_80,sm_90")
    campaign = Campaign(tuple(targets.split(",")), bool(given.gpu), given.jobs, given.timeout)
    with open(given.log, "w", encoding="utf-8") if given.log else nullcontext() as log:
        return 1 if run(campaign, given.seed, given.gpu or given.count, log, given.show) else 0


if __name__ == "__main__":
    sys.exit(main())

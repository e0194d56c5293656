"""The rest of a launch in several processes, forked from the machine that ran the first wave.

Global memory is shared between them, so results need no sending. Each worker gives back its counters, its findings and
which granules it wrote and read, by which thread; two workers that touch the same granule, one of them writing, race.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .clocks import thread_of
from .errors import SimFault

if TYPE_CHECKING:
    from .machine import Machine

Array = NDArray[Any]


def available() -> int:
    """How many processes may run here; one where processes cannot be forked."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def run_rest(
    machine: Machine, done: int, total: int, slots: int, wanted: int, progress: Callable[[int, int], None] | None
) -> int:
    """Run the CTAs from `done` on, this process taking its share; gives the number of processes."""
    waves = list(range(done, total, slots))
    wanted = min(wanted, len(waves))
    shares = [waves[at::wanted] for at in range(wanted)]
    context = multiprocessing.get_context("fork")
    children = []
    before = _accesses(machine)
    for share in shares[1:]:
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(machine, share, sender))
        child.start()
        sender.close()
        children.append((child, receiver))
    fault: BaseException | None = None
    try:
        for at, first in enumerate(shares[0]):
            machine.run(first)
            if progress is not None:
                progress(min(done + (at + 1) * slots * wanted, total), total)
    except SimFault as error:
        fault = error
    reports = []
    for child, receiver in children:
        try:
            reports.append(pickle.loads(receiver.recv_bytes()))
        except EOFError:
            fault = fault or RuntimeError("a process of the simulator ended early")
        child.join()
    _merge(machine, reports)
    fault = fault or next((report["fault"] for report in reports if report["fault"] is not None), None)
    if fault is not None:
        raise fault
    _compare(machine, before, reports)
    return wanted


def _work(machine: Machine, share: list[int], sender: Any) -> None:
    state = machine.state
    known = len(state.findings)
    before = list(machine.warps_run), list(machine.masked_run)
    counters = state.counters
    if counters is not None:
        state.counters = type(counters)()
        state.counters.accesses = {
            site: type(access)(access.name, access.line, access.source) for site, access in counters.accesses.items()
        }
    fault = None
    races = state.global_races
    if races is not None:
        for shadow in (races.writes, races.reader, races.other_reader):
            shadow[...] = 0
    try:
        for first in share:
            machine.run(first)
    except SimFault as error:
        fault = error
    report = {
        "fault": fault,
        "findings": state.findings[known:],
        "counters": state.counters,
        "warps": [a - b for a, b in zip(machine.warps_run, before[0], strict=True)],
        "masked": [a - b for a, b in zip(machine.masked_run, before[1], strict=True)],
        "accesses": _accesses(machine),
    }
    sender.send_bytes(pickle.dumps(report))
    sender.close()


def _accesses(machine: Machine) -> list[tuple[Array, Array]]:
    """Granules and tags of what was written and read, sparse."""
    races = machine.state.global_races
    if races is None:
        return []
    sparse = []
    for shadow in (races.writes, races.reader, races.other_reader):
        where = np.flatnonzero(shadow)
        sparse.append((where, shadow[where]))
    return sparse


def _merge(machine: Machine, reports: list[dict[str, Any]]) -> None:
    state = machine.state
    for report in reports:
        state.findings += report["findings"]
        if state.counters is not None and report["counters"] is not None:
            state.counters.merge(report["counters"])
        machine.warps_run = [a + b for a, b in zip(machine.warps_run, report["warps"], strict=True)]
        machine.masked_run = [a + b for a, b in zip(machine.masked_run, report["masked"], strict=True)]


def _compare(machine: Machine, before: list[tuple[Array, Array]], reports: list[dict[str, Any]]) -> None:
    """Look for races between what this process did and what each worker did, and enter the worker's accesses."""
    races = machine.state.global_races
    if races is None:
        return
    del before
    for report in reports:
        (written, tags), *read = report["accesses"]
        for shadow, was in ((races.writes, "write"), (races.reader, "read"), (races.other_reader, "read")):
            _clash(machine, written, tags, shadow[written], was, "write")
        for where, read_tags in read:
            _clash(machine, where, read_tags, races.writes[where], "write", "read")
        races.writes[written] = tags
        for where, read_tags in read:
            free = races.reader[where] == 0
            races.reader[where[free]] = read_tags[free]
            races.other_reader[where[~free]] = read_tags[~free]


def _clash(machine: Machine, granules: Array, now_tags: Array, was_tags: Array, was: str, now: str) -> None:
    state = machine.state
    threads = state.threads
    hit = np.flatnonzero((was_tags != 0) & (thread_of(was_tags) // threads != thread_of(now_tags) // threads))
    if len(hit):
        state.race_between(int(granules[hit[0]]), int(now_tags[hit[0]]), int(was_tags[hit[0]]), was, now)

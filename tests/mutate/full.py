"""Judging many mutants in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed

from .judges import Verdict, judged

CHUNK = 24


def judge_all(names: Mapping[str, Iterable[str]], every: bool = False, processes: int | None = None) -> list[Verdict]:
    """The verdicts on the mutants of some cases, in the order in which they were named."""
    work = [(case, list(mutants)[at : at + CHUNK]) for case, mutants in names.items() for at in _starts(mutants)]
    found: dict[str, Verdict] = {}
    # Not by fork: LLVM and its threads are here already.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes or len(os.sched_getaffinity(0)), mp_context=context) as pool:
        for done in as_completed([pool.submit(judged, case, mutants, every) for case, mutants in work]):
            found |= {verdict.name: verdict for verdict in done.result()}
    return [found[name] for mutants in names.values() for name in mutants]


def _starts(mutants: Iterable[str]) -> range:
    return range(0, len(list(mutants)), CHUNK)

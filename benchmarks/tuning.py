"""An example's kernel at several of its `@autotune` choices: compiled, judged, and the fastest compared with its peers.

A `Study` names the kernel and the choices. `dry` compiles them, which needs no GPU; `measure` runs them. Every choice
and every peer is right before anything is timed.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import phobos
from benchmarks.harness import Result, Row, burst, compare
from phobos.errors import LaunchError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@dataclass(frozen=True)
class Study:
    """A kernel of an example. choices: the values of its constants that are tried; those of `@autotune` where none are
    given. without: attributes that are taken out of the source first."""

    file: str
    kernel: str
    choices: Mapping[str, Sequence[int]] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    def handles(self, target: str | None = None) -> list[Any]:
        """The kernel at each choice. ValueError for a value that the example does not list."""
        lines = (EXAMPLES / self.file).read_text().splitlines()
        text = "\n".join(line for line in lines if not line.startswith(self.without)) if self.without else None
        handle = phobos.compile(text or EXAMPLES / self.file, target=target)[self.kernel]
        listed = handle.choices
        for name, values in self.choices.items():
            if not set(values) <= set(listed.get(name, ())):
                raise ValueError(f"{self.file}: {name} in {values} is not among the example's {listed.get(name)}")
        space = {name: self.choices.get(name, values) for name, values in listed.items()}
        return [handle.configured(**dict(zip(space, v, strict=True))) for v in itertools.product(*space.values())]


@dataclass(frozen=True)
class Peer:
    """What a kernel is compared with. It gives the result, or None where it computes something else (a copy)."""

    name: str
    launch: Callable[[], Any]


@dataclass(frozen=True)
class Problem:
    """One launch. work: the bytes or operations that count. out: what it writes, judged against `want`: the largest
    difference over the largest element is at most `tolerance`."""

    title: str
    unit: str
    work: float
    arguments: tuple[Any, ...]
    out: Any
    want: Any
    tolerance: float


def label(handle: Any) -> str:
    return " ".join(f"{name}={value}" for name, value in handle.constants.items())


def facts(artifact: Any) -> str:
    return f"{artifact.link.registers} registers, {artifact.link.spill_stores} bytes spilled"


def dry_option(options: argparse.ArgumentParser) -> None:
    options.add_argument("--dry", metavar="TARGET", help="compile every choice for TARGET and stop: needs no GPU")


def dry(studies: Sequence[Study], target: str) -> None:
    """Compile every choice and say what came of it."""
    for study in studies:
        for handle in study.handles(target):
            began = time.perf_counter()
            try:
                said = f"{facts(handle.artifact)}, {handle.plan.shared.total_bytes} bytes of shared memory"
            except phobos.CompileError as error:
                said = f"{error.diagnostics[0].code}: {error.diagnostics[0].message}"
            print(f"{study.kernel} {label(handle)}: {said}, {time.perf_counter() - began:.1f} s", flush=True)


def measure(study: Study, problem: Problem, peers: Sequence[Peer], rounds: int, keep: int = 3) -> Result:
    """The fastest choices of a kernel beside its peers; what every choice took in a first burst is noted."""
    from phobos.runtime.launch import Prepared

    result = Result(problem.title, problem.unit)
    facts_of: dict[str, tuple[float | None, str]] = {}
    contenders = []
    for peer in peers:
        got = peer.launch()
        facts_of[peer.name] = (None if got is None else judged(problem, got, peer.name), "")
        contenders.append((peer.name, peer.launch))
    tried = []
    for handle in study.handles():
        name = f"Phobos {label(handle)}"
        try:
            prepared = Prepared(handle, problem.arguments)
        except (phobos.CompileError, LaunchError) as error:
            result.notes.append(f"{name}: skipped, {str(error).splitlines()[0]}")
            continue
        problem.out.fill_(float("nan"))
        prepared.launch()
        facts_of[name] = (judged(problem, problem.out, name), facts(prepared.artifact))
        tried.append((burst(prepared.launch), name, prepared.launch))
    tried.sort(key=lambda each: each[0])
    result.notes += [f"{name}: {ms:.4f} ms, {facts_of[name][1]}" for ms, name, _ in tried]
    contenders += [(name, launch) for _, name, launch in tried[:keep]]
    times = compare(contenders, rounds)
    base = next(iter(times.values()))
    for name, ms in times.items():
        result.rows.append(Row(name, ms, problem.work / ms / 1e9, base / ms, *facts_of[name]))
    return result


def judged(problem: Problem, got: Any, name: str) -> float:
    """The error of a result, which must be small."""
    want = problem.want.double()
    error = float((got.double().reshape(want.shape) - want).abs().max() / want.abs().max())
    if not error <= problem.tolerance:  # NaN is not
        raise AssertionError(f"{problem.title}, {name}: error {error}, {problem.tolerance} is allowed")
    return error

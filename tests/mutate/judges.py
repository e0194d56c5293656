"""The judges of a mutant: the passes and code generation with what they assert, the verifier, the interpreter on the
mutated kernel and the simulator on its PTX, with every check on.

The numbers that those two leave are compared with what the interpreter makes of the kernel as it was lowered, which
`tests/kernels` compares with formulas.

Takes a case and names of its mutants, gives a `Verdict` for each. The first objection is enough; with `every` the
interpreter and the simulator are both asked, which tells what each is worth alone.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from phobos import interp
from phobos.codegen import compile_ptx, emit, shared_bytes
from phobos.diagnostics import CompileError, InternalError
from phobos.interp.memory import InterpError
from phobos.ir.core import Effect
from phobos.ir.kernel import Kernel
from phobos.ir.tile_ops import element
from phobos.ir.verify import verify
from phobos.runline import Inputs, RunLine, judge, launch_grid, make_inputs, widened
from phobos.sim import Checks, SimFault, simulate

from .cases import CASES, Case, Compiled, compiled
from .mutants import NoMutant, Product, mutants

SECONDS = 60


@dataclass(frozen=True)
class Verdict:
    """What was said of a mutant. same: why it is none, since it gives the PTX of the original."""

    name: str
    kind: str
    objections: dict[str, str] = field(default_factory=dict)
    same: str = ""

    @property
    def killed(self) -> bool:
        return bool(self.objections)


@dataclass(frozen=True, eq=False)
class Trial:
    """Arguments of one line and what they become: by the interpreter, on the kernel as it was lowered."""

    line: RunLine
    inputs: Inputs
    want: dict[str, Any]
    grid: tuple[int, int, int]


@cache
def trials(case: Case) -> tuple[Trial, ...]:
    made = compiled(case)
    kernel = made.after["lower"]
    found = []
    for line in case.run_lines():
        inputs = make_inputs(kernel, line)
        grid = launch_grid(made.after["fold"], line, inputs.dims)
        arrays = {name: array.copy() for name, array in inputs.tensors.items()}
        interp.run(kernel, arrays, inputs.scalars, grid)
        written = {v for op in kernel.walk() if op.effects & Effect.WRITE_GLOBAL for v in op.operands()}
        want = {v.name: widened(arrays[v.name], element(v.type)) for v in kernel.tensors if v in written}
        found.append(Trial(line, inputs, want, grid))
    return tuple(found)


# ---- the judges, one function each: "" when it is content ----------------------------------------------------------


def verifier(product: Product) -> str:
    return next((m for kernel in (*product.forms, product.kernel) for m in verify(kernel)), "")


def interpreter(case: Case, kernel: Kernel) -> str:
    for trial in trials(case):
        arrays = {name: array.copy() for name, array in trial.inputs.tensors.items()}
        try:
            interp.run(kernel, arrays, trial.inputs.scalars, trial.grid)
        except (InterpError, AssertionError, IndexError, ValueError) as error:
            return f"fault: {error}"
        verdict = judge(compiled(case).after["lower"], trial.line, trial.want, trial.inputs, arrays)
        if not verdict.ok:
            return f"numbers: {verdict.faults[0]}"
    return ""


def simulator(case: Case, kernel: Kernel, ptx: str, checks: Checks | None = None) -> str:
    meaning = compiled(case).after["lower"]
    total, dynamic = shared_bytes(kernel)
    for trial in trials(case):
        arrays = {name: array.copy() for name, array in trial.inputs.tensors.items()}
        named: dict[str, Any] = {**arrays, **{n: np.int32(v) for n, v in trial.inputs.dims.items()}}
        named |= trial.inputs.scalars
        try:
            simulate(
                ptx, kernel.name, list(named.values()), trial.grid, (kernel.threads,), total if dynamic else 0,
                checks or Checks(), names=list(named), count=False, processes=1,
            )  # fmt: skip
        except SimFault as fault:
            return f"{fault.finding.kind}: {fault.finding.message}"
        verdict = judge(meaning, trial.line.on_hardware(), trial.want, trial.inputs, arrays)
        if not verdict.ok:
            return f"numbers: {verdict.faults[0]}"
    return ""


# ---- judging -------------------------------------------------------------------------------------------------------


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """A mutant that does not end is ended."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"not done in {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def ptx_of(made: Compiled, product: Product) -> str:
    with product.patch():
        text = emit(product.kernel, made.options.target, made.options.index_bits, made.source)
    return compile_ptx(product.llvm(text), made.options.target).ptx


def judged(case_name: str, names: Sequence[str], every: bool = False) -> list[Verdict]:
    """The verdicts on some mutants of a case; the case itself must please every judge."""
    case = CASES[case_name]
    made = compiled(case)
    assert not (said := interpreter(case, made.synced)), f"{case_name} is wrong before any mutation: {said}"
    assert not (said := simulator(case, made.synced, made.ptx)), f"{case_name} is wrong before any mutation: {said}"
    known = mutants(made)
    return [_judged(case, made, name, *known[name], every) for name in names]


def _judged(case: Case, made: Compiled, name: str, kind: str, recipe: Any, every: bool) -> Verdict:
    said: dict[str, str] = {}
    try:
        with limited(SECONDS):
            product = recipe()
            if text := verifier(product):
                said["verifier"] = text
                return Verdict(name, kind, said)
            ptx = ptx_of(made, product)
            if ptx == made.ptx:
                return Verdict(name, kind, said, "" if said else "the same PTX")
            if product.kernel is not made.synced and (text := interpreter(case, product.kernel)):
                said["interpreter"] = text
            if said and not every:
                return Verdict(name, kind, said)
            if text := simulator(case, product.kernel, ptx):
                said["simulator"] = text
    except NoMutant as reason:
        return Verdict(name, kind, said, str(reason))
    except (InternalError, CompileError) as error:
        said["compiler"] = str(error)
    except TimeoutError as error:
        said["time"] = str(error)
    return Verdict(name, kind, said)

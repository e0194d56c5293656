"""Random tile programs as cases: with arguments as they are stored, a grid, denied facts, and what must be left.

`made` gives the case of a seed, `reference` what the interpreter and NumPy say; `simulates` compares that with what the
emitted PTX does, `launches` with a GPU.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import phobos
from phobos import passes
from phobos.codegen import shared_bytes
from phobos.codegen.isolate import compile_isolated
from phobos.compiler import Unit
from phobos.diagnostics import CompileError
from phobos.frontend.lower import lower
from phobos.interp import numbers
from phobos.interp import run as interpret
from phobos.ir.kernel import Fact, Kernel
from phobos.ir.types import SCALARS
from phobos.sim import Finding, SimFault, simulate
from phobos.source import Source
from phobos.target import target
from tests.prop import sums
from tests.prop.subscripts import FLOATS, Array
from tests.prop.tile_programs import Program, make

STORED: dict[str, Any] = {
    "i8": np.int8,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "f32": np.float32,
    "f64": np.float64,
    "bool": np.uint8,
}
LIMITS = ("PH402", "PH501", "PH502")
"""Errors that a right program may get: nothing to pipeline, too much shared memory, too few threads."""


class SkipError(Exception):
    """A program with nothing to compare; the text is the reason."""


class Case:
    """A program with its arguments as they are stored, its grid and the facts denied to it."""

    def __init__(self, seed: int, host: bool = False) -> None:
        rng = random.Random(seed)
        self.seed = seed
        self.program: Program = make(seed, host)
        self.unit = Unit(Source(f"seed{seed}.ph", self.program.text))
        self.arrays = {name: _stored(a, self.program.elems[name]) for name, a in self.program.arrays.items()}
        dims = self.program.dims
        denied = {Fact("multiple_of_4", d) for d, n in dims.items() if n % 4}
        for kind in ("no_alias", "aligned_16"):
            if rng.random() < 0.15:
                denied |= {Fact(kind, name) for name in self.arrays}
        self.built = self.forms("sm_80", 32, frozenset(), stop_after="facts")["built"]
        grid = []
        for name, axis, given in zip("xyz", self.built.grid, self.program.grid, strict=True):
            extent = axis.extent if isinstance(axis.extent, int) else dims[axis.extent]
            inferred = min(-(-extent // axis.tile), 5)
            # More blocks than inferred are refused where @aligned relies on it, else they deny the fact.
            keep = rng.random() < 0.7 or (bool(self.built.attributes.aligned) and given > inferred)
            grid.append(given if axis.unknown or not keep else inferred)
            if not axis.unknown and grid[-1] > inferred:
                denied.add(Fact("grid", name))
        self.grid: tuple[int, int, int] = (grid[0], grid[1], grid[2])
        self.denied = frozenset(denied)

    def forms(
        self, chip: str, bits: int, denied: frozenset[Fact], stop_after: str = "", verify: bool = True
    ) -> dict[str, Kernel]:
        """The kernel in each form, the last of a name."""
        typed, _, _ = self.unit._check("fuzz", {})
        found: dict[str, Kernel] = {}
        options = passes.Options(target=target(chip), index_bits=bits, verify=verify)
        last = passes.run(lower(typed, denied), options, observer=found.__setitem__, stop_after=stop_after)
        return {**found, last.form: last}

    def within_limits(self, chip: str, bits: int, verify: bool = True) -> dict[str, Kernel]:
        """The forms, without the denied facts."""
        with within_limits():
            return self.forms(chip, bits, self.denied, verify=verify)

    def ran(self, kernel: Kernel, bits: int) -> dict[str, Array]:
        arrays = {name: a.copy() for name, a in self.arrays.items()}
        interpret(kernel, arrays, self.program.scalars, self.grid, bits)
        return arrays

    def differing(self, got: dict[str, Array], want: dict[str, Array]) -> list[str]:
        return [name for name in want if not _same(got[name], want[name], self.program.elems[name])]


@contextmanager
def within_limits() -> Iterator[None]:
    """Errors that a right program may get are a reason to skip it."""
    try:
        yield
    except CompileError as error:
        code = error.diagnostics[0].code
        if code not in LIMITS:
            raise
        raise SkipError(code) from None


def _stored(a: Array, elem: str) -> Array:
    kind = SCALARS[elem]
    if kind.is_float:
        return np.asarray(numbers.to_stored(numbers.from_f64(a.astype(np.float64), kind), kind))
    return a.astype(numbers.stored(kind))


def _held(a: Array, elem: str) -> Array:
    return np.asarray(numbers.to_held(a, SCALARS[elem]))


def _same(got: Array, want: Array, elem: str) -> bool:
    a, b = _held(got, elem), _held(want, elem)
    return bool(np.array_equal(a, b, equal_nan=elem in FLOATS))


@contextmanager
def told(case: Case) -> Iterator[None]:
    """Print the program of a case that fails."""
    try:
        yield
    except SkipError:
        raise
    except BaseException:
        print(shown(case))
        raise


def shown(case: Case) -> str:
    head = f"seed {case.seed}, grid {case.grid}, {case.program.dims}, {case.program.scalars}"
    return f"{head}\ndenied: {', '.join(sorted(map(str, case.denied)))}\n{case.program.text}"


def made(seed: int, host: bool = False) -> Case:
    """The case of a seed."""
    try:
        return Case(seed, host)
    except CompileError as error:
        if error.diagnostics[0].code != "PH246":
            raise
        raise SkipError("a fn returns two types") from None


def reference(case: Case) -> dict[str, Array]:
    """What the tensors hold afterwards, by form built, which must agree with NumPy where numbers were exact."""
    try:
        want, exact = case.program.expected(case.grid)
    except OverflowError:
        raise SkipError("a loop is too long") from None
    with sums.watched() as seen:
        base = case.ran(case.built, 32)
    for name in want if exact else ():
        found = _held(base[name], case.program.elems[name]).astype(want[name].dtype)
        assert np.array_equal(found, want[name]), f"form built is not NumPy's {name}"
    if seen.ordered:
        raise SkipError("a float sum depends on its order")
    return base


def simulates(case: Case, base: dict[str, Array], chip: str, bits: int) -> dict[str, Array]:
    """Compare the simulator, all checks on, with the interpreter; what was to be left.

    The PTX comes from the long-lived child. A program whose blocks race with each other, which is the program's own
    doing, is compared on its first block alone, from here on.
    """
    kernel = case.within_limits(chip, bits, verify=False)["synced"]
    _, ptx = compile_isolated(kernel, target(chip), bits, case.unit.source)
    try:
        left = _simulated(case, kernel, ptx.ptx, bits)
    except SimFault as fault:
        if not _between_blocks(fault.finding):
            raise
        case.grid = (1, 1, 1)
        left, base = _simulated(case, kernel, ptx.ptx, bits), case.ran(case.built, 32)
    assert case.differing(left, {n: base[n] for n in left}) == [], f"{chip}, {bits} bits, simulated"
    return base


def _simulated(case: Case, kernel: Kernel, ptx: str, bits: int) -> dict[str, Array]:
    left = {t.name: case.arrays[t.name].copy() for t in kernel.tensors}
    extent = np.int32 if bits == 32 else np.int64
    args: list[Any] = [*left.values(), *(extent(case.program.dims[d.name]) for d in kernel.dims)]
    args += [STORED[str(v.type)](case.program.scalars[v.name]) for v in kernel.scalars]
    total, dynamic = shared_bytes(kernel)
    simulate(ptx, kernel.name, args, case.grid, (kernel.threads,), total if dynamic else 0, processes=1)
    return left


def _between_blocks(finding: Finding) -> bool:
    """Whether a finding is a race of two different blocks."""
    if finding.kind != "race" or finding.block is None:
        return False
    here = "block ({}, {}, {})".format(*finding.block)
    return any("block (" in text and here not in text for text in finding.related)


def launches(case: Case, base: dict[str, Array], chip: str) -> None:
    """Compare this machine's GPU with the interpreter, through the launcher."""
    with within_limits():
        handle = phobos.compile(case.program.text, target=chip).fuzz
        left = {name: a.copy() for name, a in case.arrays.items()}
        values = {**left, **case.program.scalars}
        handle(*(values[p.name] for p in handle.signature.params), grid=case.grid)
    assert case.differing(left, base) == [], f"{chip}, on the GPU"

"""Random tile programs mean the same in every form: as NumPy says, as built, after every pass, as machine code.

Each program is compiled for chips with and without cp.async at both index widths, with some launch facts denied. The
interpreter runs every form bit for bit alike, `ownership` finds threads that meet without a barrier, LLVM compiles it
in a child process, the simulator runs the PTX with every check, and for a sample the linker and this machine's
processor have their turn.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
import pytest

from phobos import passes
from phobos.codegen import shared_bytes
from phobos.codegen.isolate import compile_isolated
from phobos.codegen.link import default_linker
from phobos.compiler import Unit
from phobos.diagnostics import CompileError
from phobos.frontend.lower import lower
from phobos.interp import numbers
from phobos.interp import run as interpret
from phobos.ir.kernel import Fact, Kernel
from phobos.ir.tile_ops import Convert
from phobos.ir.types import SCALARS
from phobos.sim import Finding, SimFault, simulate
from phobos.source import Source
from phobos.target import target
from tests.codegen import cpu
from tests.codegen.test_kernels_on_cpu import SCALARS as CTYPES
from tests.prop import ownership
from tests.prop.productions import LEAST
from tests.prop.subscripts import FLOATS, Array
from tests.prop.tile_programs import Program, make

CHIPS = ("sm_80", "sm_75")
SIMULATED = ("sm_80", "sm_75", "sm_90")
STORED: dict[str, Any] = {
    "i8": np.int8,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "f32": np.float32,
    "f64": np.float64,
    "bool": np.uint8,
}
ANY_CHIP = ("sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120")
LIMITS = ("PH402", "PH501", "PH502")
"""Errors that a right program may get: nothing to pipeline, too much shared memory, too few threads."""
SAME_ON_ALL = ("built", "folded", "guarded", "placed")
MOST_THREADS = 400
"""Of a launch on this machine's processor, in all."""


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
        known = self.forms("sm_80", 32, frozenset(), stop_after="facts")["built"]
        grid = []
        for name, axis, given in zip("xyz", known.grid, self.program.grid, strict=True):
            extent = axis.extent if isinstance(axis.extent, int) else dims[axis.extent]
            inferred = min(-(-extent // axis.tile), 5)
            # More blocks than inferred are refused where @aligned relies on it, else they deny the fact.
            keep = rng.random() < 0.7 or (bool(known.attributes.aligned) and given > inferred)
            grid.append(given if axis.unknown or not keep else inferred)
            if not axis.unknown and grid[-1] > inferred:
                denied.add(Fact("grid", name))
        self.grid: tuple[int, int, int] = (grid[0], grid[1], grid[2])
        self.denied = frozenset(denied)

    def forms(self, chip: str, bits: int, denied: frozenset[Fact], stop_after: str = "") -> dict[str, Kernel]:
        """The kernel in each form, the last of a name."""
        typed, _, _ = self.unit._check("fuzz", {})
        found: dict[str, Kernel] = {}
        options = passes.Options(target=target(chip), index_bits=bits, verify=True)
        last = passes.run(lower(typed, denied), options, observer=found.__setitem__, stop_after=stop_after)
        return {**found, last.form: last}

    def within_limits(self, chip: str, bits: int) -> dict[str, Kernel] | None:
        """The forms, without the denied facts; None for one of the errors that a right program may get."""
        try:
            return self.forms(chip, bits, self.denied)
        except CompileError as error:
            if error.diagnostics[0].code in LIMITS:
                return None
            raise

    def ran(self, kernel: Kernel, bits: int) -> dict[str, Array]:
        arrays = {name: a.copy() for name, a in self.arrays.items()}
        interpret(kernel, arrays, self.program.scalars, self.grid, bits)
        return arrays

    def differing(self, got: dict[str, Array], want: dict[str, Array]) -> list[str]:
        return [name for name in want if not _same(got[name], want[name], self.program.elems[name])]


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
    except BaseException:
        print(f"seed {case.seed}, grid {case.grid}, {case.program.dims}, {case.program.scalars}")
        print(f"denied: {', '.join(sorted(map(str, case.denied)))}\n{case.program.text}")
        raise


def made(seed: int, host: bool = False) -> Case | None:
    """The case of a seed; None for a program with a loop that is too long or a `fn` that returns two types."""
    try:
        return Case(seed, host)
    except CompileError as error:
        if error.diagnostics[0].code != "PH246":
            raise
        return None


def reference(case: Case) -> dict[str, Array] | None:
    """What the tensors hold afterwards, by form built, which must agree with NumPy where numbers were exact."""
    try:
        want, exact = case.program.expected(case.grid)
    except OverflowError:
        return None
    base = case.ran(case.forms("sm_80", 32, frozenset(), stop_after="facts")["built"], 32)
    for name in want if exact else ():
        found = _held(base[name], case.program.elems[name]).astype(want[name].dtype)
        assert np.array_equal(found, want[name]), f"form built is not NumPy's {name}"
    return base


def agrees(seed: int, cubin: bool = False) -> bool:
    """Compare all forms of a program; False where there is nothing to compare."""
    case = made(seed)
    if case is None:
        return False
    with told(case):
        base = reference(case)
        if base is None:
            return False
        for chip in CHIPS:
            for bits in (32, 64):
                found = case.within_limits(chip, bits)
                if found is None:
                    return False
                for form, kernel in found.items():
                    if chip == CHIPS[0] or form not in SAME_ON_ALL:
                        assert case.differing(case.ran(kernel, bits), base) == [], f"{chip}, {bits} bits, form {form}"
                synced = found["synced"]
                if bits == 32 and synced.threads <= 256:
                    ownership.run(
                        synced, {n: a.copy() for n, a in case.arrays.items()}, case.program.scalars, case.grid
                    )
        any_chip = target(ANY_CHIP[seed % len(ANY_CHIP)])
        found = case.within_limits(any_chip.name, 32)
        if found is not None:
            _, ptx = compile_isolated(found["synced"], any_chip, 32, case.unit.source)
            if cubin:
                default_linker().link(ptx.ptx, any_chip, "fuzz")
    return True


def runs_here(seed: int) -> bool:
    """Compare this machine's processor with the interpreter; False where there is nothing to compare."""
    case = made(seed, host=True)
    if case is None:
        return False
    with told(case):
        base = reference(case)
        for chip, bits in (("sm_80", 32), ("sm_75", 64)):
            if base is None:
                return False
            found = case.within_limits(chip, bits)
            if found is None:
                return False
            kernel = found["synced"]
            if prod(case.grid) * kernel.threads > MOST_THREADS or any(isinstance(op, Convert) for op in kernel.walk()):
                return False  # too long, or lanes that exchange registers
            scalars = tuple(CTYPES[str(v.type)](case.program.scalars[v.name]) for v in kernel.scalars)
            dims = [case.program.dims[d.name] for d in kernel.dims]
            given: list[Any] = [case.arrays[t.name] for t in kernel.tensors]
            left = cpu.run(kernel, case.grid, given, dims, scalars, bits, chip)
            got = {t.name: a for t, a in zip(kernel.tensors, left, strict=True)}
            assert case.differing(got, {n: base[n] for n in got}) == [], f"{chip}, {bits} bits, on the processor"
    return True


def simulates(seed: int) -> bool:
    """Compare the simulator, all checks on, with the interpreter; False where there is nothing to compare.

    The chip and the index width go by the seed. The PTX comes from the long-lived child. A program whose blocks race
    with each other, which is the program's own doing, is compared on its first block alone.
    """
    case = made(seed)
    if case is None:
        return False
    with told(case):
        base = reference(case)
        chip, bits = SIMULATED[seed % len(SIMULATED)], (32, 64)[seed // len(SIMULATED) % 2]
        found = case.within_limits(chip, bits) if base is not None else None
        if base is None or found is None:
            return False
        kernel = found["synced"]
        _, ptx = compile_isolated(kernel, target(chip), bits, case.unit.source)
        try:
            left = _simulated(case, kernel, ptx.ptx, bits)
        except SimFault as fault:
            if not _between_blocks(fault.finding):
                raise
            case.grid = (1, 1, 1)
            left, base = _simulated(case, kernel, ptx.ptx, bits), case.ran(kernel, bits)
        assert case.differing(left, {n: base[n] for n in left}) == [], f"{chip}, {bits} bits, simulated"
    return True


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


@pytest.mark.parametrize("seed", range(32))
def test_forms(seed: int) -> None:
    agrees(seed, cubin=seed % 8 == 0)


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_simulator(start: int) -> None:
    assert sum(simulates(seed) for seed in range(start, start + 20)) > 8


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2000, 50))
def test_simulator_at_length(start: int) -> None:
    assert sum(simulates(seed) for seed in range(start, start + 50)) > 25


@pytest.mark.parametrize("seed", range(3))
def test_on_the_processor(seed: int) -> None:
    runs_here(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 3000, 50))
def test_forms_at_length(start: int) -> None:
    assert sum(agrees(seed, cubin=seed % 20 == 0) for seed in range(start, start + 50)) > 30


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 1200, 20))
def test_on_the_processor_at_length(start: int) -> None:
    assert sum(runs_here(seed) for seed in range(start, start + 20)) > 8


def test_the_programs_make_sense() -> None:
    """Enough of the programs are compared: a fuzz of errors alone would test little."""
    cases = [made(seed) for seed in range(40)]
    assert sum(case is not None for case in cases) > 30
    text = "".join(case.program.text for case in cases if case is not None)
    for word in ("dot(", "dot_t(", "@pipeline", "@aligned", "while", "for k", "where(", "iota(", "return", "if ", ":+"):
        assert word in text, word


def test_each_production_occurs() -> None:
    """Over the seeds of the default run; a production that is never generated tests nothing."""
    found: Counter[str] = Counter()
    for seed in range(200):
        found += make(seed).productions
    assert {name: found[name] for name, least in LEAST.items() if found[name] < least} == {}
    assert sorted(name for name in found if name not in LEAST) == [], "productions that nobody counts"


def test_a_race_is_found() -> None:
    """The check for barriers sees one that is missing."""
    text = "@launch(64)\nkernel fuzz(A: tensor<f32>[N]) {\n  A[0 :+ 64] = A[1 :+ 64] + 1.0\n}\n"
    kernel = Unit(Source("race.ph", text)).compile("fuzz", target("sm_80")).kernel
    arrays = {"A": np.ones(65, np.float32)}
    ownership.run(kernel, arrays, {}, (1, 1, 1))
    without = kernel.body.ops[:-2] + kernel.body.ops[-1:]
    assert len(without) == len(kernel.body.ops) - 1
    with pytest.raises(ownership.RaceError):
        ownership.run(kernel.replace(body=type(kernel.body)((), without)), arrays, {}, (1, 1, 1))


THREADS = """\
@launch(64)
kernel fuzz(A: tensor<f32>[N], B: tensor<f32>[N]) {
  A[ctx.thread] = 1.0
  barrier()
  B[ctx.thread] = A[63 - ctx.thread]
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  barrier()\n", ""),
        ("A[ctx.thread] = 1.0", "A[ctx.thread / 2] = f32(ctx.lane)"),
        ("  barrier()\n  B[ctx.thread] = A[63 - ctx.thread]", "  store(A[ctx.thread * 2 :+ 2], 1.0)"),
    ],
)
def test_a_race_of_single_threads_is_found(old: str, new: str) -> None:
    for text, races in ((THREADS, False), (THREADS.replace(old, new), True)):
        kernel = Unit(Source("race.ph", text)).compile("fuzz", target("sm_80")).kernel
        arrays = {name: np.ones(128, np.float32) for name in "AB"}
        if races:
            with pytest.raises(ownership.RaceError):
                ownership.run(kernel, arrays, {}, (1, 1, 1))
        else:
            ownership.run(kernel, arrays, {}, (1, 1, 1))

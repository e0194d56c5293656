"""Random tile programs mean the same in every form: as NumPy says, as built, after every pass, as machine code.

Each program is compiled for chips with and without cp.async at both index widths, with some launch facts denied. The
interpreter runs every form bit for bit alike, `ownership` finds threads that meet without a barrier, LLVM compiles it
in a child process, the simulator runs the PTX with every check, and for a sample the linker and this machine's
processor have their turn.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
import pytest

from phobos.codegen.isolate import compile_isolated
from phobos.codegen.link import default_linker
from phobos.compiler import Unit
from phobos.ir.cta_ops import Sync
from phobos.ir.tile_ops import Convert
from phobos.source import Source
from phobos.target import target
from tests.codegen import cpu
from tests.codegen.test_kernels_on_cpu import SCALARS as CTYPES
from tests.prop import ownership
from tests.prop.cases import Case, SkipError, made, reference, simulates, told
from tests.prop.productions import LEAST
from tests.prop.subscripts import Array
from tests.prop.tile_programs import make

CHIPS = ("sm_80", "sm_75")
SIMULATED = ("sm_80", "sm_75", "sm_90")
ANY_CHIP = ("sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120")
SAME_ON_ALL = ("built", "folded", "guarded", "placed")
MOST_THREADS = 400
"""Of a launch on this machine's processor, in all."""


def agrees(seed: int, cubin: bool = False) -> bool:
    """Compare all forms of a program; False where there is nothing to compare."""
    try:
        case = made(seed)
        with told(case):
            _agree(case, reference(case), cubin)
    except SkipError:
        return False
    return True


def _agree(case: Case, base: dict[str, Array], cubin: bool) -> None:
    for chip in CHIPS:
        for bits in (32, 64):
            found = case.within_limits(chip, bits)
            for form, kernel in found.items():
                if chip == CHIPS[0] or form not in SAME_ON_ALL:
                    assert case.differing(case.ran(kernel, bits), base) == [], f"{chip}, {bits} bits, form {form}"
            synced = found["synced"]
            if bits == 32 and synced.threads <= 256:
                ownership.run(synced, {n: a.copy() for n, a in case.arrays.items()}, case.program.scalars, case.grid)
    any_chip = target(ANY_CHIP[case.seed % len(ANY_CHIP)])
    with suppress(SkipError):
        found = case.within_limits(any_chip.name, 32)
        _, ptx = compile_isolated(found["synced"], any_chip, 32, case.unit.source)
        if cubin:
            default_linker().link(ptx.ptx, any_chip, "fuzz")


def runs_here(seed: int) -> bool:
    """Compare this machine's processor with the interpreter; False where there is nothing to compare."""
    try:
        case = made(seed, host=True)
        with told(case):
            base = reference(case)
            for chip, bits in (("sm_80", 32), ("sm_75", 64)):
                _run_here(case, base, chip, bits)
    except SkipError:
        return False
    return True


def _run_here(case: Case, base: dict[str, Array], chip: str, bits: int) -> None:
    kernel = case.within_limits(chip, bits)["synced"]
    if prod(case.grid) * kernel.threads > MOST_THREADS or any(isinstance(op, Convert) for op in kernel.walk()):
        raise SkipError("too long, or lanes that exchange registers")
    scalars = tuple(CTYPES[str(v.type)](case.program.scalars[v.name]) for v in kernel.scalars)
    dims = [case.program.dims[d.name] for d in kernel.dims]
    given: list[Any] = [case.arrays[t.name] for t in kernel.tensors]
    left = cpu.run(kernel, case.grid, given, dims, scalars, bits, chip)
    got = {t.name: a for t, a in zip(kernel.tensors, left, strict=True)}
    assert case.differing(got, {n: base[n] for n in got}) == [], f"{chip}, {bits} bits, on the processor"


def simulated(seed: int) -> bool:
    """Compare the simulator with the interpreter on one chip and index width, by the seed."""
    chip, bits = SIMULATED[seed % len(SIMULATED)], (32, 64)[seed // len(SIMULATED) % 2]
    try:
        case = made(seed)
        with told(case):
            simulates(case, reference(case), chip, bits)
    except SkipError:
        return False
    return True


@pytest.mark.parametrize("seed", range(20))
def test_forms(seed: int) -> None:
    agrees(seed, cubin=seed % 8 == 0)


@pytest.mark.parametrize("start", range(0, 160, 20))
def test_simulator(start: int) -> None:
    assert sum(simulated(seed) for seed in range(start, start + 20)) > 8


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2000, 50))
def test_simulator_at_length(start: int) -> None:
    assert sum(simulated(seed) for seed in range(start, start + 50)) > 25


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
    cases = []
    for seed in range(40):
        with suppress(SkipError):
            cases.append(made(seed))
    assert len(cases) > 30
    text = "".join(case.program.text for case in cases)
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


KEPT = "var t = A[0 :+ 8, 0 :+ 64]\n  "
IN_SHARED = {
    "a point": KEPT + "t[0, ctx.thread] = 1.0\n  barrier()\n  A[1, ctx.thread] = t[0, 63 - ctx.thread]",
    "a run": KEPT + "store(t[ctx.thread / 8, ctx.thread % 8 * 8 :+ 8], 2.0)\n  A[0 :+ 8, 0 :+ 64] = t",
    "a table": "let t = A[0, 0 :+ 64] * 2.0\n  B[0 :+ 64, 0] = gather(flat(t), P[0 :+ 64] % 64)",
    "a transpose": "B[0 :+ 64, 0 :+ 8] = transpose(A[0 :+ 8, 0 :+ 64])",
    "a column sum": "B[0 :+ 1, 0 :+ 8] = colsum(B[0 :+ 64, 0 :+ 8])",
}
"""Tiles in shared memory that other threads read than wrote, each with a barrier that must be there."""


@pytest.mark.parametrize("body", IN_SHARED.values(), ids=IN_SHARED)
def test_a_race_in_shared_memory_is_found(body: str) -> None:
    head = "@launch(64)\nkernel fuzz(A: tensor<f32>[8, 64], B: tensor<f32>[64, 8], P: tensor<u8>[64]) {\n"
    kernel = Unit(Source("race.ph", f"{head}  {body}\n}}\n")).compile("fuzz", target("sm_80")).kernel
    shapes = {"A": ((8, 64), np.float32), "B": ((64, 8), np.float32), "P": ((64,), np.uint8)}
    ownership.run(kernel, {n: np.ones(*s) for n, s in shapes.items()}, {}, (1, 1, 1))
    last = max(i for i, op in enumerate(kernel.body.ops) if isinstance(op, Sync))
    without = type(kernel.body)(kernel.body.params, kernel.body.ops[:last] + kernel.body.ops[last + 1 :])
    with pytest.raises(ownership.RaceError):
        ownership.run(kernel.replace(body=without), {n: np.ones(*s) for n, s in shapes.items()}, {}, (1, 1, 1))

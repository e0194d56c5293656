"""Every run line again, now as the PTX that is emitted, in the simulator with all its checks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import phobos
from phobos.runline import RunLine, expected, judge, load_reference, make_inputs
from tests.kernels.test_kernels import runs


@cache
def module(path: Path, chip: str) -> phobos.Module:
    return phobos.compile(path, target=chip)


def simulated(path: Path, line: RunLine, chip: str) -> phobos.SimResult:
    """Run a line's kernel and judge what it left."""
    handle = getattr(module(path, chip), line.kernel)
    if constants := line.constants(handle.choices):
        handle = handle.configured(**constants)
    inputs = make_inputs(handle.meaning, line)
    tensors = {name: array.copy() for name, array in inputs.tensors.items()}
    values = {**tensors, **inputs.scalars}
    result = handle.simulate([values[p.name] for p in handle.signature.params], line.grid)
    want = expected(handle.meaning, load_reference(path, line.kernel), inputs)
    verdict = judge(handle.meaning, line.on_hardware(), want, inputs, tensors)
    assert verdict.ok, "; ".join(verdict.faults)
    return result


def chips(path: Path) -> tuple[str, ...]:
    """Where cp.async may be used and where it may not, file by file. `tests/sim` has the examples on each chip."""
    return ("sm_80",) if len(path.stem) % 2 else ("sm_75",)


CASES = [
    pytest.param(*p.values, chip, id=f"{p.id}-{chip}")  # type: ignore[attr-defined]
    for p in runs()
    for chip in chips(p.values[0])  # type: ignore[attr-defined]
]


@pytest.mark.parametrize(("path", "line", "chip"), CASES)
def test_kernel(path: Path, line: RunLine, chip: str) -> None:
    assert simulated(path, line, chip).findings == []

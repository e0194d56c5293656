"""Emitted PTX of a `// run:` line, made ready to simulate; only the compiler's public products are used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import phobos
from phobos.artifact import Artifact
from phobos.ir.kernel import Fact
from phobos.runline import RunLine, expected, judge, launch_grid, load_reference, make_inputs
from phobos.sim import SimResult, simulate

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """A kernel at a run line: its artefact, and what to pass."""

    artifact: Artifact
    args: list[Any]
    names: list[str]
    grid: tuple[int, int, int]

    def run(self, ptx: str | None = None, **options: Any) -> SimResult:
        """Simulate it, or other PTX in its place."""
        return simulate(
            self.artifact.ptx if ptx is None else ptx, self.artifact.name, self.args, self.grid,
            (self.artifact.threads,), self.artifact.dynamic_shared_bytes, names=self.names, **options,
        )  # fmt: skip


@cache
def _compiled(
    path: Path, chip: str, kernel: str, constants: tuple[tuple[str, int], ...], odd: frozenset[Fact]
) -> Artifact:
    handle = getattr(phobos.compile(path, target=chip), kernel).configured(**dict(constants))
    artifact: Artifact = handle.variant(odd)
    return artifact


def case(path: Path, line: RunLine, chip: str) -> tuple[Case, Any]:
    """The case, and a function that judges its arrays after a run."""
    handle = getattr(phobos.compile(path, target=chip), line.kernel)
    constants = line.constants(handle.choices)
    handle = handle.configured(**constants)
    signature = handle.signature
    odd = frozenset(Fact("multiple_of_4", name) for name in signature.dims if int(line.values.get(name, 0)) % 4)
    artifact = _compiled(path, chip, line.kernel, tuple(constants.items()), odd)
    inputs = make_inputs(handle.meaning, line)
    tensors = {name: array.copy() for name, array in inputs.tensors.items()}
    scalars = [
        np.float16(inputs.scalars[p.name]) if str(p.type) == "f16" else inputs.scalars[p.name]
        for p in signature.scalars
    ]
    args = [*(tensors[p.name] for p in signature.tensors), *(inputs.dims[name] for name in signature.dims), *scalars]
    names = [*(p.name for p in signature.tensors), *signature.dims, *(p.name for p in signature.scalars)]

    def faults() -> tuple[str, ...]:
        reference = expected(handle.meaning, load_reference(path, line.kernel), inputs)
        return judge(handle.meaning, line.on_hardware(), reference, inputs, tensors).faults

    return Case(artifact, args, names, launch_grid(handle.meaning, line, inputs.dims)), faults

"""The run lines of the examples and kernels, compiled for a chip and run from the LLVM IR on this machine.

The largest launches and the kernels on f16 and bf16 that need the host's runtime library are left to a GPU, and those
whose lanes exchange registers to the simulator too: threads of this machine have none in common.
"""

from __future__ import annotations

import ctypes
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phobos import passes
from phobos.codegen import emit
from phobos.ir.kernel import Kernel
from phobos.ir.reduce_ops import Reduce, ReduceArg
from phobos.ir.shape_ops import Scan
from phobos.ir.thread_ops import Atomic
from phobos.ir.tile_ops import Convert
from phobos.runline import RunLine, expected, judge, launch_grid, load_reference, make_inputs, parse_run_lines
from phobos.target import target
from tests.codegen import cpu
from tests.kernels.test_kernels import FILES, built

SCALARS: dict[str, Any] = {
    "i8": ctypes.c_int8,
    "u8": ctypes.c_uint8,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "bool": ctypes.c_int8,
}
MOST_THREADS = 768
WITHOUT_CP_ASYNC = ("gemm_fp32", "matmul")
"""Files whose code differs below sm_80."""


def cases() -> list[object]:
    """A kernel's first run line; its others are in the slow run, and all of them go through the simulator."""
    return [
        pytest.param(
            path,
            line,
            chip,
            id=f"{path.stem}-{line.kernel}-{line.span.line}-{chip}",
            marks=[] if line.kernel not in {other.kernel for other in lines[:k]} else [pytest.mark.slow],
        )
        for path in FILES
        for lines in [parse_run_lines(path.read_text(), path.name)]
        for k, line in enumerate(lines)
        for chip in (("sm_80", "sm_75") if path.stem in WITHOUT_CP_ASYNC else ("sm_80",))
    ]


def needs_a_runtime_library(kernel: Kernel, chip: str) -> bool:
    """Whether the host's back end would call functions for the kernel's 16-bit floats."""
    text = emit(kernel, target(chip), 32, kernel.span.source)
    return "bfloat" in text or ("half" in text and ("double" in text or "llvm.fma.f16" in text))


@pytest.mark.parametrize(("path", "line", "chip"), cases())
def test_kernel(path: Path, line: RunLine, chip: str) -> None:
    kernel = built(path, line)
    inputs = make_inputs(kernel, line)
    made = passes.run(kernel, passes.Options(target=target(chip)))
    grid = launch_grid(made, line, inputs.dims)
    if prod(grid) * made.threads > MOST_THREADS:
        pytest.skip(f"{prod(grid)} blocks of {made.threads} threads take too long here")
    once_per_warp = any(isinstance(op, Atomic) and op.scope == "warp" for op in made.walk())
    if once_per_warp or any(isinstance(op, Reduce | ReduceArg | Scan | Convert) for op in made.walk()):
        pytest.skip("lanes exchange registers")
    if needs_a_runtime_library(made, chip):
        pytest.skip("16-bit floats that this processor's back end has no instructions for")
    given = {name: array.view(np.uint8) if array.dtype == bool else array for name, array in inputs.tensors.items()}
    scalars = tuple(SCALARS[str(v.type)](inputs.scalars[v.name]) for v in made.scalars)
    dims = [inputs.dims[v.name] for v in made.dims]
    left = cpu.run(made, grid, [given[t.name] for t in made.tensors], dims, scalars, chip=chip)
    results = {t.name: a.view(inputs.tensors[t.name].dtype) for t, a in zip(made.tensors, left, strict=True)}
    verdict = judge(kernel, line, expected(kernel, load_reference(path, line.kernel), inputs), inputs, results)
    assert verdict.ok, "; ".join(verdict.faults)

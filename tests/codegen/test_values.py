"""Elementwise operations, run from the emitted LLVM IR, against the interpreter: bit for bit, edges included.

bf16 is left to a GPU: the host's back end calls a runtime library for it. The approximated functions are compared with
a tolerance, since the host computes them its own way; what is tested there is the expansion around the approximation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phobos.interp import elementwise, numbers
from phobos.ir.tile_ops import COMPARE
from phobos.ir.types import BOOL, F16, F32, F64, I8, I32, I64, U8, Scalar
from tests.codegen import cpu
from tests.codegen.kernels import APPROXIMATE, mapped, operations, refused

EDGES: dict[Scalar, list[float]] = {
    t: [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 3.0, 1e3, -1e3, 129.0, 300.0, np.inf, -np.inf, np.nan, 1e-7]
    for t in (F16, F32, F64)
} | {
    t: [0, 1, 2, 3, 7, 31, 32, 33, int(info.max), int(info.min), int(info.max) - 1, int(info.min) + 1, 255, 5, 64, 100]
    for t, info in (
        (I8, np.iinfo(np.int8)),
        (U8, np.iinfo(np.uint8)),
        (I32, np.iinfo(np.int32)),
        (I64, np.iinfo(np.int64)),
    )
}
EDGES[BOOL] = [0, 1] * 8
NEED_RUNTIME = {(F64, "to_f16"), (F16, "fma")}
"""What the host's back end calls a function for that is not in this process."""
N = 200
"""Not a multiple of the tile: the last block is masked."""


def inputs(elem: Scalar, arity: int) -> list[np.ndarray[Any, Any]]:
    """Operands that meet each other's edges, then random ones."""
    rng = np.random.default_rng(1)
    held = numbers.held(elem)
    edges = np.array(EDGES[elem]).astype(held) if elem.is_float else np.array(EDGES[elem], dtype=object)
    columns = []
    for i in range(arity):
        picks = edges[rng.integers(0, len(edges), N)] if i else np.resize(edges, N)
        if not elem.is_float:
            bits = max(elem.bits, 1)
            picks = np.array([int(v) & ((1 << bits) - 1) for v in picks], dtype=np.uint64).astype(held)
        column = picks.astype(held)
        if elem.is_float:
            column[N // 2 :] = rng.standard_normal(N - N // 2).astype(held)
        columns.append(column)
    return columns


def expected(kind: str, elem: Scalar, result: Scalar, x: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    if kind.startswith("to_"):
        return numbers.cast(x[0], elem, result)
    if kind == "fma":
        return numbers.fma(x[0], x[1], x[2], elem)
    if kind in COMPARE:
        return elementwise.compare(kind, x[0], x[1])
    return elementwise.unary(kind, x[0], elem) if len(x) == 1 else elementwise.binary(kind, x[0], x[1], elem)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("elem", EDGES, ids=str)
def test_as_interpreted(elem: Scalar) -> None:
    wrong = []
    for kind, arity, result, make in operations(elem):
        if refused(kind, elem) or result.name == "bf16" or (elem, kind) in NEED_RUNTIME:
            continue
        x = inputs(elem, arity)
        want = expected(kind, elem, result, x)
        out = np.zeros(N, numbers.stored(result))
        kernel = mapped("k", [elem] * arity, result, make, n=128, threads=32)
        got = cpu.run(kernel, (2,), [*(c.astype(numbers.stored(elem)) for c in x), out], [N])[-1]
        want = want.astype(got.dtype)
        if kind in APPROXIMATE or kind == "rsqrt":
            same = np.isclose(
                got.astype(float), want.astype(float), rtol=2e-3 if elem == F16 else 1e-4, atol=1e-6, equal_nan=True
            )
        else:
            same = (got == want) | ((got != got) & (want != want))
        wrong += [f"{kind}: {[c[i] for c in x]} gives {got[i]}, not {want[i]}" for i in np.flatnonzero(~same)[:2]]
    assert not wrong, "\n".join(wrong)

"""Reductions of every size in every number of threads: B132, R06, R13, R22.

One kernel reduces a tile along both axes in every way. Small integers in f32 make every order of a sum exact, so each
form of the kernel in the interpreter, and its PTX in the simulator, must give NumPy's results bit for bit.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import phobos
from phobos import interp, passes
from phobos.ir.kernel import Kernel

ONE_WARP = 32
SIZES = [
    # Below, at and beyond a warp and a block; no power of two; one row, one column, one element.
    *product((1, 2, 7, 33), (1, 3, 8, 16, 32, 48, 100, 257), (64,)),
    *product((31, 64, 100), (1, 7, 31, 64), (96,)),
    *product((1, 8, 255, 1000), (1, 2, 16), (128,)),
    *product((1, 3), (255, 256, 1000), (256,)),
    *product((16, 32), (33, 48), (ONE_WARP,)),
    (64, 64, 256),
    (256, 7, 256),
    (3, 1000, ONE_WARP),
]
PROGRAM = """
@launch({threads})
kernel reduced(X: tensor<f32>[{r}, {c}], S: tensor<f32>[{r}, 1], L: tensor<f32>[{r}, 1], U: tensor<f32>[{r}, 1],
    A: tensor<i32>[{r}, 1], CS: tensor<f32>[1, {c}], CL: tensor<f32>[1, {c}], CU: tensor<f32>[1, {c}],
    D: tensor<f32>[{r}, {c}]) {{
  let x = X[:, :]
  S[:, :] = rowsum(x)
  L[:, :] = rowmax(x)
  U[:, :] = rowmin(x)
  A[:, :] = rowargmax(x)
  CS[:, :] = colsum(x)
  CL[:, :] = colmax(x)
  CU[:, :] = colmin(x)
  D[:, :] = x - rowmax(x) * colmin(x)
}}
"""
Arrays = dict[str, NDArray[np.generic]]


def expected(x: NDArray[np.float32]) -> Arrays:
    rows = {"S": x.sum(1), "L": x.max(1), "U": x.min(1), "A": x.argmax(1).astype(np.int32)}
    columns = {"CS": x.sum(0), "CL": x.max(0), "CU": x.min(0)}
    whole = {"D": x - x.max(1, keepdims=True) * x.min(0, keepdims=True)}
    return {n: a[:, None] for n, a in rows.items()} | {n: a[None] for n, a in columns.items()} | whole


@cache
def compiled(r: int, c: int, threads: int) -> phobos.KernelHandle:
    text = PROGRAM.format(r=r, c=c, threads=threads)
    return phobos.compile(text, target="sm_75" if r % 2 else "sm_80").reduced


def inputs(r: int, c: int) -> tuple[Arrays, Arrays]:
    """The kernel's tensors before, and what they are to hold."""
    x = np.random.default_rng(r * 4096 + c).integers(-50, 50, (r, c)).astype(np.float32)
    want = expected(x)
    return {"X": x, **{name: np.full_like(a, 77) for name, a in want.items()}}, want


@pytest.mark.parametrize(("r", "c", "threads"), SIZES)
def test_every_form_and_the_ptx(r: int, c: int, threads: int) -> None:
    kernel = compiled(r, c, threads)
    forms: dict[str, Kernel] = {}
    passes.run(kernel.meaning, passes.Options(target=kernel.target, verify=True), observer=forms.__setitem__)
    for form, made in forms.items():
        tensors, want = inputs(r, c)
        interp.run(made, tensors, {}, (1, 1, 1))
        for name, a in want.items():
            np.testing.assert_array_equal(tensors[name], a, f"{name} in form {form}")
    tensors, want = inputs(r, c)
    assert kernel.simulate(list(tensors.values())).findings == []
    for name, a in want.items():
        np.testing.assert_array_equal(tensors[name], a, f"{name} in PTX")


@pytest.mark.gpu
@pytest.mark.parametrize(("r", "c", "threads"), SIZES)
def test_on_a_gpu(r: int, c: int, threads: int) -> None:
    program = phobos.compile(PROGRAM.format(r=r, c=c, threads=threads))
    tensors, want = inputs(r, c)
    program.reduced(*tensors.values())
    for name, a in want.items():
        np.testing.assert_array_equal(tensors[name], a, name)


def test_a_short_row_takes_no_shared_memory() -> None:
    """Rows that lie in one warp, of a load and of a contraction, are reduced by shuffles alone."""
    text = """
    @launch(128)
    kernel rows(X: tensor<f32>[64, 64], Y: tensor<f32>[64, 64], Z: tensor<f32>[64, 1]) {
      let x = X[:, :]
      Y[:, :] = exp(x - rowmax(x)) / rowsum(exp(x - rowmax(x)))
      Z[:, :] = rowmax(dot(x, x))
    }
    """
    artifact = phobos.compile(text, target="sm_80").rows
    labels = [b.label for b in artifact.plan.shared.buffers]
    assert labels == ["x", "x"], "the operands of the contraction alone"


def test_a_long_row_crosses_the_warps_once() -> None:
    """8192 elements in 8 warps: eight parts, one buffer of 32 bytes for each of two reductions."""
    text = """
    @launch(256)
    kernel row(X: tensor<f32>[M, 8192], Y: tensor<f32>[M, 8192]) {
      let r = ctx.block.x
      let x = X[r :+ 1, :]
      let e = exp(x - rowmax(x))
      Y[r :+ 1, :] = e / rowsum(e)
    }
    """
    plan = phobos.compile(text, target="sm_80").row.plan
    assert [(b.shape, b.bytes) for b in plan.shared.buffers] == [((1, 8), 32)] * 2
    assert sum(s.scope == "cta" for s in plan.syncs) <= 3

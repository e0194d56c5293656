"""Tiles too large for registers: what is kept, what the report and the error say, and that nothing else changes.

The kernels in `large/` run with all others. Here a pass that treats every tile as large, in boxes of one element a
thread, must leave the meaning of other kernels alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import phobos
from phobos import passes
from phobos.diagnostics import CompileError
from phobos.passes import large, spill
from phobos.runline import RunLine, parse_run_lines
from phobos.target import target
from tests.kernels.test_kernels import built
from tests.kernels.test_kernels import test_kernel as check_forms
from tests.kernels.test_simulator import simulated

HERE = Path(__file__).parent
ALL_LARGE = ("control.ph", "broadcast.ph", "order.ph", "shapes/scan.ph", "tiles/slices.ph", "reductions/reductions.ph")
ROWS = """
@launch(64)
kernel rows(X: tensor<f32>[M, {n}], Y: tensor<f32>[M, {n}]) {{
  let x = X[0 :+ 8, :]
  let e = exp(x - rowmax(x))
  Y[0 :+ 8, :] = e / rowsum(e)
}}
"""
PRODUCT = """
@launch(64)
kernel product(A: tensor<f32>[128, K], B: tensor<f32>[K, 256], C: tensor<f32>[128, 256]) {
  var acc: tile<f32>[128, 256] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[:, k :+ 8], B[k :+ 8, :])
  }
  C[:, :] = acc
}
"""
CARRIED = """
@launch(32)
kernel carried(X: tensor<f32>[96, 96], Y: tensor<f32>[96, 96], n: i32) {
  var a = X[:, :]
  var b = X[:, :] + 1.0
  for i in range(0, n) {
    let c = a
    a = b * 2.0
    b = c
  }
  Y[:, :] = a + b
}
"""


def lines(path: Path) -> list[RunLine]:
    return parse_run_lines(path.read_text(), path.name)


@pytest.mark.parametrize("line", lines(HERE / "large" / "large.ph"), ids=lambda line: f"{line.kernel}-{line.span.line}")
def test_on_the_smallest_chip(line: RunLine) -> None:
    """64 KiB of shared memory hold what these kernels keep."""
    assert simulated(HERE / "large" / "large.ph", line, "sm_75").findings == []


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_an_accumulator_of_128_kib(chip: str) -> None:
    kernel = phobos.compile(PRODUCT, target=chip).product
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((128, 20), (20, 256)))
    c = np.zeros((128, 256), np.float32)
    assert kernel.simulate([a, b, c]).findings == []
    np.testing.assert_array_equal(c, a @ b)
    (acc,) = (b for b in kernel.plan.shared.buffers if b.label == "acc")
    assert acc.bytes == 128 * 256 * 4


def test_the_report_names_what_is_kept() -> None:
    plan = phobos.compile(ROWS.format(n=1200), target="sm_80").rows.plan
    said = "[8, 1200] is kept in shared memory, 38400 bytes: a thread would hold 150 registers of it"
    assert [r.message for r in plan.remarks if r.code == "PR408"] == [f"x {said}", f"e {said}"]
    text = phobos.compile(ROWS.format(n=1200), target="sm_80").rows.report
    text = " ".join(text.split())
    assert f"PR408 x {said}" in text
    assert "in shared memory because a thread would hold 150 registers of it" in text


def test_what_no_shared_memory_holds_is_computed_again() -> None:
    plan = phobos.compile(ROWS.format(n=8000), target="sm_80").rows.plan
    said = "[8, 8000] does not fit shared memory: computed again by each of 2 uses"
    assert [r.message for r in plan.remarks if r.code == "PR409"] == [f"x {said}", f"e {said}"]
    assert plan.shared.total_bytes < 4096


def test_the_error_draws_the_ruler() -> None:
    with pytest.raises(CompileError) as raised:
        assert phobos.compile(CARRIED, target="sm_75").carried.ptx
    (error,) = raised.value.diagnostics
    assert error.code == "PH501"
    assert "needs 110592 bytes of shared memory, sm_75 has 65536 for a block" in error.message
    since = "@rows(fast=1), line {}, since a thread would hold 288 registers of it"
    assert [note.split() for note in error.notes] == [
        f"0 .. 36864 a: buffer<f32>[96, 96] {since.format(6)}".split(),
        f"36864 .. 73728 b: buffer<f32>[96, 96] {since.format(6)}".split(),
        f"73728 .. 110592 a: buffer<f32>[96, 96] {since.format(6)}".split(),
    ]
    assert {label.text for label in error.labels} == {"36864 bytes for a", "36864 bytes for b"}
    assert error.help == ("choose smaller tiles, or more threads with @launch",)


def test_kernels_without_large_tiles_are_not_touched() -> None:
    path = HERE.parents[1] / "examples" / "gemm_fp32.ph"
    options = passes.Options(target("sm_80"))
    kernel = passes.run(built(path, lines(path)[0]), options, stop_after="order")
    assert spill.run(kernel, options) is kernel


@pytest.mark.parametrize("name", ALL_LARGE)
def test_every_tile_treated_as_large(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "MOST_REGISTERS", 0)
    monkeypatch.setattr(large, "BOX_REGISTERS", 1)
    monkeypatch.setattr(large, "DOT_REGISTERS", 2)
    for line in lines(HERE / name):
        check_forms(HERE / name, line, "sm_80")

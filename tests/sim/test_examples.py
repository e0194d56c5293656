"""The examples' emitted PTX for three chips, with every check on, against their formulas in float64; and what happens
when a barrier or a wait is taken out of it by hand."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

import phobos
from phobos.runline import RunLine, parse_run_lines
from phobos.sim import Checks, SimFault, simulate
from phobos.sim.reader import read
from tests.sim.examples import case

EXAMPLES = Path(__file__).parents[2] / "examples"
CHIPS = ("sm_75", "sm_80", "sm_90")
FILES = sorted(EXAMPLES.glob("*.ph"))
LINES = [(path, line) for path in FILES for line in parse_run_lines(path.read_text(), path.name)]
GEMM = EXAMPLES / "gemm_fp32.ph"


CONFLICTING = ("flash_attention_fp16", "flash_attention_fp32", "kda_fp32")
"""Their small tiles, products that become operands, are written by threads that hold one or two elements of a row."""


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("path", "line"), LINES, ids=[f"{p.stem}-{k}" for k, (p, _) in enumerate(LINES)])
def test_example(path: Path, line: RunLine, chip: str) -> None:
    made, faults = case(path, line, chip)
    result = made.run()
    assert faults() == ()
    assert result.findings == []
    assert result.ctas == int(np.prod(made.grid))
    if path.stem not in CONFLICTING:
        assert result.counters.bank_conflicts == 0


def gemm_line() -> RunLine:
    return parse_run_lines(GEMM.read_text(), GEMM.name)[0]


@pytest.mark.parametrize("chip", CHIPS)
def test_a_gemm_without_the_barrier_of_its_loop_races(chip: str) -> None:
    made, _ = case(GEMM, gemm_line(), chip)
    ptx = made.artifact.ptx
    barrier = list(re.finditer(r"\tbar\.sync \t0;\n", ptx))[-1]
    with pytest.raises(SimFault) as caught:
        made.run(ptx[: barrier.start()] + ptx[barrier.end() :])
    finding = caught.value.finding
    assert finding.kind == "race"
    # Both accesses name their lines: the product reads what the load of an operand put there. Where registers lie
    # between (sm_75), the store has the product's line, since that is what asks for the operand in shared memory.
    source = GEMM.read_text().splitlines()
    places = (finding.source, finding.related[0])
    lines = [int(line) for place in places for line in re.findall(r"fp32\.ph:(\d+):", place)]
    assert "dot(a, b)" in source[lines[0] - 1]
    assert re.search(r"dot\(a, b\)" if chip == "sm_75" else r"let [ab] = ", source[lines[1] - 1]), str(finding)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_a_gemm_that_does_not_wait_for_its_copies(chip: str) -> None:
    made, faults = case(GEMM, gemm_line(), chip)
    ptx = made.artifact.ptx
    wait = re.search(r"\tcp\.async\.wait_group \t0;\n", ptx)
    assert wait is not None
    without = ptx[: wait.start()] + ptx[wait.end() :]
    with pytest.raises(SimFault) as caught:
        made.run(without)
    assert caught.value.finding.kind == "race"
    assert "an asynchronous copy has not been waited for" in caught.value.finding.message
    # The numbers show it too, when nothing looks for races.
    made.run(without, checks=Checks.none())
    assert faults() != ()


def test_a_point_subscript_past_the_end() -> None:
    text = "@launch(32)\nkernel shift(A: tensor<f32>[N], B: tensor<f32>[N]) {\n"
    text += "  B[ctx.block.x] = A[ctx.block.x + 1]\n}\n"
    artifact = phobos.compile(text, target="sm_80").shift.artifact
    args = [np.arange(8, dtype=np.float32), np.zeros(8, np.float32), 8]
    with pytest.raises(SimFault) as caught:
        simulate(artifact.ptx, "shift", args, (8,), (32,), names=["A", "B", "N"])
    finding = caught.value.finding
    assert finding.kind == "out of bounds"
    assert "outside of tensor A: element 8 of 8" in finding.message
    assert re.search(r":3:\d+$", finding.source)
    assert finding.block == (7, 0, 0)


def test_speed_of_a_step_of_a_gemm() -> None:
    """One CTA of 256 threads runs a 64 x 64 x 16 step: 15 ms are allowed with the checks on, 5 ms with them off."""
    module = read(phobos.compile(GEMM, target="sm_80").gemm.configured(TILE_M=64, TILE_N=64, TILE_K=16).ptx)
    rng = np.random.default_rng(0)

    def seconds(steps: int, checks: Checks) -> float:
        a = rng.standard_normal((64, 16 * steps), np.float32)
        b = rng.standard_normal((16 * steps, 64), np.float32)
        best = np.inf
        for _ in range(3):
            began = time.perf_counter()
            simulate(module, "gemm", [a, b, np.zeros((64, 64), np.float32), 64, 16 * steps, 64, 1.0, 0.0], (1,), (256,),
                     checks=checks)  # fmt: skip
            best = min(best, time.perf_counter() - began)
        return best

    for checks, limit in ((Checks(), 0.015), (Checks.none(), 0.005)):
        step = (seconds(44, checks) - seconds(4, checks)) / 40
        assert step < limit, f"{step * 1e3:.2f} ms a step"

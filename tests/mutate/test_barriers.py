"""A barrier taken out of the PTX of a contraction by hand: the race check names the source lines of both accesses."""

from __future__ import annotations

import re

import numpy as np
import pytest

from phobos.sim import SimFault, simulate
from tests.mutate.cases import CASES, compiled
from tests.mutate.judges import trials

BARRIER = re.compile(r"^\s*bar(?:rier)?(?:\.cta)?\.sync\b.*\n", re.MULTILINE)
PLACE = re.compile(r"gemm_fp32\.ph:(\d+):")
# Either the lines of the slices that are copied, or of the product whose operands are brought in for it.
ACCESSES = ("let a = ", "let b = ", "acc += dot(a, b)")


@pytest.mark.parametrize("chip", ["sm_75", "sm_80"])
def test_a_barrier_deleted_by_hand_is_named_by_two_lines(chip: str) -> None:
    case = CASES[f"gemm-{chip}"]
    made, trial = compiled(case), trials(case)[0]
    text = case.path.read_text().splitlines()
    places = list(BARRIER.finditer(made.ptx))
    assert places
    for place in places:
        without = made.ptx[: place.start()] + made.ptx[place.end() :]
        values = {name: array.copy() for name, array in trial.inputs.tensors.items()}
        values |= {name: np.int32(extent) for name, extent in trial.inputs.dims.items()}
        values |= trial.inputs.scalars
        with pytest.raises(SimFault) as caught:
            simulate(without, "gemm", list(values.values()), trial.grid, (made.synced.threads,), names=list(values))
        finding = caught.value.finding
        assert finding.kind == "race"
        named = PLACE.findall(finding.source) + PLACE.findall(finding.related[0])
        assert len(named) == 2, str(finding)
        lines = [text[int(line) - 1].strip() for line in named]
        assert all(line.startswith(ACCESSES) for line in lines), f"{finding}\n{lines}"
        assert "acc += dot(a, b)" in lines

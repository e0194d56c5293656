"""The same judgements on a GPU: the hardware's approximations and conversions within what the specification says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.accuracy.functions import UNARY, Case, every_pattern, judge, run, samples
from tests.accuracy.reference import FORMATS, stored
from tests.accuracy.test_conversions import TYPES, wrong
from tests.accuracy.test_functions import powers

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
CASES = [Case(elem, precise, None) for elem in FORMATS for precise in (False, True)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case: Case) -> None:
    numbers = (
        every_pattern().view(stored(case.elem)) if case.elem in ("f16", "bf16") else samples(case.elem, 500_000, 1)
    )
    assert judge(case, UNARY, [numbers]) == []


@pytest.mark.parametrize("case", [c for c in CASES if c.elem != "bf16"], ids=str)
def test_pow(case: Case) -> None:
    assert judge(case, ["pow"], powers(case.elem, 100_000, seed=1)) == []


@pytest.mark.parametrize("elem", TYPES)
def test_conversions(elem: str) -> None:
    assert wrong(elem, None) == []


@pytest.mark.parametrize("elem", ["f32", "f64"])
def test_accurate_functions_have_the_simulator_s_bits(elem: str) -> None:
    x = samples(elem, 20_000, seed=3)
    simulated, real = run(Case(elem, True), UNARY, [x]), run(Case(elem, True, None), UNARY, [x])
    for name in UNARY:
        assert np.array_equal(simulated[name], real[name], equal_nan=True), name

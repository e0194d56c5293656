"""The big run's machinery: outcomes, children that hang or die, and the lines that it writes."""

from __future__ import annotations

import io
import os
import signal
import time
from typing import Any

import numpy as np
import pytest

from phobos.interp import numbers
from phobos.ir.types import BF16, F32
from tests.prop import cases, sums
from tests.prop.campaign import Campaign, Child, outcome, run


def test_programs_are_compared_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    log = io.StringIO()
    assert run(Campaign(("sm_75", "sm_80"), False, jobs=1, limit=120.0), 1, 2, log, show=False) == 0
    head, summary = log.getvalue().splitlines()
    assert head.startswith("2 random tile programs, simulated, sm_75, sm_80, from seed 1, 1 jobs, Python ")
    assert summary.startswith("ok: 2 programs compared (sm_75 2, sm_80 2), 0 failed, of ")
    assert capsys.readouterr().out == log.getvalue()


def test_a_child_that_hangs_is_a_failure_with_its_seed() -> None:
    campaign = Campaign(("sm_80",), False, jobs=1, limit=0.0)
    child = Child(campaign.targets, False)
    campaign.children.append(child)
    assert child.process.pid is not None
    os.kill(child.process.pid, signal.SIGSTOP)
    child.give(7)
    (found,) = campaign._gathered()
    assert (found.seed, found.failures) == (7, [("all", "took more than 0 s")])
    assert campaign.children == []
    assert not child.process.is_alive()


def test_a_child_that_dies_is_a_failure_with_its_seed() -> None:
    campaign = Campaign(("sm_80",), False, jobs=1, limit=60.0)
    child = Child(campaign.targets, False)
    campaign.children.append(child)
    child.seed, child.since = 8, time.monotonic()
    child.process.kill()
    child.process.join()
    (found,) = campaign._gathered()
    assert (found.seed, found.failures) == (8, [("all", "the child ended with -9")])
    assert campaign.children == []


def test_a_disagreement_is_a_failure_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    agreed = outcome(1, ("sm_80",), False)
    assert (agreed.compared, agreed.failures) == (["sm_80"], []), "seed 1 has something to compare"
    monkeypatch.setattr(cases.Case, "differing", lambda *_: ["T0"])
    found = outcome(1, ("sm_80",), False)
    assert (found.seed, found.compared, len(found.failures)) == (1, [], 1)
    assert found.failures[0][0] == "sm_80"
    assert found.failures[0][1].startswith("AssertionError: sm_80, 32 bits, simulated")


@pytest.mark.parametrize(
    ("column", "elem", "any_order"),
    [
        ([1, 2, -3, 2**20], F32, True),
        ([1, 2**24], F32, False),
        ([0.5, 2**21], F32, True),
        ([0.5, 2**23], F32, False),
        ([0.1, 0.2, 0.3], F32, False),
        ([np.inf, 1, np.nan], F32, True),
        ([3e38, 3e38, -3e38], F32, False),
        ([0.0, 0.0], F32, True),
        ([-0.0, -0.0], F32, False),  # minus zero, or plus zero where a thread adds what it started from
        ([256, 1], BF16, True),
    ],
)
def test_sums_in_any_order(column: list[float], elem: Any, any_order: bool) -> None:
    from phobos.ir.core import Value
    from phobos.ir.reduce_ops import Reduce
    from phobos.ir.types import Tile
    from phobos.source import NOWHERE

    n = len(column)
    a, out = Value("a", Tile(elem, (n, 1))), Value("out", Tile(elem, (1, 1)))
    op = Reduce(kind="sum", axis=0, a=a, out=out, span=NOWHERE)
    held = {a: numbers.from_f64(np.array(column)[:, None], elem)}
    seen = sums.Sums()
    seen.meet(op, held)  # type: ignore[arg-type]  (only read by its values)
    assert seen.ordered is not any_order

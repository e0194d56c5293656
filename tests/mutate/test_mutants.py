"""Proof that the judges can fail a kernel: mutants of many kernels, each of which some judge must object to.

The default run takes a sample of the mutants, `-m slow` all of them. Those to which nobody objects stand in
`survivors.md` with the reason why they are equivalent; another survivor is a hole in a judge, or a barrier, guard or
wait that no kernel needs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from phobos.ir.verify import FORM_RANGE
from tests.mutate.cases import CASES, compiled
from tests.mutate.full import judge_all
from tests.mutate.judges import Verdict, judged
from tests.mutate.mutants import MUTATIONS, mutants

SURVIVORS = Path(__file__).with_name("survivors.md")
RATE = 0.99
EACH = 12
"""Mutants of each kind in the default run."""


def survivors() -> list[re.Pattern[str]]:
    """The first column of the table; `*` stands for any text."""
    rows = re.findall(r"^\| `([^`]+)` \|", SURVIVORS.read_text(), re.MULTILINE)
    return [re.compile(".*".join(map(re.escape, row.split("*")))) for row in rows]


def names() -> dict[str, dict[str, list[str]]]:
    """Mutants by kind and case."""
    found: dict[str, dict[str, list[str]]] = {kind: {} for kind in MUTATIONS}
    for name, case in CASES.items():
        for mutant, (kind, _) in mutants(compiled(case)).items():
            found[kind].setdefault(name, []).append(mutant)
    return found


def sample() -> dict[str, list[str]]:
    """Of each kind as many as EACH, from different cases where there are so many, by case."""
    chosen: dict[str, list[str]] = {}
    for kind, (mutation, by_case) in enumerate(names().items()):
        cases = [c for c, mutants in by_case.items() if mutants]
        step = max(len(cases) / EACH, 1.0)
        for number in range(min(EACH, len(cases))):
            case = cases[int(number * step)]
            candidates = by_case[case]
            chosen.setdefault(case, []).append(candidates[(number * 7 + kind) % len(candidates)])
        assert cases, f"no mutant of kind {mutation}"
    return chosen


def told(verdicts: Iterable[Verdict]) -> str:
    """How many mutants there were and who objected, by kind."""
    rows = []
    verdicts = list(verdicts)
    for kind in MUTATIONS:
        own = [v for v in verdicts if v.kind == kind and not v.same]
        killed = [v for v in own if v.killed]
        judges = Counter(judge for v in killed for judge in v.objections)
        said = ", ".join(f"{judge} {count}" for judge, count in judges.most_common())
        same = sum(bool(v.same) for v in verdicts if v.kind == kind)
        rows.append(f"  {kind:<12} {len(killed):>5} of {len(own):>5} killed, {same:>4} change nothing; {said}")
    real = [v for v in verdicts if not v.same]
    killed_count = sum(v.killed for v in real)
    rows.append(f"  in all       {killed_count:>5} of {len(real):>5} killed: {100 * killed_count / len(real):.2f} %")
    return "\n".join(rows)


def check(verdicts: list[Verdict], rate: float) -> None:
    real = [v for v in verdicts if not v.same]
    alive = [v.name for v in real if not v.killed]
    known = survivors()
    assert [name for name in alive if not any(k.fullmatch(name) for k in known)] == []
    assert len(alive) <= (1 - rate) * len(real), f"{len(alive)} of {len(real)} mutants survive"


def test_a_sample_of_the_mutants_is_objected_to(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = [v for case, mutants in sample().items() for v in judged(case, mutants)]
    with capsys.disabled():
        print(f"\nmutants, a sample:\n{told(verdicts)}")
    check(verdicts, 0.95)  # of so few, one survivor may be more than one in a hundred


@pytest.mark.slow
def test_every_mutant_is_objected_to(capsys: pytest.CaptureFixture[str]) -> None:
    by_case: dict[str, list[str]] = {case: [] for case in CASES}
    for cases in names().values():
        for case, found in cases.items():
            by_case[case] += found
    verdicts = judge_all(by_case, every=True)
    with capsys.disabled():
        print(f"\nmutants, all:\n{told(verdicts)}")
    check(verdicts, RATE)
    alive = [v.name for v in verdicts if not v.killed and not v.same]
    gone = [k.pattern for k in survivors() if not any(k.fullmatch(name) for name in alive)]
    assert gone == [], "killed by now, take them off the list"


def test_the_cases_hold_every_kind_of_op() -> None:
    from phobos.codegen.module import HANDLERS

    here = {type(op) for case in CASES.values() for kernel in compiled(case).after.values() for op in kernel.walk()}
    assert {op.name for op in {*HANDLERS, *FORM_RANGE} - here} == set()

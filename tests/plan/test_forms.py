"""`describe` and `render` on every form of every example: what is not decided yet is empty, and JSON round trips."""

from __future__ import annotations

from pathlib import Path

import pytest

from phobos.compiler import Unit
from phobos.ir.kernel import Kernel
from phobos.passes import FORMS, Options, run
from phobos.plan import Plan, describe, render
from phobos.source import Source
from phobos.target import target

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.ph"))


def forms(path: Path, name: str) -> dict[str, Kernel]:
    """Each form of the file's first kernel."""
    unit = Unit(Source(path.name, path.read_text()))
    found: dict[str, Kernel] = {}
    run(unit.built(unit.kernels[0]), Options(target=target(name)), found.__setitem__)
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_form_is_described(path: Path) -> None:
    kernels = forms(path, "sm_80")
    assert tuple(kernels) == FORMS
    for form, kernel in kernels.items():
        plan = describe(kernel, target("sm_80"), 32)
        assert plan.form == form
        assert Plan.from_json(plan.to_json()) == plan
        assert kernel.name in render(plan)
    built = describe(kernels["built"], target("sm_80"), 32)
    assert {a.width for a in built.accesses if not a.kind.startswith("point")} <= {0}
    assert built.shared.total_bytes == 0
    assert built.facts == ()


def test_the_gemm_of_the_first_tile_sizes() -> None:
    """At TILE 32x32x4 and two stages the operands take 2048 bytes, and no access of the aligned kernel is masked."""
    path = next(p for p in EXAMPLES if p.stem == "gemm_fp32")
    plan = describe(forms(path, "sm_75")["synced"], target("sm_75"), 32)
    assert plan.shared.total_bytes == 2048
    assert not any(a.masked for a in plan.accesses)
    assert [c.path for c in plan.contractions] == ["FMA"] * len(plan.contractions)
    (loop,) = plan.loops
    assert (loop.part, loop.stages) == ("", 2)
    assert {a.width_bytes for a in plan.accesses if a.tensor == "C"} == {16}

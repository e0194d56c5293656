"""Lowering at the parser's limits on nesting and length, and what does not show in printed IR."""

from __future__ import annotations

import pytest

from phobos.diagnostics import Sink
from phobos.frontend.check import check_kernel
from phobos.frontend.lower import lower
from phobos.frontend.lower_support import NOT_YET
from phobos.frontend.parser import parse
from phobos.ir.kernel import Fact
from phobos.ir.tile_ops import Fma, For
from phobos.source import Source
from tests.lower.test_lower import built

HEAD = "kernel k(X: tensor<f32>[64], Y: tensor<i32>[64], n: i32) {\n  let x = X[0 :+ 64]\n  var a = n\n"
TAIL = "  Y[0] = a\n}\n"


@pytest.mark.parametrize(
    "body",
    [
        "X[0 :+ 64] = " + "-" * 100 + "x\n",
        "X[0 :+ 64] = " + " + x * ".join(["x"] * 100) + "\n",
        "if a > 1 {\na += 1\n" * 100 + "}\n" * 100,
        "for i in range(0, 2) {\nif a > 3 {\nbreak\n}\na += 1\n" * 50 + "}\n" * 50,
        "if " + "(a > 1 && Y[1] > 3) || (" * 50 + "a > 2" + ")" * 50 + " {\na -= 1\n}\n",
    ],
    ids=["unary", "chain", "if", "for", "and-or"],
)
def test_deep_programs_are_lowered(body: str) -> None:
    assert built(HEAD + body + TAIL).walk()


def test_every_product_of_a_long_sum_fuses() -> None:
    kernel = built(HEAD + "X[0 :+ 64] = " + " + ".join(["x * x"] * 30) + "\n" + TAIL)
    # Of two products the left one fuses; from then on the left operand is a sum, and the right product fuses.
    assert sum(isinstance(op, Fma) for op in kernel.walk()) == 29


def test_every_loop_is_asked_for_the_stages_of_the_pipeline_attribute() -> None:
    loop = "for i in range(0, n) {\na += 1\n}\n"
    kernel = built("@pipeline(3)\n" + HEAD + loop + loop + TAIL)
    assert [op.stages for op in kernel.walk() if isinstance(op, For)] == [3, 3]


def test_denied_facts_are_the_kernels() -> None:
    source, sink = Source("k.ph", HEAD + TAIL), Sink()
    program = parse(source, sink)
    typed = check_kernel(program, program.kernels[0], {}, sink)
    assert typed is not None
    denied = frozenset({Fact("aligned_16", "X")})
    assert lower(typed, denied).denied == denied


def test_not_yet_names_what_it_is_asked_to_name() -> None:
    assert all(row.format(name="x") for row in NOT_YET.values())

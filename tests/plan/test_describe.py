"""`describe`: the Plan of a hand-written synced kernel says what its ops say, and of other forms what they know."""

from __future__ import annotations

import pytest

from phobos.ir.build import Builder
from phobos.ir.core import Block, Value
from phobos.ir.kernel import Attributes, GridAxis, Kernel
from phobos.ir.types import INDEX
from phobos.plan import Linked, Plan, describe
from phobos.plan.formula import Formulas
from phobos.source import NOWHERE
from phobos.target import target

LINKED = Linked("nvJitLink", "12.9", registers=40, spill_store_bytes=0, spill_load_bytes=0, stack_bytes=0)


@pytest.fixture(scope="session")
def plan(gemm: Kernel) -> Plan:
    return describe(gemm, target("sm_80"), 32, LINKED)


def test_head(plan: Plan) -> None:
    assert (plan.kernel, plan.file, plan.line, plan.form, plan.target) == ("gemm", "gemm.ph", 3, "synced", "sm_80")
    assert [(p.name, p.role, p.type) for p in plan.parameters] == [
        ("A", "tensor", "tensor<f32>[M, K]"),
        ("B", "tensor", "tensor<f32>[K, N]"),
        ("C", "tensor", "tensor<f32>[M, N]"),
        ("M", "dim", "index"),
        ("N", "dim", "index"),
        ("K", "dim", "index"),
    ]
    assert [a.blocks for a in plan.grid] == ["ceil(M / 32)", "ceil(N / 64)", "1"]
    # The least of @launch's and @registers' caps holds.
    assert (plan.launch.threads, plan.launch.min_blocks, plan.launch.max_regs) == (256, 2, 96)


def test_grid_that_is_not_inferred(gemm: Kernel) -> None:
    axes = (GridAxis(unknown="starts differ"), GridAxis(100, 16), GridAxis("B", 1))
    grid = describe(gemm.replace(grid=axes), target("sm_80"), 32).grid
    assert [(a.blocks, a.why) for a in grid] == [
        ("", "starts differ"),
        ("7", "tiles start at ctx.block.y * 16 along 100"),
        ("B", "tiles start at ctx.block.z along B"),
    ]


def test_buffers(plan: Plan) -> None:
    assert [(b.label, b.shape, b.slots, b.offset_bytes, b.bytes, b.line) for b in plan.shared.buffers] == [
        ("a", (32, 8), 2, 0, 2048, 6),
        ("b", (8, 64), 2, 2048, 4096, 7),
    ]
    assert (plan.shared.total_bytes, plan.shared.dynamic) == (6144, False)


def test_dynamic_shared_memory(gemm: Kernel) -> None:
    asked = gemm.replace(attributes=Attributes(dynshared=True))
    assert describe(asked, target("sm_80"), 32).shared.dynamic


def test_accesses(plan: Plan) -> None:
    assert [(a.tensor, a.kind, a.loop, a.width_bytes, a.elements, a.threads, a.buffer) for a in plan.accesses] == [
        ("A", "load", "5 whole", 16, 4, 64, ""),
        ("B", "async copy", "5 whole", 16, 4, 128, "b"),
        ("A", "load", "5 remainder", 16, 4, 64, ""),
        ("B", "async copy", "5 remainder", 16, 4, 128, "b"),
        ("C", "store", "", 16, 8, 256, ""),
    ]
    a = plan.accesses[2]
    assert [(g.extent, g.guard, g.why) for g in a.guards] == [
        ("M", "", "M is a multiple of 32"),
        ("K", "hi", "the last K % 8"),
    ]
    assert a.invariant
    assert a.text == "A[ctx.block.x * TM :+ TM, kt :+ TK]"


def test_loops(plan: Plan) -> None:
    assert [(x.line, x.variable, x.part, x.start, x.stop, x.trips, x.trips_text, x.stages) for x in plan.loops] == [
        (5, "kt", "whole", "0", "K - K % 8", None, "floor(K / 8)", 2),
        (5, "kt", "remainder", "K - K % 8", "K", None, "0 or 1", 0),
    ]
    assert [(c.name, c.type, c.registers) for c in plan.loops[0].carried] == [("acc", "tile<f32>[32, 64]", 8)]


def test_contractions(plan: Plan) -> None:
    whole, _ = plan.contractions
    assert (whole.path, whole.m, whole.n, whole.k, whole.thread_tile) == ("FMA", 32, 64, 8, (2, 4))
    assert (whole.a, whole.a_width, whole.b, whole.b_width, whole.loop) == ("a", 2, "b", 4, "5 whole")


def test_syncs(plan: Plan) -> None:
    assert [(s.scope, s.kept, s.why) for s in plan.syncs][:2] == [
        ("cta", True, "write of a before dot"),
        ("none", False, "the next slot is another one"),
    ]


def test_facts_in_plain_words(plan: Plan) -> None:
    assert [f.meaning for f in plan.facts] == [
        "the base address of A is a multiple of 16 bytes",
        "every offset in elements fits in 31 bits",
        "K is a multiple of 4",
    ]
    assert [f.meaning for f in plan.denied] == ["B overlaps no tensor that the kernel writes"]
    assert [(p.dim, p.divisor, p.checked) for p in plan.promises] == [("M", 32, "at kernel entry")]


def test_remarks(plan: Plan) -> None:
    (remark,) = plan.remarks
    assert (remark.code, remark.severity, remark.line, remark.notes) == ("PR303", "remark", 5, ("K is dynamic",))


@pytest.mark.parametrize(
    ("name", "registers", "shared", "blocks", "limit"),
    [
        ("sm_80", 32, 0, 8, "threads"),
        ("sm_80", 40, 0, 6, "registers"),
        ("sm_80", 168, 0, 1, "registers"),
        ("sm_80", 32, 60 * 1024, 2, "shared"),
        ("sm_75", 32, 0, 4, "threads"),
    ],
)
def test_occupancy(gemm: Kernel, name: str, registers: int, shared: int, blocks: int, limit: str) -> None:
    linked = Linked("nvJitLink", "12.9", registers=registers, shared_bytes=shared)
    occupancy = describe(gemm, target(name), 32, linked).occupancy
    assert occupancy is not None
    assert (occupancy.blocks_per_sm, occupancy.limited_by) == (blocks, limit)


def test_unlinked(gemm: Kernel) -> None:
    plan = describe(gemm, target("sm_80"), 64)
    assert plan.linked is None
    assert plan.occupancy is None


def test_formulas_bind_as_they_read() -> None:
    k, make = Value("K", INDEX), Builder()
    c8, c2 = make.const(8), make.const(2)
    up = make.binary("mul", make.binary("add", k, c8), c2)
    right = make.binary("sub", k, make.binary("sub", k, c8))
    known = make.binary("div", make.binary("mul", c8, c2), make.const(3))
    named = make.binary("min", k, make.binary("shl", k, c2))
    formulas = Formulas(Kernel("k", "built", (), (), (), Block((), make.take()), Attributes(), (), NOWHERE))
    assert formulas.text(up) == "(K + 8) * 2"
    assert formulas.text(right) == "K - (K - 8)"
    assert (formulas.text(known), formulas.number(known)) == ("5", 5)
    assert formulas.text(named) == "min(K, shl)"

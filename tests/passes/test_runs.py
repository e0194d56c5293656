"""How wide a thread's own run is accessed, and the reason that the Plan gives (B225)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from phobos.compiler import Unit
from phobos.ir.kernel import Fact, Kernel
from phobos.ir.thread_ops import LoadRun, StoreRun
from phobos.ir.tile_ops import LoadPoint
from phobos.source import Source
from phobos.target import target

FLOATS = "X: tensor<f32>[N], Y: tensor<f32>[N]"
ROWS = "X: tensor<f16>[M, K], Y: tensor<f32>[N]"


def compiled(body: str, signature: str = FLOATS, above: str = "", denied: Iterable[Fact] = ()) -> Kernel:
    text = f"@launch(64) {above} kernel k({signature}) {{\n{body}\n}}"
    return Unit(Source("test.ph", text), verify=True).compile("k", target("sm_80"), denied=frozenset(denied)).kernel


def width(kernel: Kernel) -> tuple[int, str]:
    """Of the first run that is loaded."""
    op = next(op for op in kernel.walk() if isinstance(op, LoadRun))
    return op.width, op.width_why


@pytest.mark.parametrize(
    ("start", "n", "elems"),
    [
        ("ctx.thread * 4", 4, 4),
        ("(ctx.block.x * ctx.threads + ctx.thread) * 4", 4, 4),
        ("(ctx.block.x * ctx.threads + ctx.thread) * 8", 8, 4),  # 16 bytes at most
        ("ctx.thread * 2", 4, 2),
        ("ctx.thread * 4 + 2", 4, 2),
        ("ctx.lane", 4, 1),
        ("ctx.thread * 4", 6, 2),  # the accesses after the first are at multiples of 2
        ("ctx.thread * 4", 3, 1),
        ("N - 4", 4, 4),
    ],
)
def test_a_width_follows_from_the_start_and_the_length(start: str, n: int, elems: int) -> None:
    assert width(compiled(f"Y[ctx.thread] = sum(X[{start} :+ {n}])"))[0] == elems


def test_a_loop_variable_is_a_multiple_of_what_it_starts_at_and_steps_by() -> None:
    body = "var s = 0.0\nfor k in range(ctx.lane * 4, N, ctx.lanes * 4) { s += sum(X[k :+ 4]) }\nY[ctx.thread] = s"
    assert width(compiled(body)) == (4, "16-byte loads: base and start are multiples of 4 elements")


RUN = "for k in range(0, K, 8) { Y[ctx.thread] = sum(X[ctx.thread, k :+ 8]) }"


def test_a_row_pitch_names_the_promise_that_would_help() -> None:
    elems, why = width(compiled(RUN, ROWS))
    assert elems == 4
    assert why.startswith(
        "the row pitch K is only known to be a multiple of 4; `@aligned(K = 8)` would allow 16-byte loads of f16"
    )


def test_the_promise_helps_and_is_named() -> None:
    want = "16-byte loads: base, start and row pitch are multiples of 8 elements (@aligned(K = 8))"
    assert width(compiled(RUN, ROWS, above="@aligned(K = 8)")) == (8, want)


def test_what_is_assumed_is_named_and_becomes_a_fact() -> None:
    kernel = compiled("Y[ctx.thread] = sum(X[ctx.thread, 0 :+ 4])", "X: tensor<f32>[M, K], Y: tensor<f32>[N]")
    elems, why = width(kernel)
    assert elems == 4
    assert why.endswith("(K is assumed to be a multiple of 4)")
    assert {Fact("multiple_of_4", "K"), Fact("aligned_16", "X")} <= kernel.used


@pytest.mark.parametrize(("fact", "subject"), [("multiple_of_4", "K"), ("aligned_16", "X")])
def test_without_its_fact_a_run_is_read_element_by_element(fact: str, subject: str) -> None:
    signature = "X: tensor<f32>[M, K], Y: tensor<f32>[N]"
    kernel = compiled("Y[ctx.thread] = sum(X[ctx.thread, 0 :+ 4])", signature, denied=[Fact(fact, subject)])
    assert width(kernel)[0] == 1


@pytest.mark.parametrize(("align", "elems"), [(4, 1), (8, 2), (16, 4), (1, 1), (128, 4)])
@pytest.mark.parametrize("start", ["ctx.thread * 4", "ctx.lane"])
def test_align_replaces_what_is_proved(align: int, elems: int, start: str) -> None:
    kernel = compiled(f"Y[ctx.thread] = sum(X[{start} :+ 4], align = {align})")
    found, why = width(kernel)
    assert found == elems
    assert (Fact("aligned_16", "X") in kernel.used) == (elems > 1)
    trusted = elems > 1 and start == "ctx.lane"
    assert ("is trusted" in why) == trusted


def test_an_overstated_align_needs_an_aligned_base() -> None:
    body = "Y[ctx.thread] = sum(X[ctx.lane :+ 4], align = 16)"
    assert width(compiled(body, denied=[Fact("aligned_16", "X")]))[0] == 1


def test_a_run_across_rows_is_read_element_by_element() -> None:
    kernel = compiled("Y[ctx.thread] = sum(X[0 :+ 4, ctx.thread])", "X: tensor<f32>[M, N], Y: tensor<f32>[N]")
    assert width(kernel) == (1, "the run goes across rows")


def test_stores_have_widths_and_written_tensors_no_read_only_loads() -> None:
    kernel = compiled("let b = ctx.thread * 4\nstore(X[b :+ 4], elem(X[b :+ 4]) + 1.0)\nY[ctx.thread] = Y[0]")
    load = next(op for op in kernel.walk() if isinstance(op, LoadRun))
    store = next(op for op in kernel.walk() if isinstance(op, StoreRun))
    point = next(op for op in kernel.walk() if isinstance(op, LoadPoint))
    assert (load.width, load.invariant, store.width, point.invariant) == (4, False, 4, False)
    assert store.width_why == "16-byte stores: base and start are multiples of 4 elements"


def test_starts_that_mix_block_and_thread_claim_no_grid() -> None:
    kernel = compiled("Y[ctx.block.x * ctx.threads + ctx.thread] = 1.0")
    assert "no subscript starts at a multiple of ctx.block.x alone" in kernel.grid[0].unknown


def test_a_row_for_each_block_claims_the_grid() -> None:
    kernel = compiled("Y[ctx.thread] = X[ctx.block.x, ctx.thread]", "X: tensor<f32>[M, N], Y: tensor<f32>[N]")
    assert (kernel.grid[0].extent, kernel.grid[0].tile) == ("M", 1)

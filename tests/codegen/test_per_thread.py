"""Per-thread code as PTX: which accesses a thread makes, who stores a point, and where the barriers stand."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from phobos.compiler import Unit
from phobos.source import Source
from phobos.target import target

EXAMPLE = Path(__file__).parents[2] / "examples" / "aligned_load_store.ph"
INSTRUCTION = re.compile(r"^\s*(?:@!?%p\d+ )?((?:ld|st)\.global[\w.]*|bar\.sync)", re.MULTILINE)


def ptx(text: str, kernel: str = "k") -> str:
    return Unit(Source("test.ph", text), verify=True).compile(kernel, target("sm_90")).ptx


def instructions(text: str) -> list[str]:
    """Global accesses and barriers, in order."""
    return INSTRUCTION.findall(text)


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        ("scalar_kernel", {"ld.global.nc.b32": 1, "st.global.b32": 1}),
        ("unaligned_kernel", {"ld.global.nc.b32": 4, "st.global.b32": 4}),
        ("aligned_kernel", {"ld.global.nc.v4.b32": 1, "st.global.v4.b32": 1}),
    ],
)
def test_the_aligned_load_and_store_puzzle(kernel: str, wanted: dict[str, int]) -> None:
    assert Counter(instructions(ptx(EXAMPLE.read_text(), kernel))) == wanted


def one(body: str, signature: str = "X: tensor<f32>[M, N], Y: tensor<f32>[N], n: i32") -> str:
    return ptx(f"@launch(64) kernel k({signature}) {{\n{body}\n}}")


@pytest.mark.parametrize(
    ("body", "chosen"),
    [
        ("Y[0] = 1.0", r"setp\.ne\.b32\s+%p1, %r\d+, 0;"),  # thread 0
        ("Y[ctx.warp] = 1.0", r"and\.b32\s+(%r\d+), %r\d+, 31;[^@]*setp\.ne\.b32\s+%p1, \1, 0;"),  # lane 0
        ("Y[ctx.thread] = 1.0", ""),
    ],
)
def test_a_point_is_stored_once_per_scope(body: str, chosen: str) -> None:
    text = one(body)
    assert len(instructions(text)) == 1
    if chosen:
        assert re.search(chosen, text)
    else:
        assert "setp" not in text


def test_points_of_threads_are_ordered_by_barriers_of_the_kernel_alone() -> None:
    alone = one("Y[ctx.thread] = 1.0\nlet x = Y[63 - ctx.thread]\nX[ctx.thread, 0] = x")
    assert instructions(alone) == ["st.global.b32", "ld.global.b32", "st.global.b32"]
    asked = one("Y[ctx.thread] = 1.0\nbarrier()\nlet x = Y[63 - ctx.thread]\nX[ctx.thread, 0] = x")
    assert instructions(asked) == ["st.global.b32", "bar.sync", "ld.global.b32", "st.global.b32"]


def test_points_of_threads_are_ordered_against_uniform_ones() -> None:
    text = one("Y[ctx.thread] = 1.0\nlet x = Y[5]\nif ctx.thread < n { X[ctx.thread, 0] = x }")
    assert instructions(text) == ["st.global.b32", "bar.sync", "ld.global.b32", "st.global.b32"]


def test_a_barrier_for_accesses_in_a_branch_that_parts_the_threads_stands_before_it() -> None:
    text = one("Y[0 :+ 64] = 1.0\nif ctx.thread < n { X[ctx.thread, 0] = Y[63 - ctx.thread] }")
    before, barrier, after = text.partition("bar.sync")
    assert barrier
    assert instructions(after) == ["ld.global.b32", "st.global.b32"]
    assert not re.search(r"@%p\d+ bra[^@]*$", before.rpartition("st.global")[2])


def test_a_barrier_of_the_kernel_orders_tiles_too() -> None:
    """It leaves nothing to order behind it."""
    text = one("Y[0 :+ 64] = 1.0\nbarrier()\nX[ctx.thread, 0] = Y[63 - ctx.thread]")
    assert instructions(text).count("bar.sync") == 1


def test_a_run_of_bytes_is_one_access() -> None:
    text = one("C[ctx.thread] = sum(A[ctx.thread, 0 :+ 16])", "A: tensor<i8>[M, 16], C: tensor<i32>[M]")
    assert instructions(text) == ["ld.global.nc.v4.b32", "st.global.b32"]


def test_a_sum_adds_from_the_first_to_the_last() -> None:
    """B224: three additions in a row, each of which needs the one before."""
    text = one("Y[ctx.thread] = sum(X[ctx.thread, 0 :+ 4])")
    (loaded,) = re.findall(r"ld\.global\.nc\.v4\.b32\s+\{(.*?)\}", text)
    a, b, c, d = loaded.split(", ")
    adds = re.findall(r"add\.rn\.f32\s+(%r\d+), (%r\d+), (%r\d+);", text)
    assert [set(x[1:]) for x in adds] == [{a, b}, {adds[0][0], c}, {adds[1][0], d}]


@pytest.mark.parametrize(("a", "b"), [("i8", "i8"), ("i8", "u8"), ("u8", "i8"), ("u8", "u8")])
def test_a_sum_of_products_of_bytes_is_four_at_a_time(a: str, b: str) -> None:
    """B224: 20 aligned bytes are five words of each operand, taken out of the accesses as they are."""
    signature = f"A: tensor<{a}>[M, 32], B: tensor<{b}>[M, 32], C: tensor<i32>[M]"
    text = one("C[ctx.thread] = sum(A[ctx.thread, 0 :+ 20] * B[ctx.thread, 0 :+ 20])", signature)
    assert instructions(text) == ["ld.global.nc.b32"] * 10 + ["st.global.b32"]
    signs = {"i8": "s32", "u8": "u32"}
    assert re.findall(r"dp4a\.(\w+)\.(\w+)", text) == [(signs[a], signs[b])] * 5
    assert not re.search(r"prmt|mul|mad", text.partition("dp4a")[0].rpartition("ld.global")[2])


def test_bytes_that_four_does_not_divide_fill_one_more_word() -> None:
    signature = "A: tensor<i8>[M, 32], B: tensor<i8>[M, 32], C: tensor<i32>[M]"
    text = one("C[ctx.thread] = sum(A[ctx.thread, 0 :+ 7] * B[ctx.thread, 0 :+ 7])", signature)
    assert len(re.findall(r"dp4a\.s32\.s32", text)) == 2


def test_the_report_says_which_sums_run_on_dp4a() -> None:
    source = """@launch(64)
kernel k(A: tensor<i8>[M, 32], C: tensor<i32>[M, 2]) {
  C[ctx.thread, 0] = sum(A[ctx.thread, 0 :+ 16] * A[ctx.thread, 0 :+ 16])
  C[ctx.thread, 1] = sum(A[ctx.thread, 0 :+ 3] * A[ctx.thread, 0 :+ 3])
}
"""
    plan = Unit(Source("test.ph", source), verify=True).compile("k", target("sm_75")).plan
    assert [(c.path, c.k, c.elem_a, c.elem_acc) for c in plan.contractions] == [("dp4a", 16, "i8", "i32")]

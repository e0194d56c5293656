"""Atomics as PTX: the instruction or the loop of swaps that each type takes, and how its result goes round."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import phobos
from phobos.compiler import Unit
from phobos.source import Source
from phobos.target import target

TYPES = Path(__file__).parents[1] / "kernels" / "atomics" / "atomics_by_type.ph"
SHARED = re.compile(r"(?:st|ld)\.shared|bar\.sync|shfl")


def ptx(body: str, elem: str = "i32", chip: str = "sm_80") -> str:
    text = f"@launch(64) kernel k(A: tensor<{elem}>[N], O: tensor<{elem}>[N]) {{\n{body}\n}}"
    return Unit(Source("test.ph", text), verify=True).compile("k", target(chip)).ptx


def atoms(text: str) -> list[str]:
    return re.findall(r"\b((?:atom|red)\.[\w.]+)", text)


@pytest.mark.parametrize(
    ("call", "elem", "chip", "wanted"),
    [
        ("atomic_add(A[0], 1)", "i32", "sm_75", "atom.global.add.u32"),
        ("atomic_add(A[0], 1)", "i64", "sm_75", "atom.global.add.u64"),
        ("atomic_max(A[0], 1)", "i32", "sm_75", "atom.global.max.s32"),
        ("atomic_min(A[0], 1)", "i64", "sm_75", "atom.global.min.s64"),
        ("atomic_cas(A[0], 1, 2)", "i32", "sm_75", "atom.relaxed.gpu.global.cas.b32"),
        ("atomic_cas(A[0], 1, 2)", "i64", "sm_75", "atom.relaxed.gpu.global.cas.b64"),
        ("atomic_add(A[0], 1.0)", "f32", "sm_75", "atom.global.add.f32"),
        ("atomic_add(A[0], 1.0)", "f16", "sm_75", "atom.global.add.noftz.f16"),
        ("atomic_add(A[0], 1.0)", "bf16", "sm_90", "atom.global.add.noftz.bf16"),
        ("atomic_add(A[0], 1.0)", "bf16", "sm_89", "atom.relaxed.gpu.global.cas.b16"),
        ("atomic_max(A[0], 1.0)", "f32", "sm_90", "atom.relaxed.gpu.global.cas.b32"),
        ("atomic_min(A[0], 1.0)", "f16", "sm_90", "atom.relaxed.gpu.global.cas.b16"),
    ],
)
def test_the_instruction_of_each_type(call: str, elem: str, chip: str, wanted: str) -> None:
    assert atoms(ptx(call, elem, chip)) == [wanted]


def test_a_loop_of_swaps_reads_as_an_atomic_does() -> None:
    assert "ld.relaxed.gpu.global.b16" in ptx("atomic_max(A[0], 1.0)", "f16")


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("atomic_add(A[0], 1)", []),
        ("let old = atomic_add(A[0], 1)\nO[0] = old + old", ["st.shared", "bar.sync", "ld.shared"]),
        ("let old = atomic_add(A[ctx.warp], 1)\nO[ctx.thread] = old", ["shfl"]),
        ("O[ctx.thread] = atomic_add(A[ctx.thread], 1)", []),
    ],
)
def test_how_the_result_goes_round(body: str, wanted: list[str]) -> None:
    text = ptx(body)
    assert len(atoms(text)) == 1, "once, however often its result is used"
    assert SHARED.findall(text) == wanted


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("elem", ["f16", "f32"])
@pytest.mark.parametrize(
    ("start", "value", "most"), [(NAN, 2.0, 2.0), (2.0, NAN, 2.0), (NAN, NAN, NAN), (-INF, INF, INF), (3.0, 3.0, 3.0)]
)
def test_a_maximum_ignores_nan_and_comes_to_an_end(elem: str, start: float, value: float, most: float) -> None:
    text = f"@launch(64) kernel k(A: tensor<{elem}>[N], x: f32) {{ atomic_max(A[ctx.thread % 3], x) }}"
    a = np.full(3, start, {"f16": np.float16, "f32": np.float32}[elem])
    found = phobos.compile(text, target="sm_80").k.simulate([a, value], (1, 1, 1)).findings
    assert found == []
    assert np.array_equal(a, np.full(3, most), equal_nan=True)


def test_bf16_is_added_by_the_chips_own_instruction() -> None:
    """`kernels/atomics` runs the loop of swaps."""
    x = np.arange(40, dtype=np.float32)
    left = [np.zeros(4, t) for t in (np.float32, np.float16, np.uint16, np.int32, np.int64)]
    assert phobos.compile(TYPES, target="sm_90").sums.simulate([x, *left], (1, 1, 1)).findings == []
    for of in (*left[:2], (left[2].astype(np.uint32) << 16).view(np.float32), *left[3:]):
        assert of.tolist() == [180, 190, 200, 210]

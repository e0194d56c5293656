"""The report: what a reader looks for is there, in lines that fit, for every form of a Plan."""

from __future__ import annotations

import dataclasses

import pytest

from phobos.ir.kernel import GridAxis, Kernel
from phobos.plan import Linked, Plan, describe, render
from phobos.plan.ruler import ruler
from phobos.plan.schema import Buffer
from phobos.target import target


@pytest.fixture(scope="session")
def plan(gemm: Kernel) -> Plan:
    return describe(gemm, target("sm_80"), 32, Linked("nvJitLink", "12.9", registers=40, spill_store_bytes=8))


@pytest.mark.parametrize(
    "line",
    [
        "gemm  gemm.ph:3  sm_80, 32-bit indices",
        "  constants     TM = 32, TN = 64, TK = 8",
        "  grid          x: ceil(M / 32)     tiles start at ctx.block.x * 32 along M",
        "  registers     40 per thread, spills: 8 bytes stored, 0 bytes loaded",
        "  shared        6144 bytes, static; sm_80 has 166912 for a block",
        "  occupancy     6 blocks per multiprocessor, 48 of 64 warps; limited by registers",
        "  linker        nvJitLink 12.9",
        "  at 2048       b: 2 x f32[8, 64], 4096 bytes  rows(fast=1)",
        "  line 6        load A f32[32, 8], 16 bytes (4 x f32) at a time, 64 threads, 1 access each, read-only path",
        "                axis 0 (M) not masked: M is a multiple of 32",
        "                axis 1 (K) masked past the end: the last K % 8",
        "  line 5        for kt, whole tiles: 0 to K - K % 8 step 8, floor(K / 8) trips, 2 stages",
        "                carries acc: tile<f32>[32, 64], 8 registers per thread",
        "                in loop 5 whole; in loop 5 remainder",
        "Barriers: 2 kept, 2 elided",
        "  line 5        elided, in loop 5 whole: the next slot is another one",
        "  K is a multiple of 4",
        "  line 5        PR303 loop over K split",
    ],
)
def test_the_report_says(plan: Plan, line: str) -> None:
    assert line in render(plan).splitlines()


@pytest.mark.parametrize("width", [70, 110, 200])
def test_lines_fit(plan: Plan, width: int) -> None:
    assert max(map(len, render(plan, width).splitlines())) <= width


def test_a_kernel_without_decisions(gemm: Kernel) -> None:
    bare = gemm.replace(
        body=gemm.body.__class__(), form="built", grid=(GridAxis(unknown="two widths"),) * 3, remarks=()
    )
    text = render(describe(bare, target("sm_75"), 64))
    assert "sm_75, 64-bit indices, form built" in text
    assert "x: not inferred, pass grid= two widths" in text
    assert "not known: not linked" in text
    assert "shared        none" in text
    assert "Shared memory" not in text


def _buffer(label: str, offset: int, size: int, slots: int = 1) -> Buffer:
    return Buffer(label, "f32", (size // 4 // slots,), slots, offset, size, "rows", 1, "", "")


def test_ruler_places_buffers_to_scale() -> None:
    scale, line, row = ruler((_buffer("a", 0, 1024, 2), _buffer("b", 1024, 1024)), 2048, 44)
    assert scale.split() == ["0", "512", "1024", "1536", "2048"]
    assert len(line) == 40
    assert row == "[a.0      :a.1     ][b                 ]"


def test_ruler_keeps_apart_what_shares_bytes() -> None:
    _, _, first, second = ruler((_buffer("late", 512, 512), _buffer("early", 0, 1024)), 1024, 44)
    assert first.startswith("[early")
    assert second.index("[late") == 20


def test_ruler_shows_the_tiniest_buffer() -> None:
    _, _, row = ruler((_buffer("big", 0, 65536), _buffer("flag", 65536, 4)), 65540, 44)
    assert row.startswith("[big")
    *_, tiny = ruler((_buffer("flag", 0, 4),), 65540, 44)
    assert tiny == "["


def test_ruler_of_nothing(plan: Plan) -> None:
    assert ruler((), 0, 40) == []
    unpacked = tuple(dataclasses.replace(b, offset_bytes=-1) for b in plan.shared.buffers)
    assert ruler(unpacked, 64, 40) == []

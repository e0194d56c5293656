"""Conversions between layouts: what moves how, swizzles without conflicts, and layouts that keep what they promise."""

from __future__ import annotations

import itertools
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import phobos
from phobos.layout.register import Blocked
from phobos.passes.choose import coalesced, scanned
from phobos.passes.exchange import exchange, flattened_alike, moved, places, shuffles

EXAMPLE = Path(__file__).parents[2] / "examples" / "transpose.ph"
sides = st.integers(1, 130)
warp_counts = st.sampled_from([1, 2, 4, 8])


def crosswise(shape: tuple[int, int], warps: int, size: int) -> tuple[Blocked, Blocked]:
    """What a transposing kernel converts: from where it was loaded to where the store's layout comes of."""
    segment = 128 // size
    turned = coalesced(shape[::-1], warps, size, 16, segment)
    return coalesced(shape, warps, size, 16, segment), turned.transposed()


@pytest.mark.parametrize("shape", [*itertools.product((32, 64, 128), repeat=2)], ids=str)
@pytest.mark.parametrize("size", [4, 8])
def test_a_transpose_meets_no_bank_conflict(shape: tuple[int, int], size: int) -> None:
    source, target = crosswise(shape, 8, size)
    chosen = exchange(source, target, size)
    assert chosen.conflicts == 0
    assert chosen.write_width * size == 16


@pytest.mark.parametrize("shape", [(64, 64), (64, 128), (128, 128)], ids=str)
@pytest.mark.parametrize("size", [1, 2])
def test_narrow_elements_meet_no_bank_conflict(shape: tuple[int, int], size: int) -> None:
    source, target = crosswise(shape, 8, size)
    assert exchange(source, target, size).conflicts == 0


@pytest.mark.parametrize("tile", [32, 64, 128])
def test_the_simulator_counts_no_conflict_and_whole_lines(tile: int) -> None:
    kernel = phobos.compile(EXAMPLE, target="sm_90").transpose_fp32.configured(T=tile)
    x = np.arange(tile * tile, dtype=np.float32).reshape(tile, tile)
    y = np.zeros_like(x)
    result = kernel.simulate([x, y])
    assert (y == x.T).all()
    assert result.findings == []
    assert result.counters.bank_conflicts == 0
    moves = [a for a in result.counters.accesses.values() if ".global." in a.name]
    assert {a.name.split(".")[-2] for a in moves} == {"v4"}
    assert sum(a.bytes for a in moves) == 2 * x.nbytes == 32 * sum(a.sectors for a in moves)
    shared = [a for a in result.counters.accesses.values() if ".shared." in a.name]
    assert sum(a.bytes for a in shared) == 2 * x.nbytes  # once through shared memory


@settings(max_examples=60, deadline=None)
@given(sides, sides, warp_counts, st.sampled_from([1, 2, 4, 8]), st.sampled_from([0, 1]))
def test_a_scanned_axis_stays_in_a_warp(rows: int, columns: int, warps: int, size: int, axis: int) -> None:
    layout = scanned((rows, columns), warps, size, axis)
    assert prod(layout.warps) == warps
    assert layout.warps[axis] == 1
    found = places(layout, 32 * warps)
    assert sorted(found[found >= 0]) == list(range(rows * columns))


@settings(max_examples=60, deadline=None)
@given(sides, sides, warp_counts, st.sampled_from([1, 2, 4, 8]))
def test_a_transposed_layout_holds_the_same_in_each_thread(rows: int, columns: int, warps: int, size: int) -> None:
    layout = coalesced((rows, columns), warps, size)
    turned = layout.transposed()
    assert turned.transposed() == layout
    held, other = places(layout, 32 * warps), places(turned, 32 * warps)
    number = np.where(other >= 0, other % rows * columns + other // rows, -1)
    assert (np.sort(held, axis=0) == np.sort(number, axis=0)).all()


def test_shuffles_only_within_a_warp() -> None:
    rows = Blocked((8, 32), (1, 4), (4, 8), (2, 1), (1, 0))
    columns = Blocked((8, 32), (1, 1), (1, 32), (2, 1), (1, 0))
    within = Blocked((8, 32), (4, 1), (1, 32), (2, 1), (1, 0))
    assert moved(rows, rows, 64) == ""
    assert moved(rows, columns, 64) == "shared"  # row 1 is the first warp's in one, the second one's in the other
    assert shuffles(rows, within, 64) is not None
    small = Blocked((2, 32), (1, 1), (2, 16), (1, 1), (1, 0))
    turned = Blocked((2, 32), (1, 1), (2, 16), (1, 1), (0, 1))
    assert moved(small, turned, 32) == "shuffles"


def test_rows_laid_end_to_end() -> None:
    row = Blocked((1, 512), (1, 4), (1, 32), (1, 4), (1, 0))
    assert flattened_alike(Blocked((4, 128), (1, 4), (1, 32), (4, 1), (1, 0)), row, 128) == (0, 1, 2, 3)
    assert flattened_alike(Blocked((4, 128), (1, 4), (4, 8), (1, 4), (1, 0)), row, 128) is None

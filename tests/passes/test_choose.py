"""Layouts cover: every element has an owner, exactly one where nothing is replicated; swizzles keep rows whole."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos.ir.types import F32, SCALARS
from phobos.layout.register import Blocked
from phobos.layout.shared import Swizzled
from phobos.passes.choose import accumulator, coalesced, operand_buffer, write_conflicts
from phobos.passes.stage import copy_layout

sides = st.integers(1, 130)


def owners(layout: Blocked, warps: int) -> np.ndarray:
    """How many (register, lane, warp) places hold each element."""
    count = np.zeros(layout.shape, int)
    for register, lane, warp in itertools.product(range(layout.registers), range(32), range(warps)):
        at = layout.coords(register, lane, warp)
        if all(c < s for c, s in zip(at, layout.shape, strict=True)):
            count[at] += 1
    return count


@settings(max_examples=60, deadline=None)
@given(st.lists(sides, min_size=1, max_size=3), st.sampled_from([1, 2, 3, 4, 8]), st.sampled_from([1, 2, 4, 8]))
def test_coalesced_owns_each_element_once(shape: list[int], warps: int, size: int) -> None:
    if prod(shape) > 20000:
        shape = shape[:1]
    layout = coalesced(tuple(shape), warps, size)
    assert prod(layout.warps) == warps
    assert (owners(layout, warps) == 1).all()


@settings(max_examples=40, deadline=None)
@given(sides, sides, st.sampled_from([1, 2, 3, 4, 8]))
def test_accumulator_owns_each_element_once(m: int, n: int, warps: int) -> None:
    assert (owners(accumulator((m, n), warps, 4), warps) == 1).all()


def test_accumulator_is_8_by_8_where_it_fits() -> None:
    layout = accumulator((128, 128), 8, 4)
    assert layout.registers == 64
    assert [r * v for r, v in zip(layout.repeats, layout.vector, strict=True)] == [8, 8]
    wide = accumulator((128, 256), 8, 4)
    assert [r * v for r, v in zip(wide.repeats, wide.vector, strict=True)] == [8, 16]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([4, 8, 16, 24, 32, 40, 64, 96, 128]),
    st.sampled_from([1, 3, 4, 8, 16, 32]),
    st.sampled_from(["f32", "f16", "i8"]),
)
def test_operand_buffer_is_a_permutation(side: int, k: int, elem: str) -> None:
    t = SCALARS[elem]
    writers = (copy_layout((side, k), t, 0, 8, 1), coalesced((side, k), 8, t.size_bytes))
    buffer = operand_buffer((side, k), 0, t.size_bytes, writers)
    i, j = np.meshgrid(np.arange(side), np.arange(k), indexing="ij")
    offsets = np.asarray(buffer.offset((i, j)))
    assert sorted(offsets.ravel().tolist()) == list(range(side * k))
    # A row keeps its bytes: the swizzle moves chunks inside it only.
    assert (offsets // side == j).all()


def test_swizzle_takes_the_conflicts_away() -> None:
    writers = (copy_layout((128, 16), F32, 0, 8, 1), coalesced((128, 16), 8, 4))
    buffer = operand_buffer((128, 16), 0, 4, writers)
    assert [write_conflicts(Swizzled((128, 16), 0), w, 4) > 0 for w in writers] == [True, True]
    assert [write_conflicts(buffer, w, 4) for w in writers] == [0, 0]


def test_collapsed_is_the_row_part() -> None:
    layout = accumulator((64, 64), 8, 4)
    column = layout.collapsed((64, 1))
    for lane, warp in itertools.product(range(32), range(8)):
        rows = {layout.coords(r, lane, warp)[0] for r in range(layout.registers)}
        assert rows == {column.coords(r, lane, warp)[0] for r in range(column.registers)}
        assert {column.coords(r, lane, warp)[1] for r in range(column.registers)} == {0}


def with_units(draw: st.DrawFn, core: list[int], fewest: int) -> tuple[int, ...]:
    """A shape of some extents with axes of extent 1 put between."""
    shape = list(core)
    for _ in range(draw(st.integers(fewest, 3))):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    return tuple(shape)


@given(data=st.data(), core=st.lists(st.sampled_from((2, 3, 4, 7, 16)), max_size=3), warps=st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_a_reshaped_layout_holds_the_same_in_every_thread(data: st.DataObject, core: list[int], warps: int) -> None:
    """Also where a unit axis replicates, or has lanes to spare, and other lanes are faster or slower than those."""
    before = with_units(data.draw, core, 0 if core else 1)
    after = with_units(data.draw, core, 0 if core else 1)
    spread = tuple(n if n != 1 else data.draw(st.sampled_from((1, 8))) for n in before)
    layout = coalesced(spread, warps, 4).collapsed(before)
    try:
        made = layout.reshaped(after)
    except ValueError:
        # More kinds of spare lanes than the new shape has axes for them.
        assert after.count(1) < before.count(1)
        return
    assert made.shape == after
    for lane, warp in itertools.product((0, 1, 2, 5, 8, 17, 31), range(warps)):
        assert held(made, lane, warp) == held(layout, lane, warp)


def held(layout: Blocked, lane: int, warp: int) -> set[tuple[int, ...]]:
    """What a thread holds, by the coordinates on the axes that are not units."""
    found = set()
    for register in range(layout.registers):
        at = layout.coords(register, lane, warp)
        if all(c < s for c, s in zip(at, layout.shape, strict=True)):
            found.add(tuple(int(c) for c, s in zip(at, layout.shape, strict=True) if s != 1))
    return found

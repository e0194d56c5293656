"""Conversions, scans, transposes and rows laid end to end, in any layouts: "placed" to PTX, run by the simulator."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos.codegen import compile_ptx, emit, shared_bytes
from phobos.interp.numbers import stored
from phobos.ir.kernel import Kernel
from phobos.ir.parser import parse
from phobos.ir.printer import type_text
from phobos.ir.tile_ops import Convert
from phobos.ir.types import SCALARS, Scalar, Tile
from phobos.layout.register import Blocked
from phobos.passes import Options, run
from phobos.passes.choose import scanned
from phobos.sim import simulate
from phobos.target import target

CHIP = target("sm_80")
LANES = [(a, 32 // a) for a in (1, 2, 4, 8, 16, 32)]


@st.composite
def layouts(draw: st.DrawFn, shape: tuple[int, int], warps: int) -> Blocked:
    vector = (draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 2, 4])))
    down = draw(st.sampled_from([w for w in (1, 2, 4) if warps % w == 0]))
    order = draw(st.sampled_from([(1, 0), (0, 1)]))
    return Blocked(shape, vector, draw(st.sampled_from(LANES)), (down, warps // down), order)


shapes = st.tuples(st.integers(1, 20), st.integers(1, 40))


def moved(body: str, source: Tile, target: Tile, warps: int) -> tuple[Kernel, np.ndarray[Any, Any]]:
    """A kernel that loads A in one layout and stores in another; what it stored, by the simulator."""
    elem = source.elem
    a, b = (f"tensor<{elem}>[{rows}, {columns}]" for rows, columns in (source.shape, target.shape))
    text = f"""
kernel k(%A: {a}, %B: {b}; ; )
  form "placed"
  attributes {{launch = launch(threads = {32 * warps})}}
{{
  %c0: index = const() {{value = 0}}
  %a0: index = const() {{value = {source.shape[0]}}}
  %a1: index = const() {{value = {source.shape[1]}}}
  %b0: index = const() {{value = {target.shape[0]}}}
  %b1: index = const() {{value = {target.shape[1]}}}
  %x: {type_text(source)} = load(%A, [%c0, %c0], [%a0, %a1]) {{guards = ["", ""]}}
  %y: {type_text(target)} = {body}
  store(%B, [%c0, %c0], [%b0, %b1], %y) {{guards = ["", ""]}}
}}
"""
    placed = parse(text)
    kernel = run(placed, Options(target=CHIP, index_bits=32, verify=True))
    ptx = compile_ptx(emit(kernel, CHIP, 32, placed.span.source), CHIP).ptx
    total, dynamic = shared_bytes(kernel)
    given_a, left = values(elem, source.shape), np.zeros(target.shape, stored(elem))
    simulate(ptx, "k", [given_a, left], (1, 1, 1), (kernel.threads,), total if dynamic else 0, processes=1)
    return kernel, left


def values(elem: Scalar, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Small numbers, all different where the type has so many."""
    number = np.arange(prod(shape)) % (2 if elem.name == "bool" else 101)
    return number.reshape(shape).astype(stored(elem))


@settings(max_examples=40, deadline=None)
@given(st.data(), shapes, st.sampled_from([1, 2, 4]), st.sampled_from(["f32", "f16", "i8", "bool", "f64", "i64"]))
def test_any_conversion(data: st.DataObject, shape: tuple[int, int], warps: int, name: str) -> None:
    elem = SCALARS[name]
    source, to = (Tile(elem, shape, data.draw(layouts(shape, warps))) for _ in range(2))
    _, got = moved("convert(%x)", source, to, warps)
    assert (got == values(elem, shape)).all()


@pytest.mark.parametrize("name", ["f32", "f16", "bool", "i64"])
def test_lanes_exchange_by_shuffles(name: str) -> None:
    elem = SCALARS[name]
    source = Blocked((8, 16), (1, 4), (4, 8), (2, 1), (1, 0))
    turned = Blocked((8, 16), (1, 4), (4, 8), (2, 1), (0, 1))
    for a, b in ((source, turned), (turned, source)):
        kernel, got = moved("convert(%x)", Tile(elem, a.shape, a), Tile(elem, b.shape, b), 2)
        assert any(isinstance(op, Convert) for op in kernel.walk())
        assert shared_bytes(kernel) == (0, False)
        assert (got == values(elem, a.shape)).all()


@settings(max_examples=40, deadline=None)
@given(
    st.data(), shapes, st.sampled_from([1, 2]), st.sampled_from(["i32", "f32", "i64", "f64"]), st.sampled_from([0, 1])
)
def test_any_scan(data: st.DataObject, shape: tuple[int, int], warps: int, name: str, axis: int) -> None:
    elem = SCALARS[name]
    layout = data.draw(layouts(shape, warps))
    if layout.warps[axis] != 1:
        layout = scanned(shape, warps, elem.size_bytes, axis)
    tile = Tile(elem, shape, layout)
    _, got = moved(f'scan(%x) {{kind = "sum", axis = {axis}}}', tile, tile, warps)
    assert (got == np.cumsum(values(elem, shape), axis=axis)).all()


@settings(max_examples=20, deadline=None)
@given(
    st.data(),
    st.tuples(st.integers(2, 20), st.integers(2, 40)),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["f32", "i8"]),
)
def test_any_flat(data: st.DataObject, shape: tuple[int, int], warps: int, name: str) -> None:
    elem, row = SCALARS[name], (1, prod(shape))
    source = Tile(elem, shape, data.draw(layouts(shape, warps)))
    to = Tile(elem, row, data.draw(layouts(row, warps)))
    _, got = moved("reshape(%x)", source, to, warps)
    assert (got == values(elem, shape).reshape(row)).all()


@settings(max_examples=20, deadline=None)
@given(st.data(), shapes, st.sampled_from([1, 2, 4]))
def test_any_transpose(data: st.DataObject, shape: tuple[int, int], warps: int) -> None:
    layout = data.draw(layouts(shape, warps))
    source, to = Tile(SCALARS["f32"], shape, layout), Tile(SCALARS["f32"], shape[::-1], layout.transposed())
    kernel, got = moved("transpose(%x)", source, to, warps)
    assert shared_bytes(kernel) == (0, False)
    assert (got == values(SCALARS["f32"], shape).T).all()

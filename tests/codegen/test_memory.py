"""Loads, stores, shapes and control flow, run from the emitted LLVM IR; tensors end where memory ends (see `cpu`)."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from phobos.ir.kernel import Kernel
from phobos.ir.parser import parse
from phobos.ir.types import F32
from tests.codegen import cpu
from tests.codegen.kernels import mapped

HEAD = "  attributes {launch = launch(threads = 64)}"


def synced(signature: str, body: str) -> Kernel:
    """A kernel of 64 threads from the text of its ops."""
    return parse(f'kernel k({signature})\n  form "synced"\n{HEAD}\n{{\n{body}\n}}\n')


@pytest.mark.parametrize("index_bits", [32, 64])
@pytest.mark.parametrize("vector", [1, 2, 4])
@pytest.mark.parametrize("n", [4, 100, 256])
def test_masked_vectors(n: int, vector: int, index_bits: int) -> None:
    kernel = mapped("k", [F32], F32, lambda b, x: b.binary("add", x, x), n=128 * vector, vector=vector)
    x = np.arange(n, dtype=np.float32)
    got = cpu.run(kernel, (-(-n // (128 * vector)),), [x, np.zeros_like(x)], [n], index_bits=index_bits)
    np.testing.assert_array_equal(got[1], 2 * x)


@pytest.mark.parametrize("start", [-5, 0, 3, 7, 20])
@pytest.mark.parametrize("index_bits", [32, 64])
def test_guards_on_both_sides(start: int, index_bits: int) -> None:
    """Rows and columns before, in and past the tensor; surplus registers and lanes store nothing."""
    layout = "@blocked(vector=[1, 2], lanes=[4, 8], warps=[2, 1], order=[1, 0])"
    kernel = synced(
        "%X: tensor<i32>[M, N], %Y: tensor<i32>[12, 20]; %M: index, %N: index; %s: index",
        f"""
  %c0: index = const() {{value = 0}}
  %c12: index = const() {{value = 12}}
  %c20: index = const() {{value = 20}}
  %x: tile<i32>[12, 20] {layout} = load(%X, [%s, %s], [%M, %N]) {{guards = ["both", "both"], width = 1}}
  store(%Y, [%c0, %c0], [%c12, %c20], %x) {{guards = ["", ""], width = 2}}""",
    )
    x = np.arange(1, 10 * 14 + 1, dtype=np.int32).reshape(10, 14)
    want = np.zeros((12, 20), np.int32)
    for i in range(12):
        for j in range(20):
            if 0 <= start + i < 10 and 0 <= start + j < 14:
                want[i, j] = x[start + i, start + j]
    scalar = ctypes.c_int64 if index_bits == 64 else ctypes.c_int32
    got = cpu.run(kernel, (1,), [x, np.full_like(want, -1)], [10, 14], (scalar(start),), index_bits)
    np.testing.assert_array_equal(got[1], want)


def test_low_guard_alone() -> None:
    layout = "@blocked(vector=[1], lanes=[32], warps=[2], order=[0])"
    kernel = synced(
        "%X: tensor<f32>[N]; %N: index;",
        f"""
  %c: index = const() {{value = -40}}
  %one: f32 = const() {{value = 1.0}}
  %x: tile<f32>[64] {layout} = splat(%one)
  store(%X, [%c], [%N], %x) {{guards = ["lo"], width = 1}}""",
    )
    (got,) = cpu.run(kernel, (1,), [np.zeros(30, np.float32)], [30])
    np.testing.assert_array_equal(got, (np.arange(30) < 24).astype(np.float32))


def test_shapes() -> None:
    """A row vector is loaded once for each column, broadcast, transposed by coordinates, and stored by one owner."""
    tile = "@blocked(vector=[1, 1], lanes=[4, 8], warps=[2, 1], order=[1, 0])"
    row = "@blocked(vector=[1, 1], lanes=[4, 8], warps=[2, 1], order=[1, 0], replicated=[1, 0])"
    lifted = "@blocked(vector=[1, 1, 1], lanes=[1, 4, 8], warps=[1, 2, 1], order=[2, 1, 0])"
    kernel = synced(
        "%X: tensor<i32>[24], %Y: tensor<i32>[1, 16, 24], %Z: tensor<i32>[1, 24]; ;",
        f"""
  %c0: index = const() {{value = 0}}
  %c1: index = const() {{value = 1}}
  %c16: index = const() {{value = 16}}
  %c24: index = const() {{value = 24}}
  %x: tile<i32>[1, 24] {row} = load(%Z, [%c0, %c0], [%c1, %c24]) {{guards = ["", ""], width = 1}}
  %wide: tile<i32>[16, 24] {tile} = broadcast(%x)
  %i: tile<i32>[16, 24] {tile} = iota() {{axis = 0}}
  %j: tile<i32>[16, 24] {tile} = iota() {{axis = 1}}
  %hundred: i32 = const() {{value = 100}}
  %h: tile<i32>[16, 24] {tile} = splat(%hundred)
  %ih: tile<i32>[16, 24] {tile} = binary(%i, %h) {{kind = "mul"}}
  %sum: tile<i32>[16, 24] {tile} = binary(%ih, %wide) {{kind = "add"}}
  %lt: tile<bool>[16, 24] {tile} = compare(%i, %j) {{kind = "lt"}}
  %which: tile<i32>[16, 24] {tile} = select(%lt, %sum, %wide)
  %up: tile<i32>[1, 16, 24] {lifted} = reshape(%which)
  store(%Y, [%c0, %c0, %c0], [%c1, %c16, %c24], %up) {{guards = ["", "", ""], width = 1}}
  %twice: tile<i32>[1, 24] {row} = binary(%x, %x) {{kind = "add"}}
  sync() {{scope = "cta", why = "others read Z"}}
  store(%Z, [%c0, %c0], [%c1, %c24], %twice) {{guards = ["", ""], width = 1}}
  %first: i32 = load_point(%X, [%c1], [%c24])
  store_point(%X, [%c0], [%c24], %first)""",
    )
    x, z = np.arange(5, 29, dtype=np.int32), np.arange(24, dtype=np.int32)
    got = cpu.run(kernel, (1,), [x, np.zeros(16 * 24, np.int32), z], [])
    i, j = np.mgrid[:16, :24]
    np.testing.assert_array_equal(got[1].reshape(16, 24), np.where(i < j, 100 * i + z[j], z[j]))
    np.testing.assert_array_equal(got[2], 2 * z)
    np.testing.assert_array_equal(got[0], [6, *x[1:]])


def test_bool_tiles_take_a_byte() -> None:
    layout = "@blocked(vector=[4], lanes=[32], warps=[2], order=[0])"
    kernel = synced(
        "%X: tensor<bool>[N], %Y: tensor<bool>[N]; %N: index; %on: bool",
        f"""
  %c0: index = const() {{value = 0}}
  %x: tile<bool>[256] {layout} = load(%X, [%c0], [%N]) {{guards = ["hi"], width = 4}}
  %o: tile<bool>[256] {layout} = splat(%on)
  %y: tile<bool>[256] {layout} = binary(%x, %o) {{kind = "xor"}}
  store(%Y, [%c0], [%N], %y) {{guards = ["hi"], width = 4}}""",
    )
    x = (np.arange(100) % 3 == 0).astype(np.uint8)
    got = cpu.run(kernel, (1,), [x, np.full_like(x, 7)], [100], (ctypes.c_int8(1),))
    np.testing.assert_array_equal(got[1], 1 - x)


TOP = 2**31 - 1


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [(0, 10, 3), (5, 5, 1), (7, 3, 1), (-4, 6, 5), (3, TOP, 2**30), (TOP - 2, TOP, 2**30), (-TOP, TOP, 2**30)],
)
def test_for_never_wraps(start: int, stop: int, step: int) -> None:
    """From a constant and from a value."""
    kernel = synced(
        "%Y: tensor<i32>[2]; %start: index, %stop: index, %step: index;",
        """
  %c0: index = const() {value = 0}
  %c1: index = const() {value = 1}
  %c2: index = const() {value = 2}
  [%n: index] = for(%c0, %stop, %step, [%c0]) body(%i: index, %n0: index) {
    %n1: index = binary(%n0, %c1) {kind = "add"}
    yield([%n1])
  }
  [%m: index] = for(%start, %stop, %step, [%c0]) body(%j: index, %m0: index) {
    %m1: index = binary(%m0, %c1) {kind = "add"}
    yield([%m1])
  }
  %a: i32 = cast(%n)
  %b: i32 = cast(%m)
  store_point(%Y, [%c0], [%c2], %a)
  store_point(%Y, [%c1], [%c2], %b)""",
    )
    (got,) = cpu.run(kernel, (1,), [np.zeros(2, np.int32)], [start, stop, step])
    np.testing.assert_array_equal(got, [len(range(0, stop, step)), len(range(start, stop, step))])


@pytest.mark.parametrize("x", [0, 1, 6, 27])
def test_while_and_if(x: int) -> None:
    """Steps of Collatz's sequence; the results of a while are the values that its condition saw last."""
    kernel = synced(
        "%Y: tensor<i32>[1]; ; %x: i32",
        """
  %c0: index = const() {value = 0}
  %c1: index = const() {value = 1}
  %zero: i32 = const() {value = 0}
  %one: i32 = const() {value = 1}
  %two: i32 = const() {value = 2}
  %three: i32 = const() {value = 3}
  [%last: i32, %steps: i32] = while([%x, %zero]) cond(%v: i32, %n: i32) {
    %more: bool = compare(%v, %one) {kind = "gt"}
    yield([%more, %v, %n])
  } body(%w: i32, %m: i32) {
    %r: i32 = binary(%w, %two) {kind = "rem"}
    %even: bool = compare(%r, %zero) {kind = "eq"}
    [%next: i32] = if(%even) then {
      %half: i32 = binary(%w, %two) {kind = "div"}
      yield([%half])
    } orelse {
      %triple: i32 = binary(%w, %three) {kind = "mul"}
      %up: i32 = binary(%triple, %one) {kind = "add"}
      yield([%up])
    }
    %m1: i32 = binary(%m, %one) {kind = "add"}
    yield([%next, %m1])
  }
  %ended: bool = compare(%last, %one) {kind = "le"}
  require(%ended) {text = "the sequence ends"}
  store_point(%Y, [%c0], [%c1], %steps)""",
    )
    steps, v = 0, x
    while v > 1:
        v, steps = (v // 2 if v % 2 == 0 else 3 * v + 1), steps + 1
    (got,) = cpu.run(kernel, (1,), [np.zeros(1, np.int32)], [], (ctypes.c_int32(x),))
    assert got[0] == steps


def test_remainder_runs_once_or_not() -> None:
    kernel = synced(
        "%Y: tensor<i32>[1]; %start: index, %stop: index;",
        """
  %c0: index = const() {value = 0}
  %c1: index = const() {value = 1}
  %c9: index = const() {value = 9}
  [%n: index] = for(%start, %stop, %c9, [%c0]) {part = "remainder"} body(%i: index, %n0: index) {
    %n1: index = binary(%i, %n0) {kind = "add"}
    yield([%n1])
  }
  %a: i32 = cast(%n)
  store_point(%Y, [%c0], [%c1], %a)""",
    )
    found: list[Any] = [cpu.run(kernel, (1,), [np.zeros(1, np.int32)], [s, 12])[0][0] for s in (11, 12)]
    assert found == [11, 0]

"""Strided views: what a launch takes, which variant it gets, and that the PTX of that variant is right."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import phobos
from phobos.interp import run as interpret
from phobos.ir.kernel import Fact, grid_of
from phobos.runtime.arrays import adapt
from phobos.runtime.bind import bind
from phobos.runtime.facts import needs_64_bits
from phobos.runtime.launch import Prepared

from .fakes import POINTER, FakeDriver, Interface, read_params

SOURCE = """\
@launch(32)
kernel copy(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let r = ctx.block.y * 8
  let c = ctx.block.x * 32
  Y[r :+ 8, c :+ 32] = X[r :+ 8, c :+ 32] + 1.0
}

@aligned(N = 8)
kernel halves(X: tensor<f16>[M, N], Y: tensor<f16>[M, N]) {
  let r = ctx.block.y * 8
  let c = ctx.block.x * 64
  Y[r :+ 8, c :+ 64] = X[r :+ 8, c :+ 64]
}

kernel flat(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let c = ctx.block.x * 32
  Y[c :+ 32] = X[c :+ 32] + 1.0
}

@launch(32)
kernel deep(X: tensor<f32>[A, B, C], Y: tensor<f32>[A, B, C]) {
  let a = ctx.block.z * 4
  let b = ctx.block.y * 4
  let c = ctx.block.x * 16
  Y[a :+ 4, b :+ 4, c :+ 16] = X[a :+ 4, b :+ 4, c :+ 16] + 1.0
}

kernel four(X: tensor<f32>[A, B, C, D], Y: tensor<f32>[A, B, C, D]) {
  let b = ctx.block.z
  let c = ctx.block.y * 4
  let d = ctx.block.x * 16
  for a in range(0, A) {
    Y[a :+ 1, b :+ 1, c :+ 4, d :+ 16] = X[a :+ 1, b :+ 1, c :+ 4, d :+ 16] + 1.0
  }
}

kernel five(X: tensor<f32>[A, B, 2, C, D], Y: tensor<f32>[A, B, 2, C, D]) {
  let b = ctx.block.z
  let c = ctx.block.y * 4
  let d = ctx.block.x * 16
  for a in range(0, A) {
    Y[a :+ 1, b :+ 1, :, c :+ 4, d :+ 16] = X[a :+ 1, b :+ 1, :, c :+ 4, d :+ 16] + 1.0
  }
}

kernel above(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let r = ctx.block.y * 8
  let c = ctx.block.x * 32
  Y[r :+ 8, c :+ 32] = X[r - 3 :+ 8, c - 5 :+ 32]
}

kernel points(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  for r in range(0, M) {
    for c in range(ctx.thread, N, ctx.threads) {
      Y[r, c] = X[r, c] + 1.0
    }
  }
}

kernel runs(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], Z: tensor<f32>[N, M]) {
  let c = ctx.lane * 4
  if c < N && ctx.warp == 0 {
    for r in range(0, M, 4) {
      store(Y[r, c :+ 4], elem(X[r, c :+ 4]))
      Y[r + 1, c] = sum(X[r :+ 4, c])
      store(Z[c :+ 4, r], elem(X[r, c :+ 4]))
    }
  }
}

@pipeline
kernel mul(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  let r = ctx.block.y * 32
  let c = ctx.block.x * 32
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[r :+ 32, k :+ 8], B[k :+ 8, c :+ 32])
  }
  C[r :+ 32, c :+ 32] = acc
}

@aligned(M = 8, N = 32)
kernel whole(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let r = ctx.block.y * 8
  let c = ctx.block.x * 32
  Y[r :+ 8, c :+ 32] = X[r :+ 8, c :+ 32]
}

kernel scale(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], a: f32) {
  let r = ctx.block.y * 8
  let c = ctx.block.x * 32
  Y[r :+ 8, c :+ 32] = a * X[r :+ 8, c :+ 32]
}
"""

Data = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def module() -> phobos.Module:
    return phobos.compile(SOURCE, target="sm_80")


def filled(shape: tuple[int, ...], dtype: Any = np.float32) -> Data:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def framed(shape: tuple[int, ...], before: tuple[int, ...], behind: tuple[int, ...]) -> tuple[Data, Data]:
    """An array of sevens and a view into it, with room before and behind it on each axis."""
    whole = np.full([b + n + e for b, n, e in zip(before, shape, behind, strict=True)], 7, np.float32)
    return whole, whole[tuple(slice(b, b + n) for b, n in zip(before, shape, strict=True))]


def untouched(whole: Data, view: Data) -> bool:
    """Whether all of an array but a view is still sevens."""
    kept = view.copy()
    view[...] = 7
    same = bool((whole == 7).all())
    view[...] = kept
    return same


def chosen(kernel: Any, *args: Any) -> Any:
    """The variant that a launch takes."""
    from phobos.runtime import grid, variant

    bound = bind(kernel.name, kernel.signature, args)
    first = kernel.variant()
    return variant.allowed(kernel, first, bound, grid.chosen(None, first.grid, bound.dims))


# ---- right in the simulator ---------------------------------------------------------------------------------

SHAPES = {
    "flat": ((50,), (4,), (3,)),
    "copy": ((13, 50), (1, 4), (2, 6)),
    "deep": ((3, 5, 21), (1, 1, 4), (0, 2, 3)),
    "four": ((2, 3, 5, 21), (1, 1, 0, 4), (0, 1, 2, 3)),
    "five": ((2, 2, 2, 5, 20), (0, 1, 1, 0, 4), (1, 0, 0, 2, 4)),
    "points": ((6, 40), (1, 3), (2, 2)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_rank(module: phobos.Module, name: str) -> None:
    shape, before, behind = SHAPES[name]
    source, x = framed(shape, before, behind)
    x[...] = filled(shape)
    whole, y = framed(shape, behind, before)
    module[name].simulate([x, y], 1 if name == "points" else None)
    np.testing.assert_array_equal(y, x + 1)
    assert untouched(whole, y)
    assert untouched(source, x)


def test_row_1_of_a_view_of_row_stride_40(module: phobos.Module) -> None:
    """E05: row 1 of a 2x32 f32 view with row stride 40."""
    whole = filled((2, 40))
    view, out = whole[:, :32], np.zeros((2, 32), np.float32)
    module.copy.simulate([view, out])
    assert out[1].tolist() == [float(n + 1) for n in range(40, 72)]
    made = chosen(module.copy, view, out)
    assert made.denied == {Fact("dense", "X")}
    assert {Fact("pitch_16", "X"), Fact("aligned_16", "X"), Fact("dense", "Y")} <= made.used
    assert "ld.global.nc.v4.b32" in made.ptx


@pytest.mark.parametrize(
    ("name", "dtype", "pitch", "access"),
    [
        ("copy", np.float32, 44, "ld.global.nc.v4.b32"),
        ("copy", np.float32, 42, "ld.global.nc.v2.b32"),
        ("copy", np.float32, 41, "ld.global.nc.b32"),
        ("halves", np.float16, 72, "ld.global.nc.v4.b32"),
        ("halves", np.float16, 68, "ld.global.nc.v2.b32"),
        ("halves", np.float16, 67, "ld.global.nc.b16"),
    ],
)
def test_accesses_are_as_wide_as_the_pitch_allows(
    module: phobos.Module, name: str, dtype: Any, pitch: int, access: str
) -> None:
    x, y = filled((9, pitch), dtype)[:, :40], np.zeros((9, 40), dtype)
    made = chosen(module[name], x, y)
    loads = {line.split()[0] for line in made.ptx.splitlines() if "ld.global" in line and not line.startswith("@")}
    assert loads == {access}
    module[name].simulate([x, y])
    np.testing.assert_array_equal(y, x + 1 if name == "copy" else x)


def test_negative_starts_of_a_strided_view(module: phobos.Module) -> None:
    source, x = framed((12, 40), (4, 8), (2, 4))
    x[...] = filled((12, 40))
    whole, y = framed((12, 40), (1, 4), (3, 8))
    module.above.simulate([x, y])
    expected = np.zeros((12, 40), np.float32)
    expected[3:, 5:] = x[:-3, :-5]
    np.testing.assert_array_equal(y, expected)
    assert untouched(whole, y)
    assert untouched(source, x)


def test_runs_along_and_across_rows(module: phobos.Module) -> None:
    _, x = framed((8, 64), (1, 4), (0, 8))
    x[...] = filled((8, 64))
    whole, y = framed((8, 64), (0, 8), (1, 4))
    under, z = framed((64, 8), (2, 4), (1, 4))
    module.runs.simulate([x, y, z], 1)
    for r in (0, 4):
        np.testing.assert_array_equal(y[r], x[r])
        np.testing.assert_array_equal(y[r + 1, ::4], x[r : r + 4, ::4].sum(axis=0))
        np.testing.assert_array_equal(z[:, r], x[r])
    whole[:, :8] = 7
    assert (whole[8] == 7).all()
    assert (under[:2] == 7).all()


@pytest.mark.parametrize("pitch", [44, 41])
def test_a_pipelined_product_of_views(module: phobos.Module, pitch: int) -> None:
    a, b = filled((40, 60))[:36, :20] % 7, (filled((20, pitch)) % 5)[:, :40]
    a = np.lib.stride_tricks.as_strided(filled((36, 60)) % 7, (36, 20), (240, 4))
    whole, c = framed((36, 40), (2, 4), (1, 4))
    module.mul.simulate([a, b, c])
    np.testing.assert_array_equal(c, a @ b)
    assert untouched(whole, c)
    assert ("cp.async.cg.shared.global" in chosen(module.mul, a, b, c).ptx) == (pitch == 44)


def test_a_promise_holds_for_a_view_too(module: phobos.Module) -> None:
    whole, y = framed((16, 64), (1, 4), (1, 4))
    x = filled((16, 96))[:, 32:]
    module.whole.simulate([x, y])
    np.testing.assert_array_equal(y, x)
    assert untouched(whole, y)
    made = chosen(module.whole, x, y)
    assert not any(guard for access in made.plan.accesses for guard in access.guards if guard.guard)


def test_rows_that_are_one_row(module: phobos.Module) -> None:
    """A broadcast view, stride 0, may be read."""
    x, y = np.broadcast_to(filled((1, 40)), (9, 40)), np.zeros((9, 40), np.float32)
    module.copy.simulate([x, y])
    np.testing.assert_array_equal(y, x + 1)


def test_axes_of_extent_1_with_odd_strides(module: phobos.Module) -> None:
    """E10."""
    x = np.lib.stride_tricks.as_strided(filled((1, 40)), (1, 40), (12, 4))
    y = np.zeros((1, 40), np.float32)
    module.copy.simulate([x, y])
    np.testing.assert_array_equal(y, x + 1)
    assert chosen(module.copy, x, y) is module.copy.artifact
    # The innermost axis is such an axis: column 3 of a matrix, rows 40 apart.
    column, out = filled((9, 40))[:, 3:4], np.zeros((9, 1), np.float32)
    module.copy.simulate([column, out])
    np.testing.assert_array_equal(out, column + 1)
    # A strided view with such an axis in the middle.
    deep, to = filled((3, 1, 40))[:, :, :21], np.zeros((3, 1, 21), np.float32)
    module.deep.simulate([np.lib.stride_tricks.as_strided(deep, deep.shape, (160, 4, 4)), to])
    np.testing.assert_array_equal(to, deep + 1)


def test_the_interpreter_runs_the_variant_too(module: phobos.Module) -> None:
    _, x = framed((13, 50), (1, 4), (2, 6))
    x[...] = filled((13, 50))
    whole, y = framed((13, 50), (0, 3), (2, 6))
    made = chosen(module.copy, x, y)
    assert made.strides == (("X", 0), ("Y", 0))
    interpret(made.kernel, {"X": x, "Y": y}, {}, grid_of(made.kernel, {"M": 13, "N": 50}))
    np.testing.assert_array_equal(y, x + 1)
    assert untouched(whole, y)


# ---- aliasing -----------------------------------------------------------------------------------------------


def overlap(a: Data, b: Data) -> bool:
    return adapt(a).overlaps(adapt(b))


def test_interleaved_views_do_not_overlap() -> None:
    whole = np.zeros((8, 64), np.float32)
    packed = np.zeros((2, 8, 3, 4, 16), np.float32)  # queries, keys and values of attention, side by side
    q, k, v = (packed[:, :, i] for i in range(3))
    assert not overlap(whole[:, :32], whole[:, 32:])
    assert not overlap(whole[:, 32:], whole[:, :32])
    assert not overlap(whole[::2], whole[1::2])
    assert not overlap(q, k)
    assert not overlap(k, v)
    assert not overlap(v, q)
    assert overlap(whole[:, :33], whole[:, 32:])
    assert overlap(whole[:, 32:], whole[:, :33])
    assert overlap(whole[:, 8:40], whole[1:, 39:])
    assert overlap(whole[:4], whole[3:, :8])
    assert overlap(q, packed[1:, :, :2])
    assert overlap(whole[2], whole[:, :1])
    assert not overlap(whole[2, 1:], whole[:, :1])


def test_every_claim_of_no_overlap_is_true() -> None:
    """Random views of one buffer: where `overlaps` says no, no element is shared; and it says no often enough."""
    rng = np.random.default_rng(1)
    base = np.arange(600, dtype=np.int32)
    said = 0
    for _ in range(400):
        views = []
        for _ in range(2):
            rows, columns, pitch, start = rng.integers((1, 1, 1, 0), (7, 12, 40, 100))
            views.append(np.lib.stride_tricks.as_strided(base[start:], (rows, columns), (4 * pitch, 4)))
        shared = bool(np.intersect1d(views[0], views[1]).size)
        claimed = overlap(*views)
        assert claimed or not shared, [(v.shape, v.strides, int(v[0, 0])) for v in views]
        said += not claimed
    assert said > 40


def test_columns_of_one_matrix_need_no_may_alias_variant(module: phobos.Module) -> None:
    whole = filled((9, 80))
    x, y = whole[:, :40], whole[:, 40:]
    made = chosen(module.copy, x, y)
    assert Fact("no_alias", "X") in made.used
    expected = x + 1
    module.copy.simulate([x, y])
    np.testing.assert_array_equal(y, expected)


def test_in_place_is_right(module: phobos.Module) -> None:
    """`scale(X, X, a)`, dense and strided."""
    for whole in (filled((16, 64)), filled((16, 80))):
        x = whole[:, :64]
        expected = 3 * x
        made = chosen(module.scale, x, x, 3.0)
        assert Fact("no_alias", "X") in made.denied
        assert "ld.global.nc" not in made.ptx
        module.scale.simulate([x, x, 3.0])
        np.testing.assert_array_equal(x, expected)
        assert whole.shape[1] == 64 or (whole[:, 64:] == filled((16, 80))[:, 64:]).all()


# ---- the launcher -------------------------------------------------------------------------------------------


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return FakeDriver().install(monkeypatch)


def test_strides_follow_the_dims(driver: FakeDriver, module: phobos.Module) -> None:
    seen: list[Any] = []
    kinds = (ctypes.c_uint64, ctypes.c_uint64, *[ctypes.c_int32] * 4, ctypes.c_float)
    driver.kernel = lambda params: seen.extend(read_params(params, *kinds))
    x, y = Interface((8, 64), strides=(320, 4)), Interface((8, 64), pointer=POINTER + 0x10000, strides=(400, 4))
    module.scale(x, y, 2.5)
    assert seen == [POINTER, POINTER + 0x10000, 8, 64, 80, 100, 2.5]
    made = Prepared(module.scale, (x, y, 2.5)).artifact
    assert [(p.name, p.role) for p in made.plan.parameters[2:]] == [
        ("M", "dim"), ("N", "dim"), ("X_stride0", "stride"), ("Y_stride0", "stride"), ("a", "scalar"),
    ]  # fmt: skip


def test_only_what_is_strided_has_strides(driver: FakeDriver, module: phobos.Module) -> None:
    x, y = Interface((3, 5, 24), strides=(4000, 160, 4)), Interface((3, 5, 24), pointer=POINTER + 0x10000)
    made = Prepared(module.deep, (x, y)).artifact
    assert made.strides == (("X", 0), ("X", 1))
    assert Prepared(module.deep, (x, y)).artifact is made
    assert Prepared(module.deep, (y, x)).artifact.strides == (("Y", 0), ("Y", 1))


def on_views(params: Any, stray: bool = False) -> None:
    """`copy`, on views, as its parameters say. stray: write between the rows too."""
    x, y, m, n, sx, sy = read_params(params, ctypes.c_uint64, ctypes.c_uint64, *[ctypes.c_int32] * 4)
    for r in range(m):
        xs, ys = ((ctypes.c_float * n).from_address(p + 4 * r * s) for p, s in ((x, sx), (y, sy)))
        for c in range(n):
            ys[c] = xs[c] + 1
        if stray and r + 1 < m:
            (ctypes.c_float * (sy - n)).from_address(y + 4 * (r * sy + n))[:] = [99.0] * (sy - n)


def test_host_views_keep_what_is_between_their_rows(driver: FakeDriver, module: phobos.Module) -> None:
    """Even where a kernel wrote there: those bytes are not the call's."""
    driver.kernel = lambda params: on_views(params, stray=True)
    x = filled((6, 50))[:, 10:30]
    whole, y = framed((6, 20), (1, 8), (1, 4))
    module.copy(x, y)
    np.testing.assert_array_equal(y, x + 1)
    assert untouched(whole, y)
    assert driver.allocated == {}


def test_host_views_of_one_matrix(driver: FakeDriver, module: phobos.Module) -> None:
    driver.kernel = on_views
    whole = filled((6, 48))
    expected = whole.copy()
    expected[:, 24:44] = expected[:, :20] + 1
    module.copy(whole[:, :20], whole[:, 24:44])
    np.testing.assert_array_equal(whole, expected)


def test_64_bit_indices_by_the_largest_offset(driver: FakeDriver, module: phobos.Module) -> None:
    """E19: few elements, far apart; and many that are the same ones."""
    pitch = 2**30
    y = Interface((3, 64), pointer=POINTER + 2**40)

    def bits(rows: int, pitch: int) -> int:
        x = Interface((rows, 64), strides=(4 * pitch, 4))
        return Prepared(module.copy, (x, Interface((rows, 64), pointer=y.pointer))).artifact.index_bits

    assert bits(3, pitch) == 64
    assert bits(3, pitch - 32) == 64  # the last element is number 2^31 - 1, so that there are 2^31
    assert bits(3, pitch - 36) == 32
    far = bind("copy", module.copy.signature, (Interface((2**26, 64), strides=(0, 4)), Interface((2**26, 64))))
    assert needs_64_bits(far)  # by the output
    assert far.arrays["X"].reach == 64

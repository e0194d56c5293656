"""Launches on a driver that is not there: variants, grids, streams, parameters, host arrays, the simulator."""

from __future__ import annotations

import ctypes
import sys
import types
from typing import Any

import numpy as np
import pytest

import phobos
from phobos.errors import AlignedPromiseError, ArgumentError, LaunchError
from phobos.ir.kernel import Fact
from phobos.runtime import device, stream
from phobos.runtime.grid import chosen, inferred
from phobos.runtime.launch import Prepared
from phobos.runtime.staging import merged

from .fakes import POINTER, FakeDriver, FakeTorch, Interface, read_params

SOURCE = """\
@autotune(TILE in [256, 1024])
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x * TILE
  Y[i :+ TILE] = a * X[i :+ TILE] + Y[i :+ TILE]
}

@aligned(N = 256)
kernel whole(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 256
  Y[i :+ 256] = X[i :+ 256]
}

kernel shifted(X: tensor<f32>[N]) {
  let i = ctx.block.x * 256 + 1
  X[i :+ 256] = 1.0
}

kernel scalars(Y: tensor<f32>[N], h: f16, g: bf16, d: f64, i: i8, u: u8, n: i32, l: i64, b: bool) {
  let at = ctx.block.x * 32
  if b {
    Y[at :+ 32] = f32(h) + f32(g) + f32(d) + f32(i) + f32(u) + f32(n) + f32(l)
  }
}
"""


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return FakeDriver().install(monkeypatch)


@pytest.fixture(scope="module")
def module() -> phobos.Module:
    return phobos.compile(SOURCE, target="sm_80")


def vector(n: int = 1000, offset: int = 0, **fields: Any) -> Interface:
    return Interface((n,), pointer=POINTER + offset, **fields)


Y = 0x100000


# ---- variants -----------------------------------------------------------------------------------------------


def test_a_launch_within_the_assumptions_uses_the_first_variant(driver: FakeDriver, module: phobos.Module) -> None:
    prepared = Prepared(module.saxpy, (vector(), vector(offset=Y), 2.0))
    assert prepared.artifact is module.saxpy.artifact
    assert prepared.grid == (4, 1, 1)


@pytest.mark.parametrize(
    ("x", "y", "broken"),
    [
        (vector(1001), vector(1001, Y), {Fact("multiple_of_4", "N")}),
        (vector(1000, 4), vector(1000, Y), {Fact("aligned_16", "X")}),
        (vector(1000, 4), vector(1000, Y + 8), {Fact("aligned_16", "X"), Fact("aligned_16", "Y")}),
        (vector(1000), vector(1000), {Fact("no_alias", "X")}),
        (vector(1000), vector(1000, 3984), {Fact("no_alias", "X")}),
        (vector(1000), vector(1000, 4000), set()),
    ],
)
def test_a_broken_fact_gets_the_variant_without_it(
    driver: FakeDriver, module: phobos.Module, x: Interface, y: Interface, broken: set[Fact]
) -> None:
    made = Prepared(module.saxpy, (x, y, 2.0)).artifact
    assert made.denied == broken
    assert not made.used & broken
    assert Prepared(module.saxpy, (x, y, 2.0)).artifact is made


def test_2_to_the_31_elements_take_64_bit_indices(driver: FakeDriver, module: phobos.Module) -> None:
    """E19."""
    args = (vector(2**31), vector(2**31, 2**34), 2.0)
    made = Prepared(module.saxpy, args).artifact
    assert made.index_bits == 64
    assert made.denied == {Fact("index_32", "")}
    below = Prepared(module.saxpy, (vector(2**31 - 4), vector(2**31 - 4, 2**34), 2.0)).artifact
    assert below.index_bits == 32


def test_a_variant_is_loaded_once(driver: FakeDriver) -> None:
    module = phobos.compile(SOURCE, target="sm_80")
    for _ in range(3):
        module.saxpy(vector(), vector(offset=Y), 2.0)
        module.saxpy(vector(1001), vector(1001, Y), 2.0)
    assert len(driver.loads) == 2
    assert len(driver.launches) == 6


# ---- promises and grids -------------------------------------------------------------------------------------


def test_a_broken_promise_raises_before_the_launch(driver: FakeDriver, module: phobos.Module) -> None:
    """B087."""
    with pytest.raises(AlignedPromiseError, match=r"@aligned\(N = 256\)"):
        module.whole(vector(1000), vector(1000, Y))
    assert driver.launches == []
    module.whole(vector(1000), vector(1000, Y), check=False)
    assert len(driver.launches) == 1


def test_more_blocks_than_a_promise_covers_are_refused(driver: FakeDriver, module: phobos.Module) -> None:
    args = (vector(1024), vector(1024, Y))
    assert Fact("grid", "x") in module.whole.artifact.used
    module.whole(*args, grid=2)
    with pytest.raises(ArgumentError, match="grid: expected at most 4 blocks along x, since @aligned leaves them"):
        module.whole(*args, grid=5)


def test_an_explicit_grid(driver: FakeDriver, module: phobos.Module) -> None:
    for asked in (7, (7,), (7, 1), (7, 1, 1), np.int64(7)):
        module.saxpy(vector(), vector(offset=Y), 2.0, grid=asked)
    assert {grid for grid, *_ in driver.launches} == {(7, 1, 1)}


@pytest.mark.parametrize("asked", [(), (1, 2, 3, 4), -1, 1.5, "8", (1, None)])
def test_a_grid_that_is_none(driver: FakeDriver, module: phobos.Module, asked: Any) -> None:
    with pytest.raises(ArgumentError, match="grid: expected an integer or up to three"):
        module.saxpy(vector(), vector(offset=Y), 2.0, grid=asked)


def test_a_grid_beyond_the_chip(driver: FakeDriver, module: phobos.Module) -> None:
    with pytest.raises(ArgumentError, match="grid: expected at most 65535 blocks along y, got 65536; use larger tiles"):
        module.saxpy(vector(), vector(offset=Y), 2.0, grid=(1, 65536))


def test_a_grid_that_cannot_be_inferred_is_required(driver: FakeDriver, module: phobos.Module) -> None:
    with pytest.raises(ArgumentError) as caught:
        module.shifted(vector())
    assert "grid: expected grid=(x, y, z), since it cannot be inferred, got none; x: no subscript" in str(caught.value)
    module.shifted(vector(), grid=3)
    assert driver.launches[0][0] == (3, 1, 1)


def test_inference_rounds_up() -> None:
    from phobos.ir.kernel import GridAxis

    axes = (GridAxis("M", 64), GridAxis(100, 32), GridAxis())
    assert inferred(axes, {"M": 65}) == (2, 4, 1)
    assert inferred((GridAxis("M", 64, "why"), *axes[1:]), {"M": 65}) == (None, 4, 1)
    assert chosen(None, axes, {"M": 0}) == (0, 4, 1)


def test_nothing_is_launched_for_empty_tensors(driver: FakeDriver, module: phobos.Module) -> None:
    module.saxpy(vector(0), vector(0), 2.0)
    assert driver.launches == []


# ---- devices ------------------------------------------------------------------------------------------------


def test_a_tensor_on_another_device(driver: FakeDriver, module: phobos.Module) -> None:
    driver.home = 1
    with pytest.raises(ArgumentError, match="X: expected a tensor on GPU 0, the current device, got one on GPU 1"):
        module.saxpy(vector(), vector(offset=Y), 2.0)


def test_without_a_current_device_the_tensors_decide(driver: FakeDriver, module: phobos.Module) -> None:
    driver.home, driver.current = 1, None
    module.saxpy(vector(), vector(offset=Y), 2.0)
    assert driver.current == 1


def test_memory_that_is_no_gpu_s(driver: FakeDriver, module: phobos.Module) -> None:
    driver.home = None
    with pytest.raises(
        ArgumentError, match="X: expected memory of GPU 0, got an address that the CUDA driver does not"
    ):
        module.saxpy(vector(), vector(offset=Y), 2.0)


def test_a_cubin_for_another_chip(driver: FakeDriver, module: phobos.Module) -> None:
    driver.capability = (9, 0)
    with pytest.raises(LaunchError, match=r"compiled for sm_80, and GPU 0 has compute capability 9\.0; .*'sm_90a'"):
        module.saxpy(vector(), vector(offset=Y), 2.0)


# ---- streams ------------------------------------------------------------------------------------------------


def test_the_stream_that_is_asked_for() -> None:
    protocol = types.SimpleNamespace(__cuda_stream__=lambda: (0, 11))
    assert stream.handle(protocol) == 11
    assert stream.handle(types.SimpleNamespace(cuda_stream=12)) == 12
    assert stream.handle(types.SimpleNamespace(ptr=13)) == 13
    assert stream.handle(14) == 14
    with pytest.raises(ArgumentError, match="stream: expected an int, or an object with __cuda_stream__"):
        stream.handle("main")


def test_torch_s_current_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    torch: Any = types.ModuleType("torch")
    current = types.SimpleNamespace(cuda_stream=21)
    torch.cuda = types.SimpleNamespace(current_stream=lambda where: current if where.index == 0 else None)
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert stream.current((vector(stream=5), FakeTorch((4,)), 1.0)) == 21


def test_the_stream_of_an_interface_and_the_default() -> None:
    assert stream.current((vector(), vector(stream=5), 2.0)) == 5
    assert stream.current((vector(), np.zeros(3), 2.0)) == 0


def test_a_launch_is_ordered_with_the_arrays_streams(driver: FakeDriver, module: phobos.Module) -> None:
    module.saxpy(vector(stream=5), vector(offset=Y), 2.0, stream=9)
    assert driver.launches[0][3] == 9
    assert driver.orders == [(5, 9), (9, 5)]
    driver.orders.clear()
    module.saxpy(vector(stream=5), vector(offset=Y), 2.0)
    assert (driver.launches[1][3], driver.orders) == (5, [])


# ---- parameters ---------------------------------------------------------------------------------------------


def test_parameters_are_in_abi_order(driver: FakeDriver, module: phobos.Module) -> None:
    seen: list[Any] = []
    kinds = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int32, ctypes.c_float)
    driver.kernel = lambda params: seen.extend(read_params(params, *kinds))
    module.saxpy(vector(), vector(offset=Y), 2.5)
    assert seen == [POINTER, POINTER + Y, 1000, 2.5]


def test_scalars_of_every_type(driver: FakeDriver, module: phobos.Module) -> None:
    seen: list[Any] = []
    kinds = (ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint16, ctypes.c_uint16, ctypes.c_double, ctypes.c_int8)
    kinds += (ctypes.c_uint8, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint8)
    driver.kernel = lambda params: seen.extend(read_params(params, *kinds))
    module.scalars(vector(), 1.0, -2.0, 0.1, -5, 250, -(2**31), 2**40, True)
    assert seen[2:] == [0x3C00, 0xC000, 0.1, -5, 250, -(2**31), 2**40, 1]


# ---- host arrays --------------------------------------------------------------------------------------------


def saxpy_on(memory: Any) -> None:
    """The kernel, on whatever its parameters point to."""
    x, y, n, a = read_params(memory, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int32, ctypes.c_float)
    xs, ys = ((ctypes.c_float * n).from_address(p) for p in (x, y))
    for i in range(n):
        ys[i] += a * xs[i]


def test_host_arrays_are_copied_in_and_out(driver: FakeDriver, module: phobos.Module) -> None:
    driver.kernel = saxpy_on
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    module.saxpy(x, y, 2.0)
    np.testing.assert_array_equal(y, 1 + 2 * x)
    np.testing.assert_array_equal(x, np.arange(100))
    assert driver.allocated == {}


def test_overlapping_host_arrays_overlap_on_the_device(driver: FakeDriver, module: phobos.Module) -> None:
    driver.kernel = saxpy_on
    data = np.arange(108, dtype=np.float32)
    expected = data.copy()
    x, y = expected[8:], expected[:100]
    for i in range(100):
        y[i] += 2 * x[i]
    module.saxpy(data[8:], data[:100], 2.0)
    np.testing.assert_array_equal(data, expected)
    made = Prepared(module.saxpy, (data[8:], data[:100], 2.0))
    made.close()
    assert Fact("no_alias", "X") in made.artifact.denied
    assert made.bound.arrays["X"].pointer - made.bound.arrays["Y"].pointer == 32


def test_device_copies_are_freed_when_the_launch_is_refused(driver: FakeDriver, module: phobos.Module) -> None:
    x = np.zeros(256, np.float32)
    with pytest.raises(ArgumentError):
        module.saxpy(x, x.copy(), 2.0, grid=-1)
    assert driver.allocated == {}


def test_host_and_device_arrays_together(driver: FakeDriver, module: phobos.Module) -> None:
    prepared = Prepared(module.saxpy, (np.zeros(1000, np.float32), vector(), 2.0))
    assert prepared.bound.arrays["Y"].pointer == POINTER
    prepared.close()


def test_ranges_merge_where_they_overlap() -> None:
    assert merged([(10, 20), (0, 5), (15, 30), (30, 40), (7, 7)]) == [(0, 5), (10, 30), (30, 40)]
    assert merged([(0, 100), (10, 20)]) == [(0, 100)]


# ---- no GPU -------------------------------------------------------------------------------------------------


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "why_no_gpu", lambda: "no driver in this test")
    monkeypatch.setattr(device, "has_gpu", lambda: False)


def test_the_simulator_runs_host_arrays(no_gpu: None, module: phobos.Module) -> None:
    x, y = np.arange(300, dtype=np.float32), np.ones(300, np.float32)
    module.saxpy(x, y, 2.0)
    np.testing.assert_array_equal(y, 1 + 2 * x)


def test_the_simulator_makes_the_same_checks(no_gpu: None, module: phobos.Module) -> None:
    x = np.zeros(1000, np.float32)
    with pytest.raises(ArgumentError, match="X: expected a NumPy array, since the kernel does not run on a GPU here"):
        module.saxpy(vector(), x, 2.0)
    with pytest.raises(ArgumentError, match="Y: expected a tensor<f32>"):
        module.saxpy(x, x.astype(np.float64), 2.0)
    with pytest.raises(AlignedPromiseError):
        module.whole(x, x.copy())
    with pytest.raises(LaunchError, match="whole: "):
        module.whole(x, x.copy(), check=False)
    with pytest.raises(ArgumentError, match="it cannot be inferred"):
        module.shifted(x)

"""Launches on a real GPU, with arrays of each library. Run with `-m gpu`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import phobos
from phobos.ir.kernel import Fact
from phobos.runtime import device
from phobos.runtime.launch import Prepared
from phobos.runtime.timing import measure

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parents[2]

SOURCE = """\
@autotune(TILE in [1024, 4096])
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x * TILE
  Y[i :+ TILE] = a * X[i :+ TILE] + Y[i :+ TILE]
}

@aligned(N = 256)
kernel whole(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 256
  Y[i :+ 256] = X[i :+ 256]
}

kernel bytes(X: tensor<i8>[N], Y: tensor<i8>[N]) {
  let i = ctx.block.x * 8192
  Y[i :+ 8192] = X[i :+ 8192] + i8(1)
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

kernel half(X: tensor<bf16>[M, N], Y: tensor<bf16>[M, N]) {
  let i = ctx.block.y * 16
  let j = ctx.block.x * 64
  Y[i :+ 16, j :+ 64] = X[i :+ 16, j :+ 64] * 2.0
}
"""


@pytest.fixture(scope="module")
def module() -> phobos.Module:
    if not device.has_gpu():
        pytest.fail(f"-m gpu needs a GPU: {device.why_no_gpu()}")
    return phobos.compile(SOURCE)


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


# An unaligned extent, one CTA, many, and none.
SIZES = [1, 3, 4, 1000, 1023, 100_000, 0]


@pytest.mark.parametrize("n", SIZES)
def test_numpy(module: phobos.Module, n: int) -> None:
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    module.saxpy(x, y, 2.0)
    np.testing.assert_array_equal(y, 1 + 2 * x)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("offset", [0, 1])
def test_torch(module: phobos.Module, n: int, offset: int) -> None:
    torch = library("torch")
    frame = torch.full((n + offset + 16,), 7.0, device="cuda")
    y = frame[offset : offset + n]
    y[:] = 1
    x = torch.arange(n, device="cuda", dtype=torch.float32)
    module.saxpy(x, y, 2.0)
    assert torch.equal(y, 1 + 2 * x)
    assert (frame[:offset] == 7).all()
    assert (frame[offset + n :] == 7).all()


def test_torch_bfloat16(module: phobos.Module) -> None:
    torch = library("torch")
    x = torch.randn(37, 100, device="cuda").bfloat16()
    y = torch.zeros_like(x)
    module.half(x, y)
    assert torch.equal(y, x * 2)


def test_in_place_gets_the_variant_that_may_alias(module: phobos.Module) -> None:
    torch = library("torch")
    x = torch.arange(1000, device="cuda", dtype=torch.float32)
    prepared = Prepared(module.saxpy, (x, x, 2.0))
    assert Fact("no_alias", "X") in prepared.artifact.denied
    prepared.run()
    assert torch.equal(x, 3 * torch.arange(1000, device="cuda"))


def test_torch_s_current_stream_is_used(module: phobos.Module) -> None:
    torch = library("torch")
    stream = torch.cuda.Stream()
    x = torch.zeros(1 << 24, device="cuda")
    y = torch.zeros_like(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # the launch must wait for this stream's earlier work
        x += 1
        assert Prepared(module.saxpy, (x, y, 2.0)).stream == stream.cuda_stream
        module.saxpy(x, y, 2.0)
    stream.synchronize()
    assert (y == 2).all()


def test_a_stream_that_is_asked_for(module: phobos.Module) -> None:
    torch = library("torch")
    stream = torch.cuda.Stream()
    x, y = torch.ones(1000, device="cuda"), torch.zeros(1000, device="cuda")
    torch.cuda.synchronize()
    for asked in (stream, stream.cuda_stream):
        module.saxpy(x, y, 1.0, stream=asked)
    stream.synchronize()
    assert (y == 2).all()


def test_cupy(module: phobos.Module) -> None:
    cupy = library("cupy")
    x, y = cupy.arange(1000, dtype=cupy.float32), cupy.ones(1000, cupy.float32)
    module.saxpy(x, y, 2.0)
    assert bool((y == 1 + 2 * x).all())
    with cupy.cuda.Stream(non_blocking=True) as stream:
        z = cupy.zeros(1000, cupy.float32)
        assert Prepared(module.saxpy, (x, z, 2.0)).stream == stream.ptr
        module.saxpy(x, z, 2.0)
        assert bool((z == 2 * x).all())


def test_dlpack(module: phobos.Module) -> None:
    torch = library("torch")

    class OnlyDlpack:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

        def __dlpack__(self, stream: Any = None, **_: Any) -> Any:
            return self.tensor.__dlpack__(stream=stream)

        def __dlpack_device__(self) -> Any:
            return self.tensor.__dlpack_device__()

    x, y = torch.arange(1000, device="cuda", dtype=torch.float32), torch.ones(1000, device="cuda")
    module.saxpy(OnlyDlpack(x), OnlyDlpack(y), 2.0)
    torch.cuda.synchronize()
    assert torch.equal(y, 1 + 2 * x)


def test_a_kernel_of_the_wrong_chip_is_refused_before_the_driver(module: phobos.Module) -> None:
    other = "sm_80" if device.compute_capability(0)[0] != 8 else "sm_90"
    x = np.zeros(1024, np.float32)
    with pytest.raises(phobos.LaunchError, match=f"compiled for {other}"):
        phobos.compile(SOURCE, target=other).saxpy(x, x.copy(), 2.0)


def test_2_to_the_31_elements(module: phobos.Module) -> None:
    """E19."""
    torch = library("torch")
    n = 2**31 + 4
    if torch.cuda.mem_get_info()[0] < 5 * n:
        pytest.skip(f"needs {5 * n} bytes of device memory")
    x = torch.ones(n, device="cuda")
    prepared = Prepared(module.saxpy, (x, x, 2.0))
    assert prepared.artifact.index_bits == 64
    prepared.run()
    assert float(x[-8:].sum()) == 24
    assert bool((x == 3).all())


def test_2_to_the_31_bytes_more_or_less(module: phobos.Module) -> None:
    """E19, on both sides of the boundary."""
    torch = library("torch")
    if torch.cuda.mem_get_info()[0] < 3 * 2**31:
        pytest.skip(f"needs {3 * 2**31} bytes of device memory")
    for n, bits in ((2**31 - 4, 32), (2**31, 64), (2**31 + 5, 64)):
        x = torch.ones(n, device="cuda", dtype=torch.int8)
        prepared = Prepared(module.bytes, (x, x))
        assert prepared.artifact.index_bits == bits
        prepared.run()
        assert bool((x == 2).all())
        del x, prepared


def test_rows_far_apart(module: phobos.Module) -> None:
    """E19: few elements whose offsets take 64 bits; and an offset that takes 31 just."""
    torch = library("torch")
    if torch.cuda.mem_get_info()[0] < 5 * 2**31:
        pytest.skip(f"needs {5 * 2**31} bytes of device memory")
    whole = torch.zeros(2**31 + 2**20, device="cuda", dtype=torch.bfloat16)
    for pitch, bits in ((2**31, 64), (2**31 - 64, 64), (2**31 - 68, 32)):
        view = whole.as_strided((2, 64), (pitch, 1))
        view.fill_(1)
        prepared = Prepared(module.half, (view, view))
        assert prepared.artifact.index_bits == bits
        prepared.run()
        assert bool((view == 2).all())
        view.zero_()
        assert not bool(whole.any())


@pytest.mark.parametrize("pitch", [100, 102, 101])
def test_strided_torch_views(module: phobos.Module, pitch: int) -> None:
    torch = library("torch")
    whole = torch.full((40, pitch), 7, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(37, 2 * pitch, device="cuda").bfloat16()[:, pitch : pitch + 90]
    y = whole[1:38, 4:94]
    prepared = Prepared(module.half, (x, y))
    assert prepared.artifact.strides == (("X", 0), ("Y", 0))
    prepared.run()
    assert torch.equal(y, x * 2)
    y.fill_(7)
    assert bool((whole == 7).all())
    row = torch.randn(1, 90, device="cuda").bfloat16().expand(37, 90)
    module.half(row, y)
    assert torch.equal(y, row * 2)


def test_strided_numpy_views(module: phobos.Module) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (70, 80)).astype(np.float32) for _ in range(2))
    whole = np.full((70, 80), 7, np.float32)
    c = whole[3:60, 8:61]
    x, y = a[1:58, 4:37], b[2:35, 12:65]
    module.mul(x, y, c)
    np.testing.assert_array_equal(c, x @ y)
    c[...] = 7
    assert (whole == 7).all()


def test_a_launch_can_be_timed(module: phobos.Module) -> None:
    torch = library("torch")
    x, y = torch.ones(1 << 26, device="cuda"), torch.zeros(1 << 26, device="cuda")
    prepared = Prepared(module.saxpy, (x, y, 1.0))
    timing = measure(prepared.launch, prepared.stream)
    assert 0.01 < timing.median_ms < 100
    assert timing.best_ms <= timing.median_ms <= timing.worst_ms
    assert module.saxpy.tune(x, y, 1.0).best.timing.median_ms > 0


TRAP = f"""
import torch, phobos
x = torch.zeros(1000, device="cuda")
module = phobos.compile({SOURCE!r})
module.whole(x, x.clone(), check=False)
try:
    torch.cuda.synchronize()
except Exception as error:
    print("trapped:", type(error).__name__)
try:
    module.whole(x, x, check=False)
except phobos.CudaError as error:
    print("said:", error.name, error.advice)
"""


def test_a_broken_promise_traps_when_it_is_not_checked() -> None:
    """B087, in a child, because the context does not survive it."""
    library("torch")
    result = subprocess.run([sys.executable, "-c", TRAP], cwd=ROOT, capture_output=True, text=True)
    assert "trapped:" in result.stdout, result.stderr
    assert "said: CUDA_ERROR_" in result.stdout, result.stderr
    assert "check=False" in result.stdout

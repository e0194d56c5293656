"""Every example on a GPU: at its run lines, at ragged sizes, on unaligned and overlapping tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import phobos
from phobos.errors import AlignedPromiseError
from phobos.runline import RunLine, expected, judge, load_reference, make_inputs, parse_run_lines

torch = pytest.importorskip("torch", reason="the GPU tests hold their tensors in torch")
from tests.gpu.guarded import filled, poisoned  # noqa: E402 - after the check for torch

pytestmark = pytest.mark.gpu
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KERNELS = Path(__file__).resolve().parents[1] / "kernels"
FILES = sorted((*EXAMPLES.glob("*.ph"), *KERNELS.rglob("*.ph")))
LINES = [(path, line) for path in FILES for line in parse_run_lines(path.read_text(), path.name)]


@pytest.mark.parametrize(("path", "line"), LINES, ids=[f"{p.stem}-{x.kernel}-{i}" for i, (p, x) in enumerate(LINES)])
def test_run_line(path: Path, line: RunLine) -> None:
    module = phobos.compile(path)
    handle = getattr(module, line.kernel)
    handle = handle.configured(**line.constants(handle.choices))
    inputs = make_inputs(handle.meaning, line)
    tensors = {name: array.copy() for name, array in inputs.tensors.items()}
    args = [tensors[p.name] if p.name in tensors else inputs.scalars[p.name] for p in handle.signature.params]
    handle(*args, grid=line.grid)
    reference = expected(handle.meaning, load_reference(path, line.kernel), inputs)
    verdict = judge(handle.meaning, line.on_hardware(), reference, inputs, tensors)
    assert verdict.ok, verdict.faults


def without_promise() -> str:
    text = (EXAMPLES / "gemm_fp32.ph").read_text()
    return "\n".join(line for line in text.splitlines() if not line.startswith("@aligned"))


TILES = [(32, 32, 4), (64, 64, 8), (128, 128, 16), (128, 256, 8), (256, 64, 32), (32, 256, 16)]
SIZES = [(4100, 4100, 1000), (36, 68, 20), (132, 100, 1000), (4, 4, 4), (32, 32, 8)]
ODD_SIZES = [(256, 256, 3), (37, 59, 101), (1, 1, 1), (130, 2, 66)]


@pytest.mark.parametrize("size", SIZES + ODD_SIZES, ids=str)
@pytest.mark.parametrize("tile", TILES, ids=str)
def test_gemm_ragged(size: tuple[int, int, int], tile: tuple[int, int, int]) -> None:
    m, n, k = size
    torch.manual_seed(1)
    constants = dict(zip(("TILE_M", "TILE_N", "TILE_K"), tile, strict=True))
    kernel = phobos.compile(without_promise(), **constants).gemm
    a, b, c = filled((m, k)), filled((k, n)), filled((m, n))
    old = c.tensor.double().clone()
    kernel(a.tensor, b.tensor, c.tensor, 0.5, 2.0)
    torch.cuda.synchronize()
    want = 0.5 * (a.tensor.double() @ b.tensor.double()) + 2.0 * old
    assert float((c.tensor.double() - want).norm() / want.norm()) < 2e-6
    for t in (a, b, c):
        t.check()


@pytest.mark.parametrize("tile", TILES, ids=str)
def test_gemm_writes_every_element(tile: tuple[int, int, int]) -> None:
    # beta = 0 would let NaN through, so the kernel without the old value is used: every element must be written.
    text = without_promise().replace("alpha * acc + beta * old", "alpha * acc + beta")
    kernel = phobos.compile(text, **dict(zip(("TILE_M", "TILE_N", "TILE_K"), tile, strict=True))).gemm
    for m, n, k in ((100, 132, 36), (256, 256, 64)):
        a, b, c = filled((m, k)), filled((k, n)), poisoned((m, n))
        kernel(a.tensor, b.tensor, c.tensor, 1.0, 0.0)
        torch.cuda.synchronize()
        want = a.tensor.double() @ b.tensor.double()
        assert float((c.tensor.double() - want).norm() / want.norm()) < 2e-6
        c.check()


def test_gemm_4096() -> None:
    kernel = phobos.compile(EXAMPLES / "gemm_fp32.ph", TILE_M=128, TILE_N=128, TILE_K=16).gemm
    a, b, c = filled((4096, 4096)), filled((4096, 4096)), filled((4096, 4096))
    old = c.tensor.double().clone()
    kernel(a.tensor, b.tensor, c.tensor, 1.0, 0.5)
    torch.cuda.synchronize()
    want = a.tensor.double() @ b.tensor.double() + 0.5 * old
    assert float((c.tensor.double() - want).norm() / want.norm()) < 4e-6
    c.check()


@pytest.mark.parametrize("shift", [0, 1, 2, 4])
@pytest.mark.parametrize("n", [1, 3, 1000, 1 << 20, (1 << 20) + 5])
def test_saxpy_any_length_and_base(n: int, shift: int) -> None:
    kernel = phobos.compile(EXAMPLES / "saxpy_fp32.ph").saxpy
    x, y = filled((n,), shift=shift), filled((n,), shift=shift)
    want = torch.addcmul(y.tensor.double(), x.tensor.double(), torch.tensor(2.5, device="cuda").double())
    kernel(x.tensor, y.tensor, 2.5)
    torch.cuda.synchronize()
    assert torch.equal(y.tensor, want.float())  # one fma, rounded once: exact in double, then rounded
    x.check()
    y.check()


@pytest.mark.parametrize("name", ["scale", "copy2d"])
@pytest.mark.parametrize("promise", [True, False])
@pytest.mark.parametrize("shift", [0, 1])
def test_elementwise(name: str, promise: bool, shift: int) -> None:
    text = (EXAMPLES / f"{name}.ph").read_text()
    if not promise:
        text = "\n".join(line for line in text.splitlines() if not line.startswith("@aligned"))
    kernel = getattr(phobos.compile(text), name)
    for m, n in ((256, 512),) if promise else ((20, 28), (33, 127), (1, 1), (300, 514)):
        x, y = filled((m, n), shift=shift), poisoned((m, n), shift=shift)
        args = (x.tensor, y.tensor, 3.0) if name == "scale" else (x.tensor, y.tensor)
        kernel(*args)
        torch.cuda.synchronize()
        assert torch.equal(y.tensor, x.tensor * 3.0 if name == "scale" else x.tensor)
        y.check()


def test_in_place() -> None:
    kernel = phobos.compile((EXAMPLES / "scale.ph").read_text()).scale
    x = filled((64, 256))
    want = x.tensor * 3.0
    kernel(x.tensor, x.tensor, 3.0)
    torch.cuda.synchronize()
    assert torch.equal(x.tensor, want)
    x.check()


def test_broken_promise_is_refused_first() -> None:
    kernel = phobos.compile(EXAMPLES / "copy2d.ph").copy2d
    a, b = filled((65, 64)), poisoned((65, 64))
    with pytest.raises(AlignedPromiseError, match="M"):
        kernel(a.tensor, b.tensor)
    torch.cuda.synchronize()
    assert bool(b.tensor.isnan().all())


def test_numpy_cupy_and_streams() -> None:
    kernel = phobos.compile(EXAMPLES / "saxpy_fp32.ph").saxpy
    x, y = np.arange(5000, dtype=np.float32), np.ones(5000, np.float32)
    kernel(x, y, 2.0)
    assert np.array_equal(y, 2.0 * np.arange(5000, dtype=np.float32) + 1.0)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        u, v = torch.arange(5000.0, device="cuda"), torch.ones(5000, device="cuda")
        kernel(u, v, 2.0)
    stream.synchronize()
    assert torch.equal(v.cpu(), torch.from_numpy(y))
    cupy = pytest.importorskip("cupy", reason="the CuPy part needs CuPy")
    p, q = cupy.arange(5000, dtype=cupy.float32), cupy.ones(5000, dtype=cupy.float32)
    kernel(p, q, 2.0)
    assert np.array_equal(cupy.asnumpy(q), y)


@pytest.mark.parametrize("bits", [32, 64])
def test_index_bits(bits: int) -> None:
    kernel = phobos.compile(without_promise(), index_bits=bits).gemm
    a, b, c = filled((100, 36)), filled((36, 68)), filled((100, 68))
    old = c.tensor.double().clone()
    kernel(a.tensor, b.tensor, c.tensor, 1.0, 1.0)
    torch.cuda.synchronize()
    want = a.tensor.double() @ b.tensor.double() + old
    assert float((c.tensor.double() - want).norm() / want.norm()) < 2e-6

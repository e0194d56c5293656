"""`dot_fma` and whole GEMMs, run from the emitted LLVM IR on integers, which every order of sums gives exactly."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phobos.codegen import emit
from phobos.interp import numbers
from phobos.ir.build import Builder
from phobos.ir.core import Value
from phobos.ir.cta_ops import Alloc, DotFma, Sync, Write
from phobos.ir.kernel import Kernel
from phobos.ir.parser import parse
from phobos.ir.tile_ops import Load, Store
from phobos.ir.types import F16, F32, F64, I8, I32, U8, Buffer, Scalar, Tensor, Tile
from phobos.layout.register import Blocked
from phobos.layout.shared import Swizzled
from phobos.target import target
from tests.codegen import cpu
from tests.codegen.kernels import SPAN, kernel

HERE = Path(__file__).parent


def small(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape)


@pytest.mark.parametrize(
    ("name", "tile", "size"), [("gemm_128", (128, 128), (128, 256, 48)), ("gemm_ragged", (48, 80), (52, 84, 40))]
)
def test_gemm(name: str, tile: tuple[int, int], size: tuple[int, int, int]) -> None:
    m, n, k = size
    a, b, c = (small(*shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
    gemm = parse((HERE / f"{name}.tile").read_text())
    grid = (-(-m // tile[0]), -(-n // tile[1]))
    got = cpu.run(gemm, grid, [a, b, c], [m, n, k], (ctypes.c_float(2.0), ctypes.c_float(3.0)))
    np.testing.assert_array_equal(got[2], 2 * (a @ b) + 3 * c)
    np.testing.assert_array_equal(got[0], a)


def contraction(
    operand: Scalar,
    acc: Scalar,
    shape: tuple[int, int, int],
    a_layout: Swizzled,
    b_layout: Swizzled,
    trans_b: bool,
    widths: tuple[int, int],
    layout: Blocked,
) -> Kernel:
    """C = A B or A B^T of one tile, operands written into shared memory from registers."""
    m, n, k = shape
    b = Builder(SPAN)
    zero = b.const(0)
    tensors, buffers = [], []
    for name, sides, shared in (("A", (m, k), a_layout), ("B", (n, k) if trans_b else (k, n), b_layout)):
        tensor = Value(name, Tensor(operand, sides))
        tile = Tile(operand, sides, Blocked(sides, (1, 1), (4, 8), (1, 2), (1, 0)))
        extents = tuple(b.const(s) for s in sides)
        where = {"tensor": tensor, "offsets": (zero, zero), "extents": extents, "guards": ("", ""), "width": 1}
        value = b.emit(Load(**where, out=Value(name.lower(), tile))).out
        offset = 0 if not buffers else -(-buffers[0].type.size_bytes // 128) * 128
        buffer = Value(f"{name}_shared", Buffer(operand, sides, shared))
        b.emit(Alloc(label=name, offset_bytes=offset, out=buffer))
        b.emit(Write(buffer=buffer, slot=zero, value=value, width=1))
        tensors.append(tensor)
        buffers.append(buffer)
    b.emit(Sync(scope="cta"))
    out = Tile(acc, (m, n), layout)
    start = b.splat(b.const(0, acc, "zero"), out, "acc")
    result = b.emit(
        DotFma(
            a=buffers[0],
            a_slot=zero,
            b=buffers[1],
            b_slot=zero,
            acc=start,
            trans_b=trans_b,
            a_width=widths[0],
            b_width=widths[1],
            out=Value("c", out),
        )
    ).out
    tensor = Value("C", Tensor(acc, (m, n)))
    extents = (b.const(m), b.const(n))
    b.emit(Store(tensor=tensor, offsets=(zero, zero), extents=extents, value=result, guards=("", ""), width=1))
    return kernel("dot", (*tensors, tensor), (), (), b, 64)


EVEN = Blocked((32, 32), (4, 4), (8, 4), (1, 2), (1, 0))
UNEVEN = Blocked((20, 24), (2, 4), (8, 4), (1, 2), (1, 0))
DEEP = Blocked((64, 64), (4, 4), (8, 4), (1, 2), (1, 0))


@pytest.mark.parametrize(
    ("operand", "acc", "shape", "a_layout", "b_layout", "trans_b", "widths", "layout"),
    [
        (F32, F32, (32, 32, 8), Swizzled((32, 8), 0, 4, 1, 1, 7), Swizzled((8, 32), 1), False, (4, 4), EVEN),
        (F32, F32, (32, 32, 8), Swizzled((32, 8), 1), Swizzled((8, 32), 1), False, (4, 4), EVEN),
        (F32, F32, (32, 32, 8), Swizzled((32, 8), 1, 4, 1, 31, 1), Swizzled((32, 8), 1), True, (4, 4), EVEN),
        (F32, F32, (32, 32, 6), Swizzled((32, 6), 1), Swizzled((32, 6), 0), True, (2, 4), EVEN),
        (F32, F32, (20, 24, 5), Swizzled((20, 5), 0), Swizzled((5, 24), 1), False, (2, 4), UNEVEN),
        (F64, F64, (20, 24, 5), Swizzled((20, 5), 0), Swizzled((5, 24), 1), False, (2, 2), UNEVEN),
        (F16, F32, (32, 32, 8), Swizzled((32, 8), 0), Swizzled((8, 32), 1), False, (4, 4), EVEN),
        (I8, I32, (32, 32, 8), Swizzled((32, 8), 1), Swizzled((32, 8), 1), True, (8, 8), EVEN),
        (U8, I32, (20, 24, 5), Swizzled((20, 5), 1), Swizzled((5, 24), 1), False, (1, 1), UNEVEN),
        (F32, F32, (64, 64, 96), Swizzled((64, 96), 0, 4, 1, 1, 3), Swizzled((96, 64), 1), False, (4, 4), DEEP),
    ],
    ids=lambda x: "x".join(map(str, x)) if isinstance(x, tuple) else str(x) if isinstance(x, Scalar) else "",
)
def test_dot_fma(
    operand: Scalar,
    acc: Scalar,
    shape: tuple[int, int, int],
    a_layout: Swizzled,
    b_layout: Swizzled,
    trans_b: bool,
    widths: tuple[int, int],
    layout: Blocked,
) -> None:
    m, n, k = shape
    a, b = (small(*sides).astype(numbers.stored(operand)) for sides in ((m, k), (n, k) if trans_b else (k, n)))
    c = np.zeros((m, n), numbers.stored(acc))
    made = contraction(operand, acc, shape, a_layout, b_layout, trans_b, widths, layout)
    got = cpu.run(made, (1,), [a, b, c], [])[-1]
    left, right = a.astype(c.dtype), b.astype(c.dtype)
    np.testing.assert_array_equal(got, left @ (right.T if trans_b else right))


def test_a_deep_contraction_is_a_loop() -> None:
    """Where both buffers advance evenly; a swizzle that does not repeat keeps all of k in straight code."""
    even = contraction(
        F32, F32, (64, 64, 96), Swizzled((64, 96), 0, 4, 1, 1, 3), Swizzled((96, 64), 1), False, (4, 4), DEEP
    )
    text = emit(even, target("sm_80"), 32, SPAN.source)
    assert text.count("call float @llvm.fma.f32") == 64 * 32
    assert "dot:" in text
    odd = contraction(
        F32, F32, (64, 64, 64), Swizzled((64, 64), 1, 4, 1, 31, 15), Swizzled((64, 64), 1), False, (4, 4), DEEP
    )
    text = emit(odd, target("sm_80"), 32, SPAN.source)
    assert text.count("call float @llvm.fma.f32") == 64 * 64
    assert "dot:" not in text

"""What the kernels beside this file compute, in float64 NumPy: one function per kernel, by the kernel's name.

A function takes the kernel's tensors and scalars by name, float ones in float64, and gives the tensors that the kernel
writes. Every tensor that it does not give must be left as it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def saxpy(X: Array, Y: Array, a: float) -> dict[str, Array]:  # noqa: N803
    return {"Y": a * X + Y}


def scale(X: Array, Y: Array, alpha: float) -> dict[str, Array]:  # noqa: N803
    return {"Y": alpha * X}


def copy2d(A: Array, B: Array) -> dict[str, Array]:  # noqa: N803
    return {"B": A}


def gemm(A: Array, B: Array, C: Array, alpha: float, beta: float) -> dict[str, Array]:  # noqa: N803
    return {"C": alpha * (A @ B) + beta * C}


def scalar_kernel(output: Array, a: Array, size: int) -> dict[str, Array]:
    return {"output": mapped(output, a, size)}


def unaligned_kernel(output: Array, a: Array, size: int) -> dict[str, Array]:
    return {"output": mapped(output, a, size // 4 * 4)}


aligned_kernel = unaligned_kernel


def mapped(output: Array, a: Array, size: int) -> Array:
    """2 a + 1, rounded as the kernels round it, in the first elements, what was there before in the others."""
    return np.concatenate([(2 * a[:size] + 1).astype(np.float32), output[size:]])

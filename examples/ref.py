"""What the kernels beside this file compute, in float64 NumPy: one function per kernel, by the kernel's name.

A function takes the kernel's tensors and scalars by name, float ones in float64, and gives the tensors that the kernel
writes. Every tensor that it does not give must be left as it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def saxpy(X: Array, Y: Array, a: float) -> dict[str, Array]:
    return {"Y": a * X + Y}


def scale(X: Array, Y: Array, alpha: float) -> dict[str, Array]:
    return {"Y": alpha * X}


def copy2d(A: Array, B: Array) -> dict[str, Array]:
    return {"B": A}


def transpose_fp32(X: Array, Y: Array) -> dict[str, Array]:
    return {"Y": X.T}


def gemm(A: Array, B: Array, C: Array, alpha: float, beta: float) -> dict[str, Array]:
    return {"C": alpha * (A @ B) + beta * C}


def scalar_kernel(output: Array, a: Array, size: int) -> dict[str, Array]:
    return {"output": mapped(output, a, size)}


def unaligned_kernel(output: Array, a: Array, size: int) -> dict[str, Array]:
    return {"output": mapped(output, a, size // 4 * 4)}


aligned_kernel = unaligned_kernel


def mapped(output: Array, a: Array, size: int) -> Array:
    """2 a + 1, rounded as the kernels round it, in the first elements, what was there before in the others."""
    return np.concatenate([(2 * a[:size] + 1).astype(np.float32), output[size:]])


# ---- rows ------------------------------------------------------------------------------------------------


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def softmax(X: Array, Y: Array) -> dict[str, Array]:
    return {"Y": _softmax(X)}


def layer_norm(X: Array, G: Array, B: Array, Y: Array, eps: float) -> dict[str, Array]:
    mean, var = X.mean(axis=1, keepdims=True), X.var(axis=1, keepdims=True)
    return {"Y": (X - mean) / np.sqrt(var + eps) * G + B}


def rms_norm(X: Array, G: Array, Y: Array, eps: float) -> dict[str, Array]:
    return {"Y": X / np.sqrt((X * X).mean(axis=1, keepdims=True) + eps) * G}


def row_sum(X: Array, Y: Array) -> dict[str, Array]:
    return {"Y": X.sum(axis=1, keepdims=True)}


def cross_entropy(X: Array, T: Array, L: Array) -> dict[str, Array]:
    target = np.clip(T, 0, X.shape[1] - 1).astype(np.int64)
    top = X.max(axis=1)
    log_sum = top + np.log(np.exp(X - top[:, None]).sum(axis=1))
    return {"L": log_sum - X[np.arange(len(X)), target]}


def quantize(X: Array, Q: Array, S: Array) -> dict[str, Array]:
    x = X.astype(np.float32)
    top = np.abs(x).max(axis=1, keepdims=True) + np.float32(1e-20)
    return {"Q": np.rint(x * (np.float32(127) / top)), "S": top / np.float32(127)}


def matvec(W: Array, X: Array, S: Array, Y: Array) -> dict[str, Array]:
    return {"Y": (W.astype(np.float64) @ X[0].astype(np.float64))[:, None] * S}


# ---- attention -------------------------------------------------------------------------------------------


def flash_attention(Q: Array, K: Array, V: Array, O: Array, scale: float) -> dict[str, Array]:
    return {"O": _softmax(scale * Q @ K.swapaxes(2, 3)) @ V}


def flash_attention_causal(Q: Array, K: Array, V: Array, O: Array, scale: float) -> dict[str, Array]:
    scores = scale * Q @ K.swapaxes(2, 3)
    seen = np.tri(scores.shape[2], scores.shape[3], dtype=bool)
    return {"O": _softmax(np.where(seen, scores, -np.inf)) @ V}


def kda(Q: Array, K: Array, V: Array, A: Array, O: Array) -> dict[str, Array]:
    state, out = np.zeros((Q.shape[1], V.shape[1])), []
    for q, k, v, a in zip(Q, K, V, A, strict=True):
        state = np.exp(-np.abs(a))[:, None] * state + np.outer(k, v)
        out.append(q @ state)
    return {"O": np.array(out)}

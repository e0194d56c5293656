"""What the kernels beside this file compute, in NumPy: one function per kernel, called as `examples/ref.py` says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


def places(P: Array) -> Result:
    blocks = len(P)
    threads = np.broadcast_to(np.arange(96), (blocks, 96))
    return {"P": np.stack([threads, np.broadcast_to(blocks * np.arange(blocks)[:, None], (blocks, 96))], axis=2)}


def grid_stride(X: Array, Y: Array) -> Result:
    return {"Y": 2 * X}


def lane_stride(X: Array, P: Array) -> Result:
    k = X.shape[1]
    whole = np.pad(X, ((0, 0), (0, -k % 32)))
    return {"P": whole.reshape(X.shape[0], -1, 32).sum(1)}


def guarded_points(X: Array, Y: Array, n: int) -> Result:
    x = np.pad(X, (0, len(Y) - len(X)))
    return {"Y": np.where((np.arange(len(Y)) < n) & (x > 0), x, Y)}


def once_per_cta(C: Array) -> Result:
    return {"C": C + 1}


def once_per_warp(W: Array) -> Result:
    return {"W": W + 10 * (np.arange(len(W)) % 2) + 1}


def steps(X: Array, S: Array) -> Result:
    def count(x: int) -> int:
        n = 0
        while x > 0 and n != 20:
            x, n = x // 2, n + 1
        return n

    return {"S": np.array([count(int(x) & 0xFFFF) for x in X])}


def dot_runs(A: Array, x: Array, y: Array) -> Result:
    return {"y": A @ x}


def dot_bytes(A: Array, B: Array, C: Array) -> Result:
    return {"C": (A.astype(np.int64) * B.astype(np.int64)).sum(1)}


def every_length(A: Array, B: Array, C: Array) -> Result:
    a, b = A.astype(np.int64), B.astype(np.int64)
    pairs = [(0, 0, 3), (0, 4, 4), (1, 2, 5), (0, 12, 6), (3, 5, 7), (0, 4, 12), (0, 1, 19)]
    sums = [(a[:, i : i + n] * b[:, j : j + n]).sum(1) for i, j, n in pairs]
    return {"C": np.stack([*sums, (a * a).sum(1)], axis=1)}


def mixed_signs(A: Array, B: Array, C: Array) -> Result:
    a, b = A.astype(np.int64), B.astype(np.int64)
    return {"C": np.stack([(x * y).sum(1) for x, y in ((a, b), (b, a), (b, b), (a, a))], axis=1)}


def byte_sums(A: Array, B: Array, C: Array) -> Result:
    a, b = A.astype(np.int64), B.astype(np.int64)
    sums = [a, b, a * b - b * b + a, -(a * b) * 1000003, a * b * a]
    return {"C": np.stack([x.sum(1) for x in sums], axis=1).astype(np.int32)}


def wrapped_sum(A: Array, C: Array) -> Result:
    return {"A": np.full(64, 255), "C": np.array([2**17 * 255 * 255]).astype(np.int32)}


def tails(X: Array, Y: Array, n: int) -> Result:
    return {"Y": np.concatenate([3 * X[:n], Y[n:]])}


def through_tiles(X: Array, T: Array, Y: Array) -> Result:
    t = 2 * X
    moved = np.roll(t, -1) + 1
    return {"T": moved, "Y": 2 * moved}


def through_barrier(X: Array, T: Array, Y: Array) -> Result:
    return {"T": X, "Y": X[::-1]}


def across_rows(A: Array, B: Array, S: Array) -> Result:
    first = A.reshape(-1, 4, A.shape[1])
    kept = np.where(first > 0, first, 0).reshape(A.shape)
    return {"B": kept, "S": first[:, 0] - first[:, 3]}


def carried_run(X: Array, Y: Array) -> Result:
    return {"Y": np.broadcast_to(X.reshape(-1, 4).sum(0), (32, 4)).reshape(-1)}


def shared_run(X: Array, Y: Array) -> Result:
    return {"X": np.where(np.arange(len(X)) < 4, 5, X), "Y": np.full_like(Y, 20)}

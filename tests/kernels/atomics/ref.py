"""What the kernels beside this file compute, in NumPy: one function per kernel, called as `examples/ref.py` says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


# ---- atomics_by_scope.ph -----------------------------------------------------------------------------------------


def histogram(X: Array, H: Array) -> Result:
    return {"H": H + np.bincount(X.astype(np.int64) & 15, minlength=16)}


def tickets(C: Array, O: Array, S: Array, D: Array, E: Array) -> Result:
    def twice(first: Array) -> Array:
        drawn = int(first[0]) + np.arange(8)
        return 2 * drawn[np.argsort(drawn & 7)]

    counts = np.broadcast_to(np.arange(8)[:, None], (8, 64))
    return {"C": C + 8, "O": twice(C), "S": counts, "D": D + 8, "E": twice(D)}


def queue(C: Array, D: Array) -> Result:
    return {"C": np.array([7]), "D": 100 * np.arange(6)[:, None] + np.arange(64)}


def once_per_warp(C: Array, O: Array, L: Array, F: Array, P: Array) -> Result:
    once = C + 3 + np.array([10, 0])
    found = L[..., None] + C[..., None] + np.arange(32)
    return {
        "C": once,
        "L": np.maximum(L, 10**12),
        "O": found,
        "F": F,
        "P": np.broadcast_to(F[..., None], P.shape),
    }


def how_often(C: Array) -> Result:
    return {"C": C + 2 * np.array([1, 3, 96, 15, 32])}


def between_tiles(A: Array, O: Array, B: Array) -> Result:
    t = np.arange(64) + 1000
    after = t + 10 * (np.arange(64) == 5)
    return {"A": after, "O": after + t + 1005, "B": np.arange(64)}


def among_points(A: Array, O: Array) -> Result:
    return {"A": np.array([8, 8]), "O": np.full(64, 16)}


def carried_round(C: Array, T: Array, n: int) -> Result:
    now, last, total = 3, 0, 0
    for _ in range(n):
        now, last = now + last + 1, now
        total += last
    return {"C": np.array([now]), "T": np.full(64, total)}


def short_circuit(C: Array) -> Result:
    return {"C": np.array([5, 10])}


def assigned(A: Array, B: Array, H: Array) -> Result:
    return {"H": H + np.bincount((A @ B).argmax(1), minlength=8)}


# ---- atomics_by_type.ph ------------------------------------------------------------------------------------------


def sums(X: Array, F: Array, H: Array, B: Array, I: Array, L: Array) -> Result:
    more = np.array([X[i::4].sum() for i in range(4)])
    return {"F": F + more, "H": H + more, "B": B + more, "I": I + more, "L": L + more}


def literals(H: Array, B: Array, F: Array, O: Array) -> Result:
    wide = float(np.float32(42.0) + np.float32(0.1))
    # 1e4 is a bf16 no more than 42.5 is; it rounds to 9984.
    found = [[-1e4, 1e4, 42, 42.5], [-9984, 9984, 42, 42.5], [-1e4, 1e4, 42, wide]]
    both = np.array([42.5, 42])
    return {"H": both, "B": both, "F": np.array([wide, 42]), "O": np.array(found)}


def extremes(X: Array, F: Array, H: Array, B: Array) -> Result:
    def of(T: Array, x: Array) -> Array:
        most = [max(T[k], x[k::2].max()) for k in (0, 1)]
        return np.array(most + [min(T[2 + k], x[k::2].min()) for k in (0, 1)])

    bits = X.astype(np.float32).view(np.uint32)
    nearest = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    bf16 = nearest.astype(np.uint32).view(np.float32).astype(np.float64)
    return {"F": of(F, X), "H": of(H, X.astype(np.float16).astype(np.float64)), "B": of(B, bf16)}


def integers(X: Array, I: Array, L: Array) -> Result:
    x = X.astype(np.int64)
    wrapped = (int(I[2]) + int(x.sum()) + 2**31) % 2**32 - 2**31
    total = int(L[2]) + 3 * int(x.sum())
    return {
        "I": np.array([max(I[0], x.max()), min(I[1], x.min()), wrapped]),
        "L": np.array([max(L[0], 3 * x.max()), min(L[1], 3 * x.min()), total]),
    }


def swaps(I: Array, L: Array, W: Array) -> Result:
    return {"I": np.array([9]), "L": np.array([7, 3]), "W": np.array([5, 9, W[2] + 1, 1])}


def by_swaps(I: Array) -> Result:
    return {"I": I + 4 * np.arange(32).sum()}


def handed_over(O: Array, C: Array) -> Result:
    return {"O": 3 * np.arange(63, -1, -1), "C": C + 3 * np.arange(64).sum()}

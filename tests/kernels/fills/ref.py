"""What the kernels beside this file compute, in NumPy: one function per kernel, called as `examples/ref.py` says.

Slices are cut to the tensor first, since NumPy counts negative ones from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


def cut(start: int, end: int, extent: int) -> slice:
    """The part of `start : end` that lies in an axis."""
    first = max(start, 0)
    return slice(first, max(first, min(end, extent)))


def rows(A: Array, i: int, j: int) -> Result:
    A[cut(i, j, len(A))] = 0
    return {"A": A}


def from_on(A: Array, s: int) -> Result:
    A[s:] += 1
    return {"A": A}


def some_columns(A: Array, n: int, x: float) -> Result:
    A[cut(0, n, len(A)), :4] *= x
    return {"A": A}


def counted(A: Array, i: int, n: int) -> Result:
    A[cut(i, i + n, len(A))] = 1
    return {"A": A}


def whole(A: Array) -> Result:
    return {"A": np.full_like(A, 2.5)}


def five(T: Array, i: int, j: int, n: int) -> Result:
    T[:, cut(i, j, T.shape[1]), 1, 1:3, cut(2, 2 + n, T.shape[4])] -= 0.5
    return {"T": T}


def with_points(A: Array, i: int, s: int, n: int) -> Result:
    A[i, s:, cut(3, 3 + n, A.shape[2])] = -1
    return {"A": A}


def bytes(A: Array, i: int, n: int) -> Result:
    at = (slice(i, None), cut(0, n, A.shape[1]))
    A[at] = ((A.astype(np.int64)[at] + 200) % 256).astype(A.dtype)
    return {"A": A}


def halves(A: Array, n: int, x: float) -> Result:
    A[:, :n] = (A[:, :n].astype(np.float32) * np.float32(x)).astype(np.float16)
    return {"A": A}


def wider(A: Array, i: int, j: int) -> Result:
    A[i:j] /= 3
    return {"A": A}


def every_operator(A: Array, n: int, x: int) -> Result:
    a = A[:, :n].astype(np.int64)
    quotient = np.sign(a) * (np.abs(a) // x)
    made = [
        a[0] + x, a[1] - x, a[2] * x, quotient[3], a[4] - quotient[4] * x,
        a[5] & x, a[6] | x, a[7] ^ x, a[8] << x, a[9] >> x,
    ]  # fmt: skip
    A[:, :n] = np.stack(made).astype(np.int32)
    return {"A": A}


def truths(A: Array, n: int) -> Result:
    A[0, :n] = True
    A[1, :n] = ~A[1, :n]
    return {"A": A}


def long_span(A: Array, n: int) -> Result:
    A[:n, 3:4993] += 1
    return {"A": A}


def in_order(A: Array, B: Array, i: int, j: int) -> Result:
    A[10:74] = 7
    A[i:j] += 1
    A[j] = A[i] + A[i + 1]
    A[i + 1 : j + 1] *= 2
    A[i:] += 3
    return {"A": A, "B": A[j - 60 : j + 4]}


def per_block(A: Array, n: int) -> Result:
    for block in range(-(-len(A) // 64)):
        A[block * 64 : block * 64 + n] = 0
    return {"A": A}


def promised(A: Array) -> Result:
    return {"A": A * 2}


def moving(A: Array, n: int) -> Result:
    for k in range(n):
        A[k : k + k * k] += 1
        A[k * 7 : k * 8] *= 2
    return {"A": A}


def once(A: Array, P: Array) -> Result:
    A[P[0] & 15 : 16 + (P[1] & 7)] += A[20]
    P[P[0] & 3 :] = P[1]
    return {"A": A, "P": P}


def of_tiles(A: Array, B: Array, i: int, j: int) -> Result:
    t = A.copy()
    t[cut(i, j, 16)] = 0
    t[cut(0, j, 16), cut(i, i + 7, 33)] += 1
    out = t * 2
    t[8:, cut(i, j, 33)] -= 3
    return {"A": t, "B": out}


def of_static(A: Array, B: Array, i: int, j: int) -> Result:
    A[cut(i, j, 10), cut(j - 8, 2 * j - 8, 12)] += 1
    A[:, cut(i, j, 12)] *= 2
    B[i + 2 :] = 5
    return {"A": A, "B": B}


def in_a_warp(A: Array, n: int) -> Result:
    A[:n] += 1
    return {"A": A}

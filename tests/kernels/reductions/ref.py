"""What the kernels beside this file compute, in NumPy, one function per kernel: exact, or as its run line says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


def put(a: Array, *values: Any) -> Array:
    """`a` with its first elements replaced."""
    out = a.copy()
    out.reshape(-1)[: len(values)] = [np.asarray(v).item() for v in values]
    return out


def row(reduce: Any, x: Array) -> Array:
    out: Array = reduce(x, axis=1, keepdims=True)
    return out


def column(reduce: Any, x: Array) -> Array:
    out: Array = reduce(x, axis=0, keepdims=True)
    return out


def rows(X: Array, S: Array, L: Array, U: Array, A: Array) -> Result:
    return {"S": row(np.sum, X), "L": row(np.max, X), "U": row(np.min, X), "A": row(np.argmax, X)}


def columns(X: Array, S: Array, L: Array, U: Array) -> Result:
    return {"S": column(np.sum, X), "L": column(np.max, X), "U": column(np.min, X)}


def centred(X: Array, Y: Array, Z: Array) -> Result:
    return {"Y": X - row(np.max, X), "Z": X * column(np.sum, X) - 2 * row(np.sum, X)}


def single_columns(X: Array, Y: Array, Z: Array, V: Array) -> Result:
    return {"Y": np.array([X.max(), X.sum(), V.max(), V.sum()]), "Z": 2 * X}


def short_widths(Y: Array, Z: Array) -> Result:
    return {"Y": put(Y, 1176, 48, 1), "Z": put(Z, 4656, 96, 95, 1176, 48)}


def groups_of_32(X: Array, Y: Array) -> Result:
    return {"Y": X.sum(axis=2)}


def wide_integers(X: Array, Y: Array) -> Result:
    x = X * 10**12 + 2**62
    total = sum(int(v) for v in x) % 2**64
    return {"Y": np.array([x.max(), x.min(), total - 2**64 * (total >= 2**63), (X * 2**32).sum()])}


def narrow_types(
    A: Array, U: Array, B: Array, H: Array, YA: Array, YU: Array, YB: Array, YH: Array, S: Array
) -> Result:
    a, u = A * 15, U * 17
    return {
        "YA": put(YA, a.max(), a.min()),
        "YU": put(YU, u.max(), u.min()),
        "YB": put(YB, B.max() * 3, B.min() * 3),
        "YH": put(YH, H.max() * 3, H.min() * 3),
        "S": np.array([a.sum(), u.sum(), a.argmax(), B.argmax()]),
    }


def unsigned_sizes(X: Array, Y: Array) -> Result:
    x = X + 200
    return {"Y": put(Y, x.max(), x.sum(), x.min())}


def batch_of_rows(X: Array, Y: Array, Z: Array) -> Result:
    return {"Y": row(np.sum, X), "Z": row(np.max, X)}


def nan_and_infinity(X: Array, Y: Array, Z: Array, A: Array, B: Array) -> Result:
    inf, nan = np.inf, np.nan
    return {
        "Y": np.array([inf, inf, -6, nan, -inf, nan, inf, 0]),
        "Z": put(Z, inf, inf, -7, nan, inf),
        "A": put(A, 1, 0, 2, 0, 0),
        "B": put(B, 1),
    }


def ties(X: Array, F: Array, Y: Array, Z: Array) -> Result:
    return {"Y": row(np.argmax, (X + 8) % 4 + 1), "Z": row(np.argmax, np.floor(F * 0.25))}


def largest_is_zero(X: Array, Y: Array) -> Result:
    return {"Y": np.zeros(2)}


def sum_types(B: Array, H: Array, I: Array, Y: Array, Z: Array) -> Result:
    return {"Y": put(Y, 1024, 102400), "Z": put(Z, 7 * 1024, 1024)}


def half_identity(X: Array, Y: Array, Z: Array) -> Result:
    x = X[:3, :7] - 100
    return {"Y": np.concatenate([row(np.max, x), Y[3:]]), "Z": np.hstack([column(np.min, -x), Z[:, 7:]])}


def large_tile(X: Array, Y: Array, Z: Array) -> Result:
    x = X + 100
    return {"Y": np.array([x.min(), -x.min()]), "Z": put(Z, x.argmin())}


def ragged_maximum(S: Array, Y: Array) -> Result:
    return {"Y": row(np.max, S) - 50}


def ragged_zeros(S: Array, Y: Array, Z: Array) -> Result:
    """Columns 64 to 128 of 100: all are -1 at least where data is, and 0 - 1 past the edge."""
    s = np.hstack([S[:, 64:], np.zeros((len(S), 28))])
    return {"Y": row(np.max, s * 0.0625 - 1), "Z": np.zeros(Z.shape)}


def online_softmax(X: Array, Y: Array) -> Result:
    e = np.exp(X - row(np.max, X))
    return {"Y": e / row(np.sum, e)}


def in_flow(X: Array, Y: Array, Z: Array, n: int, p: bool) -> Result:
    total, best = np.zeros((1, 64)), row(np.max, X)
    for _ in range(min(n, 2)):
        total = total + column(np.sum, X)
        if p:
            total, best = total + column(np.max, X) * 2, best + row(np.sum, X)
        else:
            total = total - column(np.min, X)
    for k in range(1, n + 1):
        total = total + column(np.min, X) + k
    return {"Y": total, "Z": best}


def of_contraction(A: Array, Y: Array, Z: Array, W: Array) -> Result:
    s = A @ A.T
    return {"Y": row(np.max, s), "Z": column(np.sum, s), "W": row(np.sum, A) + s @ A}


def reduced_twice(X: Array, Y: Array, Z: Array, T: Array) -> Result:
    sums = column(np.sum, X)
    return {
        "Y": np.array([X.max(axis=1).sum(), sums.max()]),
        "Z": np.array([sums.argmax()]),
        "T": column(np.sum, X - row(np.max, X)) + column(np.max, X),
    }


def rank_four(X: Array, Y: Array) -> Result:
    out = Y.copy()
    out[1, 0, :, 0], out[1, 0, :, 1] = X[1, 0].sum(axis=1), X[0, 1].max(axis=1)
    return {"Y": out}

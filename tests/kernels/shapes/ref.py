"""What the kernels beside this file compute, in NumPy: one function per kernel, called as `examples/ref.py` says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


def put(out: Array, part: Array, *at: int) -> Array:
    """`out` with `part` from a corner on; what is past the end is dropped."""
    made = out.copy()
    ends = (min(a + n, size) for a, n, size in zip(at, part.shape, out.shape, strict=True))
    place = tuple(slice(a, e) for a, e in zip(at, ends, strict=True))
    made[place] = part[tuple(slice(0, s.stop - s.start) for s in place)]
    return made


def scans(X: Array, rows: int = -1, columns: int = -1, dtype: Any = np.float64) -> Array:
    """Running sums down the rows, of what lies in the tensor."""
    part = X[: rows if rows >= 0 else None, : columns if columns >= 0 else None]
    return np.cumsum(part, axis=0, dtype=dtype)


# ---- transpose ------------------------------------------------------------------------------------------


def square(X: Array, Y: Array) -> Result:
    return {"Y": X.T}


transposed_halves = bytes = flags = oblong = thin = square


def wide(X: Array, Y: Array, Z: Array, W: Array) -> Result:
    return {"Y": X.T, "W": Z.T}


def twice(X: Array, Y: Array) -> Result:
    f32 = np.float32
    return {"Y": (X.astype(f32) + f32(1)) + X.astype(f32)}


def scaled(X: Array, S: Array, Y: Array) -> Result:
    f32 = np.float32
    i, j = np.indices((24, 32))
    return {"Y": (X.T.astype(f32).astype(np.float64) * S + i).astype(f32) - j.astype(f32)}


def gram(A: Array, C: Array) -> Result:
    return {"C": A.T @ A}


def row_sums(X: Array, Y: Array) -> Result:
    return {"Y": X.sum(axis=0)[:, None]}


def carried(X: Array) -> Result:
    t = X
    for k in range(3):
        t = t.T + k
    return {"X": t}


# ---- tril and flat --------------------------------------------------------------------------------------


def lower(X: Array, Y: Array) -> Result:
    return {"Y": np.tril(X)}


lower_halves = lower_ints = lower


def flat_views(X: Array, Y: Array, Z: Array) -> Result:
    row = X.reshape(-1)
    return {"Y": row, "Z": (row + np.arange(len(row), dtype=row.dtype))[None, :]}


def flat_odd(X: Array, Y: Array) -> Result:
    return {"Y": X.reshape(-1)}


def flat_column(X: Array, Y: Array) -> Result:
    return {"Y": X.astype(np.float32).T + np.arange(24, dtype=np.float32)}


def flat_same(X: Array, Y: Array) -> Result:
    return {"Y": 2 * X.reshape(-1)}


def flat_kept(X: Array, Y: Array, Z: Array) -> Result:
    f32 = np.float32
    more = X.astype(f32) + f32(1)
    # v * 2 - w is fused.
    return {"Y": (2 * X - more.astype(np.float64)).astype(f32).reshape(-1), "Z": more}


# ---- scans ----------------------------------------------------------------------------------------------


def mask_in_loop(X: Array, Y: Array) -> Result:
    return {"Y": np.arange(1, len(Y) + 1, dtype=np.int32)[:, None]}


mask_of_32 = mask_in_loop


def down(X: Array, Y: Array) -> Result:
    return {"Y": put(Y, scans(X, 64, 40), 0, 0)}


one_column = one_element = doubles = down


def normal(X: Array, Y: Array) -> Result:
    return {"Y": scans(X)}


def one_warp(X: Array, Y: Array) -> Result:
    return {"Y": scans(X, dtype=np.int32)}


many_rows = one_row = summed_bytes = one_warp


def wide_ints(X: Array, Y: Array) -> Result:
    return {"Y": scans(X * np.int64(1000000007), dtype=np.int64)}


def all_shapes(X: Array, Y: Array) -> Result:
    return {"Y": np.cumsum(X, axis=0).T}


def sub_region(X: Array, Y: Array) -> Result:
    return {"Y": put(Y, np.cumsum(X[4:20, 8:20], axis=0), 4, 8)}


def some_rows(X: Array) -> Result:
    return {"X": put(X, np.cumsum(X[10:30], axis=0), 10, 0)}


def exclusive(X: Array, Y: Array, Z: Array) -> Result:
    return {"Y": np.cumsum(X, axis=0) - X, "Z": X}


def halves(X: Array, Y: Array) -> Result:
    return {"Y": np.cumsum(X + 1024, axis=0)}


def of_a_product(A: Array, B: Array, C: Array) -> Result:
    acc = A @ B
    return {"C": np.cumsum(acc, axis=0) + acc}


def along_rows(X: Array, Y: Array) -> Result:
    return {"Y": np.cumsum(X, axis=1)}


def chained(X: Array, Y: Array) -> Result:
    return {"Y": np.cumsum(X, axis=0, dtype=np.int32)}


# ---- gather ---------------------------------------------------------------------------------------------


def rank_one(T: Array, P: Array, Y: Array) -> Result:
    return {"Y": T[P % 64]}


def row_table(T: Array, P: Array, Y: Array) -> Result:
    return {"Y": T[0, P % 64]}


def tile_tables(T: Array, P: Array, Y: Array, Z: Array) -> Result:
    t = 2 * T[P % 64]
    return {"Y": t, "Z": t.astype(np.float32) + np.float32(1)}


def two_axes(T: Array, P: Array, Y: Array) -> Result:
    return {"Y": T[P % 32] + np.int32(1)}


def element_types(
    T: Array,
    U: Array,
    V: Array,
    W: Array,
    P: Array,
    A: Array,
    B: Array,
    C: Array,
    D: Array,
) -> Result:
    at = P % 32
    return {"A": T[at], "B": U[at], "C": V[at], "D": W[at]}


def index_types(T: Array, P: Array, Y: Array, Z: Array) -> Result:
    return {"Y": T[P % 32], "Z": T[P % 32]}


def one_place(T: Array, P: Array, Y: Array) -> Result:
    return {"Y": np.full_like(Y, T[0])}


def guarded_index(T: Array, P: Array, Y: Array) -> Result:
    at = P.astype(int)
    inside = (at >= 0) & (at < len(T))
    return {"Y": np.where(inside, T[np.where(inside, at, 0)], 0)}


def kept_table(T: Array, P: Array, Y: Array, Z: Array) -> Result:
    t = T.astype(np.float32)
    t[8:40] = 5
    t[0] = 7
    return {"Y": T[P % 64], "Z": t[P % 64] + t[1]}


def in_a_loop(T: Array, Y: Array) -> Result:
    at = np.arange(64)
    for _ in range(5):
        at = T[at] % 64
    return {"Y": at.astype(np.uint8)}


def written_table(T: Array, Y: Array) -> Result:
    more = T.astype(np.float32) + np.float32(1)
    return {"Y": more[::-1], "T": 2 * more}


# ---- generate -------------------------------------------------------------------------------------------


def band(Y: Array, k: int) -> Result:
    i, j = np.indices(Y.shape)
    return {"Y": np.where(abs(i - j) < k, i - j, -1)}


def operand(A: Array, C: Array, D: Array) -> Result:
    i, j = np.indices((16, 32))
    out = A @ np.where((i + j) % 2 == 0, 1.0, -1.0)
    return {"C": out, "D": out}


def of_tensors(A: Array, B: Array, Y: Array) -> Result:
    i, j = np.indices((12, 12))
    fused = (A[4 + i, 2 * j] + B[i] * A[i, 0]).astype(np.float32)
    return {"Y": fused - B[3].astype(np.float32)}


def of_a_tile(A: Array, Y: Array) -> Result:
    i, j = np.indices((5, 8))
    return {"Y": 2 * A[j, 4 - i]}


def with_branches(Y: Array) -> Result:
    i, j = np.indices(Y.shape)
    return {"Y": np.where(i == j, 1, np.where(i > j, 2 * i, -j))}


def with_a_loop(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def numbered(Y: Array) -> Result:
    r = np.arange(len(Y)) // 32 * 32
    i, j = np.indices(Y.shape)
    return {"Y": ((i % 32) * 4 + j + r[:, None]).astype(np.int32)}


def of_nothing(Y: Array, s: float) -> Result:
    return {"Y": np.full_like(Y, 2 * s)}

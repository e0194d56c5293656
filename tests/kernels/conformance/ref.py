"""What the kernels beside this file compute, in NumPy, one function per kernel, with the rounding that is tested."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


def f32(x: Any) -> Any:
    return np.asarray(x, np.float64).astype(np.float32)


def bf16(x: Any) -> Any:
    """Numbers rounded to f32, then to the nearest bf16, ties to even; the first rounding must be exact."""
    bits = f32(x).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32)
    return np.where(np.isfinite(x), rounded.view(np.float32), f32(x)).astype(np.float64)


def put(a: Array, *values: Any) -> Array:
    """`a` with its first elements replaced."""
    return np.array([*values, *a[len(values) :]], a.dtype if a.dtype.kind == "i" else np.float64)


def cut(a: Array, row: int, column: int, height: int, width: int) -> Array:
    """A slice of `a`: zeros outside."""
    out = np.zeros((height, width), a.dtype)
    for i in range(max(0, row), min(len(a), row + height)):
        for j in range(max(0, column), min(a.shape[1], column + width)):
            out[i - row, j - column] = a[i, j]
    return out


def paste(a: Array, row: int, column: int, tile: Array) -> Array:
    """`a` with a tile stored at a place: nothing outside."""
    out = a.copy()
    for i, j in np.ndindex(tile.shape):
        if 0 <= row + i < len(a) and 0 <= column + j < a.shape[1]:
            out[row + i, column + j] = tile[i, j]
    return out


# ---- scalars --------------------------------------------------------------------------------------------


def accumulates(X: Array, Y: Array, n: int) -> Result:
    return {"Y": put(Y, X.sum(), 2**n, 0)}


def extents(A: Array, Y: Array, n: int) -> Result:
    return {"Y": put(Y, 12, 28, 25)}


def halves_with_f32(Y: Array, h: float, x: float) -> Result:
    half, single = np.float16(0.1), np.float32(0.1)
    return {"Y": put(Y, np.float32(half) + single, float(single) + 0.1, float(single) + float(half), half + half)}


def signs_of_division(X: Array, Q: Array, R: Array) -> Result:
    q = [3, -3, -3, 3] * 2 + [99] * 6 + [-7, -6]
    r = [1, -1, 1, -1] * 2 + [99] * 6 + [-2, 99]
    return {"Q": np.array(q), "R": np.array(r)}


def bools_compared(Y: Array, p: bool, q: bool) -> Result:
    return {"Y": put(Y, 17 if q else 2 + 4 + 8 + 16)}


def int_into_float(Y: Array, H: Array, n: int) -> Result:
    return {"Y": put(Y, -9, -1, 8), "H": put(H, -18, 7)}


def points_store(A: Array, V: Array) -> Result:
    a = A.copy()
    a[0, 0], a[-1, -1] = 1.0, A[0, 1] + 2.0
    return {"A": a, "V": (V + np.arange(len(V))) * 2}


def bytes(A: Array, B: Array, F: Array, I: Array) -> Result:
    return {"A": put(A, -56), "B": put(B, 200), "F": put(F, -56, 200), "I": put(I, -56, 200, 144)}


def through_f32(H: Array, B: Array, P: Array, Q: Array) -> Result:
    return {"P": bf16(H), "Q": bf16(B * bf16(1.0e-3)).astype(np.float16)}


def toward_zero(X: Array, Y: Array, Z: Array, F: Array) -> Result:
    return {
        "Y": put(Y, -2, 2, 0, 2**31 - 1, -(2**31)),
        "Z": put(Z, 0, 255, 255),
        "F": put(F, -2, 255),
    }


# ---- control flow ---------------------------------------------------------------------------------------


def constant_bounds(Y: Array, n: int) -> Result:
    # The choices are 4 and 8 trips; the run lines tell them apart by n.
    return {"Y": put(Y, 120 if n else 28, n)}


def up_to_hi(Y: Array, lo: int, hi: int) -> Result:
    return {"Y": put(Y, sum(range(lo, hi)), sum(range(lo, hi, 3)), len(range(lo, hi, 3)))}


def while_tiles(X: Array, C: Array) -> Result:
    return {"X": X + 10.0, "C": put(C, 0)}


def unrolled_steps(Y: Array, n: int) -> Result:
    return {"Y": put(Y, 24, {6: 135, 5: 135, 0: 0}[n])}


def arguments_once(X: Array, Y: Array, C: Array) -> Result:
    return {"Y": (X * 3.0 + X[0]) * 2.0, "C": put(C, np.clip(X[1] * 10, -4, 4), X[2])}


def two_ifs(A: Array) -> Result:
    return {"A": put(A, 0, 7)}


def flag_off(Y: Array, n: int) -> Result:
    return {"Y": put(Y, 5, 2) if n == 1 else put(Y, 6, 1)}  # n = 2 stands for the choice 1.


def one_half(X: Array, Y: Array, S: Array) -> Result:
    # 128 elements stand for the second choice.
    half = len(X) // 128
    y = Y.copy()
    y[half * 32 :][:32] = X[half * 32 :][:32] + 1.0
    return {"Y": y, "S": put(S, half)}


def first_block(A: Array, V: Array, Y: Array, Z: Array) -> Result:
    return {"Y": np.full_like(Y, 4.0), "Z": put(Z, 1)}


def while_never(Y: Array, n: int) -> Result:
    return {"Y": put(Y, 40)}


# ---- slices ---------------------------------------------------------------------------------------------


def let_and_var(A: Array, B: Array, C: Array, D: Array) -> Result:
    hundreds = {"A": np.full_like(A, 100), "B": np.full_like(B, 100)}
    return {**hundreds, "C": 2 * A + 1, "D": np.append(B, np.zeros(24))}


def tail_keeps(A: Array, B: Array, C: Array) -> Result:
    return {"B": paste(B, 4, 16, A[0:8, 0:16]), "C": cut(A, 8, 8, 16, 16)}


def every_form(A: Array, B: Array, r: int) -> Result:
    b = B.copy()
    b[0, :8] = b[1, :8] = A[3, 8:16]
    b[2:4, 3:7] = A[3:5, 3:7]
    b[4:8, :8] = A[:4, :8]
    b[8, 0] = A[3, 3] + A[4, 23]
    return {"B": b}


def ones_over_k(A: Array, Y: Array) -> Result:
    return {"Y": np.full_like(Y, A.shape[1])}


def other_axis(A: Array, Y: Array) -> Result:
    return {"Y": sum(cut(A, 0, k, len(A), 16) for k in range(0, A.shape[1], 16))}


def promised(A: Array, B: Array) -> Result:
    return {"B": np.where(np.arange(A.shape[1]) % 32 < 16, A * 2.0, A)}


def into_ragged(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def column_maximum(X: Array, Y: Array) -> Result:
    wide = np.full(64, -1.0e30, np.float32)
    wide[:50] = f32(-np.abs(f32(X)) - np.float32(1.0))
    return {"Y": wide.reshape(4, 16).max(0)}


def negative_corner(A: Array, B: Array, C: Array) -> Result:
    b = paste(paste(B, -1, -1, A[0:8, 0:16]), 32, -4, cut(A, 63, 124, 4, 8))
    return {"B": b, "C": cut(A, -1, -1, 8, 16)}


def five_by_five(A: Array, B: Array) -> Result:
    return {"B": A * 2.0 + 1.0}


def last_block(X: Array, Y: Array) -> Result:
    return {"Y": f32(X) * np.float32(3.0)}


def row_of_a_view(A: Array, B: Array) -> Result:
    b = B.copy()
    b[1, :32], b[0, 8:] = A[1, :32], f32(A[1, :32]) + np.float32(1.0)
    return {"B": b}


def small_beside_large(V: Array, A: Array, B: Array) -> Result:
    return {"V": V * 2 + 3, "B": A + 3}


def short_then_full(X: Array, Y: Array, Z: Array) -> Result:
    return {"Y": np.full_like(Y, 6.0), "Z": np.full_like(Z, 2.0)}


def unit_extents(A: Array, B: Array, C: Array) -> Result:
    return {"B": A[None, :, :, 0], "C": A[0]}


def no_rows(A: Array, Y: Array) -> Result:
    return {"A": A, "Y": np.zeros(8)}


def three_masked(A: Array, B: Array, C: Array, Y: Array) -> Result:
    return {"Y": A + B + C}


def long_offset(X: Array, Y: Array, l: int) -> Result:
    y = Y.copy()
    y[24:32], y[40] = X[16:24], X[48]
    return {"Y": y}


def shifted_starts(X: Array, Y: Array, n: int, p: bool) -> Result:
    y = Y.copy()
    y[0:8] = X[1 << n :][:8]
    y[8:16] = X[4 if p else 1 :][:8]
    for at in (4, 11, 18):
        y[16 + at : 20 + at] = X[at : at + 4]
    return {"Y": y}


def swapped_halves(A: Array, X: Array) -> Result:
    return {"A": np.roll(X * 2.0, 32)}


def masked_ones(X: Array, Y: Array) -> Result:
    return {"Y": np.full((1, 1), X.sum())}


# ---- tiles ----------------------------------------------------------------------------------------------


def quotient(a: Any, b: Any) -> Any:
    """a / b toward zero."""
    return np.trunc(np.asarray(a) / np.asarray(b)).astype(np.int64)


def remainder(a: Any, b: Any) -> Any:
    return a - quotient(a, b) * b


def remainders(X: Array, Y: Array, Z: Array, W: Array, n: int) -> Result:
    x, d = X * 10, np.arange(64) % 3 + 2
    return {
        "Y": remainder(x, d) + quotient(x, d) * 100,
        "Z": remainder(x, n) + quotient(x, 7) * 100,
        "W": remainder(n, d) + quotient(1000, d) * 100,
    }


def narrow_times_wide(A: Array, B: Array, C: Array) -> Result:
    return {"C": A * (B + 0.5)}


def narrowed(X: Array, H: Array, B: Array) -> Result:
    x = f32(X) * np.float32(3.0)
    return {"H": x.astype(np.float16), "B": bf16(x)}


def narrowed_whole(X: Array, Q: Array, R: Array) -> Result:
    q = np.round(X * 1.5).astype(np.int64)
    return {"Q": q, "R": q}


def compared(A: Array, B: Array, Y: Array) -> Result:
    return {"Y": np.where(A < B, 1, 2) + np.where(A == B, 10, 20)}


def maxima(A: Array, R: Array, C: Array, Y: Array, Z: Array, x: float) -> Result:
    m = np.maximum(R, C)
    return {"Y": np.maximum(A, m), "Z": f32(m) + np.float32(0.5)}


def argmax_fold(X: Array, V: Array, P: Array) -> Result:
    wide = np.append(X, np.full(12, -1.0e30)).reshape(7, 16)
    return {"V": wide.max(0), "P": wide.argmax(0) * 16 + np.arange(16)}


def selects(A: Array, C: Array, R: Array, S: Array, Y: Array) -> Result:
    pairs = [(A, A, C), (A, R, S), (C, A, R), (C, C, S), (R, A, C), (R, S, R), (S, A, C), (S, R, S)]
    return {"Y": sum(2**i * np.where(c > 0, a, b) for i, (c, a, b) in enumerate(pairs))}


def two_broadcasts(A: Array, B: Array, C: Array) -> Result:
    return {"B": np.broadcast_to(A, B.shape), "C": np.broadcast_to(A, C.shape)}


def wrapped_rows(A: Array, B: Array) -> Result:
    rows, columns = A.shape
    return {"A": B[np.arange(columns) % len(B)] + np.arange(rows)[:, None] * 100}


def reversed(X: Array, Y: Array, Z: Array) -> Result:
    return {"Y": X[::-1], "Z": put(Z, *X[::-1][1::2])}


def nan_and_infinity(X: Array, Y: Array, Z: Array) -> Result:
    nan, inf = np.nan, np.inf
    return {"Y": put(Y, nan, inf, 6.0, inf, -inf, nan), "Z": put(Z, 1 + 16 + 32)}


def absolute(W: Array, Q: Array, Y: Array, Z: Array) -> Result:
    return {"Y": W + 240, "Z": np.abs(Q) + np.maximum(W + 240, 250)}


def fields(W: Array, Y: Array, Z: Array) -> Result:
    w = (W * 0x12345678 + 0x0F1E2D3C).astype(np.int32)
    y = (w >> (4 * np.arange(8, dtype=np.int32))) & 15
    return {"Y": y - 16 * (y > 7), "Z": (w >> 16).astype(np.int8)}


def bf16_rounding(X: Array, B: Array) -> Result:
    eighths = np.arange(32)
    rounded = 1.0 + np.round(eighths / 4) / 128
    return {"B": np.array([*rounded[:30], np.nan, -np.inf])}


def point_widths(L: Array, I: Array) -> Result:
    x = I.copy()
    x[0], x[1] = L[1] * 3, 5
    y = L.copy()
    y[0], y[4] = I[3], I[4] << 40
    return {"L": y, "I": x}


def constants_convert(H: Array, I: Array, n: int, m: int) -> Result:
    half = float(np.float16(0.2))
    return {"H": put(H, half, half, bf16(0.2)), "I": put(I, 44, 253, 2048)}


def powers_of_int(X: Array, Y: Array, Z: Array) -> Result:
    return {"Y": np.ones_like(X), "Z": X**3}


def halfway(X: Array, Y: Array, B: Array) -> Result:
    x = (np.arange(32) - 16) * 0.5
    return {"Y": np.round(x), "B": bf16(256.0 + x)}


def in_and_out(X: Array, Y: Array) -> Result:
    x = X * 3.0 - np.maximum(X, Y)
    return {"X": x, "Y": x * 2.0}


# ---- masks ----------------------------------------------------------------------------------------------


def window(a: Array, *ranges: tuple[int, int]) -> Array:
    """`a` from start to start + n on each axis: zeros outside."""
    out = np.zeros([n for _, n in ranges], a.dtype)
    for at in np.ndindex(*out.shape):
        there = tuple(start + x for (start, _), x in zip(ranges, at, strict=True))
        if all(0 <= x < extent for x, extent in zip(there, a.shape, strict=True)):
            out[at] = a[there]
    return out


def place(a: Array, tile: Any, *ranges: tuple[int, int]) -> None:
    """Store a tile, nothing outside, in place."""
    values = np.broadcast_to(np.asarray(tile), [n for _, n in ranges])
    for at in np.ndindex(*values.shape):
        there = tuple(start + x for (start, _), x in zip(ranges, at, strict=True))
        if all(0 <= x < extent for x, extent in zip(there, a.shape, strict=True)):
            a[there] = values[at]


def ranks_one_and_two(A: Array, B: Array, C: Array, r: int) -> Result:
    a, b, c = A.copy(), B.copy(), C.copy()
    place(a, window(b, (r, 1), (8, 8))[0], (16, 8))
    place(a, window(b, (r, 1), (r, 4))[0], (0, 4))
    c[:] = window(a, (8, 16))
    c[12:] = b[0, :4]
    c[8:10] = c[0:2] + c[r]
    place(b, window(a, (0, 8))[None], (len(b) - 1, 1), (b.shape[1] - 4, 8))
    return {"A": a, "B": b, "C": c}


def ranks_three_to_five(C: Array, D: Array, E: Array, r: int) -> Result:
    c, d, e = C.copy(), D.copy(), E.copy()
    place(c, window(c, (0, 1), (0, 4), (0, 16)), (1, 1), (r, 4), (8, 16))
    place(d, window(d, (0, 4), (0, 2), (0, 2), (0, 8)) * 2.0, (r, 4), (1, 2), (0, 2), (4, 8))
    rows = window(e, (0, 1), (1, 2), (0, 4), (0, 1), (0, 4))
    place(e, rows * 3.0, (1, 1), (0, 2), (r, 4), (1, 1), (4, 4))
    e[:, 2, 1, :, :4] += e[:, 0, 0, :, 4:]
    e[0, 0, r, 0, 0] = d[r, 2, 1, -1]
    return {"C": c, "D": d, "E": e}


def compound_slices(A: Array, B: Array, k: int) -> Result:
    a, b = A.copy(), B.copy()
    place(a, window(a, (k, 8), (8, 16)) + window(b, (0, 8), (0, 16)), (k, 8), (8, 16))
    place(a, window(a, (0, 16), (k, 8)) - 5, (0, 16), (k, 8))
    place(b, window(b, (2, 1), (0, 32)) * window(a, (1, 1), (0, 32)), (2, 1), (0, 32))
    b[1, 3] += a[0, 2]
    return {"A": a, "B": b}


def block_and_loop(A: Array, B: Array) -> Result:
    return {"B": A + np.arange(A.shape[1]) // 16 * 16}


def two_walks(A: Array, S: Array) -> Result:
    s = np.zeros_like(S)
    for i, k in np.ndindex(*A.shape):
        s[i % 8, k % 16] += A[i, k] * (i // 8 * 8 + 1)
    return {"S": s}


def from_the_middle(A: Array, S: Array, T: Array, lo: int, hi: int) -> Result:
    tiles = [window(A, (k, 16)) for k in range(lo, hi, 16)]
    return {"S": sum(tiles, np.zeros_like(S)), "T": put(T, len(tiles))}


def extent_of_another(A: Array, B: Array, S: Array, W: Array) -> Result:
    s, w = np.zeros_like(S), W.copy()
    for k in range(0, len(A), 16):
        s += window(A, (k, 16)) - window(B, (k, 16))
        place(w, window(B, (k, 16)) * 2, (k, 16))
    return {"S": s, "W": w}


def half_promised(A: Array, B: Array) -> Result:
    return {"B": A + 1.0}


def bytes_and_halves(A: Array, B: Array, C: Array, D: Array) -> Result:
    m, n = A.shape
    return {"B": window(A, (-1, m), (2, n)), "D": window(C, (1, m), (-3, n))}

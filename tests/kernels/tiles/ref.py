"""What the kernels beside this file compute, in NumPy: one function per kernel, in the kernels' own types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


def part(t: Array, *starts: int, shape: tuple[int, ...]) -> Array:
    """A slice that may reach past any end; there it is 0."""
    out = np.zeros(shape, t.dtype)
    for at in np.ndindex(*shape):
        place = tuple(s + i for s, i in zip(starts, at, strict=True))
        if all(0 <= p < n for p, n in zip(place, t.shape, strict=True)):
            out[at] = t[place]
    return out


def put(t: Array, value: Array, *starts: int) -> None:
    """Assign through such a slice."""
    for at in np.ndindex(*value.shape):
        place = tuple(s + i for s, i in zip(starts, at, strict=True))
        if all(0 <= p < n for p, n in zip(place, t.shape, strict=True)):
            t[place] = value[at]


# ---- slices ---------------------------------------------------------------------------------------------


def rows_of_tile(A: Array, Y: Array, Z: Array) -> Result:
    return {"Y": A[::-1] * 2, "Z": np.concatenate([A[4:], A[4:]])}


def shifts(A: Array, Y: Array, Z: Array) -> Result:
    y = A.copy()
    y[:800] = A[201:1001]
    z = y.copy()
    z[224:] = y[3:803]
    z[:8] = z[4:12].copy()
    return {"Y": y, "Z": z}


def compound(A: Array, Y: Array) -> Result:
    t = A.copy()
    t[2:6] *= 3
    t[:, 4:12] += t[:, 12:20].copy()
    t[:8, 1] -= t[8:, 2]
    t[5] += A[6]
    return {"Y": t + 1}


def ragged(A: Array, B: Array, Y: Array, s: int) -> Result:
    t, b, rows = A.copy(), np.concatenate([B, np.zeros(8, B.dtype)]), []
    rows += [part(t, at, shape=(16,)) for at in (56, -4, s)]
    for at, source in ((60, 0), (-12, 4), (s, 12)):
        put(t, b[source : source + 16], at)
    rows += [part(t, at, shape=(16,)) for at in (0, 48, 20)]
    return {"Y": np.stack(rows)}


def dynamic_starts(A: Array, Y: Array, n: int) -> Result:
    t = np.ones_like(A)
    for i in range(n):
        put(t, part(t, i * 7, 0, shape=(5, 8)) + part(A, i * 3, 0, shape=(5, 8)), i * 7, 0)
        j = i * 5 % 8
        put(t, part(t, i + 3, j - 1, shape=(20, 2)) + np.float32(i), i, j)
    return {"Y": t}


def operand_slices(A: Array, B: Array, Y: Array) -> Result:
    m = len(Y)
    a = np.pad(A, ((0, -m % 16), (0, 0)))
    y = a[:, :16] @ B + a[:, 16:] @ B
    for i in range(0, len(a), 16):
        y[i : i + 16] += B @ a[i : i + 16, 8:24].T
    return {"Y": y[:m]}


def accumulated_slices(A: Array, B: Array, Y: Array) -> Result:
    return {"Y": np.concatenate([A @ B, -(A @ B)], axis=1)}


def swapped_halves(A: Array, X: Array) -> Result:
    a = A.copy()
    a[:64] = np.concatenate([X[32:], X[:32]]) * 2
    return {"A": a}


def doubled(A: Array, Y: Array, Z: Array) -> Result:
    t, n = np.abs(A) + 1, 0
    while t[95] + t[0] < 200 and n < 50:
        t, n = t * 2, n + 1
    t[0], t[95] = n, n + 1
    return {"Y": t, "Z": np.array([n], np.int32)}


def first_positive(A: Array, Y: Array) -> Result:
    positive = np.flatnonzero(A > 0)
    return {"Y": np.array([positive[0], positive[-1]], np.int32)}


def through_fn(A: Array, Y: Array, Z: Array) -> Result:
    r = np.concatenate([A[4:], A[:4]])
    r = r if A[0, 0] > 0 else r + A
    return {"Y": np.stack([A[0] - A[15], A[4] - A[11]]), "Z": r * 3 + A}


def either_arm(A: Array, Y: Array, n: int) -> Result:
    if n > 0:
        return {"Y": np.concatenate([A[16:] * 2, A[16:]])}
    y = A * 2 + 1
    if A[3] > 0:
        y[3] = 0
    return {"Y": y}


def _folded(a: Array, last: float) -> Array:
    out = a.copy()
    out[:6] += a[6:]
    out[11, 5] = out[0, 0] + last
    return out


def wide_types(A: Array, I: Array, J: Array, Y: Array, L: Array, K: Array) -> Result:
    return {"Y": _folded(A, 0.5), "L": _folded(I, 1), "K": _folded(J, 1)}


def narrow_types(A: Array, B: Array, Y: Array, Z: Array) -> Result:
    a, b = A.copy(), B.copy()
    a[1:9, 3:35] = A[:8, 8:]
    b[1:9, 16:32] = B[2:10, 16:32] + B[:8, :16]
    a[9, 39], b[9, 39] = a[0, 0], b[0, 0]
    return {"Y": a, "Z": b}


def float_types(A: Array, B: Array, Y: Array, Z: Array) -> Result:
    a, b = A.copy(), B.copy()
    a[:, 8:16] = A[:, 16:24]
    b[:, 8:16] = B[:, 17:25]
    a[7, 47], b[7, 47] = a[0, 0], b[0, 0]
    return {"Y": a, "Z": b}


def truths(A: Array, Y: Array) -> Result:
    c = A > 0
    c[:32] = c[32:]
    c[40] = not c[0]
    y = np.where(c, A, np.float32(7))
    if c[1] and not c[2]:
        y[0] = -1
    return {"Y": y}


def copies(A: Array, Y: Array) -> Result:
    t = A[:64]
    u = np.concatenate([np.ones(8, t.dtype), t[8:]]) + np.float32(0.5)
    rows = [t, u, t + 1, np.concatenate([t[32:], t[:32]])]
    return {"A": np.full_like(A, 5), "Y": np.stack(rows)}


def filled_by_parts(A: Array, Y: Array) -> Result:
    factor = np.add.outer(np.arange(4), np.arange(4)).astype(np.float32)
    return {"Y": np.kron(A * factor, np.ones((8, 8), np.float32))}


def one_per_trip(A: Array, Y: Array) -> Result:
    last = np.zeros_like(Y)
    for k in range(0, len(A), 16):
        t = A[k : k + 16].copy()
        t[:8] += last[8:]
        t[15] = t[0] + last[0]
        last = t
    return {"Y": last}


def three_axes(A: Array, Y: Array, Z: Array) -> Result:
    t = A.copy()
    for i in range(3):
        t[i, 1:5, 2:6] = t[i + 1, 0:4, 4:8]
        t[i : i + 2, 5] *= 2
    return {"Y": t, "Z": t[3, :, 7]}


def range_forms(A: Array, Y: Array, n: int) -> Result:
    y, t = Y.copy(), A.copy()
    y[0, :12], y[1, :6], y[2, :4], y[3] = t[4:], t[:6], t[n : n + 4], t
    t[12:], t[:2], t[n : n + 2], t[2:n] = 0, 1, 2, 3
    t[n + 4 :] += 10
    y[4] = t
    return {"Y": y}


def one_after_another(A: Array, Y: Array) -> Result:
    y = np.repeat(A.reshape(-1, 2, 2, 64)[:, 1:], 2, axis=1).reshape(A.shape) * 2
    total = np.zeros(64, np.float32)
    for row in A:
        u = row.copy()
        u[:32] += total[32:]
        total = total + u
        total[5] = 1
    y[0] = np.concatenate([total[32:], total[32:]])
    return {"Y": y}


def beside_pipeline(A: Array, B: Array, Y: Array) -> Result:
    b, acc = B.copy(), np.zeros_like(Y)
    for k in range(0, A.shape[1], 8):
        acc += A[:, k : k + 8] @ b[k : k + 8]
        b[k + 8 : k + 12] = b[k : k + 4] + 1
    return {"Y": acc}


def slice_of_trip(A: Array, B: Array, Y: Array) -> Result:
    acc = np.zeros_like(Y)
    for k in range(0, A.shape[1], 8):
        a = np.concatenate([A[8:, k : k + 8], A[8:, k : k + 8]])
        a[15, 7] = 1
        acc += a @ B[k : k + 8]
        acc[0, :8] += a[0]
    return {"Y": acc}


def reduced(A: Array, Y: Array, Z: Array) -> Result:
    s = A[:, 8:24].sum(1, keepdims=True)
    return {"Y": s[:8] - s[8:], "Z": A[4:12].max(0, keepdims=True)[:, 16:]}


def uniform_points(A: Array, Y: Array, n: int) -> Result:
    t, y = A[:32].copy(), Y.copy()
    for i in range(n):
        t[i] = t[i] + t[i + 1]
        t[i + 2] += 1
        t = t + t[i]
        y[i * 3] = t[i * 3] + t[n]
    if n > 4:
        t[4] = t[3]
        t[3] = t[4] + 1
    y[:4] = t[2:6]
    return {"Y": y}


def odd_shape(A: Array, Y: Array) -> Result:
    t = A.copy()
    t[1:5, :3] = A[:4, 4:]
    t[3:, 5:] *= 2
    return {"Y": t}


def left_early(A: Array, Y: Array) -> Result:
    t = np.zeros(8, np.float32)
    for k in range(0, len(A), 4):
        t[:4] += A[k : k + 4]
        if t[0] > 3:
            t[4:] = k
            break
        if t[1] < 0:
            continue
        t[7] += 1
    return {"Y": t}


def of_an_expression(A: Array, Y: Array) -> Result:
    return {"Y": A[8:24] * 2 + max(A[3], np.float32(0))}


def converted(A: Array, I: Array, Y: Array, J: Array) -> Result:
    t, b = A.copy(), np.full(16, 3, np.int8)
    t[2] = I
    t[3, :8] += I[8:]
    b[4:12] = I[:8].astype(np.int8)
    t[0, 1] = I[2]
    return {"Y": t, "J": b}


# ---- threads --------------------------------------------------------------------------------------------


def reversed(X: Array, Y: Array) -> Result:
    return {"Y": X[::-1]}


def between_tiles(X: Array, Y: Array, Z: Array, W: Array) -> Result:
    t = X + 1
    following = np.roll(t, -1)
    t[:48] = t[48:]
    t = following + t[::-1]
    seven = t[7]
    t[7] = 0
    return {"Y": X * 2, "Z": np.roll(t, 6), "W": np.array([seven, 1], np.float32)}


def strided_points(X: Array, Y: Array) -> Result:
    t = np.pad(X, (0, 320 - len(X)))
    t[:160] += t[160:]
    return {"Y": t[: len(X)][::-1]}


def runs(X: Array, Y: Array, S: Array) -> Result:
    t = np.concatenate([X[:, 4:], np.full((64, 4), 2, np.float32)], axis=1)[::-1]
    return {"Y": t * 3, "S": (t[:, :4] * X[:, 2:6]).sum(1) + t[:, 2:6].sum(1)}


def run_widths(X: Array, Y: Array) -> Result:
    t, y = X + 1, Y.copy()
    y[:, :4] = y[:, 4:8] = t[:, 4:8]
    for i in range(32):
        at = i % 3 * 4
        y[i, 8:12], y[i, 12:15] = t[i, at : at + 4], t[i, at + 1 : at + 4]
        y[i, 15] = (t[i] * t[31 - i]).sum()
    return {"Y": y}


def down_the_rows(X: Array, Y: Array) -> Result:
    return {"Y": np.concatenate([X[2:6] * 2, X[4:]])}


def by_warp(X: Array, Y: Array, W: Array) -> Result:
    t = 1 + X[::32]
    return {"Y": np.repeat(t, 32) + np.tile(np.arange(32, dtype=np.float32), 4), "W": t[::-1] * 2}


def some_threads(X: Array, Y: Array, n: int) -> Result:
    t = X * 2
    t = np.where(np.arange(64) < n, np.where(t > 0, t + 1, t), np.float32(-1))
    t[32:48] = t[:16]
    return {"Y": np.where(t > 0, t, Y)}


def rounds(X: Array, Y: Array, n: int) -> Result:
    t = X.copy()
    for k in range(n):
        t = t + np.roll(t, 1)
        t[:32] += t[32:]
        t[k] = max(t[k], np.float32(0))
    return {"Y": t}


def bytes_of_tiles(A: Array, B: Array, Y: Array, Z: Array) -> Result:
    a, b = A.astype(np.int32), B.astype(np.int32)
    y = [(a[:, :16] * a[::-1, 16:]).sum(1), b[:, 4:12].sum(1), a[:, 3] + np.diag(b)]
    z = A.copy()
    z[:, 8:16] = A[:, :8]
    return {"Y": np.stack(y, axis=1).astype(np.int32), "Z": z}


def own_loops(X: Array, Y: Array) -> Result:
    ends = [next((k for k in range(i, 64) if X[k] >= 1), 64) for i in range(64)]
    return {"Y": np.cumsum(X) + np.array(ends, np.float32)}


def passed_on(X: Array, Y: Array) -> Result:
    u = X + 1
    return {"Y": (np.roll(X, -1) + X) * (np.roll(u, -1) + u)}


def masks_beside(A: Array, Y: Array) -> Result:
    m = ~A
    m[:8] = m[8:16]
    return {"Y": np.where(m[::-1], np.float32(1), np.float32(2))}


def half_runs(A: Array, B: Array, Y: Array, S: Array) -> Result:
    a, b = A.astype(np.float32), B.astype(np.float32)
    y = A.copy()
    y[:, :8] = A[::-1, 8:]
    return {"Y": y, "S": (a[:, :8] * a[:, 8:]).sum(1) + b[::-1].sum(1)}


def uniform_run(X: Array, Y: Array) -> Result:
    t = X.copy()
    t[4:8] = X[8:12]
    t[:4] = t[4:8] * 2
    t[8:12] = t[:8].sum()
    return {"Y": t}

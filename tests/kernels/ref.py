"""What the kernels beside this file compute, in NumPy: one function per kernel, called as `examples/ref.py` says.

Where a kernel's result is exact, or its rounding is what is tested, the function rounds where the kernel does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


def f32(x: Array) -> Array:
    return np.asarray(x, np.float32)


def padded(a: Array, *shape: int) -> Array:
    """`a` with zeros after its end, or cut, to `shape`."""
    out = np.zeros(shape, a.dtype)
    part = tuple(slice(0, min(have, want)) for have, want in zip(a.shape, shape, strict=True))
    out[part] = a[part]
    return out


# ---- elementwise ----------------------------------------------------------------------------------------


def arithmetic(A: Array, B: Array, C: Array, D: Array, s: float) -> Result:
    return {"C": (A + B) * s - B / (2.0 + A * A), "D": s - A + s * B - (1.0 - B)}


def negate(A: Array, B: Array) -> Result:
    return {"B": -(A * 0.0)}


def extremes(A: Array, B: Array, C: Array, D: Array) -> Result:
    return {"C": np.maximum(np.minimum(A, B), -0.5), "D": np.maximum(np.abs(A), B)}


def in_place(A: Array) -> Result:
    return {"A": np.exp(A) * 2.0}


def reads_target(A: Array, B: Array) -> Result:
    return {"B": np.exp(A * 2.0) + np.maximum(A, B)}


def compound(A: Array, B: Array, s: float) -> Result:
    a = (A + 1.0) * s - B * s
    return {"A": a, "B": B / (2.0 + np.abs(a))}


# ---- math -----------------------------------------------------------------------------------------------


def functions(X: Array, E: Array, L: Array, S: Array, T: Array, C: Array) -> Result:
    return {
        "E": np.exp(X) + np.exp2(X),
        "L": np.log(1.0 + np.abs(X)) + np.log2(2.0 + np.abs(X)),
        "S": np.sqrt(np.abs(X)) + 1.0 / np.sqrt(1.0 + X * X),
        "T": np.tanh(X),
        "C": np.sin(X) + np.cos(X),
    }


def rounding(X: Array, F: Array, C: Array, R: Array, H: Array) -> Result:
    x = X * 4.0  # exact
    halves = np.tile(np.round(np.arange(128) * 0.5), len(X) // 128)
    return {"F": np.floor(x), "C": np.ceil(x), "R": np.round(x), "H": halves}


def softplus(X: Array, P: Array, Q: Array) -> Result:
    return {"P": np.log(1.0 + np.exp(X)), "Q": X / (1.0 + np.exp(-X))}


def powers(X: Array, Y: Array, Z: Array, W: Array) -> Result:
    x = f32(np.abs(X) + 0.5).astype(np.float64)
    return {"Y": np.ones_like(X), "Z": x**-2.0, "W": x**X}


def fused(X: Array, Y: Array) -> Result:
    return {"Y": X * X + Y}


# ---- casts ----------------------------------------------------------------------------------------------


def widths(A: Array, B: Array, C: Array) -> Result:
    return {"C": A * B + 1.0}


def halves(A: Array, B: Array, S: Array, H: Array) -> Result:
    return {"S": f32(A) + f32(B), "H": (f32(A) * np.float32(3.0)).astype(np.float16)}


def saturated(x: Array, low: int, high: int) -> Array:
    return np.clip(np.trunc(x.astype(np.float64)), low, high).astype(np.int64)


def to_int(X: Array, Y: Array, Z: Array, W: Array) -> Result:
    x = f32(X)
    return {
        "Y": saturated(x * np.float32(3.0e9), -(2**31), 2**31 - 1),
        "Z": saturated(x * np.float32(100.0), -128, 127),
        "W": saturated(x * np.float32(200.0), 0, 255),
    }


def wraps(X: Array, Y: Array, Z: Array) -> Result:
    return {"Y": (X * 100).astype(np.int8), "Z": X * 100 * 100000000}


def signs(A: Array, B: Array, F: Array, I: Array) -> Result:
    return {"F": A * 0.5, "I": A - (B + 250) % 256}


def f16_store(X: Array, Y: Array, Z: Array, s: float, t: float) -> Result:
    return {"Z": s * X + t * Y}


def literal_fill(Z: Array, W: Array) -> Result:
    return {"Z": np.full_like(Z, np.float16(0.1)), "W": np.full_like(W, np.float32(0.1))}


def chain(X: Array, Y: Array) -> Result:
    return {"Y": np.round(f32(X) * np.float32(50.0)).astype(np.int32).astype(np.int8)}


# ---- broadcasting ---------------------------------------------------------------------------------------


def stretch(A: Array, R: Array, C: Array, S: Array, Y: Array) -> Result:
    return {"Y": (A - R) * C + S / (R * R + 1.0)}


def stretch_ragged(A: Array, R: Array, C: Array, Y: Array) -> Result:
    return {"Y": A * R - C}


def where_pairs(A: Array, R: Array, C: Array, Y: Array, Z: Array) -> Result:
    return {"Y": np.where(R < 0.0, A, C), "Z": np.where(C < R, R, A)}


def index_tiles(A: Array, C: Array) -> Result:
    r = A[:, 1:2] * 8
    a, c = A.copy(), C.copy()
    c[:, :16] = A[:, :8] @ A[:, :16] + r
    a[:, :16] += r
    return {"A": a, "C": c}


def units_between(T: Array, Y: Array) -> Result:
    y = f32(Y).copy()
    y[:16, :8] = f32(y[:16, :8] + T[1, 2, :16, 1, None, :])
    return {"Y": y}


def unit_added(A: Array, B: Array) -> Result:
    a = f32(A).copy()
    a[1, :7] = f32(A)[0, :7] + f32(B)[:7]
    return {"A": a}


def units(A: Array, B: Array, C: Array) -> Result:
    t = A[1, 2].copy()
    after = A.copy()
    after[0, 0] = f32(t) + np.float32(1.0)
    return {"A": after, "B": t, "C": t[3]}


# ---- slices ---------------------------------------------------------------------------------------------


def ragged_copy(A: Array, B: Array) -> Result:
    return {"B": f32(A) + np.float32(1.0)}


def static_edge(A: Array, B: Array) -> Result:
    return {"B": padded(A, 16, 16)}


def range_forms(A: Array, B: Array, C: Array) -> Result:
    b = B.copy()
    b[0:8, 0:32] = A[8:16]
    b[8:16, 4:36] = A[0:8]
    c = C.copy()
    c[:, :16] = A[0:8, :16]
    return {"B": b, "C": c}


def rows(A: Array, B: Array, C: Array) -> Result:
    return {"B": f32(A) * f32(A[:, 3:4]), "C": f32(A[:, 0]) + f32(A[:, 63])}


def negative_start(A: Array, B: Array) -> Result:
    b = B.copy()
    b[0:8], b[8:32] = 0.0, A[0:24]
    b[0:0] = A[32:32]  # B[-32 :+ 32] lies wholly before the tensor
    return {"B": b}


def past_end(A: Array, B: Array, C: Array) -> Result:
    b = B.copy()
    b[32:40] = A[8:16]
    return {"B": b, "C": padded(A, 64)}


def shifted(A: Array) -> Result:
    a = A.copy()
    a[0:8] = A[4:12]
    a[20:28] = A[16:24]
    return {"A": a}


def to_the_end(A: Array, B: Array) -> Result:
    return {"B": A[16:]}


def overrun(A: Array, B: Array) -> Result:
    b = B.copy()
    b[:, 16:20] = A[:, 0:4]
    return {"B": b}


def snapshot(A: Array, B: Array) -> Result:
    return {"A": np.ones_like(A), "B": f32(A) + np.float32(1.0)}


# ---- loops ----------------------------------------------------------------------------------------------


def steps_of(a: Array, starts: range, width: int) -> Array:
    """The sum of the column tiles of `a` that start at `starts`, zeros past its end."""
    rows, columns = a.shape
    wide = padded(a, rows, columns + max([0, *starts]) + width)
    return sum((wide[:, k : k + width] for k in starts), np.zeros((rows, width)))


def sum_k(A: Array, Y: Array) -> Result:
    return {"Y": steps_of(A, range(0, A.shape[1], 16), 16)}


def sum_from(A: Array, Y: Array, lo: int, hi: int) -> Result:
    return {"Y": steps_of(A, range(lo, hi, 16), 16)}


def past_extent(A: Array, Y: Array, S: Array, hi: int) -> Result:
    s = S.copy()
    s[0] = len(range(0, hi, 16))
    return {"Y": steps_of(A, range(0, hi, 16), 16), "S": s}


def nested(A: Array, Y: Array, S: Array, n: int) -> Result:
    acc = np.zeros((16, 8))
    for _ in range(n):
        acc = acc * 0.5 + steps_of(A, range(0, A.shape[1], 8), 8)
    s = S.copy()
    s[0] = n * (-(-A.shape[1] // 8) + 100)
    return {"Y": acc, "S": s}


def stepped(Y: Array, lo: int, hi: int, step: int) -> Result:
    trips = range(lo, hi, step) if step > 0 else range(0)
    y = Y.copy()
    y[0], y[1] = sum(trips), len(trips)
    return {"Y": y}


def unrolled(X: Array, Y: Array, n: int) -> Result:
    y = Y.copy()
    y[0:8] = X[: n * 8].reshape(n, 8).sum(0)
    return {"Y": y}


def causal(A: Array, Y: Array) -> Result:
    blocks = range(0, A.shape[0], 16)
    return {"Y": np.concatenate([steps_of(A[i : i + 16], range(0, i + 16, 16), 16) for i in blocks])}


# ---- control flow ---------------------------------------------------------------------------------------


def choose(X: Array, Y: Array, S: Array, n: int) -> Result:
    s = S.copy()
    s[0] = np.sign(n)
    x = f32(X)
    return {"Y": x + np.float32(1.0) if n > 0 else x * np.float32(2.0) if n == 0 else x, "S": s}


def collatz(Y: Array, n: int) -> Result:
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return {"Y": np.array([steps, *Y[1:]])}


def while_load(X: Array, Y: Array) -> Result:
    return {"X": np.array([*X[:31], -100.0]), "Y": np.array([31, *Y[1:]])}


def breaks(Y: Array, n: int) -> Result:
    taken = [i for i in range(min(n, 21)) if i % 3 != 1]
    return {"Y": np.array([sum(max(i, 1) for i in taken), len(taken), *Y[2:]])}


def return_early(X: Array, Y: Array, n: int) -> Result:
    y = Y.copy()
    y[:32] = 1.0
    if n <= 5:
        y[:32], y[32:] = X[:32], 2.0
    return {"Y": y}


def calls(X: Array, Y: Array, s: float) -> Result:
    return {"Y": np.where(X * s > 0.0, X * s, X) * (-1.0 if s < 0.0 else 1.0)}


def guarded_point(X: Array, Y: Array, Z: Array, n: int) -> Result:
    return {"Z": np.concatenate([(X + Y)[:n], Z[n:]])}


def return_from_loop(Y: Array, n: int) -> Result:
    y = Y.copy()
    for i in range(10):
        for j in range(10):
            if i * j == n:
                y[0] = i
                return {"Y": y}
            y[1] = i * 10 + j
    return {"Y": y}


def shadowing(Y: Array) -> Result:
    return {"Y": np.array([6, 6, 6, Y[3], 31, *Y[5:]])}


def short_circuit(X: Array, Y: Array, n: int) -> Result:
    return {"Y": np.array([10 if n < 0 else 11, *Y[1:]])}


# ---- integers -------------------------------------------------------------------------------------------


def truncated(a: Array, b: Array) -> Array:
    """a / b toward zero."""
    return np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)


def columns(x: Array) -> Array:
    """iota(0) of rank-1 tiles of 64."""
    return np.arange(len(x)) % 64


def divide(X: Array, Q: Array, R: Array) -> Result:
    y = columns(X) % 7 - 3
    d = np.where(y == 0, 5, y)
    q = truncated(X, d)
    return {"Q": q, "R": X - q * d}


def bits(X: Array, Y: Array, Z: Array, W: Array) -> Result:
    x = X.astype(np.int32)
    shifted_left = (X << (columns(X) % 32)).astype(np.int32)
    return {"Y": shifted_left ^ (x >> 1), "Z": (x & 12) | (~x & 3), "W": x << 1}


def overflow(X: Array, Y: Array, n: int) -> Result:
    return {"Y": (n + X * n).astype(np.int32)}


def scalars(Y: Array, a: int, b: int) -> Result:
    q = int(a / b)
    return {"Y": np.array([q, a - q * b, a - len(Y), a >> 1, abs(a) + min(a, b) * max(a, b), *Y[5:]])}


def unsigned(A: Array, B: Array, S: Array, D: Array) -> Result:
    return {"S": A * B - 300, "D": (B + 250) % 256 >> 2}


def longs(X: Array, Y: Array) -> Result:
    x = X << 40
    q, r = truncated(x, np.full_like(x, 3)), x - truncated(x, np.full_like(x, 1000003)) * 1000003
    return {"Y": q + r}


# ---- masks ----------------------------------------------------------------------------------------------


def indices(Y: Array) -> Result:
    i, j = np.indices(Y.shape)
    return {"Y": i * 1000 + j}


def lower_triangle(A: Array, B: Array) -> Result:
    return {"B": np.tril(A)}


def fill_outside(A: Array, Y: Array) -> Result:
    n = A.shape[1]
    wide = np.full((16, -(-n // 16) * 16), -1.0e30, np.float32)
    wide[:, :n] = f32(A) - np.float32(100.0)
    return {"Y": wide.reshape(16, -1, 16).max(1)}


def compare_all(X: Array, Y: Array, Z: Array) -> Result:
    x, y = np.floor(X), np.floor(Y)
    with np.errstate(all="ignore"):
        q = (x - x) / (y - y)
    terms = (x < y, x <= y, x > y, x >= y, x == y, x != y, q != q, q == q, q < 1.0)
    return {"Z": sum(term.astype(np.int64) << bit for bit, term in enumerate(terms))}


def bools(X: Array, B: Array, C: Array) -> Result:
    inside = (X > -0.5) & (X < 0.5)
    return {"C": ~inside | (B ^ (X > 0.0)) & B}


# ---- contractions ---------------------------------------------------------------------------------------


def gemm_ragged(A: Array, B: Array, C: Array, alpha: float, beta: float) -> Result:
    return {"C": alpha * (A @ B) + beta * C}


def gemm_t(A: Array, B: Array, C: Array, D: Array) -> Result:
    return {"C": A @ B.T, "D": 2.0 * (A @ B.T)}


def gemm_f16(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def gemm_f16_acc(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def gemm_i8(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B.T}


def gemm_f64(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def two_dots(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B + A @ A.T}


def square(P: Array) -> Result:
    return {"P": P @ P}


def rank_one(R: Array, C: Array, Q: Array, V: Array, Y: Array, Z: Array) -> Result:
    return {"Y": 1.0 + R * C - (R + 1.0) * C, "Z": Q @ V.T}


# ---- order.ph --------------------------------------------------------------------------------------------


def across(A: Array, B: Array) -> Result:
    return {"B": f32(A + 1)}


def deep(A: Array, B: Array) -> Result:
    return {"B": f32(A * 2)}


def skipped(A: Array, B: Array) -> Result:
    return {"B": f32(A - 1)}


def numbers(A: Array) -> Result:
    m, n = np.indices(A.shape) // 8
    gm, gn = (-(-s // 8) for s in A.shape)
    return {"A": (m * 1000 + n * 100 + gm * 10 + gn).astype(np.int32)}

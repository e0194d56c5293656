"""What the kernels beside this file compute, in NumPy, one function per kernel: exact, or as its run line says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


def softmax_of(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    out: Array = e / e.sum(axis=1, keepdims=True)
    return out


def padded(x: Array, *shape: int) -> Array:
    out = np.zeros(shape, x.dtype)
    out[tuple(slice(0, n) for n in x.shape)] = x[tuple(slice(0, n) for n in shape)]
    return out


def part(wide: Array, narrow: Array) -> Array:
    """What is stored of a tile in a tensor of this shape."""
    return wide[tuple(slice(0, n) for n in narrow.shape)]


def chain(X: Array, V: Array, Y: Array) -> Result:
    return {"Y": np.where(X > V, X * 2 + V, X * X - 1)}


def in_place(X: Array) -> Result:
    out = X.copy()
    out[:, :256] = X[:, :256] * 2 + 1
    return {"X": out}


def moved(X: Array, Y: Array) -> Result:
    x = np.zeros_like(X)
    x[:, :-1] = X[:, 1:]
    return {"Y": x, "X": 2 * x}


def softmax(X: Array, Y: Array) -> Result:
    return {"Y": softmax_of(X)}


def kept_once(X: Array, Y: Array) -> Result:
    return {"Y": softmax_of(X)}


def both_reductions(X: Array, R: Array, C: Array, H: Array, L: Array) -> Result:
    x = padded(X, 100, 300)
    rows = {"R": x.sum(1, keepdims=True), "H": x.max(1, keepdims=True)}
    columns = {"C": x.sum(0, keepdims=True), "L": x.min(0, keepdims=True)}
    return {n: part(a, b) for (n, a), b in zip((rows | columns).items(), (R, H, C, L), strict=True)}


def one_row(X: Array, S: Array, H: Array, A: Array) -> Result:
    x = padded(X, 1, 10000)
    return {"S": x.sum(1, keepdims=True), "H": x.max(1, keepdims=True) - 100, "A": x.argmax(1, keepdims=True)}


def one_column(X: Array, S: Array, Y: Array) -> Result:
    x = padded(X, 10000, 1)
    return {"S": x.sum(0, keepdims=True), "Y": X - x.max()}


def carried(X: Array, Y: Array, n: int) -> Result:
    return {"Y": 1 + n * 2 * X}


def exchanged(X: Array, Y: Array, Z: Array, n: int) -> Result:
    a, b = X, np.full_like(X, 3)
    for _ in range(n):
        a, b = b, a + 1
    return {"Y": a, "Z": b}


def chosen(X: Array, Y: Array, p: bool) -> Result:
    return {"Y": (X * X.sum(1, keepdims=True) if p else X) + 1}


def while_small(X: Array, Y: Array, n: int) -> Result:
    return {"Y": X * 2**n}


def nested(X: Array, Y: Array, n: int) -> Result:
    a = X
    for _ in range(n):
        for _ in range(n):
            a = a * 2 - X
        a = a + 1
    return {"Y": a}


def halves(X: Array, Y: Array, S: Array) -> Result:
    y = (X * X + X).astype(np.float16)
    return {"Y": y, "S": np.maximum(y.max(0, keepdims=True), np.float16(0))}


def bytes(X: Array, Y: Array, S: Array) -> Result:
    x = X.astype(np.int32)
    return {"Y": x * 3, "S": x.sum(1, keepdims=True)}


def turned(X: Array, Y: Array) -> Result:
    return {"Y": X.T * 2 + 1}


def summed(X: Array, Y: Array, F: Array) -> Result:
    return {"Y": np.cumsum(X, axis=0)}


def masked_rows(X: Array, H: Array) -> Result:
    rows = np.where(np.arange(len(X))[:, None] < 3, X, 0)
    return {"H": X.max(1, keepdims=True) + rows.sum(1, keepdims=True)}


def largest_at(X: Array, A: Array) -> Result:
    return {"A": X.argmax(1, keepdims=True)}


def long_operand(A: Array, B: Array, C: Array) -> Result:
    return {"C": A[:, :600] @ B[:600]}


def sliced(X: Array, Y: Array) -> Result:
    a = X.copy()
    a[3:5] = 7
    b = a * 2
    a[0:2] = 5
    return {"Y": a + b}


def left_early(X: Array, Y: Array, n: int) -> Result:
    a = X
    for k in range(min(n, 3)):
        if k != 1:
            a = a * 2 + k
    return {"Y": a}


def accumulated(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def two_products(A: Array, B: Array, D: Array, E: Array) -> Result:
    return {"E": (A @ B * 2) @ D + 1}


def scores(Q: Array, K: Array, V: Array, O: Array, M: Array) -> Result:
    s = Q @ K.T
    m = s.max(1, keepdims=True)
    return {"M": m, "O": (s == m).astype(np.float32) @ V}


def long_inner(A: Array, B: Array, C: Array) -> Result:
    return {"C": (A + 1) @ B}


def half_operands(A: Array, B: Array, C: Array) -> Result:
    return {"C": (1 + A.astype(np.float32) @ B.astype(np.float32)) ** 2}


def staged(A: Array, B: Array, C: Array) -> Result:
    return {"C": 1 + A @ B}


def end_to_end(X: Array, Y: Array, W: Array, Z: Array) -> Result:
    return {"Y": X.reshape(-1) * 2, "Z": W.reshape(-1) + 1}


def looked_up(T: Array, P: Array, Y: Array) -> Result:
    at = np.fmod(P, 40)
    return {"Y": T[np.fmod(at * at, 40)] * 2}


def small_carried(X: Array, Y: Array, S: Array, n: int) -> Result:
    s, a = np.ones((64, 1), np.float32), X
    for _ in range(n):
        s = s + a.max(1, keepdims=True)
        a = a - s
    return {"Y": a, "S": s}

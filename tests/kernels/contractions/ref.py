"""What the kernels beside this file compute, in NumPy: one function per kernel. All but `long_sum` are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Result = dict[str, Array]


# ---- contractions ---------------------------------------------------------------------------------------


def sizes(A: Array, B: Array, T: Array, C: Array, D: Array) -> Result:
    return {"C": A @ B, "D": A @ T.T}


def one_product(A: Array, B: Array, C: Array, D: Array, E: Array) -> Result:
    return {"C": A @ B, "D": A @ B, "E": A[:, :12] @ A[:, :12]}


def units_dropped(Q: Array, K: Array, Y: Array, Z: Array) -> Result:
    s = Q[1, 2] @ K[1, :, 0].T
    return {"Y": s, "Z": s[None, :, None, :]}


def epilogues(A: Array, B: Array, P: Array, C: Array, s: float, t: float) -> Result:
    acc = A @ B
    both = s * acc + t * P
    return {"C": np.stack([acc, s * acc, acc + P, s * acc + P, both, both])}


def f16_accumulator(A: Array, B: Array, C: Array, D: Array) -> Result:
    total = np.full((16, 16), 2048 + A.shape[1])  # Between 2048 and 4096 an f16 is even: 16s do not round.
    return {"C": total, "D": total * 2.0}


def large_bytes(C: Array, D: Array) -> Result:
    return {"C": np.full_like(C, 160 * (127 * 127 + 128 * 128)), "D": np.full_like(D, -300000)}


def scaled_accumulator(A: Array, B: Array, R: Array, C: Array, Y: Array) -> Result:
    acc = np.ones((16, 16))
    for k in range(0, A.shape[1], 16):
        acc = acc * R + A[:, k : k + 16] @ B[k : k + 16] - C
    return {"Y": acc}


def stored_operand(A: Array, B: Array) -> Result:
    b = B
    for _ in range(3):
        b = A @ b - 1.0
    return {"B": b}


def mean_key(Q: Array, K: Array, S: Array) -> Result:
    return {"S": Q @ K.mean(0, keepdims=True).T}


def scaled_int8(A: Array, B: Array, R: Array, Y: Array, s: float) -> Result:
    return {"Y": A @ B.T * s + np.floor(R)}


def k_tile_24(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def n_tile(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def twelve_warps(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def chained(A: Array, B: Array, C: Array) -> Result:
    return {"C": np.full_like(C, 64.0**3 * 32 * 32)}


def into_one_accumulator(A: Array, B: Array, C: Array, D: Array) -> Result:
    both = A @ B + sum(A[:, k : k + 8] @ A[:, k : k + 8].T for k in range(0, A.shape[1], 8))
    return {"C": both, "D": both}


def bytes_to_f16(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B.T}


def masked_on_three_sides(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def long_sum(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B.T}


def zero_accumulator(A: Array, B: Array, C: Array, D: Array) -> Result:
    return {"C": A @ B * 2, "D": A @ B * 1000}


def smallest(A: Array, B: Array, C: Array, D: Array) -> Result:
    return {"C": A @ B.T, "D": A[1:] @ A.T}


def outer_sums(A: Array, B: Array, Y: Array) -> Result:
    return {"Y": A[:, :, 0] @ B[0]}


def square_of_itself(P: Array) -> Result:
    return {"P": np.full_like(P, len(P) ** 3)}


# ---- pipelines ------------------------------------------------------------------------------------------


def few_trips(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def whole_and_rest(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def index_of_each_trip(I: Array, A: Array, B: Array, Y: Array, C: Array, n: int) -> Result:
    return {"I": np.arange(7, -1, -1), "Y": np.arange(8, 0, -1), "C": A @ B}


def sums_beside_products(A: Array, B: Array, C: Array, S: Array, T: Array) -> Result:
    s = np.pad(A, ((0, 0), (0, -A.shape[1] % 8))).reshape(8, -1, 8).sum(1)
    return {"C": A @ B, "S": s, "T": s * 2.0}


def filled_with_ones(A: Array, B: Array, C: Array) -> Result:
    return {"C": np.hstack([A, np.ones((8, 48 - A.shape[1]))]) @ B[:48]}


def zero_first(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def overwritten_operand(A: Array, B: Array, C: Array) -> Result:
    t = A
    for k in range(0, 32, 8):
        t = t @ B[k : k + 8] - t
    return {"C": t}


def bias_and_relu(A: Array, B: Array, V: Array, C: Array) -> Result:
    return {"C": np.maximum(A @ B + V, 0.0)}


def two_loops(A: Array, B: Array, D: Array, E: Array, C: Array) -> Result:
    return {"C": A @ B + D @ E}


def tiles_in_turn(A: Array, B: Array, C: Array) -> Result:
    return {"C": A @ B}


def every_tile_once(C: Array) -> Result:
    return {"C": C + 1}


def written_name(A: Array, B: Array, C: Array) -> Result:
    acc, b = np.zeros((8, 8)), B
    for k in range(0, 32, 8):
        acc, b = acc + A[:, k : k + 8] @ b, b + A[:, k : k + 8]
    return {"C": acc}

"""Triton's row kernels, as its tutorials write them: a whole row per program, in registers."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def softmax(x, y, n, cols: tl.constexpr):  # type: ignore[no-untyped-def]
    """y = softmax of each row of x; a row has n elements, at most `cols`."""
    row = tl.program_id(0)
    at = tl.arange(0, cols)
    inside = at < n
    values = tl.load(x + row * n + at, mask=inside, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * n + at, (values / tl.sum(values, 0)).to(tl.float16), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def rms_norm(x, g, y, n, eps, cols: tl.constexpr):  # type: ignore[no-untyped-def]
    """y = x / sqrt(mean(x^2) + eps) * g for each row."""
    row = tl.program_id(0)
    at = tl.arange(0, cols)
    inside = at < n
    values = tl.load(x + row * n + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, 0) / n + eps)
    weights = tl.load(g + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * n + at, (values * scale * weights).to(tl.float16), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def layer_norm(x, g, b, y, n, eps, cols: tl.constexpr):  # type: ignore[no-untyped-def]
    """y = (x - mean(x)) / sqrt(var(x) + eps) * g + b for each row."""
    row = tl.program_id(0)
    at = tl.arange(0, cols)
    inside = at < n
    values = tl.load(x + row * n + at, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, values - tl.sum(values, 0) / n, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / n + eps)
    weights = tl.load(g + at, mask=inside, other=0.0).to(tl.float32)
    shift = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * n + at, (centred * scale * weights + shift).to(tl.float16), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def row_sum(x, y, n, cols: tl.constexpr):  # type: ignore[no-untyped-def]
    """y = the sum of each row, walked in chunks of `cols`."""
    row = tl.program_id(0)
    at = tl.arange(0, cols)
    total = tl.zeros((cols,), tl.float32)
    for c in range(0, n, cols):
        total += tl.load(x + row * n + c + at, mask=c + at < n, other=0.0)
    tl.store(y + row, tl.sum(total, 0))

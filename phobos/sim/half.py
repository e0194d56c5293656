"""f16 and bf16 arithmetic, alone and in pairs, and the sign instructions of every float type.

A value is widened exactly to f64, computed there with the sign of what is lost, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import numerics as n
from .state import State
from .syntax import Instruction
from .table import Step, unknown
from .types import TYPES

Array = NDArray[Any]
NAMES = ("f16", "f16x2", "bf16", "bf16x2")


def widen(bits: Array, name: str) -> Array:
    """16-bit patterns as f64."""
    if name.startswith("bf16"):
        return n.bf16_to_f32(bits).astype(np.float64)
    return np.asarray(bits).view(np.float16).astype(np.float64)


def rounded(s: Array, e: Array, name: str) -> Array:
    """f64 with the sign of its error as a 16-bit pattern."""
    if name.startswith("bf16"):
        return n.f32_to_bf16(n.odd32(s, e))
    return np.asarray(n.to_f16(s, e)).view(np.uint16)


def lifted(fn: Callable[..., Array], name: str) -> tuple[Callable[..., Array], Any]:
    """A function of 16-bit patterns as one of registers of a type, and that type."""
    if not name.endswith("x2"):
        return fn, TYPES["b16"]

    def both(*words: Array) -> Array:
        low = fn(*((w & np.uint32(0xFFFF)).astype(np.uint16) for w in words))
        high = fn(*((w >> np.uint32(16)).astype(np.uint16) for w in words))
        return low.astype(np.uint32) | (high.astype(np.uint32) << np.uint32(16))

    return both, TYPES["b32"]


def build(state: State, i: Instruction) -> Step:
    """add, sub, mul and fma."""
    name = i.modifiers[-1]
    for modifier in i.modifiers[:-1]:
        if modifier not in ("rn", "ftz", "sat", "relu", "noftz"):
            raise unknown(i, f"modifier '.{modifier}'")
    flush, sat, relu = "ftz" in i.modifiers, "sat" in i.modifiers, "relu" in i.modifiers
    op = i.opcode
    if op not in ("add", "sub", "mul", "fma"):
        raise unknown(i)

    def ftz(bits: Array) -> Array:
        if not flush:
            return bits
        exponent = np.uint16(0x7F80 if name.startswith("bf16") else 0x7C00)
        return np.where(bits & exponent == 0, bits & np.uint16(0x8000), bits).astype(np.uint16)

    def fn(*patterns: Array) -> Array:
        x = [widen(ftz(p), name) for p in patterns]
        if op == "mul":
            s, e = x[0] * x[1], np.zeros_like(x[0])
        elif op == "fma":
            s, e = n.two_sum(x[0] * x[1], x[2])
        else:
            s, e = n.two_sum(x[0], x[1] if op == "add" else -x[1])
        if sat:
            s, e = n.saturate(s), np.where((s > 0) & (s < 1), e, 0.0)
        r = ftz(rounded(s, e, name))
        if relu:
            negative = (r & np.uint16(0x8000) != 0) & ~np.isnan(s)
            r = np.where(negative, np.uint16(0), r)
        return r.astype(np.uint16)

    function, type_ = lifted(fn, name)
    return state.pure(i, function, type_, tuple((operand, type_) for operand in i.operands[1:]))


def sign(state: State, i: Instruction) -> Step:
    """neg and abs: the sign bit alone, NaN included."""
    name = i.modifiers[-1]
    for modifier in i.modifiers[:-1]:
        if modifier != "ftz":
            raise unknown(i, f"modifier '.{modifier}'")
    bits = 32 if name.endswith("x2") else TYPES[name].bits
    type_ = TYPES[f"b{bits}"]
    t = type_.dtype.type
    top = t(1 << (bits - 1)) | (t(0x8000) if name.endswith("x2") else t(0))
    ftz = "ftz" in i.modifiers and name == "f32"

    def fn(x: Array) -> Any:
        if ftz:
            x = n.flush32(x.view(np.float32)).view(np.uint32)
        return x ^ top if i.opcode == "neg" else x & ~top

    return state.pure(i, fn, type_, ((i.operands[1], type_),))


def extreme(state: State, i: Instruction) -> Step:
    """min and max."""
    from .arith_float import extreme_function

    name = i.modifiers[-1]
    for modifier in i.modifiers[:-1]:
        if modifier not in ("ftz", "NaN", "xorsign", "abs"):
            raise unknown(i, f"modifier '.{modifier}'")
    pick = extreme_function(i.opcode, i.modifiers, np.float64(np.nan))

    def fn(*patterns: Array) -> Array:
        r = pick(*(widen(p, name) for p in patterns))
        return rounded(r, np.zeros_like(r), name).astype(np.uint16)

    function, type_ = lifted(fn, name)
    return state.pure(i, function, type_, tuple((operand, type_) for operand in i.operands[1:]))

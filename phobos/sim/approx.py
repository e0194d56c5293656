"""The approximate functions, computed in f64 and rounded to nearest, well within the errors that the ISA states.

The ISA's errors: ex2 2^-22.5 relative, lg2 2^-22 absolute or relative, sin and cos 2^-20.5 absolute, tanh 2^-11
relative, rcp 1 ulp, rsqrt 2^-22.9 relative, sqrt 2^-23 relative, div.approx and div.full 2 ulp. Special values are as
its tables have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import numerics as n
from .state import State
from .syntax import Instruction
from .table import Step, instruction, unknown
from .types import TYPES

Array = NDArray[Any]

FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "ex2": np.exp2, "lg2": np.log2, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sqrt": np.sqrt,
    "rcp": lambda x: 1.0 / x, "rsqrt": lambda x: np.where(x < 0, np.nan, 1.0 / np.sqrt(x)),
}  # fmt: skip


@instruction("ex2", "lg2", "sin", "cos", "tanh", "rsqrt")
def build(state: State, i: Instruction) -> Step:
    for modifier in i.modifiers[:-1]:
        if modifier not in ("approx", "ftz"):
            raise unknown(i, f"modifier '.{modifier}'")
    name, function, ftz = i.modifiers[-1], FUNCTIONS[i.opcode], "ftz" in i.modifiers
    if name == "f32":

        def f32(x: Array) -> Array:
            r = function((n.flush32(x) if ftz else x).astype(np.float64)).astype(np.float32)
            return n.canonical(n.flush32(r) if ftz else r)

        return state.pure(i, f32, TYPES["f32"], ((i.operands[1], TYPES["f32"]),))
    if name == "f64" and i.opcode in ("rcp", "rsqrt") and ftz:
        # rcp.approx.ftz.f64 gives a coarse start for refinement: 20 bits of mantissa, the low word zero.
        def f64(x: Array) -> Array:
            return (function(x).view(np.uint64) & np.uint64(0xFFFF_FFFF_0000_0000)).view(np.float64)

        return state.pure(i, f64, TYPES["f64"], ((i.operands[1], TYPES["f64"]),))
    from . import half

    if name not in half.NAMES or i.opcode not in ("ex2", "tanh"):
        raise unknown(i, "type")

    def patterns(p: Array) -> Array:
        r = function(half.widen(p, name))
        return half.rounded(r, np.zeros_like(r), name).astype(np.uint16)

    fn, type_ = half.lifted(patterns, name)
    return state.pure(i, fn, type_, ((i.operands[1], type_),))


def divide_approx(full: bool) -> Callable[..., Array]:
    """div.approx multiplies by a reciprocal, which is 0 for divisors above 2^126; div.full scales first."""

    def divide(a: Array, b: Array) -> Array:
        r = n.canonical(np.asarray(a.astype(np.float64) / b.astype(np.float64)).astype(np.float32))
        if full:
            return r
        large = (np.abs(b) > np.float32(2.0**126)) & np.isfinite(b)
        return np.where(large, np.where(np.isfinite(a), np.copysign(np.float32(0), r), n.NAN32), r)

    return divide

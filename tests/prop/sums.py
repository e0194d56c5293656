"""Whether the float sums of a program are the same in every order, seen while the interpreter computes them.

The language leaves the order of a float reduction or scan open. Where all partial sums are exact in whatever order the
interpreter and the machine must agree bit for bit; where they are not, a program says nothing about that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from phobos.interp import machine
from phobos.interp.machine import Machine
from phobos.ir.core import Op
from phobos.ir.reduce_ops import Reduce
from phobos.ir.shape_ops import Scan
from phobos.ir.tile_ops import element

BITS = {"f16": 24, "bf16": 24, "f32": 24, "f64": 53}
"""Of what a float of each type is summed in."""
LARGEST = {"f16": 6e4, "bf16": 1e38, "f32": 1e38, "f64": 1e300}


@dataclass
class Sums:
    """ordered: whether a sum depends on its order."""

    ordered: bool = False

    def meet(self, op: Reduce | Scan, m: Machine) -> None:
        elem = element(op.a.type)
        if op.kind != "sum" or not elem.is_float or self.ordered:
            return
        a = np.moveaxis(np.asarray(m[op.a], np.float64), op.axis, 0)
        finite = np.where(np.isfinite(a), a, 0.0)
        self.ordered = not _any_order(finite, BITS[elem.name], LARGEST[elem.name])
        zeros = (a == 0) & np.signbit(a)
        self.ordered |= bool(np.any(np.all(zeros, axis=0)))  # a thread that holds none of them adds +0 or nothing


def _any_order(a: np.ndarray[Any, Any], bits: int, largest: float) -> bool:
    """Whether sums along the first axis need few bits: all numbers are multiples of one, and few times that one."""
    mantissa, exponent = np.frexp(a)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.where(whole == 0, np.inf, np.ldexp((whole & -whole).astype(np.float64), exponent - 53))
    unit = np.min(lowest, axis=0, initial=np.inf)
    most = np.sum(np.abs(a), axis=0)
    return bool(np.all((most == 0) | ((most < largest) & (most <= 2.0 ** (bits - 1) * unit))))


@contextmanager
def watched() -> Iterator[Sums]:
    """Watch what the interpreter sums."""
    sums = Sums()
    before: dict[type[Op], Any] = {cls: machine.MEANING[cls] for cls in (Reduce, Scan)}

    def hooked(meaning: Any) -> Any:
        def both(m: Machine, op: Any) -> Any:
            sums.meet(op, m)
            return meaning(m, op)

        return both

    try:
        machine.MEANING.update({cls: hooked(meaning) for cls, meaning in before.items()})
        yield sums
    finally:
        machine.MEANING.update(before)

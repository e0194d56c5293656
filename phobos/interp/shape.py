"""The meaning of the ops that move elements: `transpose`, `scan`, `gather`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir.shape_ops import Gather, Scan, Transpose
from ..ir.tile_ops import element
from .elementwise import binary
from .machine import Machine, means
from .memory import InterpError, check_extents
from .numbers import Array, to_held

SHAPE_OPS = (Gather, Scan, Transpose)


@means(Transpose)
def _transpose(m: Machine, op: Transpose) -> Sequence[Array]:
    return (np.transpose(m[op.a]),)


@means(Scan)
def _scan(m: Machine, op: Scan) -> Sequence[Array]:
    """First to last, which is one order of many for floats."""
    elem, tile = element(op.a.type), np.moveaxis(np.asarray(m[op.a]), op.axis, 0)
    out = np.array(tile)
    for i in range(1, len(out)):
        out[i] = binary("add", out[i - 1], tile[i], elem)
    return (np.moveaxis(out, 0, op.axis),)


@means(Gather)
def _gather(m: Machine, op: Gather) -> Sequence[Array]:
    array = m.arrays[op.tensor]
    check_extents(op, op.tensor, array, m.numbers(op.extents))
    indices = [np.asarray(m[v]).astype(np.int64) for v in op.indices]
    for axis, (at, extent) in enumerate(zip(indices, array.shape, strict=True)):
        outside = at[(at < 0) | (at >= extent)]
        if outside.size:
            raise InterpError(op, f"index {outside[0]} of axis {axis} of {op.tensor} is outside its extent {extent}")
    return (to_held(array[tuple(indices)], element(op.out.type)),)

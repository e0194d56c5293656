"""order: start blocks that lie side by side in the rows of memory one after another.

Requires: form "guarded". Ensures: `kernel.order` has the grid's axes from the fastest on. The hardware starts blocks
along x first. Where a kernel lays x across the rows of its tensors and y along them, blocks that run together would
each be in rows of their own: DRAM pages are opened for one tile's width, and where a tile's rows begin or end inside a
sector, both halves of the sector travel at different times. On an H200 a copy in 64x64 tiles of f32 gains 6% of
bandwidth at 16384 x 16384, and 22% at 16380 x 16380 (`docs/decisions/011-block-order.md`).

A kernel with a contraction keeps the hardware's order: its blocks share operands along both axes.
"""

from __future__ import annotations

from math import prod

from ..diagnostics import Diagnostic, Severity
from ..ir.core import Value
from ..ir.kernel import Kernel
from ..ir.tile_ops import Dot, Load, ProgramId, Store, shape_of
from ..ir.types import Tensor
from .affine import AXES, Indices
from .options import Options


def run(kernel: Kernel, options: Options) -> Kernel:
    ops = kernel.walk()
    if any(isinstance(op, Dot) for op in ops):
        return kernel
    indices = Indices(kernel)
    along, across = [0, 0, 0], [0, 0, 0]
    for op in ops:
        if isinstance(op, Load | Store) and isinstance(op.tensor.type, Tensor):
            tile = op.out.type if isinstance(op, Load) else op.value.type
            moved = prod(shape_of(tile)) * op.tensor.type.elem.size_bytes
            for a in range(3):
                if _moves(indices, op.offsets[-1], a):
                    along[a] += moved
                elif any(_moves(indices, offset, a) for offset in op.offsets[:-1]):
                    across[a] += moved
    order: list[int] = []
    for a in range(3):
        passed = [i for i, b in enumerate(order) if across[b] > along[b]] if along[a] > across[a] else []
        order.insert(passed[0] if passed else len(order), a)
    if order == [0, 1, 2]:
        return kernel
    remark = Diagnostic(
        Severity.REMARK,
        "PR502",
        f"blocks start along {AXES[order[0]]} first: that is how their tiles lie side by side in memory",
        kernel.span,
    )
    return kernel.replace(order=tuple(order), remarks=(*kernel.remarks, remark))


def _moves(indices: Indices, offset: Value, axis: int) -> bool:
    """Whether an offset is a sum that a block's index along the axis takes part in."""
    for v, _ in indices.affine(offset).terms:
        source = indices.defs.get(v)
        if isinstance(source, ProgramId) and source.axis == axis:
            return True
    return False

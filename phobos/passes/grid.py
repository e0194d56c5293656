"""facts: infer the grid from the subscripts.

Requires: form "built". Ensures: `kernel.grid` says for each axis ceil(extent / tile), or why that is unknown.
A start that is T times ctx.block.a and nothing else claims ceil(dim / T) blocks along a; all claims must be equal.
"""

from __future__ import annotations

from ..diagnostics import Diagnostic, Severity
from ..ir.core import Op, Value
from ..ir.kernel import GridAxis, Kernel
from ..ir.memory import is_shared
from ..ir.thread_ops import Atomic, LoadRun, StoreRun
from ..ir.tile_ops import Load, LoadPoint, ProgramId, Store, StorePoint
from .affine import AXES, Indices
from .options import Options

Accesses = Load | Store | LoadPoint | StorePoint | LoadRun | StoreRun | Atomic
Claim = tuple[int | str, int]


def run(kernel: Kernel, options: Options) -> Kernel:
    indices = Indices(kernel)
    claims: list[dict[Claim, Op]] = [{}, {}, {}]
    used = [False, False, False]
    for op in kernel.walk():
        if isinstance(op, ProgramId):
            used[op.axis] = True
        if isinstance(op, Accesses) and not is_shared(op.tensor):
            for offset, extent in zip(op.offsets, op.extents, strict=True):
                start = indices.span_start(offset) if isinstance(op, Load | Store) and op.limits else offset
                _claim(indices, op, start, extent, claims)
    grid = tuple(_axis(a, used[a], claims[a]) for a in range(3))
    remarks = tuple(
        Diagnostic(Severity.REMARK, "PR501", f"the grid along {AXES[a]} must be given: {axis.unknown}", kernel.span)
        for a, axis in enumerate(grid)
        if axis.unknown
    )
    return kernel.replace(grid=grid, remarks=kernel.remarks + remarks)


def _claim(indices: Indices, op: Op, offset: Value, extent: Value, claims: list[dict[Claim, Op]]) -> None:
    a, e = indices.affine(offset), indices.affine(extent)
    if len(a.terms) != 1 or a.const != 0 or a.terms[0][1] <= 0:
        return
    source = indices.defs.get(a.terms[0][0])
    if isinstance(source, ProgramId):
        dim: int | str = e.const if e.is_const else extent.name
        claims[source.axis].setdefault((dim, a.terms[0][1]), op)


def _axis(axis: int, used: bool, claims: dict[Claim, Op]) -> GridAxis:
    if not used:
        return GridAxis(1, 1)
    name = f"ctx.block.{AXES[axis]}"
    if not claims:
        return GridAxis(1, 1, f"no subscript starts at a multiple of {name} alone")
    if len(claims) > 1:
        numbers = {-(-e // t) for e, t in claims if isinstance(e, int)}
        if not (len(numbers) == 1 and all(isinstance(e, int) for e, _ in claims)):
            said = ", ".join(f"ceil({e} / {t}) at line {op.span.line}" for (e, t), op in claims.items())
            return GridAxis(1, 1, f"subscripts disagree about {name}: {said}")
    extent, tile = next(iter(claims))
    return GridAxis(extent, tile)

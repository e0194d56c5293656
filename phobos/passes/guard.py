"""guard: drop each mask whose dimension is proved to fit, and say why the others stay.

Requires: form "folded"; accesses that may be masked carry "both" ("hi" where a negative start is the caller's duty),
the others "". What ends an axis is its limit where the access has one. Ensures: a guard is "" only where the
language never masks or where a proof stands; `why` holds the reason per axis. Facts used join `kernel.used`.
"""

from __future__ import annotations

from ..ir.core import Op, Value
from ..ir.kernel import Fact, Kernel
from ..ir.rewrite import Rewriter
from ..ir.tile_ops import Load, Store, shape_of
from .affine import Indices
from .options import Options


def run(kernel: Kernel, options: Options) -> Kernel:
    indices = Indices(kernel)
    used: set[Fact] = set()

    def visit(op: Op, rewriter: Rewriter) -> Op | None:
        return _guarded(op, indices, used) if isinstance(op, Load | Store) else None

    body = Rewriter(visit).block(kernel.body)
    return kernel.replace(body=body, used=kernel.used | used)


def _guarded(op: Load | Store, indices: Indices, used: set[Fact]) -> Load | Store:
    shape = shape_of(op.out.type if isinstance(op, Load) else op.value.type)
    why = op.why or ("",) * len(op.guards)
    guards: list[str] = []
    reasons: list[str] = []
    for offset, end, span, guard, reason in zip(op.offsets, op.ends, shape, op.guards, why, strict=True):
        if not guard:
            guards.append(guard)
            reasons.append(reason)
            continue
        low = guard in ("lo", "both") and not indices.nonnegative(offset)
        proof = indices.fits(offset, span, end)
        if proof is not None:
            used |= proof.facts
        guards.append(("lo" if low else "") if proof else ("both" if low else "hi"))
        reasons.append(_reason(indices, offset, end, span, low, proof.why if proof else ""))
    return op.replace(guards=tuple(guards), why=tuple(reasons))


def _reason(indices: Indices, offset: Value, end: Value, span: int, low: bool, proof: str) -> str:
    lower = "the start may be negative" if low else ""
    if proof:
        return f"fits: {proof}" + (f"; {lower}" if lower else "")
    number = indices.constant(end)
    name = str(number) if number is not None else end.name
    below = indices.below(offset, end)
    if below is None:
        upper = f"the start is not proved to lie below {name}"
    elif indices.divides(span, end) is None:
        upper = f"{name} is not known to be a multiple of {span}"
    else:
        upper = f"the start is not known to be a multiple of {span}"
    return upper + (f"; {lower}" if lower else "")

"""split: a loop that walks a run-time extent in steps of its tile becomes whole tiles and a masked remainder.

Requires: form "placed". Ensures: of a split loop, the part "whole" runs from lo to
lo + floor((min(hi, E) - lo) / T) * T, where E is the least extent that its spans walk, and the guards of those spans
are gone there; a second loop runs on to hi with every guard kept, the part "remainder" where hi is E, which leaves it
at most one trip, else "tail". Only spans of tensors, of static length T, that start at the loop's own variable
count.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import Diagnostic, Severity
from ..ir.build import Builder
from ..ir.core import Block, Op, Value
from ..ir.kernel import Kernel
from ..ir.memory import is_shared
from ..ir.rewrite import Rewriter, clone_op
from ..ir.tile_ops import For, Load, Store, shape_of
from .affine import Indices
from .options import Options


@dataclass(frozen=True)
class Walk:
    """An access and an axis whose span starts at the loop variable and is masked; end: where the mask does."""

    op: Load | Store
    axis: int
    end: Value


def run(kernel: Kernel, options: Options) -> Kernel:
    indices = Indices(kernel)
    remarks: list[Diagnostic] = []

    def visit(op: Op, rewriter: Rewriter) -> tuple[Op, ...] | None:
        if not isinstance(op, For):
            return None
        walks = _walks(op, indices)
        if not walks:
            remarks.extend(_unsplit(op, indices))
            return None
        return _split(op, walks, indices, remarks)

    # Inner loops first, so that both parts of an outer loop hold split inner ones.
    body = Rewriter(visit, inner_first=True).block(kernel.body)
    return kernel.replace(body=body, remarks=kernel.remarks + tuple(remarks))


def _walks(loop: For, indices: Indices) -> list[Walk]:
    step = indices.constant(loop.step)
    iv = loop.body.params[0]
    found: list[Walk] = []
    if step is None or loop.part:
        return found
    for op in loop.body.walk():
        if not isinstance(op, Load | Store) or is_shared(op.tensor):
            continue
        shape = shape_of(op.out.type if isinstance(op, Load) else op.value.type)
        for axis, guard in enumerate(op.guards):
            if guard in ("hi", "both") and op.offsets[axis] is iv and shape[axis] == step:
                found.append(Walk(op, axis, op.ends[axis]))
    return found


def _unsplit(loop: For, indices: Indices) -> list[Diagnostic]:
    """A remark when the loop walks something masked in a way that cannot be split."""
    iv = loop.body.params[0]
    step = indices.constant(loop.step)
    for op in loop.body.ops:
        if not isinstance(op, Load | Store) or loop.part or is_shared(op.tensor):
            continue
        shape = shape_of(op.out.type if isinstance(op, Load) else op.value.type)
        for axis, guard in enumerate(op.guards):
            if guard not in ("hi", "both") or not any(v is iv for v, _ in indices.affine(op.offsets[axis]).terms):
                continue
            if op.offsets[axis] is not iv:
                why = f"the start of {op.tensor.name}'s span is not the loop variable itself"
            elif step is None:
                why = "its step is not a constant"
            else:
                why = f"it steps by {step} and the span of {op.tensor.name} has {shape[axis]} elements"
            return [Diagnostic(Severity.REMARK, "PR304", f"loop not split: {why}; every trip is masked", loop.span)]
    return []


def _split(loop: For, walks: list[Walk], indices: Indices, remarks: list[Diagnostic]) -> tuple[Op, ...]:
    b = Builder(loop.span)
    step = indices.constant(loop.step)
    assert step is not None
    limits: list[Value] = []
    for v in (loop.stop, *(w.end for w in walks)):
        if not any(indices.same(v, seen) for seen in limits):
            limits.append(v)
    # Constants defined inside the loop do not reach out of it: make them again.
    limits = [b.const(n) if (n := indices.constant(v)) is not None else v for v in limits]
    last = limits[0]
    for v in limits[1:]:
        last = b.min(last, v)
    start = indices.constant(loop.start)
    if start == 0:
        room = last if last in indices.kernel.dims else b.max(last, 0)
    else:
        room = b.max(b.sub(last, loop.start), 0)
    tiles = b.sub(room, b.rem(room, loop.step if start != 0 else b.const(step)))
    middle = tiles if start == 0 else b.add(loop.start, tiles, name="middle")

    whole = clone_op(loop.replace(body=_unmasked(loop, walks), stop=middle, part="whole"), {})
    assert isinstance(whole, For)
    # What is left of the extent is less than a tile. A loop that may run past the extent can have more trips.
    once = len(limits) == 1
    part = "remainder" if once else "tail"
    rest = loop.replace(start=middle, inits=whole.outs, part=part, stages=0, unroll=0)
    names = ", ".join(dict.fromkeys(w.op.tensor.name for w in walks))
    remarks.append(
        Diagnostic(
            Severity.REMARK,
            "PR303",
            f"loop split: whole tiles of {step} unmasked along {names}, "
            f"then {'one masked remainder' if once else 'masked trips to the end'}",
            loop.span,
        )
    )
    return (*b.take(), whole, rest)


def _unmasked(loop: For, walks: list[Walk]) -> Block:
    axes: dict[int, list[int]] = {}
    for w in walks:
        axes.setdefault(id(w.op), []).append(w.axis)

    def visit(op: Op, rewriter: Rewriter) -> Op | None:
        if id(op) not in axes or not isinstance(op, Load | Store):
            return None
        guards, why = list(op.guards), list(op.why or ("",) * len(op.guards))
        for axis in axes[id(op)]:
            guards[axis] = "lo" if guards[axis] == "both" else ""
            why[axis] = "whole tiles: the masked rest has its own loop"
        return op.replace(guards=tuple(guards), why=tuple(why))

    return Rewriter(visit).block(loop.body)

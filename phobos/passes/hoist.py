"""hoist: move pure ops whose operands do not change out of loops.

Requires: form "folded". Ensures: no pure op is left in a loop that could stand before it. Loads stay: a loop of no
trips must not touch memory. So does an `alloc`, which stands where its variable is declared.
"""

from __future__ import annotations

from ..ir.core import Block, Effect, Op, Value
from ..ir.cta_ops import Alloc
from ..ir.kernel import Kernel
from ..ir.tile_ops import For, While
from .options import Options


def run(kernel: Kernel, options: Options) -> Kernel:
    known: set[Value] = set(kernel.parameters)
    return kernel.replace(body=_block(kernel.body, known))


def _block(block: Block, outer: set[Value]) -> Block:
    known = outer | set(block.params)
    ops: list[Op] = []
    for op in block.ops:
        names = [n for n in ("body", "cond", "then", "orelse") if isinstance(getattr(op, n, None), Block)]
        if names:
            op = op.replace(**{n: _block(getattr(op, n), known) for n in names})
        if isinstance(op, For | While):
            op, moved = _lift(op, known)
            ops.extend(moved)
            for m in moved:
                known.update(m.results())
        ops.append(op)
        known.update(op.results())
    return Block(block.params, tuple(ops))


def _lift(loop: For | While, known: set[Value]) -> tuple[For | While, list[Op]]:
    """The loop without its invariant pure ops, and those ops in order."""
    moved: list[Op] = []
    outside = set(known)
    parts: dict[str, Block] = {}
    for name in ("cond", "body") if isinstance(loop, While) else ("body",):
        block: Block = getattr(loop, name)
        stay: list[Op] = []
        for op in block.ops:
            if (
                op.effects is Effect.NONE
                and not op.regions()
                and not op.terminator
                and not isinstance(op, Alloc)
                and all(v in outside for v in op.operands())
            ):
                moved.append(op)
                outside.update(op.results())
            else:
                stay.append(op)
        parts[name] = Block(block.params, tuple(stay))
    return loop.replace(**parts), moved

"""lift: stage once, before a loop, an operand that the loop does not change.

Requires: form "staged", before `pipeline`. Ensures: a `write` of a value from outside a loop into a buffer that nothing
else writes does not stand in the loop. The buffer then keeps its bytes through the loop, and the value's registers are
free in it. Where all buffers at once would not fit the chip's shared memory, nothing is moved: they may share bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..diagnostics import Diagnostic, Severity
from ..ir.core import Block, Effect, Op, Role, Value
from ..ir.cta_ops import Alloc, Write
from ..ir.kernel import Kernel
from ..ir.tile_ops import For, While
from ..ir.types import Buffer
from .options import Options


def run(kernel: Kernel, options: Options) -> Kernel:
    lifter = _Lifter(kernel)
    body = lifter.block(kernel.body)
    if not lifter.lifted:
        return kernel
    needed = sum(
        op.out.type.size_bytes for op in kernel.walk() if isinstance(op, Alloc) and isinstance(op.out.type, Buffer)
    )
    fits = needed <= options.target.max_dynamic_shared
    remarks = tuple(_remark(op, fits) for op in lifter.lifted)
    return kernel.replace(body=body if fits else kernel.body, remarks=kernel.remarks + remarks)


def _remark(op: Write, fits: bool) -> Diagnostic:
    name = op.value.name
    if fits:
        return Diagnostic(Severity.REMARK, "PR503", f"{name} is staged once, before the loop", op.span)
    message = f"{name} is staged in each trip: the buffers would not fit shared memory side by side"
    return Diagnostic(Severity.REMARK, "PR407", message, op.span)


class _Lifter:
    """Rebuilds blocks with such writes before their loops; `lifted` has each write once."""

    def __init__(self, kernel: Kernel) -> None:
        self.lifted: list[Write] = []
        ops = kernel.walk()
        self.writers = Counter(
            v for op in ops if op.effects & Effect.WRITE_SHARED for v in op.operands() if isinstance(v.type, Buffer)
        )

    def block(self, block: Block) -> Block:
        out: list[Op] = []
        for op in block.ops:
            inner = {name: self.block(getattr(op, name)) for name in op.fields(Role.REGION)}
            if isinstance(op, For | While):
                made = set(_defined(inner.values()))
                kept: list[Op] = []
                for each in inner["body"].ops:
                    (out if self._leaves(each, made) else kept).append(each)
                inner["body"] = Block(inner["body"].params, tuple(kept))
            out.append(op.replace(**inner) if inner else op)
        return Block(block.params, tuple(out))

    def _leaves(self, op: Op, made: set[Value]) -> bool:
        if not isinstance(op, Write) or self.writers[op.buffer] != 1 or made & set(op.operands()):
            return False
        if op not in self.lifted:
            self.lifted.append(op)
        return True


def _defined(blocks: Iterable[Block]) -> Iterable[Value]:
    for block in blocks:
        yield from block.params
        for op in block.walk():
            yield from op.results()
            yield from (p for b in op.regions() for p in b.params)

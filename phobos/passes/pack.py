"""pack: give every buffer its bytes; buffers whose lives do not overlap may share them.

Requires: form "staged". Ensures: each `alloc` has an offset, a multiple of 128; the total fits the target. A life runs
from the first to the last access in program order, and over the whole of a loop that an access stands in. Largest
first, first fit (the greedy of Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import CompileError, Diagnostic, Label, Severity
from ..ir.core import Block, Op, Value
from ..ir.cta_ops import Alloc
from ..ir.kernel import Kernel
from ..ir.rewrite import Rewriter
from ..ir.tile_ops import For, While
from ..ir.types import Buffer
from ..target import Target
from .options import Options

ALIGN = 128


@dataclass(frozen=True)
class Life:
    """When a buffer is live, in op numbers, both ends included."""

    first: int
    last: int

    def overlaps(self, other: Life) -> bool:
        return self.first <= other.last and other.first <= self.last


def run(kernel: Kernel, options: Options) -> Kernel:
    allocs = [op for op in kernel.body.walk() if isinstance(op, Alloc)]
    lived = lives(kernel.body)
    offsets: dict[Value, int] = {}
    for alloc in sorted(allocs, key=lambda a: -_size(a.out)):
        life = lived.get(alloc.out)
        if life is None:
            offsets[alloc.out] = 0
            continue
        taken = sorted((offsets[o], offsets[o] + _size(o)) for o in offsets if o in lived and lived[o].overlaps(life))
        at = 0
        for low, high in taken:
            if at + _size(alloc.out) <= low:
                break
            at = max(at, -(-high // ALIGN) * ALIGN)
        offsets[alloc.out] = at
    total = max((offsets[a.out] + _size(a.out) for a in allocs if a.out in lived), default=0)
    if total > options.target.max_dynamic_shared:
        raise CompileError((_exceeded(kernel, allocs, offsets, total, options.target),))

    def visit(op: Op, rewriter: Rewriter) -> Op | tuple[Op, ...] | None:
        if not isinstance(op, Alloc):
            return None
        return op.replace(offset_bytes=offsets[op.out]) if op.out in lived else ()

    return kernel.replace(body=Rewriter(visit).block(kernel.body))


def _size(buffer: Value) -> int:
    assert isinstance(buffer.type, Buffer)
    return buffer.type.size_bytes


def lives(body: Block) -> dict[Value, Life]:
    """The life of each buffer that is accessed at all."""
    found: dict[Value, Life] = {}
    clock = 0

    def visit(block: Block) -> None:
        nonlocal clock
        for op in block.ops:
            clock += 1
            start = clock
            touched = {v for v in op.operands() if isinstance(v.type, Buffer)}
            for inner in op.regions():
                visit(inner)
            if isinstance(op, For | While):
                blocks = op.regions()
                touched |= {v for b in blocks for o in b.walk() for v in o.operands() if isinstance(v.type, Buffer)}
            for v in touched:
                old = found.get(v, Life(start, start))
                found[v] = Life(min(old.first, start), max(old.last, clock))

    visit(body)
    return found


def _exceeded(kernel: Kernel, allocs: list[Alloc], offsets: dict[Value, int], total: int, target: Target) -> Diagnostic:
    limit = target.max_dynamic_shared
    rows = sorted(allocs, key=lambda a: offsets[a.out])
    ruler = tuple(
        f"{offsets[a.out]:>8} .. {offsets[a.out] + _size(a.out):<8} {a.label}: {a.out.type}, line {a.span.line}"
        + (f", since {a.why}" if a.why else "")
        for a in rows
    )
    # A tile in memory because it is too large for registers is no longer so where more threads hold it.
    large = any(r.code == "PR408" for r in kernel.remarks)
    return Diagnostic(
        Severity.ERROR,
        "PH501",
        f"kernel `{kernel.name}` needs {total} bytes of shared memory, {target.name} has {limit} for a block",
        kernel.span,
        "this kernel",
        tuple(Label(a.span, f"{_size(a.out)} bytes for {a.label}") for a in rows),
        ruler,
        ("choose smaller tiles, or more threads with @launch" if large else "choose smaller tiles or fewer stages",),
    )

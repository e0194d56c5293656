"""occupy: ask for as many resident blocks as a contraction's registers allow, when `@launch` does not say.

Requires: form "staged". Ensures: a kernel with an FMA contraction has `min_blocks`, so that the assembler keeps to the
registers that this many blocks leave it. Two blocks on a multiprocessor hide each other's barriers; left alone, the
assembler takes more registers than the loop needs and only one fits.
"""

from __future__ import annotations

import dataclasses

from ..diagnostics import Diagnostic, Severity
from ..ir.core import Block
from ..ir.cta_ops import DotFma
from ..ir.kernel import Kernel
from ..ir.types import Tile
from ..layout.register import Blocked
from .options import Options
from .pressure import Pressure

OTHER_REGISTERS = 32
"""Addresses, counters and predicates beside accumulators and two sets of operand fragments, as seen in SASS."""
MORE_ADDRESSES = 4
"""Of each further contraction in a loop."""


def run(kernel: Kernel, options: Options) -> Kernel:
    launch = kernel.attributes.launch
    dots = [op for op in kernel.walk() if isinstance(op, DotFma)]
    if launch.min_blocks is not None or not dots or kernel.attributes.registers or launch.max_regs:
        return kernel
    # Elsewhere the assembler can finish a few elements of a tile before it turns to the next ones.
    behind = dict(Pressure(kernel).behind())
    need = OTHER_REGISTERS + _addresses(kernel.body) + max(behind[op] + _fragments(op) for op in dots)
    blocks = options.target.registers_per_sm // (kernel.threads * need)
    blocks = min(blocks, options.target.max_threads_per_sm // kernel.threads)
    if blocks < 1:
        return kernel
    remark = Diagnostic(
        Severity.REMARK,
        "PR404",
        f"{blocks} resident block{'s' if blocks > 1 else ''} asked for: about {need} registers a thread are needed",
        dots[0].span,
        help=("@launch(threads, min_blocks) chooses otherwise",),
    )
    attributes = dataclasses.replace(kernel.attributes, launch=dataclasses.replace(launch, min_blocks=blocks))
    return kernel.replace(attributes=attributes, remarks=(*kernel.remarks, remark))


def _addresses(block: Block) -> int:
    """Registers for the operands' addresses of the contractions of a loop beyond the first."""
    here = MORE_ADDRESSES * (sum(isinstance(op, DotFma) for op in block.ops) - 1)
    return max([here, 0, *(_addresses(region) for op in block.ops for region in op.regions())])


def _fragments(op: DotFma) -> int:
    """Registers of a contraction's operands in this step and the next."""
    t = op.out.type
    assert isinstance(t, Tile) and isinstance(t.layout, Blocked)
    rows, cols = (r * v for r, v in zip(t.layout.repeats, t.layout.vector, strict=True))
    return 2 * (rows + cols) * max(t.elem.size_bytes // 4, 1)

"""stage: from tiles to what threads do. Contraction operands move into shared memory, accesses get their width.

Requires: form "placed". Ensures: only CTA ops and elementwise ops are left: each `dot` is a `dot_fma` over two buffers
that a `write` fills right before it, each `convert` a write and a read, or a `reshape` where no element moves; every
load and store has a width and a reason; loads of tensors that nothing writes are `invariant`. So it is with a thread's
own runs. Buffers have one slot; `pipeline` multiplies them.
"""

from __future__ import annotations

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..ir.build import Builder
from ..ir.core import Block, Op, Value
from ..ir.cta_ops import Alloc, DotFma, Read, Write
from ..ir.kernel import Fact, Kernel
from ..ir.rewrite import Rewriter
from ..ir.thread_ops import LoadRun, StoreRun
from ..ir.tile_ops import Convert, Dot, Load, LoadPoint, Reshape, Store, StorePoint, shape_of
from ..ir.types import Buffer, Scalar, Tensor, Tile
from ..layout.register import Blocked
from ..layout.shared import Swizzled
from .access import Width, access_width, run_width
from .affine import Indices
from .choose import VECTOR_BYTES, coalesced, operand_buffer, power_of_two_in
from .options import Options

SECTOR_BYTES = 32


def run(kernel: Kernel, options: Options) -> Kernel:
    stager = _Stager(kernel)
    body = Rewriter(stager.visit).block(kernel.body)
    return kernel.replace(
        body=Block(body.params, (*stager.top.take(), *body.ops)),
        used=kernel.used | frozenset(stager.used),
        remarks=kernel.remarks + tuple(stager.remarks),
    )


def copy_layout(shape: tuple[int, ...], elem: Scalar, fast: int, warps: int, width: int) -> Blocked:
    """Which thread copies what of a staged operand: whole vectors along the row, or single elements when the copy
    transposes; then a lane row is one 32-byte sector and the other lanes spread over the contiguous axis."""
    if fast == len(shape) - 1:
        return coalesced(shape, warps, elem.size_bytes, width * elem.size_bytes)
    return coalesced(shape, warps, elem.size_bytes, elem.size_bytes, SECTOR_BYTES // elem.size_bytes)


class _Stager:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.indices = Indices(kernel)
        self.used: set[Fact] = set()
        self.top = Builder(kernel.span)
        self.zero: Value | None = None
        self.remarks: list[Diagnostic] = []
        self.written = {op.tensor for op in kernel.walk() if isinstance(op, Store | StorePoint | StoreRun)}

    def visit(self, op: Op, rewriter: Rewriter) -> Op | tuple[Op, ...] | None:
        if isinstance(op, Dot):
            return self._dot(op)
        if isinstance(op, Convert):
            return self._convert(op)
        if isinstance(op, Load | Store):
            return self._access(op)
        if isinstance(op, LoadRun | StoreRun):
            return self._run(op)
        if isinstance(op, LoadPoint):
            return op.replace(invariant=self._invariant(op.tensor))
        return None

    # ---- global memory ---------------------------------------------------------------------------------------

    def _access(self, op: Load | Store) -> Op:
        t = op.out.type if isinstance(op, Load) else op.value.type
        assert isinstance(t, Tile) and isinstance(t.layout, Blocked)
        vector = 1 if t.layout.replicated[-1] else t.layout.vector[-1]
        verb = "loads" if isinstance(op, Load) else "stores"
        width = access_width(self.indices, op.tensor, op.offsets, op.extents, op.guards, vector, verb)
        self._note(op, op.tensor, width)
        if isinstance(op, Load):
            return op.replace(width=width.elems, width_why=width.why, invariant=self._invariant(op.tensor))
        return op.replace(width=width.elems, width_why=width.why)

    def _run(self, op: LoadRun | StoreRun) -> Op:
        loads = isinstance(op, LoadRun)
        (vec,) = shape_of(op.out.type if isinstance(op, LoadRun) else op.value.type)
        width = run_width(
            self.indices, op.tensor, op.offsets, op.extents, op.axis, vec, op.align, "loads" if loads else "stores"
        )
        self._note(op, op.tensor, width)
        if isinstance(op, LoadRun):
            return op.replace(width=width.elems, width_why=width.why, invariant=self._invariant(op.tensor))
        return op.replace(width=width.elems, width_why=width.why)

    def _note(self, op: Op, tensor: Value, width: Width) -> None:
        """The facts that a width leans on, and a remark where a wider one had no proof."""
        self.used |= width.facts
        self._dense(tensor)
        if width.limited:
            message = f"access of {tensor.name} narrower than 16 bytes: {width.why}"
            self.remarks.append(Diagnostic(Severity.REMARK, "PR401", message, op.span))

    def _dense(self, tensor: Value) -> None:
        assert isinstance(tensor.type, Tensor)
        self.used.add(Fact("dense", tensor.name))

    def _invariant(self, tensor: Value) -> bool:
        fact = Fact("no_alias", tensor.name)
        if tensor in self.written or fact in self.kernel.denied:
            return False
        if self.written:
            self.used.add(fact)
        return True

    # ---- shared memory ---------------------------------------------------------------------------------------

    def _slot(self) -> Value:
        if self.zero is None:
            self.zero = self.top.const(0, name="slot0")
        return self.zero

    def _buffer(self, label: str, elem: Scalar, layout: Swizzled, op: Op) -> Value:
        buffer = Value(f"{label}_shared", Buffer(elem, layout.shape, layout))
        self.top.emit(Alloc(label=label, out=buffer, span=op.span))
        return buffer

    def _dot(self, op: Dot) -> tuple[Op, ...]:
        acc = op.acc.type
        assert isinstance(acc, Tile) and isinstance(acc.layout, Blocked)
        b = Builder(op.span)
        a_buffer, a_width = self._operand(b, op, op.a, 0, acc.layout.vector[0])
        b_buffer, b_width = self._operand(b, op, op.b, 0 if op.trans_b else 1, acc.layout.vector[1])
        slot = self._slot()
        b.emit(
            DotFma(
                a=a_buffer,
                a_slot=slot,
                b=b_buffer,
                b_slot=slot,
                acc=op.acc,
                trans_b=op.trans_b,
                a_width=a_width,
                b_width=b_width,
                out=op.out,
            )
        )
        return b.take()

    def _operand(self, b: Builder, op: Dot, value: Value, fast: int, vector: int) -> tuple[Value, int]:
        """Write an operand into a buffer whose contiguous axis is the one that is not contracted."""
        t = value.type
        assert isinstance(t, Tile) and isinstance(t.layout, Blocked) and len(t.shape) == 2
        shape = (t.shape[0], t.shape[1])
        size = t.elem.size_bytes
        writers: tuple[Blocked, ...] = ()
        if fast == 0:
            writers = (copy_layout(shape, t.elem, fast, self.kernel.warps, 1), t.layout)
        buffer = self._buffer(value.name, t.elem, operand_buffer(shape, fast, size, writers), op)
        along = t.layout.vector[fast]
        b.emit(Write(buffer=buffer, slot=self._slot(), value=value, width=_width(shape[fast], along, size)))
        return buffer, _width(shape[fast], vector, size)

    def _convert(self, op: Convert) -> tuple[Op, ...]:
        t, to = op.a.type, op.out.type
        assert isinstance(t, Tile) and isinstance(to, Tile)
        assert isinstance(t.layout, Blocked) and isinstance(to.layout, Blocked)
        if held_alike(t.layout, to.layout, self.kernel.threads):
            return (Reshape(a=op.a, out=op.out, span=op.span),)
        fast = len(t.shape) - 1
        size = t.elem.size_bytes
        buffer = self._buffer(f"{op.a.name}_convert", t.elem, Swizzled(t.shape, fast), op)
        b = Builder(op.span)
        b.emit(
            Write(
                buffer=buffer, slot=self._slot(), value=op.a, width=_width(t.shape[fast], t.layout.vector[fast], size)
            )
        )
        b.emit(
            Read(
                buffer=buffer,
                slot=self._slot(),
                width=1 if to.layout.replicated[fast] else _width(t.shape[fast], to.layout.vector[fast], size),
                out=op.out,
            )
        )
        return b.take()


def held_alike(source: Blocked, target: Blocked, threads: int) -> bool:
    """Whether every thread holds in the source, in the same place, all that it holds in the target.

    So it is where they differ along axes of extent 1 only: the threads beyond such an axis hold nothing.
    """
    tid = np.arange(threads)
    have, want = (layout.thread_base(tid % 32, tid // 32) for layout in (source, target))
    inside = np.ones(threads, bool)
    for at, extent in zip(want, target.shape, strict=True):
        inside &= np.asarray(at) < extent
    if any((inside & (np.asarray(a) != np.asarray(b))).any() for a, b in zip(have, want, strict=True)):
        return False
    registers = {target.register_offset(r) for r in range(target.registers)}
    return registers <= {source.register_offset(r) for r in range(source.registers)}


def _width(pitch: int, vector: int, size: int) -> int:
    """Elements per shared access: whole vectors inside a row of `pitch` elements, 16 bytes at most."""
    return min(power_of_two_in(pitch), vector, max(VECTOR_BYTES // size, 1))

"""stage: from tiles to what threads do. Contraction operands move into shared memory, accesses get their width.

Requires: form "placed". Ensures: only CTA ops and elementwise ops are left: each `dot` is a `dot_fma` over two buffers
that a `write` fills right before it, each `convert` a write and a read, or a `reshape` where no element moves; a
reduction that warps share is one of each warp's elements, a write and a read of these parts, and one of the parts;
every load and store has a width and a reason; loads of tensors that nothing writes are `invariant`. So it is with a
thread's own runs. Buffers have one slot; `pipeline` multiplies them.
"""

from __future__ import annotations

from ..diagnostics import Diagnostic, Severity
from ..ir.build import Builder
from ..ir.core import Block, Op, Role, Value
from ..ir.cta_ops import Alloc, DotFma, Read, Write
from ..ir.kernel import Fact, Kernel, Stated
from ..ir.memory import is_shared
from ..ir.reduce_ops import Reduce, ReduceArg, makes_parts
from ..ir.rewrite import Rewriter, uses
from ..ir.shape_ops import Gather
from ..ir.thread_ops import Atomic, LoadRun, StoreRun
from ..ir.tile_ops import Convert, Dot, Load, LoadPoint, Reshape, Store, StorePoint, element, shape_of
from ..ir.types import Buffer, Scalar, Tile
from ..layout.register import Blocked
from ..layout.shared import Swizzled
from .access import Width, access_width, run_width
from .affine import Indices
from .choose import VECTOR_BYTES, coalesced, operand_buffer, power_of_two_in
from .exchange import access_elems, exchange, flattened_alike, moved
from .options import Options

SECTOR_BYTES = 32


def run(kernel: Kernel, options: Options) -> Kernel:
    stager = _Stager(kernel)
    body = Rewriter(stager.visit).block(kernel.body)
    return kernel.replace(
        body=Block(body.params, (*stager.top.take(), *body.ops)),
        used=kernel.used | frozenset(stager.used),
        remarks=kernel.remarks + tuple(stager.remarks),
        stated=kernel.stated + tuple(stager.stated),
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
        self.stated: dict[Stated, None] = {}
        stores = [op for op in kernel.walk() if isinstance(op, Store | StorePoint | StoreRun | Atomic)]
        self.written = {op.tensor for op in stores if not is_shared(op.tensor)}
        self.read = uses(kernel.body).keys()

    def visit(self, op: Op, rewriter: Rewriter) -> Op | tuple[Op, ...] | None:
        if isinstance(op, Dot):
            return self._dot(op)
        if isinstance(op, Convert):
            return self._convert(op)
        if isinstance(op, Reshape):
            return self._flat(op)
        if isinstance(op, Gather):
            self._dense(op.tensor)
            return op.replace(invariant=self._invariant(op.tensor))
        if isinstance(op, Reduce | ReduceArg):
            return self._reduce(op)
        if isinstance(op, Load | Store):
            return self._access(op)
        if isinstance(op, LoadRun | StoreRun):
            return self._run(op)
        if isinstance(op, LoadPoint):
            self._dense(op.tensor)
            return op.replace(invariant=self._invariant(op.tensor))
        if isinstance(op, StorePoint):
            self._dense(op.tensor)
        if isinstance(op, Atomic):
            self._dense(op.tensor)
            return self._atomic(op)
        return None

    # ---- global memory ---------------------------------------------------------------------------------------

    def _access(self, op: Load | Store) -> Op:
        t = op.out.type if isinstance(op, Load) else op.value.type
        assert isinstance(t, Tile) and isinstance(t.layout, Blocked)
        vector = 1 if t.layout.replicated[-1] else t.layout.vector[-1]
        verb = "loads" if isinstance(op, Load) else "stores"
        end = op.limits[-1] if op.limits else None
        width = access_width(self.indices, op.tensor, op.offsets, op.extents, op.guards, vector, verb, end)
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
        if width.stated and not is_shared(op.tensor):
            self._state(op, width.stated)
        if isinstance(op, LoadRun):
            return op.replace(width=width.elems, width_why=width.why, invariant=self._invariant(op.tensor))
        return op.replace(width=width.elems, width_why=width.why)

    def _note(self, op: Op, tensor: Value, width: Width) -> None:
        """The facts that a width leans on, and a remark where a wider one of a tensor had no proof."""
        self.used |= width.facts
        self._dense(tensor)
        if is_shared(tensor):
            return
        if width.limited:
            message = f"access of {tensor.name} narrower than 16 bytes: {width.why}"
            self.remarks.append(Diagnostic(Severity.REMARK, "PR401", message, op.span))

    def _state(self, op: LoadRun | StoreRun, bytes_: int) -> None:
        """Hand what `align` says on to the launcher, with what is known of the subscripts."""
        axes = tuple(self.indices.residue(v) for v in op.offsets)
        self.stated[Stated(op.tensor.name, bytes_, op.align, axes, op.span)] = None
        self.used.add(Fact("stated_align", op.tensor.name))

    def _dense(self, tensor: Value) -> None:
        """A tensor's addresses are made from its extents, unless its strides are given."""
        fact = Fact("dense", tensor.name)
        if not is_shared(tensor) and fact not in self.kernel.denied:
            self.used.add(fact)

    def _invariant(self, tensor: Value) -> bool:
        fact = Fact("no_alias", tensor.name)
        if is_shared(tensor) or tensor in self.written or fact in self.kernel.denied:
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

    def _atomic(self, op: Atomic) -> tuple[Op, ...] | None:
        """What the first thread found goes to the others through one element of shared memory, when anyone asks."""
        elem = op.out.type
        if op.scope != "cta" or op.out not in self.read or not isinstance(elem, Scalar):
            return None
        buffer = self._buffer(op.out.name, elem, Swizzled((1,), 0), op)
        b = Builder(op.span)
        found = b.emit(op.replace(out=op.out.like(name=f"{op.out.name}_first"))).out
        at, extents = (b.const(0),), (b.const(1),)
        b.emit(StorePoint(tensor=buffer, offsets=at, extents=extents, value=found))
        b.emit(LoadPoint(tensor=buffer, offsets=at, extents=extents, out=op.out))
        return b.take()

    def _convert(self, op: Convert) -> tuple[Op, ...]:
        t, to = op.a.type, op.out.type
        assert isinstance(t, Tile) and isinstance(to, Tile)
        assert isinstance(t.layout, Blocked) and isinstance(to.layout, Blocked)
        how = moved(t.layout, to.layout, self.kernel.threads)
        if not how:
            return (Reshape(a=op.a, out=op.out, span=op.span),)
        if how == "shuffles":
            return (op,)
        chosen = exchange(t.layout, to.layout, t.elem.size_bytes)
        buffer = self._buffer(f"{op.a.name}_convert", t.elem, chosen.buffer, op)
        b = Builder(op.span)
        b.emit(Write(buffer=buffer, slot=self._slot(), value=op.a, width=chosen.write_width))
        b.emit(Read(buffer=buffer, slot=self._slot(), width=chosen.read_width, out=op.out))
        return b.take()

    def _flat(self, op: Reshape) -> tuple[Op, ...] | None:
        """Rows laid end to end: through a buffer of plain rows unless every thread has its elements already."""
        t, to = op.a.type, op.out.type
        assert isinstance(t, Tile) and isinstance(to, Tile)
        assert isinstance(t.layout, Blocked) and isinstance(to.layout, Blocked)
        if op.keeps_axes or flattened_alike(t.layout, to.layout, self.kernel.threads) is not None:
            return None
        size = t.elem.size_bytes
        buffer = self._buffer(f"{op.a.name}_flat", t.elem, Swizzled(t.shape, len(t.shape) - 1), op)
        b = Builder(op.span)
        wide = access_elems(Swizzled(t.shape, len(t.shape) - 1), t.layout, size)
        b.emit(Write(buffer=buffer, slot=self._slot(), value=op.a, width=wide))
        wide = access_elems(Swizzled(to.shape, len(to.shape) - 1), to.layout, size)
        b.emit(Read(buffer=buffer, slot=self._slot(), width=wide, out=op.out))
        return b.take()

    def _reduce(self, op: Reduce | ReduceArg) -> tuple[Op, ...] | None:
        """What the warps that share the axis make goes through shared memory, one place per warp."""
        t = op.a.type
        assert isinstance(t, Tile) and isinstance(t.layout, Blocked)
        axis, layout = op.axis, t.layout
        if makes_parts(op) or layout.replicated[axis] or layout.warps[axis] == 1 or t.shape[axis] == 1:
            return None
        b = Builder(op.span)
        made, gathered = layout.with_parts(axis, gathered=False), layout.with_parts(axis, gathered=True)
        names = op.fields(Role.RESULT)
        outs: dict[str, Value] = {name: getattr(op, name) for name in names}
        elems = {name: element(out.type) for name, out in outs.items()}
        parts = {name: Value(f"{out.name}_part", Tile(elems[name], made.shape, made)) for name, out in outs.items()}
        b.emit(op.replace(**parts))
        fast = len(t.shape) - 1
        buffers: dict[str, Value] = {}
        for name, part in parts.items():
            size = elems[name].size_bytes
            vector = 1 if fast == axis or layout.replicated[fast] else layout.vector[fast]
            buffers[name] = self._buffer(f"{outs[name].name}_parts", elems[name], Swizzled(made.shape, fast), op)
            width = _width(made.shape[fast], vector, size)
            b.emit(Write(buffer=buffers[name], slot=self._slot(), value=part, width=width))
        read: dict[str, Value] = {}
        for name, part in parts.items():
            size = elems[name].size_bytes
            vector = 1 if gathered.replicated[fast] and fast != axis else layout.vector[fast]
            width = _width(made.shape[fast], made.shape[fast] if fast == axis else vector, size)
            read[name] = part.like(Tile(elems[name], gathered.shape, gathered), f"{outs[name].name}_parts")
            b.emit(Read(buffer=buffers[name], slot=self._slot(), width=width, out=read[name]))
        operands = tuple(read.values())
        if isinstance(op, ReduceArg):
            b.emit(op.replace(a=operands[0], index=operands[1]))
        else:
            b.emit(op.replace(a=operands[0]))
        return b.take()


def _width(pitch: int, vector: int, size: int) -> int:
    """Elements per shared access: whole vectors inside a row of `pitch` elements, 16 bytes at most."""
    return min(power_of_two_in(pitch), vector, max(VECTOR_BYTES // size, 1))

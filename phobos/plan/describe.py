"""`describe`: the Plan of a kernel, a pure function of its IR, the target, the index width and the linker's words.

Takes a kernel at any form; what a form has not decided yet is left empty ("", 0, -1 as `schema` says). Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..diagnostics import Diagnostic
from ..ir import kernel as ir
from ..ir.core import Block, Op, Value
from ..ir.cta_ops import Alloc, CopyAsync, DotFma
from ..ir.cta_ops import Sync as SyncOp
from ..ir.memory import axes_of, is_shared
from ..ir.thread_ops import Atomic, DotRun, LoadRun, StoreRun
from ..ir.tile_ops import Dot, For, Load, LoadPoint, Store, StorePoint, While, element, shape_of
from ..ir.types import Buffer as BufferType
from ..ir.types import Tile, Type, Vec
from ..layout.base import RegisterLayout
from ..source import Span
from ..target import Target
from .formula import AXES, Formulas
from .schema import (
    SCHEMA,
    Access,
    Axis,
    Buffer,
    Carried,
    Constant,
    Contraction,
    Fact,
    Guard,
    Launch,
    Linked,
    Loop,
    Occupancy,
    Parameter,
    Place,
    Plan,
    Promise,
    Remark,
    Shared,
    Sync,
)

Accessing = Load | Store | CopyAsync | LoadPoint | StorePoint | LoadRun | StoreRun | Atomic
POINT, RUN = "a point is the caller's duty", "a thread's own run is the caller's duty"


def describe(kernel: ir.Kernel, target: Target, index_bits: int, linked: Linked | None = None) -> Plan:
    """The Plan of a kernel."""
    seen = _Walk(kernel)
    shared = _shared(kernel, target, seen.buffers)
    return Plan(
        schema=SCHEMA,
        kernel=kernel.name,
        file=kernel.span.source.name,
        line=kernel.span.line,
        form=kernel.form,
        target=target.name,
        index_bits=index_bits,
        constants=tuple(Constant(name, value) for name, value in kernel.constants),
        parameters=tuple(_parameters(kernel)),
        grid=tuple(_axis(AXES[i], axis) for i, axis in enumerate(kernel.grid)),
        launch=_launch(kernel),
        shared=shared,
        accesses=tuple(seen.accesses),
        loops=tuple(seen.loops),
        contractions=tuple(seen.contractions),
        syncs=tuple(seen.syncs),
        facts=tuple(_fact(f) for f in sorted(kernel.used)),
        denied=tuple(_fact(f) for f in sorted(kernel.denied)),
        promises=tuple(_promises(kernel)),
        remarks=tuple(_remark(d) for d in kernel.remarks),
        linked=linked,
        occupancy=occupancy(target, kernel.threads, shared.total_bytes, linked),
    )


class _Walk:
    """One walk over the kernel's ops, outer before inner, that notes what the Plan lists."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self.formulas = Formulas(kernel)
        self.warps = kernel.warps
        self.buffers: list[Buffer] = []
        self.accesses: list[Access] = []
        self.loops: list[Loop] = []
        self.contractions: list[Contraction] = []
        self.syncs: list[Sync] = []
        self.labels: dict[Value, str] = {}
        self._block(kernel.body, "")

    def _block(self, block: Block, loop: str) -> None:
        for op in block.ops:
            self._op(op, loop)
            inside = loop
            if isinstance(op, For | While):
                part = op.part if isinstance(op, For) else ""
                here = f"{op.span.line} {part}".rstrip()
                inside = f"{loop} > {here}" if loop else here
            for region in op.regions():
                self._block(region, inside)

    def _op(self, op: Op, loop: str) -> None:
        match op:
            case Alloc():
                self.labels[op.out] = op.label
                self.buffers.append(_buffer(op))
            case Load() | Store() | CopyAsync() | LoadPoint() | StorePoint() | LoadRun() | StoreRun() | Atomic():
                self.accesses.append(self._access(op, loop))
            case For():
                self.loops.append(self._for(op, loop))
            case While():
                carried = tuple(_carried(v) for v in op.body.params)
                self.loops.append(Loop(op.span.line, "while", "", "", "", "", "", None, "", 0, 0, carried, loop))
            case Dot() | DotFma():
                self.contractions.append(self._contraction(op, loop))
            case DotRun():
                self.contractions.append(_bytes(op, loop))
            case SyncOp():
                self.syncs.append(Sync(op.span.line, op.scope, op.why, loop))
            case _:
                pass

    def _access(self, op: Accessing, loop: str) -> Access:
        elem, dims = element(op.tensor.type), axes_of(op.tensor.type)
        width, width_why, layout, buffer, elements = 1, "", None, "", 0
        guards: tuple[str, ...] = ("",) * len(dims)
        why: tuple[str, ...] = ()
        match op:
            case Load():
                kind, shape, layout = "load", shape_of(op.out.type), _layout(op.out.type)
            case Store():
                kind, shape, layout = "store", shape_of(op.value.type), _layout(op.value.type)
            case CopyAsync():
                kind, shape, layout = "async copy", op.layout.shape, op.layout
                buffer = self.labels.get(op.buffer, op.buffer.name)
            case LoadPoint() | StorePoint():
                kind = "point load" if isinstance(op, LoadPoint) else "point store"
                shape, why, elements = (1,) * len(dims), (POINT,) * len(dims), 1
            case Atomic():
                kind, shape, why, elements = f"atomic {op.kind}", (1,) * len(dims), (POINT,) * len(dims), 1
            case LoadRun() | StoreRun():
                kind = "run load" if isinstance(op, LoadRun) else "run store"
                (elements,) = shape_of(op.out.type if isinstance(op, LoadRun) else op.value.type)
                shape = tuple(elements if axis == op.axis else 1 for axis in range(len(dims)))
                width, width_why, why = op.width, op.width_why, (RUN,) * len(dims)
        if isinstance(op, Load | Store | CopyAsync):
            width, width_why, guards, why = op.width, op.width_why, op.guards, op.why
        why = why or ("",) * len(guards)
        return Access(
            line=op.span.line,
            text=_text(op.span),
            tensor=self.labels.get(op.tensor, op.tensor.name),
            elem=elem.name,
            shape=shape,
            kind=kind,
            invariant=isinstance(op, Load | LoadPoint | LoadRun) and op.invariant,
            width=width,
            width_bytes=width * elem.size_bytes,
            width_why=width_why,
            elements=layout.registers if layout is not None else elements,
            threads=busy_threads(layout, self.warps) if layout is not None else 0,
            guards=tuple(
                Guard(axis, str(dim), guard, reason)
                for axis, (dim, guard, reason) in enumerate(zip(dims, guards, why, strict=True))
            ),
            loop=loop,
            buffer=buffer,
            space="shared" if is_shared(op.tensor) else "global",
        )

    def _for(self, op: For, loop: str) -> Loop:
        trips, trips_text = self._trips(op)
        return Loop(
            line=op.span.line,
            kind="for",
            variable=op.body.params[0].name,
            part=op.part,
            start=self.formulas.text(op.start),
            stop=self.formulas.text(op.stop),
            step=self.formulas.text(op.step),
            trips=trips,
            trips_text=trips_text,
            stages=op.stages,
            unroll=op.unroll,
            carried=tuple(_carried(v) for v in op.body.params[1:]),
            loop=loop,
        )

    def _trips(self, op: For) -> tuple[int | None, str]:
        """How often the body runs: a number where it is constant, and a formula."""
        start, stop, step = (self.formulas.number(v) for v in (op.start, op.stop, op.step))
        if start is not None and stop is not None and step:
            trips = max(0, -(-(stop - start) // step))
            return trips, str(trips)
        if op.part == "remainder":
            return None, "0 or 1"
        rounded = self.formulas.multiple(op.stop)
        if start == 0 and rounded is not None and rounded[1] == step:
            return None, f"floor({self.formulas.text(rounded[0])} / {step})"
        length = self.formulas.grouped(op.stop)
        if start != 0:
            length = f"({self.formulas.text(op.stop)} - {self.formulas.grouped(op.start)})"
        return None, length if step == 1 else f"ceil({length} / {self.formulas.grouped(op.step)})"

    def _contraction(self, op: Dot | DotFma, loop: str) -> Contraction:
        a, b, acc = op.a.type, op.b.type, op.acc.type
        assert isinstance(a, Tile | BufferType)
        assert isinstance(b, Tile | BufferType)
        layout = _layout(acc)
        staged = isinstance(op, DotFma)
        return Contraction(
            line=op.span.line,
            text=_text(op.span),
            path="FMA" if staged else "",
            m=a.shape[0],
            n=b.shape[0] if op.trans_b else b.shape[1],
            k=a.shape[1],
            elem_a=a.elem.name,
            elem_b=b.elem.name,
            elem_acc=element(acc).name,
            trans_b=op.trans_b,
            thread_tile=thread_tile(layout) if layout is not None else (),
            layout=str(layout) if layout is not None else "",
            a=self.labels.get(op.a, "") if staged else "",
            a_width=op.a_width if isinstance(op, DotFma) else 0,
            b=self.labels.get(op.b, "") if staged else "",
            b_width=op.b_width if isinstance(op, DotFma) else 0,
            loop=loop,
        )


def _bytes(op: DotRun, loop: str) -> Contraction:
    """A thread's sum of products of bytes, as the contraction of a row with a column."""
    (n,) = shape_of(op.a.type)
    elems = element(op.a.type).name, element(op.b.type).name
    names = ("", 0, "", 0)
    return Contraction(op.span.line, _text(op.span), "dp4a", 1, 1, n, *elems, "i32", True, (), "", *names, loop)


@cache
def thread_tile(layout: RegisterLayout) -> tuple[int, ...]:
    """How many different coordinates a thread holds along each axis."""
    offsets = [layout.register_offset(r) for r in range(layout.registers)]
    return tuple(len(set(along)) for along in zip(*offsets, strict=True))


@cache
def busy_threads(layout: RegisterLayout, warps: int) -> int:
    """How many threads hold an element of the tile: a tile smaller than the block leaves some without."""
    shape = layout.shape
    threads = ((lane, warp) for warp in range(warps) for lane in range(32))
    return sum(all(x < n for x, n in zip(layout.thread_base(*t), shape, strict=True)) for t in threads)


def _layout(type: Type) -> RegisterLayout | None:
    return type.layout if isinstance(type, Tile) else None


def _text(span: Span) -> str:
    """The source text of a span on one line."""
    return " ".join(span.text.split())


def _carried(value: Value) -> Carried:
    layout = _layout(value.type)
    registers = layout.registers if layout is not None else 0 if isinstance(value.type, Tile) else 1
    registers = value.type.n if isinstance(value.type, Vec) else registers
    plain = Tile(value.type.elem, value.type.shape) if isinstance(value.type, Tile) else value.type
    return Carried(value.name, str(plain), registers)


def _parameters(kernel: ir.Kernel) -> Iterator[Parameter]:
    strides = tuple(v for each in kernel.strides for v in each)
    groups = (("tensor", kernel.tensors), ("dim", kernel.dims), ("stride", strides), ("scalar", kernel.scalars))
    for role, values in groups:
        for v in values:
            yield Parameter(v.name, role, str(v.type))


def _axis(name: str, axis: ir.GridAxis) -> Axis:
    extent, block = str(axis.extent), f"ctx.block.{name}"
    if axis.unknown:
        return Axis(name, "", extent, axis.tile, axis.unknown)
    if axis.extent == 1 and axis.tile == 1:
        return Axis(name, "1", extent, axis.tile, f"{block} picks no tile")
    start = block if axis.tile == 1 else f"{block} * {axis.tile}"
    why = f"tiles start at {start} along {extent}"
    if isinstance(axis.extent, int):
        return Axis(name, str(-(-axis.extent // axis.tile)), extent, axis.tile, why)
    return Axis(name, extent if axis.tile == 1 else f"ceil({extent} / {axis.tile})", extent, axis.tile, why)


def _launch(kernel: ir.Kernel) -> Launch:
    launch, asked = kernel.attributes.launch, kernel.attributes.registers
    caps = [c for c in (launch.max_regs, asked) if c is not None]
    return Launch(
        threads=launch.threads,
        warps=kernel.warps,
        explicit=launch.explicit,
        min_blocks=launch.min_blocks,
        max_regs=min(caps) if caps else None,
        persistent=kernel.attributes.persistent,
        swizzle=kernel.attributes.swizzle,
    )


def _buffer(op: Alloc) -> Buffer:
    made = op.out.type
    assert isinstance(made, BufferType)
    return Buffer(
        label=op.label,
        elem=made.elem.name,
        shape=made.shape,
        slots=made.slots,
        offset_bytes=op.offset_bytes,
        bytes=made.size_bytes,
        layout=str(made.layout),
        line=op.span.line,
        text=_text(op.span),
        why=op.why,
    )


def _shared(kernel: ir.Kernel, target: Target, buffers: list[Buffer]) -> Shared:
    if any(b.offset_bytes < 0 for b in buffers):
        total = sum(b.bytes for b in buffers)
    else:
        total = max((b.offset_bytes + b.bytes for b in buffers), default=0)
    dynamic = total > 0 and (kernel.attributes.dynshared or total > target.max_static_shared)
    return Shared(total, dynamic, target.max_dynamic_shared, tuple(buffers))


def occupancy(target: Target, threads: int, shared_bytes: int, linked: Linked | None) -> Occupancy | None:
    """How many blocks fit on a multiprocessor; None until the linker has said how many registers a thread has.

    A warp gets registers in units of 256, warps come in fours (one per quarter of the multiprocessor), and a block gets
    shared memory in units of 128 bytes (CUDA's occupancy calculator).
    """
    if linked is None or not linked.registers:
        return None
    warps = -(-threads // 32)
    warp_registers = -(-linked.registers * 32 // 256) * 256
    shared = -(-(max(shared_bytes, linked.shared_bytes or 0) + target.reserved_shared) // 128) * 128
    fits = {
        "blocks": target.max_blocks_per_sm,
        "threads": target.max_threads_per_sm // (warps * 32),
        "registers": target.registers_per_sm // warp_registers // 4 * 4 // warps,
    }
    if shared:
        fits["shared"] = target.shared_per_sm // shared
    limit = min(fits, key=lambda name: fits[name])
    return Occupancy(fits[limit], fits[limit] * warps, target.max_threads_per_sm // 32, limit)


_MEANING = {
    "multiple_of_4": "{} is a multiple of 4",
    "aligned_16": "the base address of {} is a multiple of 16 bytes",
    "no_alias": "{} overlaps no tensor that the kernel writes",
    "dense": "{} is row-major without gaps",
    "pitch_16": "each outer stride of {} is a multiple of 16 bytes",
    "pitch_8": "each outer stride of {} is a multiple of 8 bytes",
    "stated_align": "the runs of {} lie where `align` says",
    "index_32": "every offset in elements fits in 31 bits",
    "grid": "the launch has no more blocks along {} than inferred",
}


def _fact(fact: ir.Fact) -> Fact:
    return Fact(fact.kind, fact.subject, _MEANING.get(fact.kind, str(fact)).format(fact.subject))


def _promises(kernel: ir.Kernel) -> Iterator[Promise]:
    dynamic = {v.name for v in kernel.dims}
    for promise in kernel.attributes.aligned:
        checked = "at kernel entry" if promise.dim in dynamic else "when compiled"
        yield Promise(promise.dim, promise.divisor, promise.span.line, checked)


def _remark(diagnostic: Diagnostic) -> Remark:
    return Remark(
        severity=diagnostic.severity.value,
        code=diagnostic.code,
        message=diagnostic.message,
        line=diagnostic.span.line,
        column=diagnostic.span.column,
        label=diagnostic.label,
        labels=tuple(Place(x.span.line, x.span.column, x.text) for x in diagnostic.labels),
        notes=diagnostic.notes,
        help=diagnostic.help,
    )

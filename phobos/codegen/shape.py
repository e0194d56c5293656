"""Ops that move elements between registers and lanes: `transpose`, `scan`, `gather`, and conversions by shuffles."""

from __future__ import annotations

from llvmlite.ir import IntType

from ..diagnostics import InternalError
from ..ir.core import Value
from ..ir.shape_ops import Gather, Scan, Transpose
from ..ir.tile_ops import Convert, element
from ..ir.types import Scalar, Tile
from ..layout.register import Blocked
from ..passes.exchange import held_alike, shuffles
from . import scalar
from .access import Key, Offset, element_at, runs, within
from .elementwise import convert as same_registers
from .function import Function
from .index import Expr, llvm_i32
from .memory import load_access, unpacked
from .types import DOUBLE, FLOAT, I16, I32, I64, LLVM, constant, memory_type, zero

LAST_LANE = 31


def transpose(f: Function, op: Transpose) -> None:
    """The same registers under other names: a register's coordinates change their places."""
    source, target = _blocked(f, op.a), _blocked(f, op.out)
    if source.transposed() != target:
        raise InternalError(f"codegen: {op.out} is no transpose of the layout of {op.a}")
    held = f.registers(op.a)
    f.cells[op.out] = tuple(held[source.register_at[target.register_offset(r)[::-1]]] for r in range(target.registers))


def _blocked(f: Function, value: Value) -> Blocked:
    layout = f.layout(value)
    if not isinstance(layout, Blocked):
        raise InternalError(f"codegen: {value} lies in {layout}")
    return layout


# ---- scan -------------------------------------------------------------------------------------------------------


def scan(f: Function, op: Scan) -> None:
    """A thread's own elements first to last, then its lanes by doubling distances; the grid's repeats carry on.

    Surplus slots lie behind every element along the axis, so what is in them reaches none.
    """
    layout, axis, elem = _blocked(f, op.a), op.axis, element(op.a.type)
    repeated = layout.replicated[axis] == 1
    if not layout.one_warp(axis):
        raise InternalError(f"codegen: {op.a} is scanned along axis {axis}, which warps share")
    lanes = 1 if repeated else layout.lanes[axis]
    stride = layout.lane_stride(axis)
    at = layout.place(f.lane, f.warp)[0][axis] if lanes > 1 else 0
    chunk = layout.shape[axis] if repeated else layout.vector[axis]
    held = f.registers(op.a)
    columns: dict[Offset, list[int]] = {}
    for r in range(layout.registers):
        offset = layout.register_offset(r)
        columns.setdefault((*offset[:axis], *offset[axis + 1 :]), []).append(r)
    out: list[LLVM] = [None] * layout.registers
    for column in columns.values():
        column.sort(key=lambda r: layout.register_offset(r)[axis])
        carry: LLVM | None = None
        for start in range(0, len(column), chunk):
            part = column[start : start + chunk]
            sums = [held[part[0]]]
            for r in part[1:]:
                sums.append(scalar.binary(f, "add", elem, sums[-1], held[r]))
            before, total = carry, sums[-1]
            if lanes > 1:
                total = _lanes_scanned(f, elem, total, at, lanes, stride)
                nothing = constant(total.type, -0.0 if elem.is_float else 0)
                below = f.b.select(_at_least(f, at, 1), shuffle(f, "up", total, constant(I32, stride)), nothing)
                before = below if carry is None else scalar.binary(f, "add", elem, carry, below)
            for r, value in zip(part, sums, strict=True):
                out[r] = value if before is None else scalar.binary(f, "add", elem, before, value)
            if start + chunk < len(column):
                if lanes > 1:
                    last = f.b.add(llvm_i32(f.lane), f.mul(f.b.sub(constant(I32, lanes - 1), llvm_i32(at)), stride))
                    total = shuffle(f, "idx", total, last)
                    carry = total if carry is None else scalar.binary(f, "add", elem, carry, total)
                else:
                    carry = out[part[-1]]
    f.bind(op.out, out)


def _lanes_scanned(f: Function, elem: Scalar, value: LLVM, at: Expr | int, lanes: int, stride: int) -> LLVM:
    """The sum over the lanes up to this one along an axis."""
    distance = 1
    while distance < lanes:
        other = shuffle(f, "up", value, constant(I32, distance * stride))
        added = scalar.binary(f, "add", elem, other, value)
        value = f.b.select(_at_least(f, at, distance), added, value)
        distance *= 2
    return value


def _at_least(f: Function, at: Expr | int, bound: int) -> LLVM:
    return f.b.icmp_unsigned(">=", llvm_i32(at), constant(I32, bound))


def shuffle(f: Function, mode: str, value: LLVM, lane: LLVM) -> LLVM:
    """The value in another lane; every lane of the warp is there. mode: "up" by a distance, "idx" of a lane.

    64 bits go in halves, narrow ones widened.
    """
    type_ = value.type
    if type_ == DOUBLE:
        return f.b.bitcast(shuffle(f, mode, f.b.bitcast(value, I64), lane), type_)
    if type_ == I64:
        low = f.b.trunc(value, I32)
        high = f.b.trunc(f.b.lshr(value, constant(I64, 32)), I32)
        low, high = (f.b.zext(shuffle(f, mode, half, lane), I64) for half in (low, high))
        return f.b.or_(low, f.b.shl(high, constant(I64, 32)))
    if type_ not in (FLOAT, I32):
        bits = value if isinstance(type_, IntType) else f.b.bitcast(value, I16)
        moved = f.b.trunc(shuffle(f, mode, f.b.zext(bits, I32), lane), bits.type)
        return moved if moved.type == type_ else f.b.bitcast(moved, type_)
    name = "f32" if type_ == FLOAT else "i32"
    clamp = constant(I32, 0 if mode == "up" else LAST_LANE)
    return f.intrinsic(f"llvm.nvvm.shfl.sync.{mode}.{name}", type_, (constant(I32, -1), value, lane, clamp))


# ---- gather -----------------------------------------------------------------------------------------------------


def gather(f: Function, op: Gather) -> None:
    """One access for each register; surplus registers, whose indices are anything, touch no memory."""
    layout, elem = f.layout(op.out), element(op.tensor.type)
    strides = f.kernel.strides_of(op.tensor)
    pitches = [f.scalar(v) for v in strides or op.extents]
    indices = [_coordinates(f, v, layout.registers) for v in op.indices]
    base = f.memory(op.tensor)
    highest = [int(c.max()) for c in f.table(layout)]
    groups: dict[Key, list[int]] = {}
    for run in runs(layout, 1, len(layout.shape) - 1):
        surplus = tuple(("surplus", a, o) for a, o in enumerate(run.offset) if highest[a] + o >= layout.shape[a])
        groups.setdefault(surplus, []).append(run.registers[0])
    registers: list[LLVM] = [None] * layout.registers
    for key, group in groups.items():
        pointers = []
        for r in group:
            at = element_at(f, [axis[r] for axis in indices], pitches, strided=bool(strides))
            pointers.append(f.byte_offset(base, f.mul(f.resize(at, f.distance(op.tensor)), elem.size_bytes)))

        def read(pointers: list[LLVM] = pointers) -> list[LLVM]:
            return [load_access(f, p, elem, 1, op.invariant) for p in pointers]

        condition = f.all_of([within(f, f.thread_base(layout)[a], at, layout.shape[a]) for _, a, at in key])
        nothing = [zero(memory_type(elem))] * len(group)
        for r, value in zip(group, f.guarded(condition, read, nothing, f"gather.{op.out.name}"), strict=True):
            (registers[r],) = unpacked(f, value, elem, 1)
    f.bind(op.out, registers)


def _coordinates(f: Function, index: Value, count: int) -> list[LLVM]:
    """An index in the width of an index, register by register."""
    elem = element(index.type)
    if not isinstance(index.type, Tile):
        return [f.scalar(index)] * count
    made = []
    for r in f.registers(index):
        wider = elem.kind == "uint" and r.type.width < f.index.width
        made.append(f.b.zext(r, f.index) if wider else f.resize(r, f.index))
    return made


# ---- conversions ------------------------------------------------------------------------------------------------


def convert(f: Function, op: Convert) -> None:
    """Shuffles, where a result's register may be one of several of another lane; nothing where none moves.

    The lane and the register follow from the coordinates of the element that the thread is to hold.
    """
    source, target = _blocked(f, op.a), _blocked(f, op.out)
    if held_alike(source, target, f.kernel.threads):
        same_registers(f, op)
        return
    plan = shuffles(source, target, f.kernel.threads)
    if plan is None:
        raise InternalError(f"codegen: {op.out} needs elements of other warps: {source} to {target}")
    held = f.registers(op.a)
    base = f.thread_base(target)
    out: list[LLVM] = []
    for register, options in enumerate(plan.registers):
        if not options:
            out.append(zero(held[0].type))
            continue
        coords = tuple(b + o for b, o in zip(base, target.register_offset(register), strict=True))
        lane, offset = _holder(source, coords)
        value: LLVM = None
        for r in options:
            moved = shuffle(f, "idx", held[r], llvm_i32(lane))
            if value is None:
                value = moved
                continue
            tests = [
                f.b.icmp_unsigned("==", o.value, constant(I32, want))
                for o, want in zip(offset, source.register_offset(r), strict=True)
                if isinstance(o, Expr)
            ]
            condition = f.all_of(tests)
            value = value if condition is None else f.b.select(condition, moved, value)
        out.append(value)
    f.bind(op.out, out)


def _holder(layout: Blocked, coords: tuple[Expr | int, ...]) -> tuple[Expr | int, tuple[Expr | int, ...]]:
    """The first lane of a warp that holds an element, and the offset of its register there."""
    lane: Expr | int = 0
    stride = 1
    for axis in layout.order:
        if not layout.replicated[axis]:
            lane = lane + coords[axis] // layout.vector[axis] % layout.lanes[axis] * stride
        stride *= layout.lanes[axis]
    offset: list[Expr | int] = []
    for c, v, n, w, rep in zip(coords, layout.vector, layout.lanes, layout.warps, layout.replicated, strict=True):
        span = v * n * w
        offset.append(c if rep else c // span * span + c % v)
    return lane, tuple(offset)

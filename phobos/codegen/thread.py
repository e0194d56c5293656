"""Per-thread code: the thread's place, its own runs in global memory, and what is made of their elements."""

from __future__ import annotations

from ..ir.thread_ops import Barrier, Element, LoadRun, StoreRun, SumRun, ThreadIndex
from ..ir.tile_ops import element, shape_of
from . import scalar
from .function import Function
from .memory import load_access, packed, point, stored_once, unpacked
from .shared import barrier_all
from .types import I64, LLVM


def thread_index(f: Function, op: ThreadIndex) -> None:
    """The thread's number in its CTA, or its warp's, or its number in the warp."""
    f.cells[op.out] = f.wide({"thread": f.tid, "warp": f.warp, "lane": f.lane}[op.kind])


def barrier(f: Function, op: Barrier) -> None:
    """The kernel's own barrier."""
    barrier_all(f)


def load_run(f: Function, op: LoadRun) -> None:
    """Accesses of `width` elements, side by side along the run's axis."""
    elem, (n,) = element(op.tensor.type), shape_of(op.out.type)
    registers: list[LLVM] = []
    for pointer in _pointers(f, op, n):
        registers += unpacked(f, load_access(f, pointer, elem, op.width, op.invariant), elem, op.width)
    f.bind(op.out, registers)


def store_run(f: Function, op: StoreRun) -> None:
    """As `load_run`."""
    elem, (n,) = element(op.tensor.type), shape_of(op.value.type)
    registers = f.registers(op.value)
    values = [packed(f, registers[i : i + op.width], elem) for i in range(0, n, op.width)]
    pointers = _pointers(f, op, n)

    def write() -> list[LLVM]:
        for value, pointer in zip(values, pointers, strict=True):
            f.b.store(value, pointer, align=op.width * elem.size_bytes)
        return []

    stored_once(f, op.scope, write, "store.run")


def _pointers(f: Function, op: LoadRun | StoreRun, n: int) -> list[LLVM]:
    """The address of each access of a run of n elements."""
    first = point(f, op.tensor, op.offsets, op.extents)
    size = element(op.tensor.type).size_bytes
    if op.axis == len(op.offsets) - 1:
        return [f.byte_offset(first, i * size) for i in range(0, n, op.width)]
    stride: LLVM = f.scalar(op.extents[-1])
    for extent in op.extents[op.axis + 1 : -1]:
        stride = f.mul(stride, f.scalar(extent))
    bytes_ = f.mul(f.resize(stride, I64), size)
    return [f.byte_offset(first, f.mul(bytes_, i)) for i in range(0, n, op.width)]


def element_of(f: Function, op: Element) -> None:
    f.cells[op.out] = f.registers(op.a)[op.index]


def sum_run(f: Function, op: SumRun) -> None:
    """First to last; no other order, since floats round at every step."""
    source, target = element(op.a.type), element(op.out.type)
    parts = [scalar.cast(f, r, source, target) for r in f.registers(op.a)]
    total = parts[0]
    for part in parts[1:]:
        total = scalar.binary(f, "add", target, total, part)
    f.bind(op.out, (total,))

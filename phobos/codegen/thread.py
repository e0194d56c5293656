"""Per-thread code: the thread's place, its own runs in global memory, and what is made of their elements."""

from __future__ import annotations

from llvmlite import ir

from ..diagnostics import InternalError
from ..ir.core import Value
from ..ir.thread_ops import Barrier, DotRun, Element, LoadRun, StoreRun, SumRun, ThreadIndex
from ..ir.tile_ops import element, shape_of
from ..ir.types import U8
from . import scalar
from .function import Function
from .memory import done_once, load_access, packed, point, unpacked
from .shared import barrier_all
from .types import I8, I32, LLVM, constant


def thread_index(f: Function, op: ThreadIndex) -> None:
    """The thread's number in its CTA, or its warp's, or its number in the warp."""
    f.cells[op.out] = f.wide({"thread": f.tid, "warp": f.warp, "lane": f.lane}[op.kind])


def barrier(f: Function, op: Barrier) -> None:
    """The kernel's own barrier."""
    barrier_all(f)


def load_run(f: Function, op: LoadRun) -> None:
    """Accesses of `width` elements, side by side along the run's axis."""
    elem, (n,) = element(op.tensor.type), shape_of(op.out.type)
    if n % op.width:
        raise InternalError(f"codegen: runs of {n} are not read {op.width} at a time")
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

    done_once(f, op.scope, write, "store.run")


def _pointers(f: Function, op: LoadRun | StoreRun, n: int) -> list[LLVM]:
    """The address of each access of a run of n elements."""
    first = point(f, op.tensor, op.offsets, op.extents)
    size = element(op.tensor.type).size_bytes
    if op.axis == len(op.offsets) - 1:
        return [f.byte_offset(first, i * size) for i in range(0, n, op.width)]
    strides = f.kernel.strides_of(op.tensor)
    pitches = (strides[op.axis],) if strides else op.extents[op.axis + 1 :]
    stride: LLVM = f.scalar(pitches[-1])
    for pitch in pitches[:-1]:
        stride = f.mul(stride, f.scalar(pitch))
    bytes_ = f.mul(f.resize(stride, f.distance(op.tensor)), size)
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


def dot_run(f: Function, op: DotRun) -> None:
    """Words of four bytes through dp4a, the last one filled up with zeros."""
    signs = [("u" if element(v.type) == U8 else "s") for v in (op.a, op.b)]
    name = f"llvm.nvvm.idp4a.{signs[0]}.{signs[1]}"
    total: LLVM = constant(I32, 0)
    for a, b in zip(_words(f, op.a), _words(f, op.b), strict=True):
        total = f.intrinsic(name, I32, (a, b, total))
    f.bind(op.out, (total,))


JOINED = (0, 0x1140, 0x5410)
"""`prmt` selectors that put byte 0 of the second word behind the one or two bytes of the first, and zeros behind it."""


def _words(f: Function, run: Value) -> list[LLVM]:
    """A run of bytes, four to an i32.

    Whole words are vectors, which LLVM takes out of a wide access as they are. The bytes that are left are joined by
    hand: of a vector filled up with zeros LLVM makes one that reads a register which nothing wrote.
    """
    registers, words = list(f.registers(run)), list[LLVM]()
    whole = len(registers) - len(registers) % 4
    for at in range(0, whole, 4):
        word: LLVM = ir.Constant(ir.VectorType(I8, 4), ir.Undefined)
        for place, byte in enumerate(registers[at : at + 4]):
            word = f.b.insert_element(word, byte, I32(place))
        words.append(f.b.bitcast(word, I32))
    if rest := [f.b.zext(byte, I32) for byte in registers[whole:]]:
        joined = rest[0]
        for place, byte in enumerate(rest[1:], 1):
            joined = f.intrinsic("llvm.nvvm.prmt", I32, (joined, byte, constant(I32, JOINED[place])))
        words.append(joined)
    return words

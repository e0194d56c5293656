"""Shared memory: buffers, register tiles written and read, asynchronous copies, and what orders them.

A thread's addresses in a buffer are enumerated over all threads: two accesses whose byte offsets differ by the same
number in every thread share a base register and differ in a constant. So a swizzle costs one base for each XOR term
that really occurs, however it is written.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import InternalError
from ..ir.cta_ops import Alloc, Commit, CopyAsync, Read, Sync, Wait, Write
from ..ir.kernel import Kernel
from ..ir.memory import is_plain
from ..ir.tile_ops import shape_of
from ..ir.types import Buffer, matched_axes
from ..layout.base import RegisterLayout, SharedLayout
from ..layout.shared import Swizzled
from .access import Key, Offset, Run, Window, owner, runs, within
from .function import Function, SharedBuffer, Table
from .index import Expr
from .memory import load_access, packed, sync_warp, unpacked
from .types import I32, LLVM, VOID, constant, integer

STATIC_LIMIT = 48 * 1024
Bound = tuple[int | None, ...]
"""For each axis, the greatest coordinate that an access may start at."""
Copy = tuple[LLVM | None, LLVM, LLVM]
"""An asynchronous copy's predicate, source and target."""


def shared_bytes(kernel: Kernel) -> tuple[int, bool]:
    """Bytes of shared memory that a block of the kernel uses, and whether the launch must ask for them."""
    total = 0
    for op in kernel.body.walk():
        if isinstance(op, Alloc):
            assert isinstance(op.out.type, Buffer)
            if op.offset_bytes < 0:
                raise InternalError(f"codegen: buffer {op.label} has no offset")
            total = max(total, op.offset_bytes + op.out.type.size_bytes)
    return total, total > STATIC_LIMIT or (total > 0 and kernel.attributes.dynshared)


def alloc(f: Function, op: Alloc) -> None:
    """A buffer is a place in the block's one array."""
    assert isinstance(op.out.type, Buffer)
    f.comment(f"shared {op.label}: bytes {op.offset_bytes} to {op.offset_bytes + op.out.type.size_bytes}")
    f.cells[op.out] = SharedBuffer(op.out.type, op.offset_bytes)


# ---- addresses ----------------------------------------------------------------------------------------------


class Addresses:
    """Byte offsets of one thread in one kind of buffer, as a base made in the entry block and a constant."""

    def __init__(self, f: Function, layout: SharedLayout, size: int, base: Sequence[Expr | int], places: Table) -> None:
        self._f, self._layout, self._size = f, layout, size
        self._base, self._places = tuple(base), places
        self._bases: dict[bytes, tuple[LLVM, int]] = {}
        self._known: dict[tuple[Offset, Bound], tuple[LLVM, int]] = {}

    def at(self, offset: Offset, bound: Bound) -> tuple[LLVM, int]:
        """The pointer that stands for a base, from the start of shared memory, and what to add to it."""
        key = (offset, bound)
        if key not in self._known:
            self._known[key] = self._found(offset, bound)
        return self._known[key]

    def offsets(self, offset: Offset, bound: Bound) -> NDArray[np.int64]:
        """The byte offset in every thread."""
        coords = [
            p + o if b is None else np.minimum(p + o, b) for p, o, b in zip(self._places, offset, bound, strict=True)
        ]
        return np.asarray(self._layout.offset(tuple(coords)) * self._size, dtype=np.int64)

    def _found(self, offset: Offset, bound: Bound) -> tuple[LLVM, int]:
        bytes_ = self.offsets(offset, bound)
        shape = (bytes_ - bytes_[0]).tobytes()
        first = int(bytes_[0])
        if shape not in self._bases:
            if not bytes_.any() or (bytes_ == first).all():
                self._bases[shape] = (self._f.shared, 0)
            else:
                self._bases[shape] = (self._f.shared_pointer(self._formula(offset, bound)), first)
        pointer, start = self._bases[shape]
        return pointer, first - start

    def _formula(self, offset: Offset, bound: Bound) -> Expr | int:
        coords = []
        for base, at, most in zip(self._base, offset, bound, strict=True):
            c = base + at
            if most is not None:
                c = c.at_most(most) if isinstance(c, Expr) else min(c, most)
            coords.append(c)
        result: Expr | int = self._layout.offset(tuple(coords)) * self._size
        return result


class Slot:
    """One slot of a buffer during one op: turns register offsets into pointers."""

    def __init__(
        self, f: Function, buffer: SharedBuffer, slot: LLVM, base: Sequence[Expr | int], places: Table
    ) -> None:
        self._f, self.buffer = f, buffer
        t = buffer.type
        key = ("addresses", t.layout, t.elem, tuple(b if isinstance(b, int) else b.value for b in base))
        if key not in f.memo:
            f.memo[key] = Addresses(f, t.layout, t.elem.size_bytes, base, places)
        addresses = f.memo[key]
        assert isinstance(addresses, Addresses)
        self.addresses = addresses
        self._here: dict[int, LLVM] = {}
        known = integer(slot)
        self._constant = buffer.offset_bytes + (known * t.slot_bytes if known is not None else 0)
        self._slot = None if known is not None or t.slots == 1 else f.mul(f.resize(slot, I32), t.slot_bytes)

    def moved(self, further: LLVM) -> Slot:
        """The same slot some bytes on: for a loop that walks through it."""
        slot = copy.copy(self)
        slot._here = {}
        slot._slot = further if self._slot is None else self._f.add(self._slot, further)
        return slot

    def pointer(self, offset: Offset, bound: Bound) -> LLVM:
        """The address of the element at a register offset."""
        base, constant = self.addresses.at(offset, bound)
        if self._slot is not None:
            if id(base) not in self._here:
                self._here[id(base)] = self._f.byte_offset(base, self._slot)
            base = self._here[id(base)]
        return self._f.byte_offset(base, self._constant + constant)

    def check(self, offset: Offset, bound: Bound, axis: int, width: int) -> None:
        """`width` neighbours along an axis must be neighbours in the buffer, at a multiple of their size."""
        if width == 1:
            return
        size = self.buffer.type.elem.size_bytes
        first = self.addresses.offsets(offset, bound)
        ends = (*offset[:axis], offset[axis] + width - 1, *offset[axis + 1 :])
        far = (*bound[:axis], None if bound[axis] is None else self._last(bound, axis, width), *bound[axis + 1 :])
        last = self.addresses.offsets(ends, far)
        if (last - first != (width - 1) * size).any() or (first % (width * size)).any():
            raise InternalError(f"codegen: {width} elements along axis {axis} are no vector in {self.buffer.type}")

    @staticmethod
    def _last(bound: Bound, axis: int, width: int) -> int:
        most = bound[axis]
        assert most is not None
        return most + width - 1


def fast_axis(layout: SharedLayout) -> int:
    """The axis along which a buffer's elements are neighbours."""
    return layout.fast if isinstance(layout, Swizzled) else len(layout.shape) - 1


def bounds(f: Function, layout: RegisterLayout, run: Run, axis: int, width: int) -> Bound:
    """Limits for a run that reaches past the tile in some thread, so that it reads inside the buffer."""
    return tuple(
        None if int(places.max()) + at + (width if a == axis else 1) <= s else s - (width if a == axis else 1)
        for a, (places, at, s) in enumerate(zip(f.table(layout), run.offset, layout.shape, strict=True))
    )


def unbounded(offset: Offset) -> Bound:
    return (None,) * len(offset)


# ---- ops ----------------------------------------------------------------------------------------------------


def write(f: Function, op: Write) -> None:
    """Registers to a slot: surplus registers and second holders of an element stay out."""
    buffer, layout = f.buffer(op.buffer), f.layout(op.value)
    slot = Slot(f, buffer, f.scalar(op.slot), f.thread_base(layout), f.table(layout))
    elem, width, axis = buffer.type.elem, max(op.width, 1), fast_axis(buffer.type.layout)
    registers = f.registers(op.value)
    groups: dict[Key, list[Run]] = {}
    highest = [int(c.max()) for c in f.table(layout)]
    for run in runs(layout, width, axis):
        surplus = tuple(("surplus", a, o) for a, o in enumerate(run.offset) if highest[a] + o >= layout.shape[a])
        groups.setdefault(surplus, []).append(run)
        if not surplus:
            slot.check(run.offset, unbounded(run.offset), axis, width)
    owns = owner(f, layout)
    for key, group in groups.items():
        tests = [within(f, f.thread_base(layout)[a], at, layout.shape[a]) for _, a, at in key]
        condition = f.all_of(tests if owns is None else [owns, *tests])
        # Pointers are shared between groups, so they are made before the branch.
        values = [packed(f, [registers[r] for r in run.registers], elem) for run in group]
        pointers = [slot.pointer(run.offset, unbounded(run.offset)) for run in group]

        def store(values: list[LLVM] = values, pointers: list[LLVM] = pointers) -> list[LLVM]:
            for value, p in zip(values, pointers, strict=True):
                f.b.store(value, p, align=width * elem.size_bytes)
            return []

        f.guarded(condition, store, (), f"write.{op.value.name}")


def read(f: Function, op: Read) -> None:
    """A slot to registers; a surplus register reads some element of the tile."""
    buffer, layout = _seen_as(f.buffer(op.buffer), shape_of(op.out.type)), f.layout(op.out)
    slot = Slot(f, buffer, f.scalar(op.slot), f.thread_base(layout), f.table(layout))
    elem, width, axis = buffer.type.elem, max(op.width, 1), fast_axis(buffer.type.layout)
    registers: list[LLVM] = [None] * layout.registers
    for run in runs(layout, width, axis):
        bound = bounds(f, layout, run, axis, width)
        slot.check(run.offset, bound, axis, width)
        value = load_access(f, slot.pointer(run.offset, bound), elem, width)
        for register, part in zip(run.registers, unpacked(f, value, elem, width), strict=True):
            registers[register] = part
    f.bind(op.out, registers)


def _seen_as(buffer: SharedBuffer, shape: tuple[int, ...]) -> SharedBuffer:
    """A buffer of plain rows with the same elements in another shape."""
    t = buffer.type
    if t.shape == shape:
        return buffer
    if not is_plain(t) or t.slots != 1:
        raise InternalError(f"codegen: {t} is read as {list(shape)}")
    return SharedBuffer(Buffer(t.elem, shape, Swizzled(shape, len(shape) - 1)), buffer.offset_bytes)


def copy_async(f: Function, op: CopyAsync) -> None:
    """One cp.async for each run; a masked one reads no byte and writes zeros."""
    if not f.target.cp_async:
        raise InternalError(f"codegen: cp.async on {f.target.name}")
    buffer, layout = f.buffer(op.buffer), op.layout
    size, axis = op.width * buffer.type.elem.size_bytes, len(layout.shape) - 1
    if size not in (4, 8, 16):
        raise InternalError(f"codegen: cp.async of {size} bytes")
    window = Window(f, op.tensor, op.offsets, op.extents, layout, op.guards)
    axes = matched_axes(layout.shape, buffer.type.shape)
    base, places = f.thread_base(layout), f.table(layout)
    slot = Slot(
        f,
        buffer,
        f.scalar(op.slot),
        [0 if a is None else base[a] for a in axes],
        tuple(np.zeros_like(places[0]) if a is None else places[a] for a in axes),
    )
    name = f"llvm.nvvm.cp.async.{'cg' if size == 16 else 'ca'}.shared.global.{size}"
    whole, nothing = constant(I32, size), constant(I32, 0)
    groups: dict[Key, list[Run]] = {}
    for run in runs(layout, op.width, axis):
        tests = window.key(run.offset, owner=True)
        groups.setdefault(tuple(t for t in tests if t[0] in ("owner", "surplus")), []).append(run)
        if op.width > 1 and not any(t[0] == "surplus" for t in tests):
            into = _into(run.offset, axes)
            slot.check(into, unbounded(into), axes.index(axis), op.width)
    for key, group in groups.items():
        branch = window.predicate(key)
        copies = [_copy(window, slot, run, axes) for run in group] if branch is not None else None

        def issue(group: list[Run] = group, copies: list[Copy] | None = copies) -> list[LLVM]:
            for i, run in enumerate(group):
                predicate, source, target = copies[i] if copies is not None else _copy(window, slot, run, axes)
                if predicate is None:
                    f.intrinsic(name, VOID, (target, source))
                else:
                    # Nothing is read where the size is 0, but the address must still be one of the tensor's.
                    source = f.b.select(predicate, source, window.tensor)
                    f.intrinsic(f"{name}.s", VOID, (target, source, f.b.select(predicate, whole, nothing)))
            return []

        f.guarded(branch, issue, (), f"copy.{op.buffer.name}")


def _copy(window: Window, slot: Slot, run: Run, axes: tuple[int | None, ...]) -> Copy:
    """Where a run is masked, read and written."""
    guards = tuple(t for t in window.key(run.offset) if t[0] != "surplus")
    into = _into(run.offset, axes)
    return window.predicate(guards), window.pointer(run.offset), slot.pointer(into, unbounded(into))


def _into(offset: Offset, axes: tuple[int | None, ...]) -> Offset:
    """A tensor tile's offset in a buffer that lacks some of its unit axes."""
    return tuple(0 if a is None else offset[a] for a in axes)


def commit(f: Function, op: Commit) -> None:
    f.intrinsic("llvm.nvvm.cp.async.commit.group", VOID, ())


def wait(f: Function, op: Wait) -> None:
    f.intrinsic("llvm.nvvm.cp.async.wait.group", VOID, (constant(I32, op.pending),))


def barrier_all(f: Function) -> None:
    """A barrier for the block, which all of its threads reach."""
    f.intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", VOID, (constant(I32, 0),))


def sync(f: Function, op: Sync) -> None:
    """A barrier for the block or the warp; an elided one is a comment."""
    if op.scope == "cta":
        barrier_all(f)
    elif op.scope == "warp":
        sync_warp(f)
    elif op.scope == "none":
        f.comment(f"barrier elided: {op.why}")
    else:
        raise InternalError(f"codegen: sync of scope {op.scope!r}")

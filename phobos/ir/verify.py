"""The verifier: says which rules of the IR a kernel breaks. It is the list of those rules.

Takes a kernel, gives messages; shares no code with the passes, and judges `pack` by painting a (time x byte) grid.

Values
- Every value has one definition: a kernel parameter, a block parameter or a result.
- A use stands after the definition, in the same block or in a region of a later op of it (dominance). The condition
  and the body of a `while`, and the two arms of an `if`, do not see each other's values.
- Kernel tensors are Tensors whose named dims are among `dims`; dims are index; scalars are Scalars. A tensor has one
  stride for each axis but the last, or none; strides are index.
- No fact is both denied and used.

Ops
- Each op keeps the rules of its class (`Op.verify`).
- A block in an op ends in `yield` and has no other terminator; the kernel's body has none.
- `yield` gives what the owner asks for: `for` the carried types; the condition of a `while` a bool and the carried
  types, its body the carried types; both arms of an `if` the types of its results.
- Buffers are named by the `alloc` that makes them: no region passes one on.

Forms
- An op stands only in the forms of `FORM_RANGE`; ops not listed there are legal in every form.
- Before "placed" no type has a layout; from "placed" on every tile type has one, of the tile's shape and for the
  kernel's number of warps. That of a transposed tile is its operand's with the axes reversed; that of a scanned tile
  has one warp along the axis.
- A load that is `invariant` reads a tensor that no op of the kernel writes.
- Before "staged" accesses have width 0, from "staged" on at least 1.

Shared memory
- Before "packed" an `alloc` has offset -1; from "packed" on it has one >= 0.
- The bytes of one access divide the offset of its buffer, and the slot size where an op names a slot (natural
  alignment). A buffer that is read and written as a tensor is has plain rows.
- Buffers that are occupied at the same time (`occupancy`) do not share a byte.
- All buffers together end within the limit, when the caller gives one.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, prod
from typing import Any

import numpy as np

from ..diagnostics import InternalError
from ..layout.register import Blocked
from ..layout.shared import Swizzled
from .core import Block, Op, Value
from .cta_ops import Alloc, Commit, CopyAsync, DotFma, Read, Sync, Wait, Write
from .kernel import Kernel
from .occupancy import occupied
from .printer import print_op, type_text
from .shape_ops import Gather, Scan, Transpose
from .thread_ops import Atomic, LoadRun, StoreRun
from .tile_ops import Convert, Dot, For, If, Load, LoadPoint, Store, StorePoint, While
from .types import BOOL, INDEX, Buffer, Scalar, Tensor, Tile, Type

FORMS = ("built", "folded", "guarded", "placed", "staged", "packed", "synced")

FORM_RANGE: dict[type[Op], tuple[str, str]] = {
    Dot: ("built", "placed"),
    Convert: ("placed", "synced"),
    CopyAsync: ("staged", "synced"),
    Commit: ("staged", "synced"),
    Wait: ("staged", "synced"),
    Write: ("staged", "synced"),
    Read: ("staged", "synced"),
    DotFma: ("staged", "synced"),
    Sync: ("synced", "synced"),
}
"""First and last form of ops that do not stand in all of them."""


def verify(kernel: Kernel, shared_limit_bytes: int | None = None) -> list[str]:
    """Every broken rule, one message each; empty when the kernel is sound."""
    if kernel.form not in FORMS:
        return [f"unknown form {kernel.form!r}"]
    return list(_Verifier(kernel).run(shared_limit_bytes))


def check(kernel: Kernel, after: str) -> None:
    """Raise InternalError, naming the pass and the op, when a rule is broken."""
    if messages := verify(kernel):
        more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
        raise InternalError(f"kernel {kernel.name} is wrong after {after}: {messages[0]}{more}")


def reached(form: str, first: str) -> bool:
    """Whether a form is at or after another."""
    return FORMS.index(form) >= FORMS.index(first)


class _Verifier:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.defined: set[Value] = set()
        self.visible: set[Value] = set()
        self.written = {op.tensor for op in kernel.walk() if isinstance(op, Store | StorePoint | StoreRun | Atomic)}

    def run(self, limit: int | None) -> Iterator[str]:
        k = self.kernel
        for v in k.parameters:
            yield from self.define(v, f"parameter {v}")
        yield from self.parameters()
        yield from (f"fact {f} is both denied and used" for f in sorted(k.denied & k.used))
        yield from self.block(k.body, None)
        yield from self.shared(limit)

    def parameters(self) -> Iterator[str]:
        names = {d.name for d in self.kernel.dims}
        for v in self.kernel.tensors:
            if not isinstance(v.type, Tensor):
                yield f"parameter {v} is a {v.type}, not a tensor"
            else:
                yield from (f"no dim {d} for {v}" for d in v.type.dims if isinstance(d, str) and d not in names)
        yield from (f"dim {v} is {v.type}, not index" for v in self.kernel.dims if v.type != INDEX)
        yield from self.strides()
        yield from (f"scalar {v} is a {v.type}" for v in self.kernel.scalars if not isinstance(v.type, Scalar))

    def strides(self) -> Iterator[str]:
        k = self.kernel
        if k.strides and len(k.strides) != len(k.tensors):
            yield f"strides of {len(k.strides)} tensors, the kernel has {len(k.tensors)}"
        for tensor, strides in zip(k.tensors, k.strides, strict=False):
            if strides and isinstance(tensor.type, Tensor) and len(strides) != len(tensor.type.dims) - 1:
                yield f"{tensor} has {len(strides)} outer strides"
            yield from (f"stride {v} is {v.type}, not index" for v in strides if v.type != INDEX)

    # ---- values and ops -------------------------------------------------------------------------------------

    def define(self, value: Value, where: str) -> Iterator[str]:
        if value in self.defined:
            yield f"{where}: {value} is defined twice"
        self.defined.add(value)
        self.visible.add(value)
        yield from (f"{where}: {m}" for m in self.type(value.type))

    def block(self, block: Block, owner: Op | None) -> Iterator[str]:
        here = "the body" if owner is None else describe(owner)
        outside = set(self.visible)
        for p in block.params:
            yield from self.define(p, here)
        for op in block.ops:
            yield from (f"{describe(op)}: {m}" for m in self.op(op))
            for region in op.regions():
                yield from self.block(region, op)
            for v in op.results():
                yield from self.define(v, describe(op))
        last = block.ops[-1] if block.ops else None
        if owner is not None and not (last is not None and last.terminator):
            yield f"{here}: a block does not end in a terminator"
        inner = block.ops if owner is None else block.ops[:-1]
        yield from (f"{describe(op)}: a terminator in the middle" for op in inner if op.terminator)
        self.visible = outside

    def op(self, op: Op) -> Iterator[str]:
        first, last = FORM_RANGE.get(type(op), (FORMS[0], FORMS[-1]))
        if not reached(self.kernel.form, first) or not reached(last, self.kernel.form):
            yield f"{op.name} is not legal in form {self.kernel.form}"
        for v in op.operands():
            if v not in self.visible:
                yield f"{v} is used where its definition does not reach"
        yield from op.verify()
        yield from self.yields(op)
        yield from self.widths(op)
        if isinstance(op, Load | LoadPoint | LoadRun | Gather) and op.invariant and op.tensor in self.written:
            yield f"{op.tensor} is read as invariant, and the kernel writes it"
        yield from self.kept_layout(op)
        if op.memory:
            yield from plain_rows(getattr(op, op.memory))
        if op.regions() and any(isinstance(v.type, Buffer) for v in (*op.operands(), *op.results())):
            yield "a buffer is passed on"

    def kept_layout(self, op: Op) -> Iterator[str]:
        """What ops that keep each element in its thread ask of layouts."""
        if not isinstance(op, Transpose | Scan) or not isinstance(op.a.type, Tile) or not isinstance(op.out.type, Tile):
            return
        held = op.a.type.layout
        if isinstance(op, Transpose) and isinstance(held, Blocked) and held.transposed() != op.out.type.layout:
            yield f"{op.out.type} is not laid out as the transpose of {op.a.type}"
        if isinstance(op, Scan) and isinstance(held, Blocked) and not held.one_warp(op.axis):
            yield f"warps share axis {op.axis} of {op.a.type}"

    def yields(self, op: Op) -> Iterator[str]:
        wanted: list[tuple[str, Block, list[Type]]] = []
        if isinstance(op, For):
            wanted = [("the body", op.body, types(op.outs))]
        elif isinstance(op, While):
            wanted = [("the condition", op.cond, [BOOL, *types(op.outs)]), ("the body", op.body, types(op.outs))]
        elif isinstance(op, If):
            wanted = [("then", op.then, types(op.outs)), ("else", op.orelse, types(op.outs))]
        for where, block, expected in wanted:
            if block.ops and block.ops[-1].terminator and types(block.ops[-1].operands()) != expected:
                given = ", ".join(map(type_text, types(block.ops[-1].operands())))
                yield f"{where} yields [{given}], not [{', '.join(map(type_text, expected))}]"

    # ---- forms ----------------------------------------------------------------------------------------------

    def type(self, t: Type) -> Iterator[str]:
        if not isinstance(t, Tile):
            return
        if t.layout is None:
            if reached(self.kernel.form, "placed"):
                yield f"{t} has no layout in form {self.kernel.form}"
            return
        if not reached(self.kernel.form, "placed"):
            yield f"{t} has a layout in form {self.kernel.form}"
        if t.layout.shape != t.shape:
            yield f"{t} has the layout of {list(t.layout.shape)}"
        if isinstance(t.layout, Blocked) and prod(t.layout.warps) != self.kernel.warps:
            yield f"{t} has a layout for {prod(t.layout.warps)} warps, the kernel has {self.kernel.warps}"

    def widths(self, op: Op) -> Iterator[str]:
        if isinstance(op, Load | Store | LoadRun | StoreRun) and (op.width > 0) != reached(self.kernel.form, "staged"):
            yield f"width {op.width} in form {self.kernel.form}"
        if reached(self.kernel.form, "staged"):
            for buffer, width in accesses(op):
                t = buffer.type
                if not isinstance(t, Buffer):
                    yield f"{buffer} is a {t}, not a buffer"
                elif width < 1 or (not op.memory and t.slot_bytes % (width * t.elem.size_bytes)):
                    yield f"width {width} does not fit slots of {t.slot_bytes} bytes"

    # ---- shared memory --------------------------------------------------------------------------------------

    def shared(self, limit: int | None) -> Iterator[str]:
        packed = reached(self.kernel.form, "packed")
        allocs = [op for op in self.kernel.walk() if isinstance(op, Alloc) and isinstance(op.out.type, Buffer)]
        wrong = [a for a in allocs if (a.offset_bytes < 0) == packed]
        yield from (f"{describe(a)}: offset {a.offset_bytes} in form {self.kernel.form}" for a in wrong)
        if not packed or wrong:
            return
        offsets = {a.out: a.offset_bytes for a in allocs}
        for op in self.kernel.walk():
            for buffer, width in accesses(op):
                size = width * element_bytes(buffer)
                if buffer in offsets and size and offsets[buffer] % size:
                    yield f"{describe(op)}: accesses of {size} bytes in {buffer} at offset {offsets[buffer]}"
        yield from painted(allocs, occupied(self.kernel.body))
        total = max((a.offset_bytes + buffer_type(a).size_bytes for a in allocs), default=0)
        if limit is not None and total > limit:
            yield f"buffers end at byte {total}, the limit is {limit}"


def painted(allocs: list[Alloc], lives: dict[Value, set[int]]) -> Iterator[str]:
    """Paint each buffer on a grid of points by bytes; a cell painted twice is a message."""
    numbers = [n for a in allocs for n in (a.offset_bytes, buffer_type(a).size_bytes)]
    unit = gcd(*numbers) or 1
    points = 1 + max((p for life in lives.values() for p in life), default=0)
    cells = max((a.offset_bytes + buffer_type(a).size_bytes for a in allocs), default=0) // unit
    owner = np.full((points, cells), -1, np.int32)
    for number, alloc in enumerate(allocs):
        rows = np.array(sorted(lives[alloc.out]), np.intp)
        start = alloc.offset_bytes // unit
        area = owner[rows, start : start + buffer_type(alloc).size_bytes // unit]
        for other in np.unique(area[area >= 0]):
            first = allocs[int(other)]
            yield f"{describe(alloc)}: shares bytes with {first.label} while both are in use"
        owner[rows, start : start + buffer_type(alloc).size_bytes // unit] = number


def accesses(op: Op) -> list[tuple[Value, int]]:
    """Buffers that an op accesses, with the elements of one access."""
    if op.memory:
        memory: Value = getattr(op, op.memory)
        return [(memory, getattr(op, "width", 1))] if isinstance(memory.type, Buffer) else []
    if isinstance(op, CopyAsync | Write | Read):
        return [(op.buffer, op.width)]
    if isinstance(op, DotFma):
        return [(op.a, op.a_width), (op.b, op.b_width)]
    return []


def plain_rows(memory: Value) -> Iterator[str]:
    """What is read and written as a tensor is lies as a tensor does."""
    t = memory.type
    if isinstance(t, Buffer) and t.layout != Swizzled(t.shape, len(t.shape) - 1):
        yield f"{memory} has the layout {t.layout}, not plain rows"


def element_bytes(value: Value) -> int:
    return value.type.elem.size_bytes if isinstance(value.type, Buffer) else 0


def buffer_type(alloc: Alloc) -> Buffer:
    t: Any = alloc.out.type
    assert isinstance(t, Buffer)
    return t


def types(values: tuple[Value, ...]) -> list[Type]:
    return [v.type for v in values]


def describe(op: Op) -> str:
    """Where an op stands and what it is."""
    return f"{op.span}: {print_op(op)}"

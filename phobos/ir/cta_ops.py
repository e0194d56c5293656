"""CTA ops: what threads do, buffer by buffer (forms "staged" to "synced").

Elementwise ops and control flow stay tile ops.

A slot is an index value that picks one tile of a multi-buffered Buffer. `phase` is what `sync` knows of it: the slot
filled or read, relative to the trip of the pipelined loop, modulo the slots; -1 when nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..layout.base import RegisterLayout
from .core import Effect, Op, Value, attribute, op, operand, result
from .memory import is_plain
from .tile_ops import GUARDS
from .types import INDEX, Buffer, Tensor, Tile

SCOPES = ("cta", "warp", "none")


@op("alloc")
class Alloc(Op):
    """A shared buffer. offset_bytes is given by `pack`, -1 before.

    label: what it holds, a variable's name for a tile of the source that is kept in memory. why: why it is there.
    Each `alloc` is a buffer of its own. One that a tile of the source lives in has plain rows and one slot.
    """

    label: str = attribute()
    why: str = attribute(default="")
    offset_bytes: int = attribute(default=-1)
    out: Value = result()

    def verify(self) -> Iterator[str]:
        t = self.out.type
        if not isinstance(t, Buffer):
            yield f"result is {t}"
        elif t.layout.shape != t.shape or t.slots < 1:
            yield f"{t} has a layout of {list(t.layout.shape)}"


@op("copy_async", effects=Effect.READ_GLOBAL | Effect.WRITE_SHARED)
class CopyAsync(Op):
    """cp.async of a tile from global memory into a buffer's slot; masked elements become 0. Fields as in `load`.

    layout: which thread copies which elements; width elements (4, 8 or 16 bytes) at a time along the last axis. Its
    shape is the buffer's, up to axes of extent 1, and has an axis for each of the tensor's.
    Visible to the copying thread after `wait`, to the CTA after a `sync` behind that.
    """

    tensor: Value = operand()
    offsets: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    buffer: Value = operand()
    slot: Value = operand()
    layout: RegisterLayout = attribute()
    guards: tuple[str, ...] = attribute()
    why: tuple[str, ...] = attribute(default=())
    width: int = attribute()
    width_why: str = attribute(default="")
    phase: int = attribute(default=-1)

    def verify(self) -> Iterator[str]:
        t, b = self.tensor.type, self.buffer.type
        shape = self.layout.shape
        alike = isinstance(t, Tensor) and isinstance(b, Buffer) and t.elem == b.elem
        if not (isinstance(t, Tensor) and isinstance(b, Buffer) and alike and _same_elements(shape, b.shape)):
            yield f"copies {t} into {b} as {list(shape)}"
            return
        if not len(self.offsets) == len(self.extents) == len(self.guards) == len(t.dims) == len(shape):
            counts = f"{len(self.offsets)} offsets, {len(self.extents)} extents, {len(self.guards)} guards"
            yield f"rank {len(t.dims)}: {counts}"
        if self.width * t.elem.size_bytes not in (4, 8, 16):
            yield f"cp.async of {self.width * t.elem.size_bytes} bytes"
        yield from (f"unknown guard {g!r}" for g in self.guards if g not in GUARDS)
        yield from (f"{v} is {v.type}, not index" for v in (*self.offsets, *self.extents) if v.type != INDEX)
        yield from _slot(self.slot)


def _same_elements(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes differ in axes of extent 1 only."""
    return [n for n in a if n != 1] == [n for n in b if n != 1]


def _slot(*slots: Value) -> Iterator[str]:
    yield from (f"slot {s} is {s.type}, not index" for s in slots if s.type != INDEX)


@op("commit", effects=Effect.ORDER)
class Commit(Op):
    """End a group of async copies (cp.async.commit_group)."""


@op("wait", effects=Effect.ORDER)
class Wait(Op):
    """Wait until at most `pending` groups of this thread are in flight (cp.async.wait_group)."""

    pending: int = attribute()

    def verify(self) -> Iterator[str]:
        if self.pending < 0:
            yield f"{self.pending} groups"


@op("write", effects=Effect.WRITE_SHARED)
class Write(Op):
    """Write a register tile into a buffer's slot. width: elements per access along the buffer's contiguous axis."""

    buffer: Value = operand()
    slot: Value = operand()
    value: Value = operand()
    width: int = attribute(default=1)
    phase: int = attribute(default=-1)

    def verify(self) -> Iterator[str]:
        b, t = self.buffer.type, self.value.type
        if not (isinstance(b, Buffer) and isinstance(t, Tile) and b.shape == t.shape and b.elem == t.elem):
            yield f"writes {t} into {b}"
        yield from _slot(self.slot)


@op("read", effects=Effect.READ_SHARED)
class Read(Op):
    """Read a buffer's slot into a register tile. width: elements per access along the buffer's contiguous axis.

    The tile may have another shape than a buffer of plain rows: then it takes the elements row by row.
    """

    buffer: Value = operand()
    slot: Value = operand()
    width: int = attribute(default=1)
    phase: int = attribute(default=-1)
    out: Value = result()

    def verify(self) -> Iterator[str]:
        b, t = self.buffer.type, self.out.type
        if not (isinstance(b, Buffer) and isinstance(t, Tile) and b.elem == t.elem and _reads_as(b, t.shape)):
            yield f"reads {b} into {t}"
        yield from _slot(self.slot)


def _reads_as(buffer: Buffer, shape: tuple[int, ...]) -> bool:
    """Whether a tile of a shape may be read: the buffer's own, or another one's of as many elements in plain rows."""
    return buffer.shape == shape or (prod(buffer.shape) == prod(shape) and is_plain(buffer))


@op("dot_fma", effects=Effect.READ_SHARED)
class DotFma(Op):
    """out = acc + a b on FMA units: operands from shared memory, accumulators in registers (layout of acc and out).

    a's buffer holds [M, K], b's [K, N] ([N, K] when trans_b), each in its own shared layout; k ascending, one fma per
    step and element. a_width, b_width: elements per shared access along the buffer's contiguous axis.
    """

    a: Value = operand()
    a_slot: Value = operand()
    b: Value = operand()
    b_slot: Value = operand()
    acc: Value = operand()
    trans_b: bool = attribute(default=False)
    a_width: int = attribute(default=1)
    b_width: int = attribute(default=1)
    a_phase: int = attribute(default=-1)
    b_phase: int = attribute(default=-1)
    out: Value = result()

    def verify(self) -> Iterator[str]:
        a, b, acc = self.a.type, self.b.type, self.acc.type
        if not (isinstance(a, Buffer) and isinstance(b, Buffer) and isinstance(acc, Tile)):
            yield f"multiplies {a} and {b} onto {acc}"
            return
        k, n = (b.shape[1], b.shape[0]) if self.trans_b else b.shape
        if a.shape[1] != k:
            yield f"contracts {a.shape[1]} with {k}"
        if acc.shape != (a.shape[0], n) or acc != self.out.type:
            yield f"accumulates {a} and {b} on {acc} into {self.out.type}"
        yield from _slot(self.a_slot, self.b_slot)


@op("sync", effects=Effect.ORDER)
class Sync(Op):
    """Order shared and global accesses.

    scope "cta" is bar.sync, "warp" bar.warp.sync, "none" an elided barrier; `why` says why.
    """

    scope: str = attribute()
    why: str = attribute(default="")

    def verify(self) -> Iterator[str]:
        if self.scope not in SCOPES:
            yield f"unknown scope {self.scope!r}"

"""`dot_fma`: an outer product for each k, operands from shared memory, accumulators in registers.

A thread holds a grid of rows and columns of the accumulator. For each k it reads its rows' column of a and its
columns' row of b, in accesses as wide as the op says, and runs the fused multiply-adds of the grid in a snake, so that
neighbours in the order share an operand. The fragments of k + 1 are read before the multiply-adds of k. All of k is
straight code up to LONGEST multiply-adds; more are a loop over parts of k, where both buffers advance evenly. A thread
with few accumulators waits for each sum before it can add to it again: the assembler then moves all reads of the
straight code to its front, and spills. So such code has no more reads than AHEAD.
"""

from __future__ import annotations

import copy

import numpy as np

from ..diagnostics import InternalError
from ..ir.core import Value
from ..ir.cta_ops import DotFma
from ..ir.tile_ops import element
from ..layout.base import RegisterLayout
from . import scalar
from .access import Offset
from .control import keep_rolled
from .function import Function
from .index import Expr
from .memory import load_access, unpacked
from .shared import Bound, Slot, fast_axis
from .types import I32, LLVM, constant

LONGEST = 2048
"""Multiply-adds of a thread in straight code: 32 KB, what the instruction cache holds with room for the rest."""
FEW = 32
"""Accumulators below which multiply-adds wait for each other."""
AHEAD = 32
"""Operand values that straight code with few accumulators reads."""
Fragment = dict[int, LLVM]
"""Operand values of one k by their row or column offset within the thread."""


class Operand:
    """One side of the contraction: what a thread reads of it.

    axis is the accumulator's axis that the operand's rows or columns follow; free is the buffer's axis for it.
    """

    def __init__(
        self, f: Function, buffer: Value, slot: Value, layout: RegisterLayout, axis: int, free: int, width: int
    ) -> None:
        self._f = f
        cell = f.buffer(buffer)
        self.elem = cell.type.elem
        self._free, self._along = free, 1 - free
        self.depth = cell.type.shape[self._along]
        self.extent = cell.type.shape[free]
        self._width = width
        self._by_k = width > 1 and fast_axis(cell.type.layout) == self._along
        places = f.table(layout)[axis]
        base: Expr | int = f.thread_base(layout)[axis]
        pair: tuple[Expr | int, Expr | int] = (base, 0) if free == 0 else (0, base)
        nowhere = places * 0
        self._slot = Slot(f, cell, f.scalar(slot), pair, (places, nowhere) if free == 0 else (nowhere, places))
        self._highest = int(places.max())
        self.offsets = sorted({layout.register_offset(r)[axis] for r in range(layout.registers)})
        self._ahead: dict[tuple[int, int], LLVM] = {}

    def moved(self, further: LLVM) -> Operand:
        """The operand some bytes further along k."""
        operand = copy.copy(self)
        operand._slot, operand._ahead = self._slot.moved(further), {}
        return operand

    def pace(self, part: int) -> int | None:
        """Bytes from each k to k + part, where they are the same number for every thread, row and k."""
        paces: set[int] = set()
        for k in range(self.depth - part):
            for at in self.offsets:
                here, there = (self._slot.addresses.offsets(*self._place(at, x, 1)) for x in (k, k + part))
                paces.update(np.unique(there - here).tolist())
                if len(paces) > 1:
                    return None
        return paces.pop()

    def read(self, k: int) -> Fragment:
        """The thread's values at one k."""
        if self._by_k:
            return {o: self._read_ahead(o, k) for o in self.offsets}
        values: Fragment = {}
        for at in self.offsets[:: self._width]:
            group = [at + i for i in range(self._width)]
            loaded = self._load(at, k, self._width, self._free)
            values.update(zip(group, loaded, strict=True))
        if sorted(values) != self.offsets:
            raise InternalError(f"codegen: vectors of {self._width} do not fit the rows {self.offsets}")
        return values

    def _read_ahead(self, at: int, k: int) -> LLVM:
        """A value of a buffer whose rows run along k: read with the ones that follow it."""
        if (at, k) not in self._ahead:
            width = self._width if k % self._width == 0 and k + self._width <= self.depth else 1
            for i, value in enumerate(self._load(at, k, width, self._along)):
                self._ahead[at, k + i] = value
        return self._ahead.pop((at, k))

    def _load(self, at: int, k: int, width: int, axis: int) -> list[LLVM]:
        offset, bound = self._place(at, k, width if axis == self._free else 1)
        self._slot.check(offset, bound, axis, width)
        value = load_access(self._f, self._slot.pointer(offset, bound), self.elem, width)
        return unpacked(self._f, value, self.elem, width)

    def _place(self, at: int, k: int, span: int) -> tuple[Offset, Bound]:
        """Register offset and limit of `span` rows or columns; a surplus one reads inside the tile."""
        most = None if self._highest + at + span <= self.extent else self.extent - span
        return ((at, k), (most, None)) if self._free == 0 else ((k, at), (None, most))


def dot_fma(f: Function, op: DotFma) -> None:
    """See the module text."""
    layout = f.layout(op.acc)
    a = Operand(f, op.a, op.a_slot, layout, 0, 0, max(op.a_width, 1))
    b = Operand(f, op.b, op.b_slot, layout, 1, 0 if op.trans_b else 1, max(op.b_width, 1))
    if a.depth != b.depth:
        raise InternalError(f"codegen: dot_fma contracts {a.depth} with {b.depth}")
    acc = list(f.registers(op.acc))
    part = _part(a, b, len(acc))
    if part == a.depth:
        f.bind(op.out, _outer_products(f, op, a, b, part, acc))
        return
    steps = [constant(I32, pace) for operand in (a, b) if (pace := operand.pace(part)) is not None]
    assert len(steps) == 2
    before, loop, done = f.b.block, f.block("dot"), f.block("dot.end")
    f.b.branch(loop)
    f.b.position_at_end(loop)
    phis = [f.b.phi(v.type) for v in (*steps, *acc)]
    for phi, v in zip(phis, [*(constant(I32, 0) for _ in steps), *acc], strict=True):
        phi.add_incoming(v, before)
    acc = _outer_products(f, op, a.moved(phis[0]), b.moved(phis[1]), part, phis[2:])
    nexts = [f.b.add(phi, step) for phi, step in zip(phis[:2], steps, strict=True)]
    last = constant(I32, steps[0].constant * (a.depth // part))
    branch = f.b.cbranch(f.b.icmp_unsigned("!=", nexts[0], last), loop, done)
    for phi, v in zip(phis, [*nexts, *acc], strict=True):
        phi.add_incoming(v, f.b.block)
    keep_rolled(f, branch)
    f.b.position_at_end(done)
    f.bind(op.out, acc)


def _part(a: Operand, b: Operand, registers: int) -> int:
    """How many k are straight code: all, or a part of k that advances evenly, as long as the limits allow."""
    longest = LONGEST // registers
    if registers < FEW:
        longest = min(longest, max(AHEAD // (len(a.offsets) + len(b.offsets)), 1))
    if a.depth <= longest:
        return a.depth
    parts = [p for p in range(1, a.depth) if a.depth % p == 0]
    closest = sorted(parts, key=lambda p: (p > longest, abs(p - longest)))
    return next((p for p in closest if a.pace(p) and b.pace(p)), a.depth)


def _outer_products(f: Function, op: DotFma, a: Operand, b: Operand, depth: int, start: list[LLVM]) -> list[LLVM]:
    """The accumulators after `depth` outer products."""
    layout, elem = f.layout(op.acc), element(op.acc.type)
    at = {layout.register_offset(r): r for r in range(layout.registers)}
    acc = list(start)

    def read(k: int) -> tuple[Fragment, Fragment]:
        return _converted(f, a, a.read(k), op), _converted(f, b, b.read(k), op)

    fragment = read(0)
    for k in range(depth):
        rows, columns = fragment
        if k + 1 < depth:
            fragment = read(k + 1)
        for i, row in enumerate(a.offsets):
            for column in b.offsets if i % 2 == 0 else reversed(b.offsets):
                r = at[row, column]
                acc[r] = scalar.fma(f, elem, rows[row], columns[column], acc[r])
    return acc


def _converted(f: Function, operand: Operand, values: Fragment, op: DotFma) -> Fragment:
    """Operand values in the accumulator's type."""
    elem = element(op.acc.type)
    return {o: scalar.cast(f, v, operand.elem, elem) for o, v in values.items()}

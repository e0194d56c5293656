"""`dot_fma`: an outer product for each k, operands from shared memory, accumulators in registers.

A thread holds a grid of rows and columns of the accumulator. For each k it reads its rows' column of a and its
columns' row of b, in accesses as wide as the op says, and runs the fused multiply-adds of the grid in a snake, so that
neighbours in the order share an operand. The fragments of k + 1 are read before the multiply-adds of k.
"""

from __future__ import annotations

from ..diagnostics import InternalError
from ..ir.core import Value
from ..ir.cta_ops import DotFma
from ..ir.tile_ops import element
from ..layout.base import RegisterLayout
from . import scalar
from .access import Offset
from .function import Function
from .index import Expr
from .memory import load_access, unpacked
from .shared import Bound, Slot, fast_axis
from .types import LLVM

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
        offset = (at, k) if self._free == 0 else (k, at)
        span = width if axis == self._free else 1
        most = None if self._highest + at + span <= self.extent else self.extent - span
        bound: Bound = (most, None) if self._free == 0 else (None, most)
        self._check(offset, bound, axis, width)
        value = load_access(self._f, self._slot.pointer(offset, bound), self.elem, width)
        return unpacked(self._f, value, self.elem, width)

    def _check(self, offset: Offset, bound: Bound, axis: int, width: int) -> None:
        self._slot.check(offset, bound, axis, width)


def dot_fma(f: Function, op: DotFma) -> None:
    """See the module text."""
    layout, elem = f.layout(op.acc), element(op.acc.type)
    a = Operand(f, op.a, op.a_slot, layout, 0, 0, max(op.a_width, 1))
    b = Operand(f, op.b, op.b_slot, layout, 1, 0 if op.trans_b else 1, max(op.b_width, 1))
    if a.depth != b.depth:
        raise InternalError(f"codegen: dot_fma contracts {a.depth} with {b.depth}")
    at = {layout.register_offset(r): r for r in range(layout.registers)}
    acc = list(f.registers(op.acc))

    def read(k: int) -> tuple[Fragment, Fragment]:
        return _converted(f, a, a.read(k), op), _converted(f, b, b.read(k), op)

    fragment = read(0)
    for k in range(a.depth):
        rows, columns = fragment
        if k + 1 < a.depth:
            fragment = read(k + 1)
        for i, row in enumerate(a.offsets):
            for column in b.offsets if i % 2 == 0 else reversed(b.offsets):
                r = at[row, column]
                acc[r] = scalar.fma(f, elem, rows[row], columns[column], acc[r])
    f.bind(op.out, acc)


def _converted(f: Function, operand: Operand, values: Fragment, op: DotFma) -> Fragment:
    """Operand values in the accumulator's type."""
    elem = element(op.acc.type)
    return {o: scalar.cast(f, v, operand.elem, elem) for o, v in values.items()}

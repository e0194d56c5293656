"""A thread's accesses to a tile: runs of registers, addresses in a tensor, and the predicates that mask them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..diagnostics import InternalError
from ..ir.core import Value
from ..ir.tile_ops import element
from ..layout.base import RegisterLayout
from ..layout.register import Blocked
from .function import Function
from .index import Expr
from .types import I32, I64, LLVM, constant, integer

Offset = tuple[int, ...]
Key = tuple[tuple[str, int, int], ...]
"""Which tests an access must pass: (kind, axis, register offset)."""


@dataclass(frozen=True, slots=True)
class Run:
    """Registers that hold neighbours along an axis: one memory access. offset: what the first adds to the base."""

    registers: tuple[int, ...]
    offset: Offset


def runs(layout: RegisterLayout, width: int, axis: int) -> list[Run]:
    """A layout's registers in runs of `width` along an axis, in order of the first register."""
    found: dict[Offset, dict[int, int]] = {}
    for register in range(layout.registers):
        offset = layout.register_offset(register)
        place = offset[axis] % width
        first = (*offset[:axis], offset[axis] - place, *offset[axis + 1 :])
        found.setdefault(first, {})[place] = register
    if any(len(run) != width for run in found.values()):
        raise InternalError(f"codegen: runs of {width} do not fit {layout}")
    return [Run(tuple(run[i] for i in range(width)), first) for first, run in found.items()]


class Window:
    """Where a tile lies in a tensor or buffer, seen by one thread: the address and the predicate of each of its runs.

    Pointers are made where they are used and each row's from another's, by adding a multiple of the pitch, so that few
    registers are alive at a time.
    """

    def __init__(
        self,
        f: Function,
        tensor: Value,
        offsets: Sequence[Value],
        extents: Sequence[Value],
        layout: RegisterLayout,
        guards: Sequence[str],
        limits: Sequence[Value] = (),
    ) -> None:
        self._f, self._layout, self._guards = f, layout, guards
        self._size = element(tensor.type).size_bytes
        self._distance = f.distance(tensor)
        self.tensor: LLVM = f.memory(tensor)
        self._extents = [f.scalar(e) for e in extents]
        self._ends = [f.scalar(e) for e in limits] or self._extents
        self._base = f.thread_base(layout)
        self._highest = [int(c.max()) for c in f.table(layout)]
        self._start = [f.add(f.scalar(o), f.wide(c)) for o, c in zip(offsets, self._base, strict=True)]
        self._rows: dict[Offset, LLVM] = {}
        self._steps: dict[tuple[int, int], LLVM] = {}
        self._strides: dict[int, int | LLVM] = {}
        self._given = [f.scalar(s) for s in f.kernel.strides_of(tensor)]
        self._tests: dict[Key, LLVM] = {}
        self._left: dict[int, LLVM] = {}

    # ---- addresses ------------------------------------------------------------------------------------------

    def pointer(self, offset: Offset) -> LLVM:
        """The address of the element that a register offset adds up to."""
        return self._f.byte_offset(self._row(offset[:-1]), offset[-1] * self._size)

    def _row(self, rows: Offset) -> LLVM:
        """The address of a row's first element of this thread."""
        if rows not in self._rows:
            self._rows[rows] = self._made_row(rows)
        return self._rows[rows]

    def _made_row(self, rows: Offset) -> LLVM:
        axis = next((a for a in reversed(range(len(rows))) if rows[a]), None)
        if axis is None:
            return self._origin()
        f, at = self._f, rows[axis]
        stride = self._stride(axis)
        if isinstance(stride, int):
            below = self._row((*rows[:axis], 0, *rows[axis + 1 :]))
            return f.byte_offset(below, at * stride)
        # From the nearest row whose distance was stepped before, else from the first: few distances, few registers.
        self._row((*rows[:axis], 0, *rows[axis + 1 :]))
        seen = [
            r[axis]
            for r in self._rows
            if r[:axis] == rows[:axis] and r[axis + 1 :] == rows[axis + 1 :] and r[axis] < at
        ]
        source = max((s for s in seen if (axis, at - s) in self._steps), default=0)
        step = self._steps.get((axis, at - source))
        if step is None:
            step = self._steps[axis, at - source] = f.mul(stride, at - source)
        return f.byte_offset(self._row((*rows[:axis], source, *rows[axis + 1 :])), step)

    def _stride(self, axis: int) -> int | LLVM:
        """Bytes from one index of an axis to the next."""
        if axis not in self._strides:
            stride: LLVM = constant(self._distance, self._size)
            for pitch in [self._given[axis]] if self._given else self._extents[axis + 1 :]:
                stride = self._f.mul(self._f.resize(pitch, self._distance), stride)
            known = integer(stride)
            self._strides[axis] = stride if known is None else known
        return self._strides[axis]

    def _origin(self) -> LLVM:
        """The address of register 0: an offset in elements in the width of an index, widened once.

        Where a coordinate may be negative the offset is computed in 64 bits, since the rows below the tensor's start
        may lie further away than an index reaches.
        """
        f = self._f
        wide = self._distance is I64 and any(g in ("lo", "both") for g in self._guards)
        at = [f.resize(v, I64) for v in self._start] if wide else self._start
        pitches = self._given or self._extents
        pitches = [f.resize(v, I64) for v in pitches] if wide else pitches
        element_offset = element_at(f, at, pitches, strided=bool(self._given))
        return f.byte_offset(self.tensor, f.mul(f.resize(element_offset, self._distance), self._size))

    # ---- predicates -----------------------------------------------------------------------------------------

    def key(self, offset: Offset, owner: bool = False) -> Key:
        """The tests that an access at a register offset must pass; none for one that is always legal.

        owner: only one of several threads that hold the same element passes.
        """
        tests: list[tuple[str, int, int]] = [("owner", 0, 0)] if owner and self._replicated() else []
        for axis, at in enumerate(offset):
            if self._highest[axis] + at >= self._layout.shape[axis]:
                tests.append(("surplus", axis, at))
            if self._guards[axis]:
                tests.append((self._guards[axis], axis, at))
        return tuple(tests)

    def predicate(self, key: Key) -> LLVM | None:
        """The conjunction of tests; None when there are none. Tests of the leading axes are shared between rows."""
        if not key:
            return None
        if key not in self._tests:
            before, last = self.predicate(key[:-1]), self._test(key[-1])
            self._tests[key] = last if before is None else self._f.b.and_(before, last)
        return self._tests[key]

    def _test(self, test: tuple[str, int, int]) -> LLVM:
        if (test,) not in self._tests:
            self._tests[(test,)] = self._made_test(*test)
        return self._tests[(test,)]

    def _made_test(self, kind: str, axis: int, at: int) -> LLVM:
        f = self._f
        if kind == "owner":
            return owner(f, self._layout)
        if kind == "surplus":
            return within(f, self._base[axis], at, self._layout.shape[axis])
        start, end = self._start[axis], self._ends[axis]
        if kind == "lo":
            return f.b.icmp_signed(">=", start, constant(start.type, -at))
        if kind == "both" and end is self._extents[axis]:
            return f.b.icmp_unsigned("<", f.add(start, at), end)
        if kind == "both":  # a limit may be negative
            return f.b.and_(self._test(("lo", axis, at)), self._test(("hi", axis, at)))
        # start + at < end, with the distance shared by all registers: a wrapped sum wraps back.
        if axis not in self._left:
            self._left[axis] = f.b.sub(end, start)
        return f.b.icmp_signed(">", self._left[axis], constant(start.type, at))

    def _replicated(self) -> bool:
        return bool(_replicated_axes(self._layout))


def _replicated_axes(layout: RegisterLayout) -> list[int]:
    """The axes of which several lanes or warps hold the same coordinate."""
    return list(layout.shared_axes) if isinstance(layout, Blocked) else []


def owner(f: Function, layout: RegisterLayout) -> LLVM | None:
    """Whether this thread is the first of those that hold the same elements; None where each has its own."""
    axes = _replicated_axes(layout)
    if not axes:
        return None
    assert isinstance(layout, Blocked)
    lanes, warps = layout.place(f.lane, f.warp)
    zero = constant(I32, 0)
    places = [p for a in axes for p in (lanes[a], *warps[a : a + (layout.replicated[a] == 1)]) if isinstance(p, Expr)]
    return f.all_of([f.b.icmp_unsigned("==", p.value, zero) for p in places])


def within(f: Function, base: Expr | int, at: int, bound: int) -> LLVM:
    """base + at < bound, for a coordinate of the tile."""
    value = base.value if isinstance(base, Expr) else constant(I32, base)
    return f.b.icmp_signed("<", value, constant(I32, bound - at))


def element_at(f: Function, at: Sequence[LLVM], pitches: Sequence[LLVM], strided: bool) -> LLVM:
    """An element's offset in elements. pitches: the outer strides of a strided tensor, the extents of a dense one."""
    total = at[-1] if strided else at[0]
    if strided:
        for index, stride in zip(at, pitches, strict=False):
            total = f.add(total, f.mul(index, stride))
    else:
        for index, extent in zip(at[1:], pitches[1:], strict=True):
            total = f.add(f.mul(total, extent), index)
    return total

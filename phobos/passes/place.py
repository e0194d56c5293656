"""place: give every tile a register layout; `convert` stands only where two classes of values meet.

Requires: form "guarded". Ensures: every tile type has a layout; operands of elementwise ops, loop values and branch
values share one. Values that must agree form a class (union-find); a class takes the layout of its strongest anchor: a
contraction's accumulator, then what is reduced or accessed in memory, the larger tile first; it hands its layout on to
what is broadcast into it and to what its rows or columns are reduced to, so that neither moves anything. One direction,
once.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any

from ..diagnostics import CompileError, Diagnostic, Severity
from ..ir.core import Block, Op, Role, Value
from ..ir.kernel import Kernel
from ..ir.reduce_ops import Reduce, ReduceArg
from ..ir.shape_ops import Gather, Scan, Transpose
from ..ir.tile_ops import (
    ELEMENTWISE,
    Broadcast,
    Convert,
    Dot,
    For,
    If,
    Load,
    Reshape,
    Store,
    While,
    shape_of,
)
from ..ir.types import Scalar, Tile
from ..layout.register import Blocked
from .choose import VECTOR_BYTES, accumulator, coalesced, operand_reads, scanned
from .exchange import flattened_alike, moved
from .options import Options

LINE_BYTES = 128
VALUE_BYTES = 4
"""What a tile that is never in global memory is laid out as."""
MOST_ELEMENTS = 512
"""Elements of one tile that a thread may hold: twice its registers. Code beyond that only spills, and LLVM takes
minutes over it."""
Edge = Broadcast | Reshape | Transpose | Reduce | ReduceArg
"""Ops between two classes."""


@dataclass(eq=False)
class Class:
    """Values that share a layout.

    accessed: bytes of the widest element that a load or store of the class moves, 0 when there is none. Vectors are as
    long as that element's 16 bytes, so that the wider access of a conversion stays coalesced. reduced: axes along which
    a reduction of the class goes. scanned: the axis along which a scan goes, -1 for none. crosswise: whether its values
    are transposed, or made so.
    """

    shape: tuple[int, ...]
    values: list[Value] = field(default_factory=list)
    accumulator: Scalar | None = None
    accessed: int = 0
    reduced: frozenset[int] = frozenset()
    scanned: int = -1
    crosswise: bool = False
    layout: Blocked | None = None

    @property
    def anchored(self) -> bool:
        """Whether something but its neighbours says how it lies best."""
        return bool(self.accumulator or self.accessed or self.reduced) or self.scanned >= 0


class _Classes:
    def __init__(self) -> None:
        self.of: dict[Value, Class] = {}

    def get(self, v: Value) -> Class:
        if v not in self.of:
            assert isinstance(v.type, Tile)
            made = Class(v.type.shape, [v])
            self.of[v] = made
        return self.of[v]

    def join(self, values: list[Value]) -> None:
        tiles = [v for v in values if isinstance(v.type, Tile)]
        for a, b in itertools.pairwise(tiles):
            x, y = self.get(a), self.get(b)
            if x is y:
                continue
            assert x.shape == y.shape, (str(a), str(b))
            if len(x.values) < len(y.values):
                x, y = y, x
            x.values += y.values
            x.accumulator = x.accumulator or y.accumulator
            x.accessed = max(x.accessed, y.accessed)
            x.reduced |= y.reduced
            x.scanned = max(x.scanned, y.scanned)
            x.crosswise |= y.crosswise
            for v in y.values:
                self.of[v] = x

    def all(self) -> list[Class]:
        return list(dict.fromkeys(self.of.values()))


def run(kernel: Kernel, options: Options) -> Kernel:
    classes = _Classes()
    edges: list[Edge] = []
    for op in kernel.walk():
        _join(op, classes)
        if isinstance(op, Edge):
            edges.append(op)
    _anchor(kernel, classes)
    _assign(kernel, classes, edges)
    _check_sizes(kernel, classes)
    body = _Placer(classes).block(kernel.body)
    remarks = (*kernel.remarks, *_kept_whole(kernel, classes), *_conversions(body, kernel.threads))
    return kernel.replace(body=body, remarks=remarks)


def _join(op: Op, classes: _Classes) -> None:
    for v in (*op.operands(), *op.results(), *(p for b in op.regions() for p in b.params)):
        if isinstance(v.type, Tile):
            classes.get(v)
    if isinstance(op, ELEMENTWISE):
        classes.join([*op.operands(), *op.results()])
    elif isinstance(op, Dot):
        classes.join([op.acc, op.out])
    elif isinstance(op, Scan | Gather):
        classes.join([v for v in (*op.operands(), *op.results()) if isinstance(v.type, Tile)])
    elif isinstance(op, ReduceArg):
        classes.join([op.a, op.index])
        classes.join([op.out, op.out_index])
    elif isinstance(op, For):
        for carried in zip(op.inits, op.body.params[1:], op.body.ops[-1].operands(), op.outs, strict=True):
            classes.join(list(carried))
    elif isinstance(op, While):
        again, after = op.cond.ops[-1].operands()[1:], op.body.ops[-1].operands()
        for loop in zip(op.inits, op.cond.params, again, op.body.params, after, op.outs, strict=True):
            classes.join(list(loop))
    elif isinstance(op, If):
        for arms in zip(op.then.ops[-1].operands(), op.orelse.ops[-1].operands(), op.outs, strict=True):
            classes.join(list(arms))


def _anchor(kernel: Kernel, classes: _Classes) -> None:
    for op in kernel.walk():
        if isinstance(op, Dot):
            assert isinstance(op.out.type, Tile)
            classes.get(op.out).accumulator = op.out.type.elem
        elif isinstance(op, Load):
            _access(classes, op.out)
        elif isinstance(op, Store):
            _access(classes, op.value)
        elif isinstance(op, Reduce | ReduceArg):
            c = classes.get(op.a)
            c.reduced |= {op.axis}
        elif isinstance(op, Scan):
            classes.get(op.a).scanned = op.axis
        elif isinstance(op, Transpose):
            classes.get(op.a).crosswise = classes.get(op.out).crosswise = True


def _access(classes: _Classes, v: Value) -> None:
    assert isinstance(v.type, Tile)
    c = classes.get(v)
    c.accessed = max(c.accessed, v.type.elem.size_bytes)


def _assign(kernel: Kernel, classes: _Classes, edges: list[Edge]) -> None:
    """Anchored classes first, strongest and largest first; each hands its layout on to what is broadcast into it."""

    def rank(c: Class) -> tuple[int, bool, int]:
        size = 1
        for s in c.shape:
            size *= s
        return (0 if c.accumulator else 1 if c.anchored else 2, not (c.accumulator and c.reduced), -size)

    for c in sorted(classes.all(), key=rank):
        if c.layout is None:
            c.layout = _layout(c, kernel.warps, _column(c, classes, edges))
            _spread(c, classes, edges)


def _column(c: Class, classes: _Classes, edges: list[Edge]) -> Blocked | None:
    """The layout of a column that is broadcast into a class, when it has one."""
    if len(c.shape) != 2 or c.shape[0] == 1:
        return None
    columns = (classes.get(e.a) for e in edges if isinstance(e, Broadcast) and classes.get(e.out) is c)
    return next((a.layout for a in columns if a.layout is not None and a.shape == (c.shape[0], 1)), None)


def _layout(c: Class, warps: int, column: Blocked | None) -> Blocked:
    # A row that lies in one warp is reduced by shuffles alone; a column likewise where no row is reduced.
    whole = max(c.reduced, default=-1)
    if c.accumulator and len(c.shape) == 2:
        return accumulator((c.shape[0], c.shape[1]), warps, c.accumulator.size_bytes, whole, column)
    size = c.accessed or VALUE_BYTES
    if c.scanned >= 0:
        return scanned(c.shape, warps, size, c.scanned)
    # A line of memory is enough of a row to read it whole; more of the other axis keeps an exchange free of conflicts.
    segment = LINE_BYTES // size if c.crosswise and not c.reduced else 0
    return coalesced(c.shape, warps, size, VECTOR_BYTES, segment, whole=whole)


def _spread(start: Class, classes: _Classes, edges: list[Edge]) -> None:
    work = [start]
    while work:
        c = work.pop()
        assert c.layout is not None
        for edge in edges:
            a, out = classes.get(edge.a), classes.get(edge.out)
            if isinstance(edge, Transpose) and (a if out is c else out).anchored:
                continue  # it reads and writes memory along its own rows
            if isinstance(edge, Reduce | ReduceArg):
                if a is c and out.layout is None:
                    out.layout = c.layout.collapsed(out.shape)
                    work.append(out)
            elif out is c and a.layout is None:
                # A small tile that is broadcast into this one: each thread keeps what its own elements need.
                a.layout = _before(edge, c.layout)
                if a.layout is not None:
                    work.append(a)
            elif a is c and out.layout is None and isinstance(edge, Reshape | Transpose):
                out.layout = _after(edge, c.layout)
                if out.layout is not None:
                    work.append(out)


def _kept_whole(kernel: Kernel, classes: _Classes) -> Iterator[Diagnostic]:
    """What it costs a contraction that the rows, or columns, of its result lie in one warp each."""
    for op in kernel.walk():
        if not isinstance(op, Dot):
            continue
        c = classes.get(op.out)
        if not c.reduced or c.layout is None or c.accumulator is None:
            continue
        axis, size = max(c.reduced), c.accumulator.size_bytes
        free = accumulator((c.shape[0], c.shape[1]), kernel.warps, size)
        have, least = operand_reads(c.layout, size), operand_reads(free, size)
        if c.layout.warps[axis] == 1 and have > least:
            what = "rows" if axis == 1 else "columns"
            message = (
                f"each of the {what} of this result lies in one warp, which reduces it without shared memory; "
                f"reading the operands takes {have} cycles a step instead of {least}"
            )
            yield Diagnostic(Severity.REMARK, "PR405", message, op.span)


def _conversions(body: Block, threads: int) -> Iterator[Diagnostic]:
    """What the tiles cost that change their layout."""
    for op in body.walk():
        if not isinstance(op, Convert | Reshape):
            continue
        a, out = op.a.type, op.out.type
        assert isinstance(a, Tile) and isinstance(a.layout, Blocked)
        assert isinstance(out, Tile) and isinstance(out.layout, Blocked)
        if isinstance(op, Convert):
            how = moved(a.layout, out.layout, threads)
        elif op.keeps_axes or flattened_alike(a.layout, out.layout, threads) is not None:
            continue
        else:
            how = "shared"
        size = prod(a.shape) * a.elem.size_bytes
        cost = (
            f"{size} bytes written to shared memory and read back" if how == "shared" else f"{size} bytes by shuffles"
        )
        if how:
            message = f"{op.a.name} [{', '.join(map(str, a.shape))}] changes its layout: {cost}"
            yield Diagnostic(Severity.REMARK, "PR406", message, op.span)


def _check_sizes(kernel: Kernel, classes: _Classes) -> None:
    """A tile of which a thread would hold more than MOST_ELEMENTS is an error, at the op that makes it first."""
    for op in kernel.walk():
        for v in (*op.results(), *(p for b in op.regions() for p in b.params)):
            layout = classes.get(v).layout if isinstance(v.type, Tile) else None
            if layout is None or layout.registers <= MOST_ELEMENTS:
                continue
            raise CompileError(
                (
                    Diagnostic(
                        Severity.ERROR,
                        "PH502",
                        f"{kernel.threads} threads are too few for a {v.type}: "
                        f"each would hold {layout.registers} elements, at most {MOST_ELEMENTS} are compiled",
                        op.span,
                        f"{v.type} in registers",
                        (),
                        ("tiles live in registers, of which a thread has 255",),
                        ("choose a smaller tile, or more threads with @launch",),
                    ),
                )
            )


def _before(op: Broadcast | Reshape | Transpose, layout: Blocked) -> Blocked | None:
    """The layout of the operand that the result's comes of without moving an element, if there is one."""
    if isinstance(op, Transpose):
        return layout.transposed()
    if isinstance(op, Broadcast):
        return layout.collapsed(shape_of(op.a.type))
    return _reshaped(layout, shape_of(op.a.type)) if op.keeps_axes else None


def _after(op: Reshape | Transpose, layout: Blocked) -> Blocked | None:
    """The layout of the result when the operand has this one."""
    if isinstance(op, Transpose):
        return layout.transposed()
    return _reshaped(layout, shape_of(op.out.type)) if op.keeps_axes else None


def _reshaped(layout: Blocked, shape: tuple[int, ...]) -> Blocked | None:
    try:
        return layout.reshaped(shape)
    except ValueError:
        return None


class _Placer:
    """Rebuilds the kernel with layouts in the types, a `convert` before operands whose class has another layout."""

    def __init__(self, classes: _Classes) -> None:
        self.classes = classes
        self.new: dict[Value, Value] = {}

    def block(self, block: Block) -> Block:
        params = tuple(self._define(p) for p in block.params)
        ops: list[Op] = []
        for op in block.ops:
            changes: dict[str, Any] = {}
            for name in op.fields(Role.OPERAND):
                held = getattr(op, name)
                changes[name] = self._use(held) if isinstance(held, Value) else tuple(self._use(v) for v in held)
            for name in op.fields(Role.REGION):
                changes[name] = self.block(getattr(op, name))
            for name in op.fields(Role.RESULT):
                held = getattr(op, name)
                changes[name] = self._define(held) if isinstance(held, Value) else tuple(self._define(v) for v in held)
            if isinstance(op, Reduce | ReduceArg):
                ops += self._reduced(op, changes)
            elif isinstance(op, Scan):
                ops += self._scanned(op, changes["a"], changes["out"])
            elif isinstance(op, Broadcast | Reshape | Transpose):
                ops += self._bridged(op, changes["a"], changes["out"])
            else:
                ops.append(op.replace(**changes))
        return Block(params, tuple(ops))

    def _define(self, v: Value) -> Value:
        if not isinstance(v.type, Tile):
            return v
        new = v.like(dataclasses.replace(v.type, layout=self.classes.get(v).layout))
        self.new[v] = new
        return new

    def _use(self, v: Value) -> Value:
        return self.new.get(v, v)

    def _reduced(self, op: Reduce | ReduceArg, changes: dict[str, Any]) -> tuple[Op, ...]:
        """The reduction in its operand's layout, with a `convert` behind it where the result's class has another."""
        a = changes["a"].type
        assert isinstance(a, Tile) and isinstance(a.layout, Blocked)
        converts: list[Op] = []
        for name in op.fields(Role.RESULT):
            out = changes[name]
            made = a.layout.collapsed(out.type.shape)
            if made != out.type.layout:
                changes[name] = out.like(dataclasses.replace(out.type, layout=made))
                converts.append(Convert(a=changes[name], out=out, span=op.span))
        return (op.replace(**changes), *converts)

    def _scanned(self, op: Scan, a: Value, out: Value) -> tuple[Op, ...]:
        """The scan in its class's layout where the axis stays in a warp, else between two converts."""
        assert isinstance(a.type, Tile) and isinstance(a.type.layout, Blocked)
        held = a.type.layout
        if held.one_warp(op.axis):
            return (op.replace(a=a, out=out),)
        layout = scanned(held.shape, prod(held.warps), a.type.elem.size_bytes, op.axis)
        before, after = (v.like(dataclasses.replace(a.type, layout=layout)) for v in (a, out))
        scan = op.replace(a=before, out=after)
        return Convert(a=a, out=before, span=op.span), scan, Convert(a=after, out=out, span=op.span)

    def _bridged(self, op: Broadcast | Reshape | Transpose, a: Value, out: Value) -> tuple[Op, ...]:
        """The op between the layouts of its two sides, with a `convert` where they do not meet.

        Rows laid end to end have two layouts that need not meet: `stage` moves what must move.
        """
        assert isinstance(a.type, Tile) and isinstance(out.type, Tile)
        assert isinstance(a.type.layout, Blocked) and isinstance(out.type.layout, Blocked)
        layout, shape = out.type.layout, a.type.shape
        if isinstance(op, Reshape) and not op.keeps_axes:
            return (op.replace(a=a, out=out),)
        before = _before(op, layout)
        after = None if before or isinstance(op, Broadcast) else _after(op, a.type.layout)
        if before is None and after is None:
            # Neither side's spare lanes find room on the other: go through a layout that has none.
            core = tuple(n for n in shape if n != 1) or (1,)
            common = coalesced(core, prod(layout.warps), a.type.elem.size_bytes)
            before, after = common.reshaped(shape), common.reshaped(out.type.shape)
        ops: list[Op] = []
        if before is not None and before != a.type.layout:
            ops.append(Convert(a=a, out=a.like(dataclasses.replace(a.type, layout=before)), span=op.span))
            a = ops[-1].results()[0]
        if after is None or after == layout:
            return *ops, op.replace(a=a, out=out)
        made = out.like(dataclasses.replace(out.type, layout=after))
        return *ops, op.replace(a=a, out=made), Convert(a=made, out=out, span=op.span)

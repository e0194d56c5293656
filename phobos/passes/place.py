"""place: give every tile a register layout; `convert` stands only where two classes of values meet.

Requires: form "guarded". Ensures: every tile type has a layout; operands of elementwise ops, loop values and branch
values share one. Values that must agree form a class (union-find); a class takes the layout of its strongest anchor: a
contraction's accumulator, then a larger tile that it is broadcast into, then global accesses. One direction, once.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, field
from math import prod
from typing import Any

from ..diagnostics import CompileError, Diagnostic, Severity
from ..ir.core import Block, Op, Role, Value
from ..ir.kernel import Kernel
from ..ir.tile_ops import (
    Binary,
    Broadcast,
    Cast,
    Compare,
    Convert,
    Dot,
    Fma,
    For,
    If,
    Load,
    Reshape,
    Select,
    Store,
    Unary,
    While,
)
from ..ir.types import Scalar, Tile
from ..layout.register import Blocked
from .choose import VECTOR_BYTES, accumulator, coalesced
from .options import Options

VALUE_BYTES = 4
"""What a tile that is never in global memory is laid out as."""
MOST_ELEMENTS = 512
"""Elements of one tile that a thread may hold: twice its registers. Code beyond that only spills, and LLVM takes
minutes over it."""
ELEMENTWISE = (Unary, Binary, Compare, Select, Fma, Cast)


@dataclass(eq=False)
class Class:
    """Values that share a layout.

    accessed: bytes of the widest element that a load or store of the class moves, 0 when there is none. Vectors are as
    long as that element's 16 bytes, so that the wider access of a conversion stays coalesced.
    """

    shape: tuple[int, ...]
    values: list[Value] = field(default_factory=list)
    accumulator: Scalar | None = None
    accessed: int = 0
    layout: Blocked | None = None


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
            for v in y.values:
                self.of[v] = x

    def all(self) -> list[Class]:
        return list(dict.fromkeys(self.of.values()))


def run(kernel: Kernel, options: Options) -> Kernel:
    classes = _Classes()
    edges: list[Broadcast | Reshape] = []
    for op in kernel.walk():
        _join(op, classes)
        if isinstance(op, Broadcast | Reshape):
            edges.append(op)
    _anchor(kernel, classes)
    _assign(kernel, classes, edges)
    _check_sizes(kernel, classes)
    return kernel.replace(body=_Placer(classes).block(kernel.body))


def _join(op: Op, classes: _Classes) -> None:
    for v in (*op.operands(), *op.results(), *(p for b in op.regions() for p in b.params)):
        if isinstance(v.type, Tile):
            classes.get(v)
    if isinstance(op, ELEMENTWISE):
        classes.join([*op.operands(), *op.results()])
    elif isinstance(op, Dot):
        classes.join([op.acc, op.out])
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


def _access(classes: _Classes, v: Value) -> None:
    assert isinstance(v.type, Tile)
    c = classes.get(v)
    c.accessed = max(c.accessed, v.type.elem.size_bytes)


def _assign(kernel: Kernel, classes: _Classes, edges: list[Broadcast | Reshape]) -> None:
    """Anchored classes first, strongest and largest first; each hands its layout on to what is broadcast into it."""

    def rank(c: Class) -> tuple[int, int]:
        size = 1
        for s in c.shape:
            size *= s
        return (0 if c.accumulator else 1 if c.accessed else 2, -size)

    for c in sorted(classes.all(), key=rank):
        if c.layout is None:
            c.layout = _layout(c, kernel.warps)
            _spread(c, classes, edges)


def _layout(c: Class, warps: int) -> Blocked:
    if c.accumulator and len(c.shape) == 2:
        return accumulator((c.shape[0], c.shape[1]), warps, c.accumulator.size_bytes)
    return coalesced(c.shape, warps, c.accessed or VALUE_BYTES, VECTOR_BYTES)


def _spread(start: Class, classes: _Classes, edges: list[Broadcast | Reshape]) -> None:
    work = [start]
    while work:
        c = work.pop()
        assert c.layout is not None
        for edge in edges:
            a, out = classes.get(edge.a), classes.get(edge.out)
            if out is c and a.layout is None:
                # A small tile that is broadcast into this one: each thread keeps what its own elements need.
                a.layout = c.layout.collapsed(a.shape) if isinstance(edge, Broadcast) else _reshaped(c.layout, a.shape)
                if a.layout is not None:
                    work.append(a)
            elif a is c and out.layout is None and isinstance(edge, Reshape):
                out.layout = _reshaped(c.layout, out.shape)
                if out.layout is not None:
                    work.append(out)


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
            if isinstance(op, Broadcast | Reshape):
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

    def _bridged(self, op: Broadcast | Reshape, a: Value, out: Value) -> tuple[Op, ...]:
        """The op between the layouts of its two sides, with a `convert` where they do not meet."""
        assert isinstance(a.type, Tile) and isinstance(out.type, Tile)
        assert isinstance(a.type.layout, Blocked) and isinstance(out.type.layout, Blocked)
        layout, shape = out.type.layout, a.type.shape
        before = layout.collapsed(shape) if isinstance(op, Broadcast) else _reshaped(layout, shape)
        after = None if before or isinstance(op, Broadcast) else _reshaped(a.type.layout, out.type.shape)
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

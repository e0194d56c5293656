"""Ops that go register by register: arithmetic, constants, coordinates, and changes of a tile's shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..diagnostics import InternalError
from ..ir.core import Value
from ..ir.tile_ops import (
    Binary,
    Broadcast,
    Cast,
    Compare,
    Const,
    Convert,
    Fma,
    GridSize,
    Iota,
    ProgramId,
    Reshape,
    Select,
    Splat,
    Unary,
    element,
    shape_of,
)
from ..ir.types import Vec
from ..layout.base import RegisterLayout
from ..layout.register import Blocked
from ..passes.exchange import flattened_alike
from . import scalar
from .function import Function
from .index import Expr
from .types import I32, LLVM, constant, zero

AXES = "xyz"


def const(f: Function, op: Const) -> None:
    f.cells[op.out] = constant(f.type(element(op.out.type)), op.value)


def program_id(f: Function, op: ProgramId) -> None:
    f.bind(op.out, (_ordered_block(f, op.axis),))


def _ordered_block(f: Function, axis: int) -> LLVM:
    """The block's index along an axis: its number in the order of launch, split along the axes of the kernel's order.

    Axes from the first that the order leaves in place to the last keep the hardware's own register. The number of
    blocks of an order that is not the hardware's is that of the tiles of one tensor, which an index holds.
    """
    order = f.kernel.order
    moved = max((i + 1 for i, a in enumerate(order) if i != a), default=0)
    if axis >= moved:
        return _special(f, f"ctaid.{AXES[axis]}")
    number, count = constant(f.index, 0), constant(f.index, 1)
    for a in range(moved):
        number = f.add(number, f.mul(count, _special(f, f"ctaid.{AXES[a]}")))
        count = f.mul(count, _special(f, f"nctaid.{AXES[a]}"))
    for a in order[:moved]:
        if a == order[moved - 1]:
            break
        blocks = _special(f, f"nctaid.{AXES[a]}")
        if a == axis:
            return f.b.urem(number, blocks)
        number = f.b.udiv(number, blocks)
    return number


def grid_size(f: Function, op: GridSize) -> None:
    f.bind(op.out, (_special(f, f"nctaid.{AXES[op.axis]}"),))


def _special(f: Function, register: str) -> LLVM:
    """A special register in the width of an index. The hardware's are 32 bits and never negative."""
    value = f.intrinsic(f"llvm.nvvm.read.ptx.sreg.{register}", I32, ())
    return value if f.index_bits == 32 else f.b.zext(value, f.index)


def _map(f: Function, out: Value, operands: tuple[Value, ...], make: Callable[..., LLVM]) -> None:
    """Apply an operation to the operands' registers one by one."""
    columns = [f.each(v) for v in operands]
    if len({len(c) for c in columns}) != 1:
        raise InternalError(f"codegen: {out} is made of {', '.join(str(v.type) for v in operands)}")
    f.bind(out, [make(*row) for row in zip(*columns, strict=True)])


def unary(f: Function, op: Unary) -> None:
    elem = element(op.a.type)
    _map(f, op.out, (op.a,), lambda a: scalar.unary(f, op.kind, elem, a))


def binary(f: Function, op: Binary) -> None:
    elem = element(op.a.type)
    _map(f, op.out, (op.a, op.b), lambda a, b: scalar.binary(f, op.kind, elem, a, b))


def compare(f: Function, op: Compare) -> None:
    elem = element(op.a.type)
    _map(f, op.out, (op.a, op.b), lambda a, b: scalar.compare(f, op.kind, elem, a, b))


def select(f: Function, op: Select) -> None:
    _map(f, op.out, (op.cond, op.a, op.b), lambda c, a, b: f.b.select(c, a, b))


def fma(f: Function, op: Fma) -> None:
    elem = element(op.a.type)
    _map(f, op.out, (op.a, op.b, op.c), lambda a, b, c: scalar.fma(f, elem, a, b, c))


def cast(f: Function, op: Cast) -> None:
    source, target = element(op.a.type), element(op.out.type)
    _map(f, op.out, (op.a,), lambda a: scalar.cast(f, a, source, target))


def splat(f: Function, op: Splat) -> None:
    t = op.out.type
    f.bind(op.out, [f.scalar(op.a)] * (t.n if isinstance(t, Vec) else f.layout(op.out).registers))


def iota(f: Function, op: Iota) -> None:
    layout = f.layout(op.out)
    base = f.thread_base(layout)[op.axis]
    made: dict[int, LLVM] = {}
    registers = []
    for r in range(layout.registers):
        at = layout.register_offset(r)[op.axis]
        if at not in made:
            made[at] = f.b.add(base.value, constant(I32, at)) if isinstance(base, Expr) else constant(I32, base + at)
        registers.append(made[at])
    f.bind(op.out, registers)


def broadcast(f: Function, op: Broadcast) -> None:
    """A register takes the source's at the same place, with coordinate 0 on the axes that are repeated."""
    source, target = f.layout(op.a), f.layout(op.out)
    repeated = [a for a, (s, t) in enumerate(zip(source.shape, target.shape, strict=True)) if s != t]
    axes = [a for a in range(len(target.shape)) if a not in repeated]
    _same_places(f, op.out, source, target, [(a, a) for a in axes])
    if any(f.table(source)[a].any() for a in repeated):
        raise InternalError(f"codegen: {op.a} does not lie in every thread that {op.out} needs it in")
    _rearranged(f, op.out, op.a, lambda offset: tuple(0 if a in repeated else o for a, o in enumerate(offset)))


def reshape(f: Function, op: Reshape) -> None:
    """The same registers; axes of extent 1 come and go, or rows lie end to end."""
    source, target = f.layout(op.a), f.layout(op.out)
    kept = [a for a, s in enumerate(source.shape) if s != 1]
    into = [a for a, s in enumerate(target.shape) if s != 1]
    if not op.keeps_axes:
        _laid_end_to_end(f, op)
        return
    _same_places(f, op.out, source, target, list(zip(kept, into, strict=True)))
    back = dict(zip(kept, into, strict=True))
    _rearranged(
        f, op.out, op.a, lambda offset: tuple(offset[back[a]] if a in back else 0 for a in range(len(source.shape)))
    )


def _laid_end_to_end(f: Function, op: Reshape) -> None:
    """The registers that hold what the other shape places in the same threads."""
    source, target = f.layout(op.a), f.layout(op.out)
    assert isinstance(source, Blocked) and isinstance(target, Blocked)
    registers = flattened_alike(source, target, f.kernel.threads)
    if registers is None:
        raise InternalError(f"codegen: {op.out} needs elements of other threads: {source} to {target}")
    held = f.registers(op.a)
    f.cells[op.out] = tuple(held[max(r, 0)] for r in registers)


def convert(f: Function, op: Convert) -> None:
    """Only between layouts that place every element alike; others went through shared memory in `stage`."""
    source, target = f.layout(op.a), f.layout(op.out)
    axes = [(a, a) for a in range(len(shape_of(op.out.type)))]
    _same_places(f, op.out, source, target, axes)
    _rearranged(f, op.out, op.a, lambda offset: offset)


def _same_places(
    f: Function, out: Value, source: RegisterLayout, target: RegisterLayout, axes: list[tuple[int, int]]
) -> None:
    """Every thread must hold what it needs: equal bases on the axes that correspond, where it holds anything."""
    inside = np.all([at < extent for at, extent in zip(f.table(target), target.shape, strict=True)], axis=0)
    if any((inside & (f.table(source)[a] != f.table(target)[b])).any() for a, b in axes):
        raise InternalError(f"codegen: {out} needs elements of other threads: {source} to {target}")


def _rearranged(f: Function, out: Value, value: Value, origin: Callable[[tuple[int, ...]], tuple[int, ...]]) -> None:
    """Registers by their offset; a slot that the source lacks is surplus and holds anything."""
    source, target = f.layout(value), f.layout(out)
    held = f.registers(value)
    at = {source.register_offset(r): held[r] for r in range(source.registers)}
    anything = zero(held[0].type)
    registers = [at.get(origin(target.register_offset(r))) for r in range(target.registers)]
    f.cells[out] = tuple(anything if v is None else v for v in registers)

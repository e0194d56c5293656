"""Reductions: registers in the thread, then the lanes of the axis by shuffles.

Slots that hold nothing count as the identity: -0 for a sum, NaN for a float's maximum and minimum (which ignore it, and
give it where there is nothing else), the end of the range for integers. What several lanes hold alike is counted once,
because it takes no part in the shuffles. Warps meet through shared memory, in ops of their own (`stage`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..diagnostics import InternalError
from ..ir.core import Value
from ..ir.reduce_ops import Reduce, ReduceArg, makes_parts
from ..ir.tile_ops import element
from ..ir.types import BF16, F16, F32, I8, I32, U8, Scalar
from ..layout.register import Blocked
from . import scalar
from .access import within
from .function import Function
from .types import DOUBLE, FLOAT, I64, LLVM, constant
from .types import I32 as INT

Item: TypeAlias = tuple[LLVM, ...]
"""The values of one element that are reduced together."""
Combine: TypeAlias = Callable[[Item, Item], Item]
COMPUTED_IN: dict[Scalar, Scalar] = {F16: F32, BF16: F32, I8: I32, U8: I32}
"""Shuffles move 32 bits, and f32 holds f16 and bf16 exactly."""


def reduce(f: Function, op: Reduce) -> None:
    elem = element(op.a.type)
    wide = COMPUTED_IN.get(elem, elem)
    kind = "add" if op.kind == "sum" else op.kind
    items = [(scalar.cast(f, r, elem, wide),) for r in f.registers(op.a)]

    def combine(x: Item, y: Item) -> Item:
        return (scalar.binary(f, kind, wide, x[0], y[0]),)

    made = _reduced(f, op, items, (_identity(f, op.kind, wide),), combine)
    f.bind(op.out, [scalar.cast(f, value, wide, elem) for (value,) in made])


def reduce_arg(f: Function, op: ReduceArg) -> None:
    elem = element(op.a.type)
    wide = COMPUTED_IN.get(elem, elem)
    values = [scalar.cast(f, r, elem, wide) for r in f.registers(op.a)]
    items = list(zip(values, f.registers(op.index), strict=True))
    last = constant(INT, (1 << 31) - 1)

    def combine(x: Item, y: Item) -> Item:
        second = _second(f, op.kind, wide, x, y)
        return tuple(f.b.select(second, b, a) for a, b in zip(x, y, strict=True))

    made = _reduced(f, op, items, (_identity(f, op.kind, wide), last), combine)
    f.bind(op.out, [scalar.cast(f, value, wide, elem) for value, _ in made])
    f.bind(op.out_index, [index for _, index in made])


def _second(f: Function, kind: str, elem: Scalar, x: Item, y: Item) -> LLVM:
    """Whether y goes before x: it is better, or as good and its index is less."""
    (v, i), (w, j) = x, y
    sooner = f.b.icmp_signed("<", j, i)
    better = scalar.compare(f, "gt" if kind == "max" else "lt", elem, w, v)
    as_good = scalar.compare(f, "eq", elem, w, v)
    if elem.is_float:
        v_nan, w_nan = f.b.fcmp_unordered("uno", v, v), f.b.fcmp_unordered("uno", w, w)
        better = f.b.or_(better, f.b.and_(v_nan, f.b.not_(w_nan)))
        as_good = f.b.or_(as_good, f.b.and_(v_nan, w_nan))
    return f.b.or_(better, f.b.and_(as_good, sooner))


def _identity(f: Function, kind: str, elem: Scalar) -> LLVM:
    """What changes nothing when it is combined."""
    type_, bits = f.type(elem), f.bits(elem)
    if kind == "sum":
        return constant(type_, -0.0 if elem.is_float else 0)
    if elem.is_float:
        return constant(type_, math.nan)
    if elem.kind == "uint":
        return constant(type_, 0 if kind == "max" else (1 << bits) - 1)
    return constant(type_, -(1 << (bits - 1)) if kind == "max" else (1 << (bits - 1)) - 1)


def _reduced(
    f: Function, op: Reduce | ReduceArg, items: Sequence[Item], identity: Item, combine: Combine
) -> list[Item]:
    """The result's registers."""
    source, target, axis = _blocked(f, op.a), _blocked(f, op.out), op.axis
    if source.parts(axis) > 1 and not makes_parts(op):
        raise InternalError(f"codegen: {op.a} is reduced along axis {axis}, which warps share")
    groups: dict[tuple[int, ...], list[Item]] = {}
    base, places, extent = f.thread_base(source)[axis], f.table(source)[axis], source.shape[axis]
    for register, item in enumerate(items):
        offset = source.register_offset(register)
        at = offset[axis]
        group = groups.setdefault((*offset[:axis], 0, *offset[axis + 1 :]), [])
        if extent > 1 and int(places.max()) + at >= extent:
            if int(places.min()) + at >= extent:
                continue
            held = within(f, base, at, extent)
            item = tuple(f.b.select(held, v, i) for v, i in zip(item, identity, strict=True))
        group.append(item)
    made: dict[tuple[int, ...], Item] = {}
    for offset, group in groups.items():
        total = _tree(group, combine)
        if extent > 1 and not source.replicated[axis]:
            for mask in source.lane_masks(axis):
                total = combine(total, tuple(shuffle_xor(f, v, mask) for v in total))
        made[offset] = total
    return [made[target.register_offset(r)] for r in range(target.registers)]


def _blocked(f: Function, value: Value) -> Blocked:
    layout = f.layout(value)
    if not isinstance(layout, Blocked):
        raise InternalError(f"codegen: {value} lies in {layout}, which no reduction knows")
    return layout


def _tree(items: Sequence[Item], combine: Combine) -> Item:
    """Neighbours first: short chains, and few values alive when items arrive one by one."""
    if len(items) == 1:
        return items[0]
    half = 1 << (len(items) - 1).bit_length() - 1
    return combine(_tree(items[:half], combine), _tree(items[half:], combine))


def shuffle_xor(f: Function, value: LLVM, mask: int) -> LLVM:
    """The value of the lane whose number differs by `mask`; every lane of the warp is there. 64 bits go in halves."""
    type_ = value.type
    if type_ == DOUBLE:
        return f.b.bitcast(shuffle_xor(f, f.b.bitcast(value, I64), mask), type_)
    if type_ == I64:
        low = f.b.trunc(value, INT)
        high = f.b.trunc(f.b.lshr(value, constant(I64, 32)), INT)
        low, high = (f.b.zext(shuffle_xor(f, half, mask), I64) for half in (low, high))
        return f.b.or_(low, f.b.shl(high, constant(I64, 32)))
    everyone, lane, clamp = constant(INT, -1), constant(INT, mask), constant(INT, 31)
    name = "f32" if type_ == FLOAT else "i32"
    return f.intrinsic(f"llvm.nvvm.shfl.sync.bfly.{name}", type_, (everyone, value, lane, clamp))

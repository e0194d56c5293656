"""atom and red. Lanes that meet at an address take turns in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import half, ordering
from . import numerics as n
from .access import access_of, parts_of
from .memory import Form, _items, effect
from .state import State
from .syntax import Address, Instruction, Sink
from .table import Step, instruction, unknown
from .types import TYPES, Type

Array = NDArray[Any]
OPS = ("add", "min", "max", "inc", "dec", "exch", "cas", "and", "or", "xor")


def _function(i: Instruction, op: str, type_: Type) -> Callable[..., Array]:
    """old, operand, and for cas the new value: what is stored."""
    if op == "exch":
        return lambda old, b: b
    if op == "cas":
        return _swapped
    if op == "inc":
        return lambda old, b: np.where(old >= b, old.dtype.type(0), old + old.dtype.type(1))
    if op == "dec":
        return lambda old, b: np.where((old == 0) | (old > b), b, old - old.dtype.type(1))
    if type_.name in half.NAMES:
        return _halves(i, op, type_)
    if type_.kind == "f":
        if op == "add":
            return lambda old, b: n.canonical(old + b) if old.dtype == np.float32 else old + b
        from .arith_float import extreme_function

        return extreme_function(op, (), n.NAN32 if type_.bits == 32 else n.NAN64)
    table: dict[str, Any] = {
        "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }  # fmt: skip
    found: Callable[..., Array] = table[op]
    return found


def _halves(i: Instruction, op: str, type_: Type) -> Callable[..., Array]:
    if op not in ("add", "min", "max"):
        raise unknown(i)
    name = type_.name

    def fn(old: Array, b: Array) -> Array:
        x, y = half.widen(old, name), half.widen(b, name)
        if op == "add":
            return half.rounded(*n.two_sum(x, y), name).astype(np.uint16)
        r = np.fmin(x, y) if op == "min" else np.fmax(x, y)
        return half.rounded(r, np.zeros_like(r), name).astype(np.uint16)

    return half.lifted(fn, name)[0]


def _swapped(old: Array, expected: Array, new: Array) -> Array:
    return np.where(old == expected, new, old)


@instruction("atom", "red", writes=lambda i: 1 if i.opcode == "atom" else 0)
def atom(state: State, i: Instruction) -> Step:
    form = Form(i)
    order = "relaxed" if form.order == "" else form.order
    rest = [m for m in form.rest if m != "noftz"]
    if "acq_rel" in rest:
        rest.remove("acq_rel")
        order = "acq_rel"
    type_ = form.type
    if len(rest) != 1 or rest[0] not in OPS or type_ is None:
        raise unknown(i)
    op = rest[0]
    # 16-bit floats stay patterns, so that one rounding path serves them.
    kept_type = TYPES[f"b{type_.bits}"] if type_.name in half.NAMES else type_
    operands = i.operands[1:] if i.opcode == "atom" else i.operands
    address = operands[0]
    if not isinstance(address, Address):
        raise unknown(i, "operand")
    site = state.site(i, True)
    access = access_of(state, i, address, form.space, type_.bytes, form.count, site, True)
    fn = _function(i, op, type_)
    takes = 2 if op == "cas" else 1
    sources = [
        [state.source(i, item, kept_type) for item in _items(operand, form.count, i)]
        for operand in operands[1 : 1 + takes]
    ]
    outs: list[Array | None] = [None] * form.count
    if i.opcode == "atom":
        outs = [
            None if isinstance(item, Sink) else state.target(i, item, kept_type)
            for item in _items(i.operands[0], form.count, i)
        ]  # fmt: skip

    def run(lanes: Array | None) -> None:
        for part, who, addresses in parts_of(access, lanes):
            kept, place = part.locate(who, addresses)
            if not len(place):
                continue
            part.note_write(kept, place)
            ordering.loaded(state, part, kept, place, order)
            ordering.stored(state, part, kept, place, order, True)
            where = np.arange(state.lanes) if kept is None else kept
            view = part.view.view(kept_type.dtype)
            for at in range(form.count):
                index = (place >> part.shift) + at
                values = [np.broadcast_to(group[at], state.lanes)[where] for group in sources]
                old = _in_turns(view, index, values, fn)
                out = outs[at]
                if out is not None:
                    out[where] = old

    return effect(run)


def _in_turns(view: Array, index: Array, values: list[Array], fn: Callable[..., Array]) -> Array:
    """Read, modify and write, lanes of one address after another; gives what each lane found."""
    old = np.empty(len(index), view.dtype)
    remaining = np.arange(len(index))
    while len(remaining):
        _, first = np.unique(index[remaining], return_index=True)
        now = remaining[first]
        found = view[index[now]]
        old[now] = found
        view[index[now]] = fn(found, *(value[now] for value in values))
        remaining = np.delete(remaining, first)
    return old

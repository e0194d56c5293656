"""ld and st: every width, vectors, spaces, and the orderings weak, volatile, relaxed, acquire and release."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import ordering
from .access import SPACES, Access, access_of, parts_of
from .errors import PtxError
from .state import State
from .syntax import Address, Instruction, Operand, Sink, Symbol, Vector
from .table import Step, instruction, unknown
from .types import TYPES, Type

Array = NDArray[Any]
SCOPES = ("cta", "cluster", "gpu", "sys")
STRONG = ("volatile", "relaxed", "acquire", "release", "mmio")
CACHE = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak")


class Form:
    """The modifiers of an ld, st, atom or red, sorted."""

    def __init__(self, i: Instruction) -> None:
        self.space = "generic"
        self.count = 1
        self.order = ""
        self.type: Type | None = None
        self.rest: list[str] = []
        for modifier in i.modifiers:
            if modifier in SPACES:
                self.space = modifier
            elif modifier in TYPES:
                self.type = TYPES[modifier]
            elif modifier in ("v2", "v4", "v8"):
                self.count = int(modifier[1:])
            elif modifier in STRONG:
                self.order = modifier
            elif modifier in CACHE or modifier in SCOPES or modifier.split("::")[0] in ("L1", "L2", "level"):
                continue
            else:
                self.rest.append(modifier)
        if self.type is None:
            raise unknown(i, "type")


def _form(i: Instruction) -> tuple[Form, Type]:
    form = Form(i)
    if form.rest:
        raise unknown(i, f"modifier '.{form.rest[0]}'")
    assert form.type is not None
    return form, form.type


def _items(operand: Operand, count: int, i: Instruction) -> tuple[Operand, ...]:
    items = operand.items if isinstance(operand, Vector) else (operand,)
    if len(items) != count:
        raise PtxError(i.line, f"'{i.name}' moves {count} elements, not {len(items)}")
    return items


@instruction("ld", "ldu")
def ld(state: State, i: Instruction) -> Step:
    form, type_ = _form(i)
    target, address = i.operands[0], i.operands[1]
    if not isinstance(address, Address):
        raise unknown(i, "operand")
    if form.space in ("param", "param::entry") and isinstance(address.base, Symbol):
        return _constant(state, i, form, type_, address)
    strong = form.order != ""
    site = state.site(i, strong)
    access = access_of(state, i, address, form.space, type_.bytes, form.count, site, False)
    outs = [
        None if isinstance(item, Sink) else state.target(i, item, type_)
        for item in _items(target, form.count, i)
    ]  # fmt: skip
    dtype, count = type_.dtype, form.count

    def run(lanes: Array | None) -> None:
        for part, who, addresses in parts_of(access, lanes):
            kept, place = part.locate(who, addresses)
            if kept is not None and not len(kept):
                continue
            part.note_read(kept, place)
            if strong:
                ordering.loaded(state, part, kept, place, form.order)
            values = part.view.take(part.elements(place)).view(dtype)
            for at, out in enumerate(outs):
                if out is not None:
                    value = values[at] if count > 1 else values
                    if kept is None:
                        out[:] = value
                    else:
                        out[kept] = value

    return effect(run)


def effect(run: Any) -> Step:
    """A step of a function that takes the lanes as indices, or None for all."""

    def masked(mask: Array) -> None:
        lanes = np.flatnonzero(mask)
        if len(lanes):
            run(lanes)

    return Step(lambda: run(None), masked)


def _constant(state: State, i: Instruction, form: Form, type_: Type, address: Address) -> Step:
    """A parameter at a known offset: the same constant for every lane."""
    assert isinstance(address.base, Symbol)
    start = state.symbol(address.base, i.line) + address.offset
    total = type_.bytes * form.count
    if start < 0 or start + total > state.param_size:
        raise PtxError(i.line, f"'{i.name}' reads past the end of the parameters")
    values = np.frombuffer(state.params[start : start + total].tobytes(), type_.dtype)
    outs = [
        (state.target(i, item, type_), value)
        for item, value in zip(_items(i.operands[0], form.count, i), values, strict=True)
        if not isinstance(item, Sink)
    ]

    def full() -> None:
        for out, value in outs:
            out[:] = value

    def masked(mask: Array) -> None:
        for out, value in outs:
            np.copyto(out, value, where=mask, casting="unsafe")

    return Step(full, masked)


@instruction("st", writes=0)
def st(state: State, i: Instruction) -> Step:
    form, type_ = _form(i)
    address, value = i.operands[0], i.operands[1]
    if not isinstance(address, Address):
        raise unknown(i, "operand")
    strong = form.order != ""
    site = state.site(i, strong)
    access = access_of(state, i, address, form.space, type_.bytes, form.count, site, True)
    bits = TYPES[f"b{type_.bits}"]
    sources = [state.source(i, item, bits if type_.kind != "f" else type_) for item in _items(value, form.count, i)]
    sources = [source.view(bits.dtype) for source in sources]

    def run(lanes: Array | None) -> None:
        for part, who, addresses in parts_of(access, lanes):
            kept, place = part.locate(who, addresses)
            if kept is not None and not len(kept):
                continue
            part.note_write(kept, place)
            if strong:
                ordering.stored(state, part, kept, place, form.order, False)
            store(part, place, sources, kept)

    return effect(run)


def store(part: Access, place: Array, sources: list[Array], kept: Array | None) -> None:
    """Put rows of values at byte positions."""
    index = place >> part.shift
    for at, source in enumerate(sources):
        value = source if kept is None or source.ndim == 0 else source[kept]
        part.view[index + at if at else index] = value

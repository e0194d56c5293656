"""Moves: mov with packing and unpacking, addresses, conversions between address spaces, branches and the end."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .state import State
from .storage import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW
from .syntax import Imm, Instruction, Special, Symbol, Vector
from .table import Step, instruction, unknown
from .types import TYPES, UNSIGNED

Array = NDArray[Any]
CLOCKS = ("%clock", "%clock64", "%clock_hi", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi")
WINDOWS = {"global": 0, "const": 0, "shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW, "local": LOCAL_WINDOW,
           "param": PARAM_WINDOW, "param::entry": PARAM_WINDOW}  # fmt: skip
PRED, U32, U64 = TYPES["pred"], TYPES["u32"], TYPES["u64"]


@instruction("mov")
def mov(state: State, i: Instruction) -> Step:
    name = i.modifiers[-1]
    if name not in TYPES:
        raise unknown(i, "type")
    type_ = TYPES[name] if name == "pred" else TYPES[f"b{TYPES[name].bits}"]
    target, source = i.operands
    if isinstance(target, Vector):
        return _unpack(state, i, type_.bits)
    if isinstance(source, Vector):
        return _pack(state, i, type_.bits)
    if isinstance(source, Special) and source.name in CLOCKS:
        return _clock(state, i)
    if isinstance(source, Special):
        row = state.source(i, source, U32)
        out = state.target(i, target, type_)

        def full() -> None:
            out[:] = row

        return Step(full, lambda mask: np.copyto(out, row, where=mask, casting="unsafe"))
    return state.pure(i, _same, type_, ((source, type_),))


def _same(x: Array) -> Array:
    return x


def _clock(state: State, i: Instruction) -> Step:
    """Time is a count of the clock reads: it goes on, and that is all that is promised."""
    ticks = state.scratch.setdefault("clock", itertools.count(1))
    out = state.target(i, i.operands[0], TYPES[f"b{TYPES[i.modifiers[-1]].bits}"])
    high = i.operands[1] in (Special("%clock_hi"), Special("%globaltimer_hi"))

    def masked(mask: Array) -> None:
        np.copyto(out, 0 if high else next(ticks), where=mask, casting="unsafe")

    everyone = np.ones(state.lanes, np.bool_)
    return Step(lambda: masked(everyone), masked)


def _parts(i: Instruction, bits: int, count: int) -> Any:
    if bits % count or bits // count not in UNSIGNED:
        raise unknown(i, "operand")
    return TYPES[f"b{bits // count}"]


def _pack(state: State, i: Instruction, bits: int) -> Step:
    vector = i.operands[1]
    assert isinstance(vector, Vector)
    part = _parts(i, bits, len(vector.items))
    whole = UNSIGNED[bits]

    def join(*parts: Array) -> Array:
        r: Any = parts[0].astype(whole)
        for at, each in enumerate(parts[1:], 1):
            r = r | (each.astype(whole) << whole.type(at * part.bits))
        return r  # type: ignore[no-any-return]

    return state.pure(i, join, TYPES[f"b{bits}"], tuple((item, part) for item in vector.items))


def _unpack(state: State, i: Instruction, bits: int) -> Step:
    vector, operand = i.operands
    assert isinstance(vector, Vector)
    part = _parts(i, bits, len(vector.items))
    source = state.source(i, operand, TYPES[f"b{bits}"])
    count = len(vector.items)
    outs = [state.target(i, item, part) for item in vector.items]

    def parts() -> Array:
        # A copy, since a destination may be the source.
        whole: Array = np.broadcast_to(source, state.lanes).copy()
        split: Array = whole.view(part.dtype)
        return split.reshape(-1, count)

    def full() -> None:
        values = parts()
        for at, out in enumerate(outs):
            out[:] = values[:, at]

    def masked(mask: Array) -> None:
        values = parts()
        for at, out in enumerate(outs):
            np.copyto(out, values[:, at], where=mask, casting="unsafe")

    return Step(full, masked)


@instruction("cvta")
def cvta(state: State, i: Instruction) -> Step:
    """To generic, or with `.to` back: each space is a window of the generic addresses, global the rest."""
    back = "to" in i.modifiers
    space = next((m for m in i.modifiers if m in WINDOWS), None)
    if space is None:
        raise unknown(i, "state space")
    type_ = TYPES[i.modifiers[-1]]
    offset = np.uint64(WINDOWS[space])

    def move(x: Array) -> Array:
        return x - offset if back else x.astype(np.uint64) + offset

    operand = i.operands[1]
    if isinstance(operand, Imm | Symbol):
        operand = Imm(int(state.source(i, operand, U64)), "int")
    return state.pure(i, move, type_, ((operand, type_),))


@instruction("isspacep")
def isspacep(state: State, i: Instruction) -> Step:
    space = i.modifiers[0]
    if space not in WINDOWS:
        raise unknown(i, "state space")
    start = WINDOWS[space]

    def inside(x: Array) -> Array:
        if start:
            return (x >= np.uint64(start)) & (x < np.uint64(start + WINDOW))
        return x < np.uint64(SHARED_WINDOW)

    return state.pure(i, inside, PRED, ((i.operands[1], U64),))


@instruction("prefetch", "prefetchu", "applypriority", "discard", "pmevent", "griddepcontrol", writes=0)
def hint(state: State, i: Instruction) -> Step:
    """What only helps the caches, or waits for what has long happened."""
    return Step(lambda: None, lambda mask: None)


@instruction("createpolicy")
def createpolicy(state: State, i: Instruction) -> Step:
    """A cache policy is a number that nobody looks into."""
    return state.pure(i, _same, U64, ((Imm(0, "int"), U64),))


@instruction("bra", "brx", kind="branch", writes=0)
def bra(state: State, i: Instruction) -> Any:
    if i.opcode == "brx":
        return state.source(i, i.operands[0], U32)
    return None


@instruction("ret", "exit", "trap", kind="exit", writes=0)
def leave(state: State, i: Instruction) -> Any:
    return None


@instruction("brkpt", writes=0)
def brkpt(state: State, i: Instruction) -> Step:
    return Step(lambda: None, lambda mask: None)


@instruction("nanosleep", kind="yield", writes=0)
def nanosleep(state: State, i: Instruction) -> Any:
    return None

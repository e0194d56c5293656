"""Instructions of a warp's lanes together: shfl, vote, match, redux, elect, and activemask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .barriers import WarpOp
from .state import State
from .syntax import Instruction, Operand, Pair, Sink
from .table import Step, instruction, unknown
from .types import TYPES, Type

Array = NDArray[Any]
U32, S32, PRED = TYPES["u32"], TYPES["s32"], TYPES["pred"]


def _together(state: State, i: Instruction, run: Callable[[Array], None], members: Operand) -> WarpOp:
    everyone = np.ones(state.lanes, np.bool_)
    return WarpOp(Step(lambda: run(everyone), run), state.source(i, members, U32))


def _targets(state: State, i: Instruction, type_: Type) -> tuple[Array, Array]:
    """`d|p` as rows; what is missing goes nowhere."""
    operand = i.operands[0]
    first, second = (operand.first, operand.second) if isinstance(operand, Pair) else (operand, Sink())
    return state.target(i, first, type_), state.target(i, second, PRED)


@instruction("shfl", kind="warp")
def shfl(state: State, i: Instruction) -> WarpOp:
    if i.modifiers[0] != "sync" or i.modifiers[-1] != "b32":
        raise unknown(i)
    mode = i.modifiers[1]
    if mode not in ("up", "down", "bfly", "idx"):
        raise unknown(i)
    out, valid = _targets(state, i, U32)
    a = state.source(i, i.operands[1], U32)
    b, c = state.source(i, i.operands[2], U32), state.source(i, i.operands[3], U32)
    lane = state.index & 31
    first = np.arange(state.lanes) - lane

    def run(mask: Array) -> None:
        value, clamp = b.astype(np.int64) & 31, c.astype(np.int64) & 31
        segment = (c.astype(np.int64) >> 8) & 31
        top = (lane & segment) | (clamp & ~segment)
        if mode == "up":
            source = lane - value
            inside = source >= top
        elif mode == "down":
            source = lane + value
            inside = source <= top
        elif mode == "bfly":
            source = lane ^ value
            inside = source <= top
        else:
            source = (lane & segment) | (value & ~segment)
            inside = source <= top
        chosen = first + np.where(inside, source, lane)
        absent = mask & ~mask[chosen]
        if absent.any() and state.checks.uninitialised:
            at = int(np.flatnonzero(absent)[0])
            state.report("shuffle", i, at, f"reads lane {int(chosen[at]) & 31}, which does not take part")
        values = np.broadcast_to(a, state.lanes)[chosen]
        np.copyto(out, values, where=mask)
        np.copyto(valid, inside, where=mask)

    return _together(state, i, run, i.operands[4])


def _warp_sum(values: Array, mask: Array) -> Array:
    """For each lane, the bits of its warp's lanes that take part and whose value is true."""
    bits = (values & mask).reshape(-1, 32).astype(np.uint32) << np.arange(32, dtype=np.uint32)
    joined: Array = np.bitwise_or.reduce(bits, axis=1)
    return joined.repeat(32)


@instruction("vote", kind="warp")
def vote(state: State, i: Instruction) -> WarpOp:
    if i.modifiers[0] != "sync":
        raise unknown(i)
    mode = i.modifiers[1]
    if mode not in ("all", "any", "uni", "ballot"):
        raise unknown(i)
    out = state.target(i, i.operands[0], U32 if mode == "ballot" else PRED)
    read = state.predicate(i, i.operands[1])

    def run(mask: Array) -> None:
        values = np.broadcast_to(read(), state.lanes)
        yes, here = _warp_sum(values, mask), _warp_sum(mask, mask)
        result: Array
        if mode == "ballot":
            result = yes
        elif mode == "all":
            result = yes == here
        elif mode == "any":
            result = yes != 0
        else:
            result = (yes == here) | (yes == 0)
        np.copyto(out, result, where=mask)

    return _together(state, i, run, i.operands[2])


@instruction("match", kind="warp")
def match(state: State, i: Instruction) -> WarpOp:
    if len(i.modifiers) != 3 or i.modifiers[1] != "sync":
        raise unknown(i)
    mode, type_ = i.modifiers[0], TYPES[i.modifiers[2]]
    out, same = _targets(state, i, U32)
    a = state.source(i, i.operands[1], type_)

    def run(mask: Array) -> None:
        values = np.broadcast_to(a, state.lanes).reshape(-1, 32)
        there = mask.reshape(-1, 32)
        equal = (values[:, :, None] == values[:, None, :]) & there[:, None, :]
        bits = np.bitwise_or.reduce(equal.astype(np.uint32) << np.arange(32, dtype=np.uint32), axis=2).reshape(-1)
        here = _warp_sum(mask, mask)
        if mode == "any":
            np.copyto(out, bits, where=mask)
            return
        whole = bits == here
        np.copyto(out, np.where(whole, here, np.uint32(0)), where=mask)
        np.copyto(same, whole, where=mask)

    return _together(state, i, run, i.operands[2])


@instruction("redux", kind="warp")
def redux(state: State, i: Instruction) -> WarpOp:
    if i.modifiers[0] != "sync":
        raise unknown(i)
    op, type_ = i.modifiers[1], TYPES[i.modifiers[-1]]
    magnitude, keeps_nan = "abs" in i.modifiers, "NaN" in i.modifiers
    table: dict[str, Any] = {
        "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }  # fmt: skip
    if op not in table:
        raise unknown(i)
    ufunc = table[op]
    floats = type_.kind == "f"
    if floats:
        ufunc = {"min": np.minimum if keeps_nan else np.fmin, "max": np.maximum if keeps_nan else np.fmax}[op]
    out = state.target(i, i.operands[0], type_)
    a = state.source(i, i.operands[1], type_)

    def run(mask: Array) -> None:
        values = np.broadcast_to(a, state.lanes)
        values = np.abs(values) if magnitude else values
        for warp in np.flatnonzero(mask.reshape(-1, 32).any(axis=1)):
            lanes = warp * 32 + np.flatnonzero(mask[warp * 32 : warp * 32 + 32])
            out[lanes] = ufunc.reduce(values[lanes], dtype=None if floats else type_.dtype)

    return _together(state, i, run, i.operands[2])


@instruction("elect", kind="warp")
def elect(state: State, i: Instruction) -> WarpOp:
    """One lane of the members is chosen: the lowest."""
    out, chosen = _targets(state, i, U32)

    def run(mask: Array) -> None:
        rows = mask.reshape(-1, 32)
        leader = rows.argmax(axis=1).repeat(32)
        np.copyto(out, leader.astype(np.uint32), where=mask)
        np.copyto(chosen, leader == (state.index & 31), where=mask)

    return _together(state, i, run, i.operands[1])


@instruction("activemask")
def activemask(state: State, i: Instruction) -> Step:
    out = state.target(i, i.operands[0], U32)
    everyone = np.ones(state.lanes, np.bool_)

    def masked(mask: Array) -> None:
        np.copyto(out, _warp_sum(mask, mask), where=mask)

    return Step(lambda: masked(everyone), masked)

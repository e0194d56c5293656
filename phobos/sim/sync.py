"""Barriers of a CTA, bar.warp.sync and fences. What waiting means is in `barriers`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import ordering
from .barriers import BarrierOp, WarpOp
from .memory import effect
from .state import State
from .syntax import Instruction
from .table import Step, instruction, unknown
from .types import TYPES

Array = NDArray[Any]
U32, PRED = TYPES["u32"], TYPES["pred"]


def _kind(i: Instruction) -> str:
    return "warp" if i.modifiers[:1] == ("warp",) else "barrier"


@instruction("bar", "barrier", kind=_kind, writes=lambda i: 1 if "red" in i.modifiers else 0)
def bar(state: State, i: Instruction) -> Any:
    modifiers = [m for m in i.modifiers if m != "cta"]
    if modifiers[:1] == ["warp"]:
        return WarpOp(None, state.source(i, i.operands[0], U32))
    action = modifiers[0] if modifiers else ""
    if action not in ("sync", "arrive", "red"):
        raise unknown(i)
    aligned = i.opcode == "bar" or "aligned" in modifiers
    operands = list(i.operands)
    finish = None
    if action == "red":
        target, condition = operands.pop(0), operands.pop()
        finish = _reduction(state, i, modifiers[1], target, condition)
    count = state.source(i, operands[1], U32) if len(operands) > 1 else None
    if action == "arrive" and count is None:
        raise unknown(i, "operand")
    return BarrierOp(state.source(i, operands[0], U32), count, action != "arrive", aligned, finish)


def _reduction(state: State, i: Instruction, op: str, target: Any, condition: Any) -> Any:
    """barrier.red: a predicate of all threads as a count, or all or any of it."""
    read = state.predicate(i, condition)
    if op not in ("popc", "and", "or"):
        raise unknown(i)
    out = state.target(i, target, U32 if op == "popc" else PRED)

    def finish(lanes: Array) -> None:
        live = lanes[~state.exited[lanes]]
        values = np.broadcast_to(read(), state.lanes)[live]
        result = values.sum() if op == "popc" else values.all() if op == "and" else values.any()
        out[live] = result

    return finish


@instruction("membar", "fence", writes=0)
def fence(state: State, i: Instruction) -> Step:
    if i.modifiers[:1] == ("proxy",) or i.modifiers[:1] == ("mbarrier_init",):
        return Step(lambda: None, lambda mask: None)
    return effect(lambda lanes: ordering.fence(state, lanes))

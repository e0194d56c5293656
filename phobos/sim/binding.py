"""Binds a program's instructions to the rows of a state: a list of steps per segment, and what steers its end.

Here the wrappers go on: guards, reads of registers that may be unset, overflow of indices. What is left plain may be
batched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .barriers import BarrierOp, WarpOp
from .batch import Item, batched
from .program import read_by, written
from .state import State
from .syntax import Address, Imm, Instruction, Reg
from .table import Step, row
from .types import TYPES

Array = NDArray[Any]


def bind(state: State, batching: bool) -> list[tuple[list[Step], Any]]:
    """Steps and control of each segment."""
    program = state.program
    body = program.entry.body
    _granules(state)
    tracked = _tracked(state)
    bound: list[tuple[list[Step], Any]] = []
    for segment in program.segments:
        items: list[Item] = []
        control = None
        for at in range(segment.start, segment.end):
            i = body[at]
            built = row(i).build(state, i)
            last = at == segment.end - 1 and segment.ends != ""
            if last:
                control = _control(built, [tracked[name] for name in written(i) if name in tracked])
                step = None
            else:
                step = built
            step, plain = _wrapped(state, at, i, step, tracked)
            if step is not None:
                batch = step.batch if plain else None
                items.append(Item(Step(step.full, step.masked, batch), set(read_by(i)), set(written(i))))
        steps = batched(state, items) if batching else [item.step for item in items]
        bound.append((steps, control))
    return bound


def _granules(state: State) -> None:
    """The narrowest access to shared and to global memory: the shadows need to be no finer."""
    shared, other = 16, 16
    for i in state.program.entry.body:
        if not any(isinstance(operand, Address) for operand in i.operands):
            continue
        names = [m for m in i.modifiers if m in TYPES]
        width = min((TYPES[name].bytes for name in names), default=1)
        if i.opcode == "cp" and i.modifiers[:1] == ("async",):
            width = int(i.operands[2].value) if len(i.operands) > 2 and isinstance(i.operands[2], Imm) else 1
            narrow = len(i.operands) > 3
            shared, other = min(shared, width), min(other, 1 if narrow else width)
            continue
        spaces = {m.split("::")[0] for m in i.modifiers}
        if "shared" in spaces or not spaces & {"global", "local", "const", "param"}:
            shared = min(shared, width)
        if "global" in spaces or not spaces & {"shared", "local", "const", "param"}:
            other = min(other, width)
    state.shared_granule = max(shared, 1).bit_length() - 1
    state.global_granule = max(other, 1).bit_length() - 1


def _tracked(state: State) -> dict[str, Array]:
    """A row of flags for each register that may be read before it is written."""
    if not state.checks.uninitialised:
        return {}
    names = {name for names in state.program.may_be_unset.values() for name in names}
    rows = {name: np.zeros(state.lanes, np.bool_) for name in sorted(names)}
    state.unset = rows
    return rows


def _wrapped(
    state: State, at: int, i: Instruction, step: Step | None, tracked: dict[str, Array]
) -> tuple[Step | None, bool]:
    """The step with its wrappers, and whether it is still the plain one."""
    plain = True
    unset = state.program.may_be_unset.get(at, frozenset()) if tracked else frozenset()
    if step is not None and state.checks.overflow and at in state.program.address_slice:
        watched = _watched(state, i, step)
        if watched is not None:
            step, plain = watched, False
    writes = [tracked[name] for name in written(i) if name in tracked]
    if i.opcode == "mov" and step is not None and unset and i.guard is None and len(i.operands) == 2:
        step, plain, writes = _copies_unset(step, [tracked[name] for name in sorted(unset)], writes), False, []
    elif unset and not _picks_bytes(i):
        step, plain = _reads_unset(state, i, step, {name: tracked[name] for name in sorted(unset)}), False
    if writes and step is not None:
        step, plain = _sets(step, writes), False
    if i.guard is not None and step is not None and not (step is not None and _steers(i)):
        step, plain = _guarded(state.registers.row(i.guard), i.negated, step), False
    return step, plain


def _picks_bytes(i: Instruction) -> bool:
    """A permutation by a constant: LLVM joins bytes step by step and leaves a register unset whose byte none takes."""
    return i.opcode == "prmt" and isinstance(i.operands[3], Imm)


def _control(control: Any, rows: list[Array]) -> Any:
    """What ends a segment; if it writes registers whose being set matters, it says so."""
    if rows and isinstance(control, WarpOp) and control.step is not None:
        control.step = _sets(control.step, rows)
    elif rows and isinstance(control, BarrierOp) and control.finish is not None:
        finish = control.finish

        def and_sets(lanes: Array) -> None:
            finish(lanes)
            for each in rows:
                each[lanes] = True

        control.finish = and_sets
    return control


def _steers(i: Instruction) -> bool:
    kind = row(i).kind
    return kind != "step" if isinstance(kind, str) else kind(i) != "step"


def _guarded(guard: Array, negated: bool, step: Step) -> Step:
    """Only the lanes whose guard says so."""
    masked = step.masked

    def full() -> None:
        mask = ~guard if negated else guard.copy()
        if mask.any():
            masked(mask)

    def some(mask: Array) -> None:
        mask = mask & ~guard if negated else mask & guard
        if mask.any():
            masked(mask)

    return Step(full, some)


def _sets(step: Step, rows: list[Array]) -> Step:
    def full() -> None:
        step.full()
        for each in rows:
            each[:] = True

    def masked(mask: Array) -> None:
        step.masked(mask)
        for each in rows:
            each |= mask

    return Step(full, masked)


def _copies_unset(step: Step, sources: list[Array], targets: list[Array]) -> Step:
    """A move of a register that is not set is no fault; the copy is not set either."""

    def masked(mask: Array) -> None:
        step.masked(mask)
        for target in targets:
            for source in sources:
                np.copyto(target, source, where=mask)

    def full() -> None:
        step.full()
        for target in targets:
            for source in sources:
                target[:] = source

    return Step(full, masked)


def _reads_unset(state: State, i: Instruction, step: Step | None, rows: dict[str, Array]) -> Step:
    def check(mask: Array | None) -> None:
        for name, is_set in rows.items():
            missing = ~is_set if mask is None else mask & ~is_set
            if missing.any():
                lane = int(np.flatnonzero(missing)[0])
                state.report("uninitialised", i, lane, f"register {name} is read and was never written")

    def full() -> None:
        check(None)
        if step is not None:
            step.full()

    def masked(mask: Array) -> None:
        check(mask)
        if step is not None:
            step.masked(mask)

    return Step(full, masked)


def _watched(state: State, i: Instruction, step: Step) -> Step | None:
    """An instruction on the way to an address: watch it for signed overflow, and pass the taint on.

    A register's taint is how often 2^32 must be added to its value to have the exact one. Only sums and products of 32
    bits can overflow, and their taint is computed: LLVM takes a sum apart so that a part of it wraps and the whole
    wraps back. All others merely carry it. Nothing is carried before the first overflow happens, and a lane's taint is
    only reported when the lane uses the address.
    """
    targets = [operand for operand in i.operands[:1] if isinstance(operand, Reg) and operand.type != "pred"]
    if not targets:
        return None
    taint = _taint_row(state, targets[0])
    rows = [
        _taint_row(state, operand) if isinstance(operand, Reg) and operand.type != "pred" else None
        for operand in i.operands[1:]
    ]
    exact = _exact(state, i)
    values = [state.source(i, operand, TYPES["s32"]) for operand in i.operands[1:]] if exact is not None else []

    def turns(k: int) -> Array:
        row: Array | None = rows[k]
        none: Array = np.zeros(state.lanes, np.int64)
        if row is None:
            return none
        return row

    def carried(factors: list[Array]) -> Array:
        if i.opcode in ("add", "sub"):
            total: Array = turns(0) + (turns(1) if i.opcode == "add" else -turns(1))
            return total
        product: Array = turns(0) * factors[1] + turns(1) * factors[0]
        if i.opcode == "mad":
            product = product + turns(2)
        return product

    def run(mask: Array | None) -> None:
        # The target may be a source too: what is needed of the sources is read first.
        wide = exact() if exact is not None else None
        factors = [value.astype(np.int64) for value in values] if state.tainted else []
        if mask is None:
            step.full()
        else:
            step.masked(mask)
        over = None if wide is None else (wide + 0x8000_0000) >> 32  # not 0 where it does not fit into 32 signed bits
        if over is not None:
            hit = over != 0 if mask is None else (over != 0) & mask
            if hit.any():
                if not factors:
                    factors = [np.zeros(state.lanes, np.int64)] * len(values)  # nothing was tainted before
                state.tainted = True
                for lane in np.flatnonzero(hit).tolist():
                    state.overflows.setdefault(lane, i)
        if not state.tainted:
            return
        if over is not None:
            fresh = carried(factors) + over
        elif i.opcode == "mov":
            fresh = turns(0)
        else:
            fresh = np.zeros(state.lanes, np.int64)
            for row in rows:
                if row is not None:
                    fresh |= row != 0
        np.copyto(taint, fresh, where=True if mask is None else mask)

    return Step(lambda: run(None), run)


def _taint_row(state: State, register: Reg) -> Array:
    if register.name not in state.taint:
        state.taint[register.name] = np.zeros(state.lanes, np.int64)
    return state.taint[register.name]


FAR = 1 << 30


def _far(value: int) -> bool:
    """Whether a constant is so large that LLVM made it: half of a range test, that the other half wraps back."""
    return FAR <= value & 0xFFFF_FFFF <= 0x1_0000_0000 - FAR


def _exact(state: State, i: Instruction) -> Callable[[], Array] | None:
    """The result in 64 bits, for the instructions that can overflow."""
    if not i.modifiers or i.modifiers[-1] != "s32" or i.opcode not in ("add", "sub", "mul", "mad"):
        return None
    if i.opcode in ("mul", "mad") and "lo" not in i.modifiers:
        return None
    if any(isinstance(operand, Imm) and _far(int(operand.value)) for operand in i.operands[1:]):
        return None
    s32 = TYPES["s32"]
    operands = [state.source(i, operand, s32) for operand in i.operands[1:]]

    def widened(x: Array) -> Array:
        return x.astype(np.int64)

    if i.opcode == "add":
        return lambda: widened(operands[0]) + widened(operands[1])
    if i.opcode == "sub":
        return lambda: widened(operands[0]) - widened(operands[1])
    if i.opcode == "mul":
        return lambda: widened(operands[0]) * widened(operands[1])
    return lambda: widened(operands[0]) * widened(operands[1]) + widened(operands[2])

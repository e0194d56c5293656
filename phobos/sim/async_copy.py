"""cp.async: copies from global to shared memory whose bytes arrive when their thread waits for them, and no earlier.

A copy is remembered when it is issued. Its source is read and its bytes are written at the wait that completes its
group, the latest moment that the ISA allows, so that a missing wait shows in the numbers as well as in the race check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .access import Access, access_of
from .memory import effect
from .state import State
from .syntax import Address, Imm, Instruction, Reg
from .table import Step, instruction, unknown
from .types import TYPES

Array = NDArray[Any]
U32 = TYPES["u32"]


@dataclass(slots=True)
class Copy:
    """One issue of a copy: lanes, byte positions, how many bytes come from the source, and each lane's group."""

    size: int
    lanes: Array
    to: Array
    source: Array
    taken: Array
    group: Array
    target: Access


class Copies:
    """The pending copies of a machine, and the number of the group that each lane is filling."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.pending: list[Copy] = []
        self.group = np.zeros(state.lanes, np.int64)
        self.wave = state.first_cta

    def current(self) -> Copies:
        """These, emptied when a new wave has begun."""
        if self.wave != self.state.first_cta:
            self.pending.clear()
            self.group[:] = 0
            self.wave = self.state.first_cta
        return self

    def complete(self, lanes: Array | None, but: int | None) -> None:
        """Land the copies of all committed groups but the last `but` (None: of everything, committed or not)."""
        everyone = np.ones(self.state.lanes, np.bool_)
        if lanes is not None:
            everyone = np.zeros(self.state.lanes, np.bool_)
            everyone[lanes] = True
        rest: list[Copy] = []
        for copy in self.pending:
            done = everyone[copy.lanes]
            if but is not None:
                done &= copy.group < self.group[copy.lanes] - but
            if done.any():
                _land(self.state, copy, done)
            if not done.all():
                keep = ~done
                rest.append(
                    Copy(
                        copy.size, copy.lanes[keep], copy.to[keep], copy.source[keep], copy.taken[keep],
                        copy.group[keep], copy.target,
                    )
                )  # fmt: skip
        self.pending = rest


def _land(state: State, copy: Copy, done: Array) -> None:
    lanes, to, source, taken = copy.lanes[done], copy.to[done], copy.source[done], copy.taken[done]
    state.stores += 1
    if (taken == copy.size).all():
        words = np.arange(copy.size // 4)[:, None]
        state.shared.views[32][(to >> 2) + words] = state.memory.views[32][(source >> 2) + words]
    else:
        steps = np.arange(copy.size)[:, None]
        inside = steps < taken
        values = state.memory.arena[np.where(inside, source + steps, 0)]
        state.shared.data[to + steps] = np.where(inside, values, 0)
    if state.shared_races is not None:
        state.shared_races.landed(copy.target.site, copy.target.granules(to), lanes)


def copies(state: State) -> Copies:
    """The pending copies of a machine."""
    found: Copies = state.scratch.setdefault("copies", Copies(state))
    return found.current()


@instruction("cp", writes=0)
def cp(state: State, i: Instruction) -> Step:
    if i.modifiers[:1] != ("async",):
        raise unknown(i)
    rest = i.modifiers[1:]
    if rest == ("commit_group",):
        return effect(lambda lanes: _commit(state, lanes))
    if rest == ("wait_all",):
        return effect(lambda lanes: copies(state).complete(lanes, None))
    if rest == ("wait_group",):
        but = i.operands[0]
        if not isinstance(but, Imm):
            raise unknown(i, "operand")
        count = int(but.value)
        return effect(lambda lanes: copies(state).complete(lanes, count))
    return _issue(state, i, rest)


def _commit(state: State, lanes: Array | None) -> None:
    copies(state).group[slice(None) if lanes is None else lanes] += 1


def _issue(state: State, i: Instruction, modifiers: tuple[str, ...]) -> Step:
    known = [m for m in modifiers if m.split("::")[0] not in ("L2", "level")]
    if (
        len(known) != 3
        or known[0] not in ("ca", "cg")
        or known[1] not in ("shared", "shared::cta")
        or known[2] != "global"
    ):
        raise unknown(i)
    to, source, size = i.operands[:3]
    if not (isinstance(to, Address) and isinstance(source, Address) and isinstance(size, Imm)):
        raise unknown(i, "operand")
    nbytes = int(size.value)
    if nbytes not in (4, 8, 16) or (known[0] == "cg" and nbytes != 16):
        raise unknown(i, "size")
    hinted = any(m.endswith("cache_hint") for m in modifiers)
    extra = i.operands[3 : len(i.operands) - 1 if hinted else len(i.operands)]
    taken: Array = np.array(nbytes, np.uint32)
    ignored: Array | None = None
    if extra:
        operand = extra[0]
        if isinstance(operand, Reg) and operand.type == "pred":
            ignored = state.source(i, operand, TYPES["pred"])
        else:
            taken = state.source(i, operand, U32)
    target = access_of(state, i, to, "shared", 4, nbytes // 4, state.site(i, False), True)
    origin = access_of(state, i, source, "global", 4, nbytes // 4, state.site(i, False), False)
    assert isinstance(target, Access) and isinstance(origin, Access)

    def run(lanes: Array | None) -> None:
        where, place = target.locate(lanes, target.addresses(lanes))
        who = np.arange(state.lanes) if where is None else where
        count = np.broadcast_to(taken, state.lanes)[who].astype(np.int64)
        if ignored is not None:
            count = np.where(ignored[who], 0, count)
        if (count > nbytes).any():
            at = int(np.flatnonzero(count > nbytes)[0])
            state.report("out of bounds", i, int(who[at]), f"a copy of {nbytes} bytes is to take {int(count[at])}")
            count = np.minimum(count, nbytes)
        start = np.zeros(len(who), np.int64)
        reads = count > 0
        if reads.all() and (count == nbytes).all():
            found, start_all = origin.locate(where, origin.addresses(where))
            if found is where or (found is not None and where is not None and len(found) == len(where)):
                start = start_all
            else:
                assert found is not None
                keep = np.isin(who, found)
                who, place, count, start = who[keep], place[keep], count[keep], start_all
                where = who
            origin.note_read(where, start)
        elif reads.any():
            start = _partial(origin, who, count, start)
        target.note_write(where, place, in_flight=True)
        table = copies(state)
        table.pending.append(Copy(nbytes, who, place, start, count, table.group[who].copy(), target))

    return effect(run)


def _partial(origin: Access, who: Array, count: Array, start: Array) -> Array:
    """Sources of which only a part is read: only that part must exist."""
    state = origin.state
    for size in np.unique(count[count > 0]):
        mine = np.flatnonzero(count == size)
        lanes = who[mine]
        addresses = origin.addresses(lanes)
        misaligned = addresses & np.uint64(origin.total - 1) != 0
        if misaligned.any():
            at = int(np.flatnonzero(misaligned)[0])
            state.report(
                "misaligned", origin.i, int(lanes[at]),
                f"the source of a {origin.total}-byte copy is no multiple of {origin.total}", int(addresses[at]),
            )  # fmt: skip
        for at, lane, address in zip(mine.tolist(), lanes.tolist(), addresses.tolist(), strict=True):
            found = state.memory.find(address)
            if found is None or not 0 <= address - found.address <= found.size - int(size):
                what = f"read of {int(size)} bytes outside of {state.memory.describe(address)}"
                state.report("out of bounds", origin.i, lane, what, address)
                count[at] = 0
                continue
            start[at] = address - found.address + found.place
            if state.global_races is not None:
                granule = state.global_granule
                last = (int(start[at]) + int(size) - 1) >> granule
                granules = np.arange(int(start[at]) >> granule, last + 1)[:, None]
                state.global_races.read(origin.site, granules, np.array([lane]), False)
    return start

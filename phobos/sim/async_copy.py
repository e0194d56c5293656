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
from .storage import REGION_BITS
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
            if not done.any():
                rest.append(copy)
                continue
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
        start: Array
        if (count == nbytes).all():
            found, start = origin.locate(where, origin.addresses(where))
            if found is not None and len(found) != len(who):
                keep = np.isin(who, found)
                where, place, count = found, place[keep], count[keep]
                who = found
            if len(who):
                origin.note_read(where, start)
        else:
            start = _sources(origin, who, count)
        if not len(who):
            return
        target.note_write(where, place, in_flight=True)
        table = copies(state)
        table.pending.append(Copy(nbytes, who, place, start, count, table.group[who].copy(), target))

    return effect(run)


def _sources(origin: Access, who: Array, count: Array) -> Array:
    """Where the sources of lanes start when some lanes take only a part, or nothing: only that part must exist.

    A lane whose source is at fault is reported and takes nothing: `count` is set to 0.
    """
    start = np.zeros(len(who), np.int64)
    reading = np.flatnonzero(count)
    if not len(reading):
        return start
    lanes, sizes = who[reading], count[reading]
    addresses = origin.addresses(lanes)
    if (sizes == origin.total).all():
        found, place = origin.locate(lanes, addresses)
        assert found is not None
        good = np.isin(lanes, found)
        if len(found):
            origin.note_read(found, place)
    else:
        good, place = _locate_parts(origin, lanes, addresses, sizes)
    start[reading[good]] = place
    count[reading[~good]] = 0
    return start


def _locate_parts(origin: Access, lanes: Array, addresses: Array, sizes: Array) -> tuple[Array, Array]:
    """Which lanes have all of the bytes that they take, and their byte positions; the shadow is told of the reads."""
    state = origin.state
    memory = state.memory
    origin.check_overflow(lanes)
    good = addresses & np.uint64(origin.total - 1) == 0
    if not good.all():
        at = int(np.flatnonzero(~good)[0])
        state.report(
            "misaligned", origin.i, int(lanes[at]),
            f"the source of a {origin.total}-byte copy is no multiple of {origin.total}", int(addresses[at]),
        )  # fmt: skip
    place = np.zeros(len(lanes), np.int64)
    inside = np.zeros(len(lanes), np.bool_)
    regions = addresses >> np.uint64(REGION_BITS)
    for region in np.unique(regions):
        found = memory.find(int(region) << REGION_BITS)
        if found is None:
            continue
        # Below the allocation the difference wraps around or is negative here: either way it is no position in it.
        offset = (addresses - np.uint64(found.address)).view(np.int64)
        here = (regions == region) & (offset >= 0) & (offset <= found.size - sizes)
        inside |= here
        place[here] = offset[here] + found.place
    outside = np.flatnonzero(good & ~inside)
    if len(outside):
        at = int(outside[0])
        address = int(addresses[at])
        what = f"read of {int(sizes[at])} bytes outside of {memory.describe(address)}"
        state.report("out of bounds", origin.i, int(lanes[at]), what, address)
    good &= inside
    lanes, addresses, sizes, place = lanes[good], addresses[good], sizes[good], place[good]
    if not len(lanes):
        return good, place
    if state.counters is not None:
        untouched = origin.total * len(lanes) - int(sizes.sum())
        state.counters.global_access(origin.site, addresses, lanes, origin.total, untouched)
    if state.global_races is not None:
        # A lane that takes less names its last granule again, which changes nothing.
        last = (place + sizes - 1) >> origin.granule
        state.global_races.read(origin.site, np.minimum(origin.granules(place), last), lanes, False)
    return good, place

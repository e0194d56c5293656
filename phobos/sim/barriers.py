"""Barriers of a CTA and rendezvous of a warp: who waits, who may go on, and what a deadlock looks like.

Named barriers follow the ISA's `barrier`: sixteen per CTA, all threads or a given number of them, arriving with or
without waiting. Threads that have exited are not waited for. An aligned barrier wants whole warps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .groups import Group, Join
from .syntax import Instruction

if TYPE_CHECKING:
    from .machine import Bound, Machine

Array = NDArray[Any]


@dataclass(slots=True)
class BarrierOp:
    """A barrier instruction: its number and count, and what it does when all are there."""

    id: Array
    count: Array | None
    waits: bool
    aligned: bool
    finish: Any = None  # called with the arrived lanes of one CTA, for barrier.red

    @property
    def is_plain(self) -> bool:
        """All threads of the CTA wait at a barrier whose number is written in the instruction."""
        return self.waits and self.count is None and self.id.ndim == 0 and int(self.id) < 16


@dataclass(slots=True)
class WarpOp:
    """An instruction that the lanes of a member mask execute together."""

    step: Any
    members: Array | None  # None: the lanes that happen to be there
    orders: bool = True  # memory is ordered between the members


@dataclass(slots=True)
class Arrival:
    """Lanes that have come to a barrier."""

    lanes: Array
    waits: bool
    next: int
    join: Join | None
    last: Instruction


@dataclass(slots=True)
class Barrier:
    """One barrier of one CTA, with the arrivals of its present round."""

    count: int = 0  # 0: all threads
    arrived: int = 0
    arrivals: list[Arrival] = field(default_factory=list)
    op: BarrierOp | None = None


class Barriers:
    """The barriers and rendezvous of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.state = machine.state
        self.begin()

    def begin(self) -> None:
        self.barriers: dict[tuple[int, int], Barrier] = {}
        self.parked: list[tuple[Group, Bound]] = []
        state = self.state
        self.real = (state.index < state.threads).reshape(state.slots, -1).sum(axis=1)

    # Barriers of a CTA.

    def arrive(self, group: Group, segment: Bound) -> bool:
        """A group executes a barrier instruction; True when it goes on at once."""
        op: BarrierOp = segment.control
        state = self.state
        if group.mask is None and op.is_plain and not self.barriers:
            if op.finish is not None:
                for slot in range(state.slots):
                    op.finish(np.arange(slot * state.width, (slot + 1) * state.width))
            self._ordered(None)
            group.seg = segment.next
            return True
        lanes = group.members(state.lanes)
        if segment.last.guard is not None:
            # A guarded barrier: the lanes whose guard is false go past it.
            guard = state.registers.row(segment.last.guard)[lanes] != segment.last.negated
            if not guard.all():
                self._push(lanes[~guard], segment.next, group.join)
                lanes = lanes[guard]
                if not len(lanes):
                    return False
        self._aligned(op, lanes, segment)
        ids = np.broadcast_to(op.id, state.lanes)[lanes]
        counts = np.zeros(len(lanes), np.int64) if op.count is None else np.broadcast_to(op.count, state.lanes)[lanes]
        touched: list[tuple[int, int]] = []
        keys = (state.slot[lanes].astype(np.int64) << 32) | (ids.astype(np.int64) << 16) | counts
        for key in np.unique(keys):
            mine = lanes[keys == key]
            slot, number, count = int(key) >> 32, (int(key) >> 16) & 0xFFFF, int(key) & 0xFFFF
            self._join(slot, number, count, mine, op, group, segment)
            touched.append((slot, number))
        if not op.waits:
            self._push(lanes, segment.next, group.join)
        self._settle(touched)
        return False

    def _aligned(self, op: BarrierOp, lanes: Array, segment: Bound) -> None:
        state = self.state
        if not (op.aligned and state.checks.barriers):
            return
        warps = np.zeros(state.lanes, np.bool_)
        warps.reshape(-1, 32)[np.unique(lanes >> 5)] = True
        warps[lanes] = False
        missing = np.flatnonzero(warps & ~state.exited)
        if len(missing):
            state.report(
                "barrier", segment.last, int(lanes[0]),
                "part of a warp reaches an aligned barrier: "
                f"thread {state.thread_of(int(state.index[missing[0]]))} is not there",
            )  # fmt: skip

    def _join(
        self, slot: int, number: int, count: int, lanes: Array, op: BarrierOp, group: Group, segment: Bound
    ) -> None:
        state = self.state
        if number > 15:
            state.fail("barrier", segment.last, int(lanes[0]), f"there is no barrier {number}; a CTA has 0 to 15")
        if count % 32 or count > state.width:
            state.fail("barrier", segment.last, int(lanes[0]), f"a barrier for {count} threads: not a number of warps")
        barrier = self.barriers.setdefault((slot, number), Barrier())
        if not barrier.arrivals:
            barrier.count = count
        elif barrier.count != count:
            state.fail(
                "barrier", segment.last, int(lanes[0]),
                f"barrier {number} for {count or 'all'} threads is in use for {barrier.count or 'all'}",
            )  # fmt: skip
        # A thread count counts whole warps: lanes that are not there, or have exited, stand for threads too.
        barrier.arrived += len(np.unique(lanes >> 5)) * 32 if count and op.aligned else len(lanes)
        barrier.arrivals.append(Arrival(lanes, op.waits, segment.next, group.join, segment.last))
        if op.waits:
            barrier.op = op

    def exited(self, leaving: Array) -> None:
        """Threads have exited: barriers may be complete without them."""
        if self.barriers:
            slots = set(self.state.slot[leaving].tolist())
            self._settle([key for key in self.barriers if key[0] in slots])
        if self.parked:
            parked, self.parked = self.parked, []
            for group, segment in parked:
                if self.rendezvous(group, segment):
                    self.machine.ready.append(group)

    def _settle(self, keys: list[tuple[int, int]]) -> None:
        """Let go those that wait at complete barriers."""
        state = self.state
        complete: list[tuple[int, int]] = []
        for key in keys:
            barrier = self.barriers.get(key)
            if barrier is None:
                continue
            slot = key[0]
            live = state.width - int(state.exited[slot * state.width : (slot + 1) * state.width].sum())
            if barrier.arrived >= (barrier.count or live) and any(each.waits for each in barrier.arrivals):
                complete.append(key)
                if state.checks.barriers and not barrier.count and live < int(self.real[slot]):
                    first = barrier.arrivals[0]
                    state.report(
                        "barrier", first.last, int(first.lanes[0]),
                        f"part of the CTA reaches this barrier: {int(self.real[slot]) - live} of "
                        f"{int(self.real[slot])} threads have exited before it",
                    )  # fmt: skip
        whole = [key[0] for key in complete if not self.barriers[key].count]
        if whole:
            everyone = len(set(whole)) == state.slots
            self._ordered(None if everyone else whole)
        going: dict[tuple[int, int], tuple[list[Array], Join | None]] = {}
        for key in complete:
            barrier = self.barriers.pop(key)
            everyone_here = np.concatenate([each.lanes for each in barrier.arrivals])
            waiting = np.concatenate([each.lanes for each in barrier.arrivals if each.waits])
            if barrier.count:
                state.clocks.meet(key[0], everyone_here, waiting)
            if barrier.op is not None and barrier.op.finish is not None:
                barrier.op.finish(everyone_here)
            for each in barrier.arrivals:
                if each.waits:
                    going.setdefault((each.next, id(each.join)), ([], each.join))[0].append(each.lanes)
        for (seg, _), (parts, join) in going.items():
            self._push(np.concatenate(parts), seg, join)

    def _push(self, lanes: Array, seg: int, join: Join | None) -> None:
        mask = np.zeros(self.state.lanes, np.bool_)
        mask[lanes] = True
        self.machine.push(mask, seg, join)

    def _ordered(self, slots: list[int] | None) -> None:
        state = self.state
        state.clocks.barrier(slots)
        self.machine.progress += 1
        if slots is None:
            for races in (state.shared_races, state.global_races):
                if races is not None:
                    races.interval()

    # Rendezvous of a warp.

    def rendezvous(self, group: Group, segment: Bound) -> bool:
        """A group executes an instruction with a member mask; True when it goes on at once."""
        op: WarpOp = segment.control
        state = self.state
        if op.members is None or (group.mask is None and op.members.ndim == 0 and int(op.members) == 0xFFFFFFFF):
            self._together(op, group, None)
            group.seg = segment.next
            return True
        mask = np.ones(state.lanes, np.bool_) if group.mask is None else group.mask.copy()
        parts = [group]
        for other, there in list(self.parked):
            if there.last is segment.last or (_is_sync(there.last) and _is_sync(segment.last)):
                shared_warp = (mask.reshape(-1, 32).any(axis=1) & _warps(other.mask)).any()
                if shared_warp:
                    parts.append(other)
                    self.parked.remove((other, there))
                    assert other.mask is not None
                    mask |= other.mask
        members = np.broadcast_to(op.members, state.lanes)
        wanted = (members >> (state.index & 31).astype(np.uint32)) & 1
        needed = np.zeros(state.lanes, np.bool_)
        alone = mask & (wanted == 0)
        if alone.any():
            lane = int(np.flatnonzero(alone)[0])
            state.fail("warp", segment.last, lane, "a thread executes this instruction outside its own member mask")
        rows = mask.reshape(-1, 32)
        for warp in np.flatnonzero(rows.any(axis=1)):
            first = warp * 32 + int(np.flatnonzero(rows[warp])[0])
            bits = (int(members[first]) >> np.arange(32)) & 1
            needed[warp * 32 : warp * 32 + 32] = bits.astype(np.bool_)
        needed &= ~state.exited
        complete = ((~needed) | mask).reshape(-1, 32).all(axis=1).repeat(32) & mask
        if complete.any():
            if (complete == mask).all() and len(parts) == 1:
                self._together(op, group, group.mask)
                group.seg = segment.next
                return True
            self._together(op, group, complete)
        for part in parts:
            done = complete if part.mask is None else part.mask & complete
            rest = ~complete if part.mask is None else part.mask & ~complete
            if done.any():
                self.machine.push(done, segment.next, part.join)
            if rest.any():
                self.parked.append((Group(rest, part.seg, part.join, state.lanes), segment))
        return False

    def _together(self, op: WarpOp, group: Group, mask: Array | None) -> None:
        if mask is None and group.mask is not None:
            mask = group.mask
        if op.step is not None:
            if mask is None:
                op.step.full()
            else:
                op.step.masked(mask)
        if op.orders and op.members is not None:
            self._order_warps(mask)

    def _order_warps(self, mask: Array | None) -> None:
        state = self.state
        if mask is None:
            state.clocks.warp_sync(None)
            return
        lanes = np.flatnonzero(mask)
        rows: Array = (mask | state.exited).reshape(-1, 32)
        whole: Array = np.asarray(rows.all(axis=1))[lanes >> 5]
        if whole.all():
            state.clocks.warp_sync(lanes)
            return
        for warp in np.unique(lanes >> 5):
            members = lanes[lanes >> 5 == warp]
            state.clocks.meet(int(state.slot[members[0]]), members, members)

    # Deadlock.

    def deadlock(self, spinning: list[Group] | None = None) -> None:
        """Nobody can go on: say who waits where."""
        state = self.state
        texts: list[str] = []
        first: tuple[Instruction, int] | None = None
        for (slot, number), barrier in sorted(self.barriers.items()):
            for each in barrier.arrivals:
                if each.waits:
                    first = first or (each.last, int(each.lanes[0]))
                    live = state.width - int(state.exited[slot * state.width : (slot + 1) * state.width].sum())
                    texts.append(
                        f"block {state.block_of(state.first_cta + slot)}: {_threads(state.index[each.lanes])} wait at "
                        f"barrier {number}, {self._place(each.last)}: {barrier.arrived} of {barrier.count or live} came"
                    )
        for group, segment in self.parked:
            lanes = group.members(state.lanes)
            first = first or (segment.last, int(lanes[0]))
            texts.append(f"{self._who(lanes)} wait for their warp at {self._place(segment.last)}")
        for group in spinning or []:
            last = self.machine.segments[group.seg].last
            lanes = group.members(state.lanes)
            first = (last, int(lanes[0]))
            texts.append(f"{self._who(lanes)} wait in a loop at {self._place(last)} for a value that nobody writes")
        assert first is not None, "threads are neither running nor waiting"
        state.fail("deadlock", first[0], first[1], "a wait that never ends", tuple(texts[:16]))

    def _who(self, lanes: Array) -> str:
        state = self.state
        slot = int(state.slot[lanes[0]])
        return f"block {state.block_of(state.first_cta + slot)}: " + _threads(
            state.index[lanes[state.slot[lanes] == slot]]
        )

    def _place(self, i: Instruction) -> str:
        return f"{self.state.program.source(i) or 'PTX'} ({i.name}, PTX line {i.line})"


def _is_sync(i: Instruction) -> bool:
    return i.opcode in ("bar", "barrier")


def _warps(mask: Array | None) -> Array:
    assert mask is not None
    return np.asarray(mask.reshape(-1, 32).any(axis=1))


def _threads(indices: Array) -> str:
    indices = np.sort(indices)
    if len(indices) == 1:
        return f"thread {indices[0]}"
    if indices[-1] - indices[0] == len(indices) - 1:
        return f"threads {indices[0]} to {indices[-1]}"
    return f"{len(indices)} threads ({indices[0]}, {indices[1]}, ...)"

"""The machine: binds a program to a state and runs waves of CTAs, segment by segment.

Lanes at the same place run as one group. A group runs until it parts, blocks, ends, or has had its turn; groups take
turns, so that a loop that waits for another CTA lets that CTA run. A loop that comes back to the same registers while
nobody has written memory waits in vain, which is how a deadlock by spinning is told from a long computation.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import instructions
from .barriers import Barriers
from .binding import bind
from .groups import Group, Join
from .state import State
from .syntax import Instruction

Array = NDArray[Any]
TURN = 4096  # segments a group runs before another one gets its turn
WATCHED = 128  # segments of a turn that are watched for coming back to the same registers

instructions.load()


@dataclass(slots=True)
class Bound:
    """A segment bound to the rows of a machine."""

    full: list[Any]
    masked: list[Any]
    ends: str
    last: Instruction
    control: Any
    next: int
    targets: tuple[int, ...]
    reconverges: int
    guard: Array | None
    negated: bool


class Machine:
    """Runs a program on a state."""

    def __init__(self, state: State, batching: bool = True) -> None:
        self.state = state
        program = state.program
        self.exit = len(program.segments)
        self.segments: list[Bound] = []
        bound = bind(state, batching)
        body = program.entry.body
        for segment in program.segments:
            steps, control = bound[segment.index]
            last = body[segment.end - 1]
            guard = None
            if last.guard is not None and segment.ends in ("branch", "exit", "warp"):
                guard = state.registers.row(last.guard)
            self.segments.append(
                Bound(
                    [step.full for step in steps], [step.masked for step in steps], segment.ends, last, control,
                    segment.next, segment.targets, segment.reconverges, guard, last.negated,
                )
            )  # fmt: skip
        state.make_races()
        self.warps_run = [0] * (self.exit + 1)
        self.masked_run = [0] * (self.exit + 1)
        self.ready: deque[Group] = deque()
        self.joins: list[Join] = []
        self.progress = 0
        self.barriers = Barriers(self)

    def run(self, first_cta: int) -> None:
        """Run one wave from its first instruction until all its threads have exited."""
        state = self.state
        state.begin_wave(first_cta)
        self.barriers.begin()
        self.joins.clear()
        self.ready.clear()
        if not self.segments:
            return
        self.push(~state.exited, 0, None)
        with np.errstate(all="ignore"):
            while True:
                if self.ready:
                    self._turn(self.ready.popleft())
                elif not self._release_joins():
                    if not state.exited.all():
                        self.barriers.deadlock()
                    return

    def push(self, mask: Array | None, seg: int, join: Join | None) -> None:
        """Make lanes ready to run."""
        group = Group(mask, seg, join, self.state.lanes)
        if group.lanes:
            self.progress += 1
            self.ready.append(group)

    def _turn(self, group: Group) -> None:
        state, segments = self.state, self.segments
        marks = (self.progress, state.stores)
        warps_run, masked_run = self.warps_run, self.masked_run
        for count in range(TURN):
            join = group.join
            if join is not None and group.seg == join.at:
                merged = self._arrive(group, join)
                if merged is None:
                    return
                group = merged
                continue
            if group.seg == self.exit:
                self._exit(group, None)
                return
            if group.seen is not None and count < WATCHED and self._spins(group):
                return
            segment = segments[group.seg]
            warps_run[group.seg] += group.warps
            mask = group.mask
            if mask is None:
                for full in segment.full:
                    full()
            else:
                masked_run[group.seg] += group.warps * 32 - group.lanes
                for masked in segment.masked:
                    masked(mask)
            ends = segment.ends
            if ends == "":
                group.seg = segment.next
            elif ends == "branch":
                if not self._branch(group, segment):
                    return
            elif ends == "exit":
                if segment.last.opcode == "trap":
                    self._trap(group, segment)
                remaining = self._exit(group, segment)
                if remaining is None:
                    return
                group = remaining
            elif ends == "barrier":
                if not self.barriers.arrive(group, segment):
                    return
            elif ends == "warp":
                if segment.guard is not None:
                    taking = self._guarded(group, segment)
                    if taking is None:
                        return
                    group = taking
                if not self.barriers.rendezvous(group, segment):
                    return
            else:
                group.seg = segment.next
                if self.ready:
                    break
        # A turn without any effect is suspicious: watch for a loop that waits in vain.
        still = marks == (self.progress, state.stores)
        group.seen = (group.seen or set()) if still else None
        group.stalled = False
        self.ready.append(group)

    def _guarded(self, group: Group, segment: Bound) -> Group | None:
        """The lanes that a guard lets execute an instruction; the others go past it."""
        assert segment.guard is not None
        takes = ~segment.guard if segment.negated else segment.guard
        here = takes.copy() if group.mask is None else group.mask & takes
        count = int(np.count_nonzero(here))
        if count == group.lanes:
            return group
        self.push(~here if group.mask is None else group.mask & ~here, segment.next, group.join)
        return Group(here, group.seg, group.join, self.state.lanes) if count else None

    def _branch(self, group: Group, segment: Bound) -> bool:
        """Steer a group; False when it was taken apart."""
        if segment.last.opcode == "brx":
            return self._branch_indexed(group, segment)
        guard, target = segment.guard, segment.targets[0]
        if guard is None:
            group.seg = target
            return True
        if group.mask is None:
            taken = ~guard if segment.negated else guard
        else:
            taken = group.mask & ~guard if segment.negated else group.mask & guard
        count = int(np.count_nonzero(taken))
        if count == group.lanes:
            group.seg = target
            return True
        if count == 0:
            group.seg = segment.next
            return True
        rest = ~taken if group.mask is None else group.mask & ~taken
        self._part(group, segment, [(taken.copy(), target), (rest, segment.next)])
        return False

    def _branch_indexed(self, group: Group, segment: Bound) -> bool:
        index = segment.control
        lanes = group.members(self.state.lanes)
        values = np.broadcast_to(index, self.state.lanes)[lanes]
        parts = []
        for value in np.unique(values):
            if value >= len(segment.targets):
                self.state.fail("branch", segment.last, int(lanes[0]), f"index {value} is past the branch's targets")
            mask = np.zeros(self.state.lanes, np.bool_)
            mask[lanes[values == value]] = True
            parts.append((mask, segment.targets[int(value)]))
        if len(parts) == 1:
            group.seg = parts[0][1]
            return True
        self._part(group, segment, parts)
        return False

    def _part(self, group: Group, segment: Bound, parts: list[tuple[Array, int]]) -> None:
        join = group.join
        at = segment.reconverges
        # A loop that lanes leave one by one meets at the same place each time: one join serves all of them.
        if at != self.exit and (join is None or join.at != at):
            join = Join(at, join, group.lanes, self.state.lanes)
            self.joins.append(join)
        for mask, seg in reversed(parts):
            self.ready.appendleft(Group(mask, seg, join, self.state.lanes))

    def _arrive(self, group: Group, join: Join) -> Group | None:
        """A group has come to its join; gives the group that goes on, if all lanes are there."""
        join.waiting |= True if group.mask is None else group.mask
        join.waiting_count += group.lanes
        join.pending -= group.lanes
        return self._complete(join) if join.pending == 0 else None

    def _complete(self, join: Join) -> Group | None:
        if join in self.joins:
            self.joins.remove(join)
        if not join.waiting_count:
            return None
        return Group(join.waiting, join.at, join.parent, self.state.lanes)

    def _release_joins(self) -> bool:
        """Let waiting lanes go on without the others; False when there are none."""
        released = False
        for join in list(self.joins):
            if join.waiting_count:
                self.push(join.waiting.copy(), join.at, join.parent)
                join.waiting[:] = False
                join.waiting_count = 0
                released = True
        return released

    def _exit(self, group: Group, segment: Bound | None) -> Group | None:
        """Lanes end; gives the group of those that do not, when the exit is guarded."""
        state = self.state
        leaving = np.ones(state.lanes, np.bool_) if group.mask is None else group.mask
        stay = None
        if segment is not None and segment.guard is not None:
            taken = leaving & (~segment.guard if segment.negated else segment.guard)
            if taken.sum() < group.lanes:
                stay = Group(leaving & ~taken, segment.next, group.join, state.lanes)
            leaving = taken
        count = int(np.count_nonzero(leaving))
        state.exited |= leaving
        self.progress += 1
        join = group.join
        while join is not None:
            join.pending -= count
            parent = join.parent
            if join.pending == 0:
                resumed = self._complete(join)
                if resumed is not None:
                    self.ready.append(resumed)
            join = parent
        if count:
            self.barriers.exited(leaving)
        return stay

    def _trap(self, group: Group, segment: Bound) -> None:
        lanes = group.members(self.state.lanes)
        if segment.guard is not None:
            lanes = lanes[~segment.guard[lanes] if segment.negated else segment.guard[lanes]]
        if len(lanes):
            self.state.fail("trap", segment.last, int(lanes[0]), "the kernel stopped itself with a trap")

    def _spins(self, group: Group) -> bool:
        """Whether a group has been here before with the same registers; then it is put aside."""
        seen = group.seen
        assert seen is not None
        state = self.state
        marks = hash((self.progress, state.stores))
        lanes = group.mask
        content = hash(
            tuple(
                (slab if lanes is None else slab[:, lanes]).tobytes() for slab in state.registers.slabs.values()
            )
        )  # fmt: skip
        key = (group.seg, hash((content, marks)))
        if key not in seen:
            seen.add(key)
            return False
        group.stalled = True
        self.ready.append(group)
        if all(each.stalled for each in self.ready):
            stuck = list(self.ready)
            self.ready.clear()
            if self._release_joins():
                for each in stuck:
                    each.stalled = False
                self.ready.extend(stuck)
            else:
                self.barriers.deadlock(stuck)
        return True

    def tally(self) -> None:
        """Add what ran to the counters."""
        counters = self.state.counters
        if counters is None:
            return
        body = self.state.program.entry.body
        for segment in self.state.program.segments:
            ran = self.warps_run[segment.index]
            if ran:
                for i in body[segment.start : segment.end]:
                    counters.instructions[i.name] = counters.instructions.get(i.name, 0) + ran
            counters.masked_lanes += self.masked_run[segment.index] * (segment.end - segment.start)

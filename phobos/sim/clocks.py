"""Happens-before between threads: which earlier access is ordered before what a lane does now.

Every lane has a clock. A barrier of a whole CTA starts a new *interval*: all that came before it is ordered before all
that follows, so most questions are one comparison with the interval's first clock. Inside an interval there are three
levels: nothing has synchronised; only whole warps have (the same warp, and an older clock, is ordered); anything else
(named barriers, parts of warps, acquire and release inside a CTA) keeps a vector clock per lane. Between CTAs,
acquire and release carry what the releasing thread knows: whole intervals of CTAs, and its own accesses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# A tag is an access in 63 bits: in flight (1), clock (21), thread of the grid (27), site (14).
SITE_BITS = 14
THREAD_BITS = 27
CLOCK_SHIFT = SITE_BITS + THREAD_BITS
SITE_MASK = (1 << SITE_BITS) - 1
THREAD_MASK = (1 << THREAD_BITS) - 1
CLOCK_MASK = (1 << 21) - 1
IN_FLIGHT = 1 << 62


def thread_of(tags: Any) -> Any:
    """The thread of the grid in a tag."""
    return (tags >> SITE_BITS) & THREAD_MASK


def clock_of(tags: Any) -> Any:
    """The clock in a tag."""
    return (tags >> CLOCK_SHIFT) & CLOCK_MASK


def site_of(tags: Any) -> Any:
    """The site in a tag."""
    return tags & SITE_MASK


class Knowledge:
    """What is ordered before a point in a thread: all accesses of a CTA up to a clock, and of single threads."""

    def __init__(self) -> None:
        self.ctas: dict[int, int] = {}
        self.threads: dict[int, int] = {}

    def join(self, other: Knowledge) -> None:
        for mine, theirs in ((self.ctas, other.ctas), (self.threads, other.threads)):
            for key, clock in theirs.items():
                if mine.get(key, -1) < clock:
                    mine[key] = clock

    def copy(self) -> Knowledge:
        fresh = Knowledge()
        fresh.ctas, fresh.threads = dict(self.ctas), dict(self.threads)
        return fresh


class Clocks:
    """The clocks of the lanes of a wave of `slots` CTAs, `width` lanes each, of which the first `threads` are real."""

    def __init__(self, slots: int, width: int, threads: int) -> None:
        self.slots, self.width, self.threads = slots, width, threads
        lanes = slots * width
        self.slot = np.repeat(np.arange(slots), width)
        self.clock = np.ones(lanes, np.int64)
        self.start = np.ones(lanes, np.int64)
        self.thread = np.zeros(lanes, np.int64)
        self.tag = np.zeros(lanes, np.int64)
        self.start_tag = np.zeros(lanes, np.int64)
        self.first_cta = 0
        self.begin(0)

    def begin(self, first_cta: int) -> None:
        """A new wave, whose first CTA has this linear index."""
        self.first_cta = first_cta
        assert (first_cta + self.slots) * self.threads <= THREAD_MASK, "more threads than a tag can tell apart"
        within = np.arange(self.slots * self.width) % self.width
        self.thread[:] = (first_cta + self.slot) * self.threads + np.minimum(within, self.threads - 1)
        self.clock[:] = 1
        self.start[:] = 1
        self.top = 1
        self.level = [0] * self.slots
        self.vectors: dict[int, Array] = {}
        self.known: dict[int, Knowledge] = {}  # by lane
        self.known_cta: dict[int, Knowledge] = {}  # by slot
        self._retag()

    def _retag(self) -> None:
        assert self.top <= CLOCK_MASK, "more synchronisations in one wave than a tag can count"
        self.tag[:] = (self.clock << CLOCK_SHIFT) | (self.thread << SITE_BITS)
        self.start_tag[:] = self.start << CLOCK_SHIFT
        self.least_start_tag = int(self.start_tag.min())

    def barrier(self, slots: list[int] | None) -> None:
        """All live threads of these CTAs (or of all) meet."""
        self.top += 1
        if slots is None:
            self.clock[:] = self.start[:] = self.top
            slots = list(range(self.slots))
        else:
            for slot in slots:
                lanes = slice(slot * self.width, (slot + 1) * self.width)
                self.clock[lanes] = self.start[lanes] = self.top
        for slot in slots:
            self.level[slot] = 0
        if self.vectors:
            for slot in slots:
                self.vectors.pop(slot, None)
        if self.known:
            for lane in [lane for lane in self.known if int(self.slot[lane]) in slots]:
                self.known_cta.setdefault(int(self.slot[lane]), Knowledge()).join(self.known.pop(lane))
        self._retag()

    def warp_sync(self, lanes: Array | None) -> None:
        """Every live lane of the warps of these lanes (or of all) meets its warp."""
        if lanes is None:
            slots = range(self.slots)
            touched = np.arange(len(self.clock))
        else:
            warps = np.unique(lanes >> 5)
            touched = (warps[:, None] * 32 + np.arange(32)).ravel()
            slots = sorted({int(slot) for slot in self.slot[touched]})  # type: ignore[assignment]
        for slot in slots:
            if self.level[slot] == 2:
                mine = touched[self.slot[touched] == slot]
                for warp in np.unique(mine >> 5):
                    members = mine[mine >> 5 == warp]
                    self.meet(slot, members, members)
            else:
                self.level[slot] = 1
        plain = touched[[self.level[int(slot)] != 2 for slot in self.slot[touched]]] if self.vectors else touched
        self.clock[plain] += 1
        self.top = max(self.top, int(self.clock.max()))
        self._retag()

    def meet(self, slot: int, releasing: Array, acquiring: Array) -> None:
        """Part of a CTA synchronises: what the releasing lanes did is ordered before what the acquiring ones do."""
        vectors = self._vectors(slot)
        base = slot * self.width
        rows = releasing - base
        vectors[rows, rows] = self.clock[releasing]
        joined = vectors[rows].max(axis=0)
        vectors[acquiring - base] = np.maximum(vectors[acquiring - base], joined)
        self.clock[releasing] += 1
        self.top = max(self.top, int(self.clock[releasing].max()))
        self._retag()

    def _vectors(self, slot: int) -> Array:
        if slot not in self.vectors:
            vectors = np.zeros((self.width, self.width), np.int64)
            if self.level[slot] == 1:
                lanes = np.arange(self.width)
                clock = self.clock[slot * self.width : (slot + 1) * self.width]
                same = (lanes[:, None] >> 5) == (lanes[None, :] >> 5)
                vectors[same] = np.broadcast_to((clock - 1)[None, :], same.shape)[same]
            self.vectors[slot] = vectors
            self.level[slot] = 2
        return self.vectors[slot]

    def ordered(self, tags: Array, lanes: Array) -> Array:
        """For accesses by their tags and lanes now, element by element: is the access ordered before?"""
        thread: Any = thread_of(tags)
        clock: Any = clock_of(tags)
        mine = self.thread[lanes]
        done = tags & IN_FLIGHT == 0
        result: Array = (tags == 0) | ((thread == mine) & done)
        cta = thread // self.threads
        slot = self.slot[lanes]
        same_cta = cta == self.first_cta + slot
        result |= same_cta & done & (clock < self.start[lanes])
        rest = ~result & done
        if not rest.any():
            return result
        level = np.array(self.level)[slot]
        index = thread % self.threads
        mine_index = lanes % self.width
        one = rest & same_cta & (level == 1)
        result |= one & (index >> 5 == mine_index >> 5) & (clock < self.clock[lanes])
        for each in np.unique(slot[rest & same_cta & (level == 2)]):
            here = np.flatnonzero(rest & same_cta & (slot == each))
            result[here] |= self.vectors[int(each)][mine_index[here], index[here]] >= clock[here]
        if self.known or self.known_cta:
            for at in np.flatnonzero(~result & done):
                result[at] = self._knows(int(lanes[at]), int(cta[at]), int(thread[at]), int(clock[at]))
        return result

    def _knows(self, lane: int, cta: int, thread: int, clock: int) -> bool:
        for knowledge in (self.known.get(lane), self.known_cta.get(int(self.slot[lane]))):
            if knowledge is not None and (
                knowledge.ctas.get(cta, -1) >= clock or knowledge.threads.get(thread, -1) >= clock
            ):
                return True
        return False

    def released(self, lane: int) -> Knowledge:
        """What a lane publishes with a release: finished intervals of its CTA, its own accesses, what it knows."""
        slot = int(self.slot[lane])
        out = Knowledge()
        for knowledge in (self.known.get(lane), self.known_cta.get(slot)):
            if knowledge is not None:
                out.join(knowledge)
        out.ctas[self.first_cta + slot] = int(self.start[lane]) - 1
        out.threads[int(self.thread[lane])] = int(self.clock[lane])
        if self.level[slot] == 1:
            first = lane & ~31
            for other in range(first, first + 32):
                if other != lane:
                    out.threads[int(self.thread[other])] = int(self.clock[lane]) - 1
        elif self.level[slot] == 2:
            base = slot * self.width
            for index in np.flatnonzero(self.vectors[slot][lane - base]):
                out.threads[int(self.thread[base + index])] = int(self.vectors[slot][lane - base, index])
            out.threads[int(self.thread[lane])] = int(self.clock[lane])
        self.clock[lane] += 1
        self.top = max(self.top, int(self.clock[lane]))
        if self.level[slot] == 1:
            self._vectors(slot)  # a lane of a warp is now ahead of the others
        self._retag()
        return out

    def acquire(self, lane: int, knowledge: Knowledge) -> None:
        """A lane has seen what was released with this knowledge."""
        self.known.setdefault(lane, Knowledge()).join(knowledge)

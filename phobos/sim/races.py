"""Data races and reads before any write, found by happens-before and not by the order in which lanes happened to run.

For every granule (the narrowest access of the kernel to that space) the tag of the last write is kept; reads are logged
until a write wants to know about them. Two accesses to a granule race when one of them writes, they are of different
threads, `Clocks` does not order them, and not both are strong (atomic, volatile, relaxed, acquire or release). Two
plain writes of the same value race too. An asynchronous copy's write stays in flight until its thread waits for it.

What may be missed: reads of the same CTA, and of the same interval, that lie more than `LOG_LIMIT` granules back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .clocks import IN_FLIGHT, Clocks, site_of, thread_of

Array = NDArray[Any]
LOG_LIMIT = 1 << 22  # granules; beyond it the oldest reads are forgotten

# (site now, lane now, granule, tag of the earlier access, "read" or "write" for the earlier and the later one)
OnRace = Callable[[int, int, int, int, str, str], None]


class Races:
    """The shadow of one space. `between_ctas` keeps readers of other CTAs too, which only global memory has."""

    def __init__(self, granules: int, clocks: Clocks, strong: list[bool], on_race: OnRace, between_ctas: bool) -> None:
        self.clocks = clocks
        self.strong = strong
        self.on_race = on_race
        self.between_ctas = between_ctas
        self.writes = np.zeros(granules, np.int64)
        self.reads = np.zeros(granules, np.int64)
        self.several = np.zeros(granules, np.bool_)
        if between_ctas:
            # A reader, and one of another CTA than the first: a writer differs from one of them if it can.
            self.reader = np.zeros(granules, np.int64)
            self.other_reader = np.zeros(granules, np.int64)
        self.log: list[tuple[int, Array, Array, Array]] = []  # site, granules, tags, lanes
        self.filed = 0  # log entries already in `reads`
        self.logged = 0  # granules in the log
        self.all_lanes = np.arange(len(clocks.tag))

    def begin(self) -> None:
        """A new wave: shared memory is fresh; global memory keeps what other CTAs did."""
        self.log.clear()
        self.filed = self.logged = 0
        if not self.between_ctas:
            self.writes[...] = 0
            self.reads[...] = 0

    def interval(self) -> None:
        """All CTAs have passed a barrier: earlier reads are ordered before everything to come."""
        self.log.clear()
        self.filed = self.logged = 0

    def read(self, site: int, granules: Array, lanes: Array | None, want_written: bool) -> Array | None:
        """Note a read of `granules` [k, lanes]. With `want_written`, gives which lanes read bytes never written."""
        clocks = self.clocks
        before = self.writes.take(granules)
        if self.between_ctas:
            if before.any():
                self._check(before, site, granules, lanes, "write", "read")
            self._note_reader(site, granules, lanes)
        elif int(before.max()) >= clocks.least_start_tag:
            self._check(before, site, granules, lanes, "write", "read")
        tags = clocks.tag if lanes is None else clocks.tag[lanes]
        self.log.append((site, granules, tags | site, self.all_lanes if lanes is None else lanes))
        self.logged += granules.size
        if self.logged > LOG_LIMIT:
            half = len(self.log) // 2
            self.logged -= sum(entry[1].size for entry in self.log[:half])
            del self.log[:half]
            self.filed = max(0, self.filed - half)
        if want_written and int(before.min()) == 0:
            missing: Array = (before == 0).any(axis=0)
            return missing
        return None

    def write(self, site: int, granules: Array, lanes: Array | None, in_flight: bool = False) -> None:
        """Note a write of `granules` [k, lanes]."""
        clocks = self.clocks
        before = self.writes.take(granules)
        if self.between_ctas:
            if before.any():
                self._check(before, site, granules, lanes, "write", "write")
            for readers in (self.reader, self.other_reader):
                seen = readers.take(granules)
                if seen.any():
                    mine = clocks.thread if lanes is None else clocks.thread[lanes]
                    foreign = thread_of(seen) // clocks.threads != mine // clocks.threads
                    self._check(np.where(foreign, seen, 0), site, granules, lanes, "read", "write")
        elif int(before.max()) >= clocks.least_start_tag:
            self._check(before, site, granules, lanes, "write", "write")
        if self.log:
            self._check_reads(site, granules, lanes)
        tags = (clocks.tag if lanes is None else clocks.tag[lanes]) | site
        if in_flight:
            tags = tags | IN_FLIGHT
        tags = np.broadcast_to(tags, granules.shape)
        self.writes[granules] = tags
        after = self.writes.take(granules)
        if not self.strong[site] and (after != tags).any():
            # Lanes of this very instruction meet in a granule; their tags differ in the thread.
            where = np.argwhere(thread_of(after) != thread_of(tags))
            if len(where):
                k, at = where[0]
                lane = int(at if lanes is None else lanes[at])
                self.on_race(site, lane, int(granules[k, at]), int(after[k, at]), "write", "write")

    def landed(self, site: int, granules: Array, lanes: Array) -> None:
        """An asynchronous copy of these lanes is complete: from now on it is an ordinary write of theirs."""
        mine = self.clocks.thread[lanes]
        current = self.writes.take(granules)
        still = (current & IN_FLIGHT != 0) & (thread_of(current) == mine)
        tags = np.broadcast_to(self.clocks.tag[lanes] | site, granules.shape)
        self.writes[granules[still]] = tags[still]

    def _note_reader(self, site: int, granules: Array, lanes: Array | None) -> None:
        clocks = self.clocks
        tags = np.broadcast_to((clocks.tag if lanes is None else clocks.tag[lanes]) | site, granules.shape)
        first = self.reader.take(granules)
        fresh = first == 0
        if fresh.all():
            self.reader[granules] = tags
            first = self.reader.take(granules)
        elif fresh.any():
            self.reader[granules[fresh]] = tags[fresh]
            first = self.reader.take(granules)
        foreign = thread_of(first) // clocks.threads != thread_of(tags) // clocks.threads
        if foreign.any():
            self.other_reader[granules[foreign]] = tags[foreign]

    def _check(self, tags: Array, site: int, granules: Array, lanes: Array | None, was: str, now: str) -> None:
        """Report the first of these earlier accesses that is not ordered before the lanes' access now."""
        clocks = self.clocks
        who = self.all_lanes if lanes is None else lanes
        start = clocks.start_tag if lanes is None else clocks.start_tag[lanes]
        mine = clocks.thread if lanes is None else clocks.thread[lanes]
        thread = thread_of(tags)
        suspect = (tags >= start) & ((thread != mine) | (tags >= IN_FLIGHT))
        if self.between_ctas:
            suspect |= (tags != 0) & (thread // clocks.threads != mine // clocks.threads)
        if not suspect.any():
            return
        k, at = np.nonzero(suspect)
        found = tags[k, at]
        if self.strong[site]:
            plain = ~np.array(self.strong)[site_of(found)]
            k, at, found = k[plain], at[plain], found[plain]
        bad = np.flatnonzero(~clocks.ordered(found, who[at]))
        if len(bad):
            first = bad[0]
            lane = int(who[at[first]])
            self.on_race(site, lane, int(granules[k[first], at[first]]), int(found[first]), was, now)

    def _file_reads(self) -> None:
        """Bring `reads` and `several` up to date with the log."""
        start = self.clocks.start_tag
        for _site, granules, tags, lanes in self.log[self.filed :]:
            wide = np.broadcast_to(tags, granules.shape)
            old = self.reads.take(granules)
            current = old >= start[lanes]
            other = current & (thread_of(old) != thread_of(wide))
            self.several[granules] = current & (self.several.take(granules) | other)
            self.reads[granules] = wide
            meets = thread_of(self.reads.take(granules)) != thread_of(wide)
            if meets.any():
                self.several[granules[meets]] = True
            if other.any():
                self.several[granules[other]] = True
        self.filed = len(self.log)

    def _check_reads(self, site: int, granules: Array, lanes: Array | None) -> None:
        self._file_reads()
        clocks = self.clocks
        who = self.all_lanes if lanes is None else lanes
        seen = self.reads.take(granules)
        suspect = (seen >= clocks.start_tag[who]) & (
            (thread_of(seen) != clocks.thread[who]) | self.several.take(granules)
        )
        if not suspect.any():
            return
        k, at = np.nonzero(suspect)
        wanted = granules[k, at]
        order = np.argsort(wanted, kind="stable")
        wanted, writers = wanted[order], who[at[order]]
        for read_site, read, tags, _lanes in self.log:
            if self.strong[site] and self.strong[read_site]:
                continue
            place = np.searchsorted(wanted, read)
            place[place == len(wanted)] = 0
            hit = wanted[place] == read
            if not hit.any():
                continue
            found = np.broadcast_to(tags, read.shape)[hit]
            writer = writers[place[hit]]
            bad = np.flatnonzero(~clocks.ordered(found, writer))
            if len(bad):
                first = bad[0]
                granule = int(read[hit][first])
                self.on_race(site, int(writer[first]), granule, int(found[first]), "read", "write")
                return

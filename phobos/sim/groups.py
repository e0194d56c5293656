"""Groups of lanes that run together, and where groups that parted meet again.

A divergent branch makes a `Join` at the branch's immediate post-dominator; the groups wait there for each other. Since
threads are scheduled independently on every target, a join only helps speed: when nothing else can run, its waiting
lanes go on without the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Join:
    """Where `pending` more lanes are to arrive; `waiting` are those that have."""

    __slots__ = ("at", "parent", "pending", "waiting", "waiting_count")

    def __init__(self, at: int, parent: Join | None, pending: int, lanes: int) -> None:
        self.at = at
        self.parent = parent
        self.pending = pending
        self.waiting = np.zeros(lanes, np.bool_)
        self.waiting_count = 0


class Group:
    """Lanes at the start of a segment. `mask` None stands for every lane of the machine."""

    __slots__ = ("join", "lanes", "mask", "seen", "seg", "stalled", "warps")

    def __init__(self, mask: Array | None, seg: int, join: Join | None, total: int) -> None:
        if mask is not None:
            count = int(np.count_nonzero(mask))
            if count == total:
                mask = None
        if mask is None:
            self.lanes, self.warps = total, total >> 5
        else:
            self.lanes = count
            self.warps = int(np.count_nonzero(mask.reshape(-1, 32).any(axis=1)))
        self.mask = mask
        self.seg = seg
        self.join = join
        self.seen: set[tuple[int, int]] | None = None
        self.stalled = False

    def members(self, total: int) -> Array:
        """The lanes as indices."""
        return np.arange(total) if self.mask is None else np.flatnonzero(self.mask)

"""`Blocked`: lanes and warps in a grid over the tile, each holding small vectors, repeated until the tile is covered.

For a [16, 8] tile, vector [1, 2], lanes [8, 4], warps [2, 1], order [1, 0] (each cell: warp.lane, two columns wide):

         0,1   2,3   4,5   6,7
    0    0.0   0.1   0.2   0.3
    1    0.4   0.5   0.6   0.7
    ..
    8    1.0   1.1   1.2   1.3

Along an axis the coordinate is ((repeat * warps + warp) * lanes + lane) * vector + v. `order` names the axes from the
fastest-numbered to the slowest. On a replicated axis (1) every lane and warp holds all coordinates, one register each,
which for extent 1 is coordinate 0; on one that is replicated in its lanes (2) that is so within a warp, and the warps
take turns: the coordinate is repeat * warps + warp.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from .base import RegisterLayout


@dataclass(frozen=True)
class Blocked(RegisterLayout):
    """See the module's drawing. All tuples have one entry per axis; lanes multiply to 32, warps to the CTA's warps."""

    vector: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]
    order: tuple[int, ...]
    replicated: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.shape)
        if not self.replicated:
            object.__setattr__(self, "replicated", (0,) * n)
        assert len(self.vector) == len(self.lanes) == len(self.warps) == len(self.order) == len(self.replicated) == n
        assert sorted(self.order) == list(range(n))
        assert prod(self.lanes) == 32, self.lanes

    def __str__(self) -> str:
        names = ["vector", "lanes", "warps", "order"] + ["replicated"] * any(self.replicated)
        return f"blocked({', '.join(f'{name}={list(getattr(self, name))}' for name in names)})"

    @cached_property
    def repeats(self) -> tuple[int, ...]:
        """How often the grid of threads is repeated along each axis."""
        return tuple(-(-s // span) for s, span in zip(self.shape, self._spans, strict=True))

    @property
    def registers(self) -> int:
        return prod(self.repeats) * prod(self._vector)

    @property
    def one_holder(self) -> bool:
        """Whether no element is held by more than one thread."""
        return not self.shared_axes

    @cached_property
    def shared_axes(self) -> tuple[int, ...]:
        """The axes of which several threads hold the same coordinates."""
        held = zip(self.replicated, self.lanes, self.warps, strict=True)
        return tuple(a for a, (r, ln, w) in enumerate(held) if (r == 1 and ln * w > 1) or (r == 2 and ln > 1))

    @cached_property
    def _vector(self) -> tuple[int, ...]:
        return tuple(1 if rep else v for v, rep in zip(self.vector, self.replicated, strict=True))

    @cached_property
    def _spans(self) -> tuple[int, ...]:
        """How many coordinates the grid of threads covers along each axis."""
        places = zip(self._vector, self.lanes, self.warps, self.replicated, strict=True)
        return tuple(v * (1 if rep else ln) * (1 if rep == 1 else w) for v, ln, w, rep in places)

    @cached_property
    def _offsets(self) -> tuple[tuple[int, ...], ...]:
        out = []
        for repeat in itertools.product(*map(range, self.repeats)):
            for v in itertools.product(*map(range, self._vector)):
                out.append(tuple(r * s + x for r, s, x in zip(repeat, self._spans, v, strict=True)))
        return tuple(out)

    def register_offset(self, register: int) -> tuple[int, ...]:
        return self._offsets[register]

    @cached_property
    def register_at(self) -> dict[tuple[int, ...], int]:
        """The register of each offset: the inverse of `register_offset`."""
        return {o: r for r, o in enumerate(self._offsets)}

    def place(self, lane: Any, warp: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """A thread's lane and warp coordinates, axis by axis (also on replicated axes)."""
        n = len(self.shape)
        lane_at, warp_at = [lane] * n, [warp] * n
        for axis in self.order:
            lane_at[axis], lane = _split(lane, self.lanes[axis], axis == self.order[-1])
            warp_at[axis], warp = _split(warp, self.warps[axis], axis == self.order[-1])
        return tuple(lane_at), tuple(warp_at)

    def thread_base(self, lane: Any, warp: Any) -> tuple[Any, ...]:
        lane_at, warp_at = self.place(lane, warp)
        return tuple(
            0 if rep == 1 or ln * w == 1 else w_at if rep else (w_at * ln + l_at) * v
            for w_at, l_at, ln, w, v, rep in zip(
                warp_at, lane_at, self.lanes, self.warps, self.vector, self.replicated, strict=True
            )
        )

    def collapsed(self, shape: tuple[int, ...]) -> Blocked:
        """The layout of a tile that has extent 1 where this one does not: replicated along those axes."""
        replicated = tuple(
            r or int(s == 1 and own != 1) for r, s, own in zip(self.replicated, shape, self.shape, strict=True)
        )
        return Blocked(shape, self.vector, self.lanes, self.warps, self.order, replicated)

    def transposed(self) -> Blocked:
        """The layout of the tile with its axes in reverse order: each thread holds what it held."""
        last = len(self.shape) - 1
        fields = (self.vector, self.lanes, self.warps)
        vector, lanes, warps = (f[::-1] for f in fields)
        order = tuple(last - a for a in self.order)
        return Blocked(self.shape[::-1], vector, lanes, warps, order, self.replicated[::-1])

    def one_warp(self, axis: int) -> bool:
        """Whether a warp that holds an element holds all others along an axis."""
        return self.replicated[axis] == 1 or (self.warps[axis] == 1 and not self.replicated[axis])

    def lane_stride(self, axis: int) -> int:
        """How far apart the numbers of two lanes are that are neighbours along an axis."""
        return prod(self.lanes[a] for a in self.order[: self.order.index(axis)])

    def parts(self, axis: int) -> int:
        """How many warps hold coordinates of their own along an axis."""
        if self.replicated[axis]:
            return 1 if self.replicated[axis] == 1 else min(self.warps[axis], self.shape[axis])
        return min(self.warps[axis], -(-self.shape[axis] // (self.vector[axis] * self.lanes[axis])))

    def with_parts(self, axis: int, gathered: bool) -> Blocked:
        """The layout of what each warp makes of its coordinates along an axis, one place per warp: where the warps
        have just made it, or gathered, where every thread has all of them."""
        shape = (*self.shape[:axis], self.parts(axis), *self.shape[axis + 1 :])
        replicated = (*self.replicated[:axis], 1 if gathered else 2, *self.replicated[axis + 1 :])
        return Blocked(shape, self.vector, self.lanes, self.warps, self.order, replicated)

    def lane_masks(self, axis: int) -> tuple[int, ...]:
        """What to XOR a lane's number with, step by step, to meet all lanes along an axis."""
        stride = self.lane_stride(axis)
        return tuple(stride << k for k in range(self.lanes[axis].bit_length() - 1))

    def reshaped(self, shape: tuple[int, ...]) -> Blocked:
        """The layout after unit axes were added or dropped: each thread holds what it held.

        Lanes and warps of dropped axes go to unit axes of the new shape; ValueError when there are too few of those.
        """
        keep = [a for a, s in enumerate(self.shape) if s != 1]
        into = [a for a, s in enumerate(shape) if s != 1]
        assert [self.shape[a] for a in keep] == [shape[a] for a in into], (self.shape, shape)
        n = len(shape)
        vector, lanes, warps, replicated = [1] * n, [1] * n, [1] * n, [0] * n
        move = dict(zip(keep, into, strict=True))
        units = [b for b in range(n) if b not in into]
        order: list[int] = []
        for group in self._groups(keep):
            b = move.get(group[0])
            if b is None:
                b = _unit_for(units, order)
                units.remove(b)
            else:
                vector[b] = self.vector[group[0]]
            lanes[b] = prod(self.lanes[a] for a in group)
            warps[b] = prod(self.warps[a] for a in group)
            replicated[b] = self.replicated[group[0]]
            if lanes[b] * warps[b] > 1:
                order.append(b)
        rest = [b for b in reversed(range(n)) if b not in order]
        # Axes of one lane and warp may stand anywhere: equal layouts are to compare equal.
        plain = order == sorted(order, reverse=True)
        order = list(reversed(range(n))) if plain else order + rest
        return Blocked(shape, tuple(vector), tuple(lanes), tuple(warps), tuple(order), tuple(replicated))

    def _groups(self, keep: list[int]) -> list[list[int]]:
        """The axes from the fastest on: those in `keep` alone, the others with their like, idle ones left out."""
        groups: list[list[int]] = []
        for a in self.order:
            if a in keep:
                groups.append([a])
            elif self.lanes[a] * self.warps[a] > 1:
                last = groups[-1][0] if groups else None
                if last is not None and last not in keep and self.replicated[last] == self.replicated[a]:
                    groups[-1].append(a)
                else:
                    groups.append([a])
        return groups


def _unit_for(units: list[int], faster: list[int]) -> int:
    """Of some unit axes the one to take lanes slower than those of `faster`: the slowest that keeps axes in order."""
    if not units:
        raise ValueError("no unit axis is left to carry the spare lanes")
    return next((b for b in units if not faster or b < min(faster)), units[0])


def _split(value: Any, count: int, last: bool) -> tuple[Any, Any]:
    """value % count and value // count, without arithmetic where the result is known."""
    if count == 1:
        return 0, value
    return (value, 0) if last else (value % count, value // count)

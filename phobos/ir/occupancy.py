"""When each shared buffer holds something, point by point: the verifier's own answer, made without asking `pack`.

Takes a kernel body, gives the points of its control flow in order and, for each buffer, the points at which its bytes
must be left alone. A buffer is occupied at a point when

- an op there reads or writes it, or
- it may have been written before and may be read later with no complete write in between, or
- an async copy into it may still be in flight: issued, and no `wait` since that covers its group.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .core import Block, Effect, Op, Value
from .cta_ops import Alloc, Commit, CopyAsync, Wait, Write
from .memory import axes_of
from .tile_ops import If, Store, While, shape_of
from .types import Buffer

Groups = tuple[frozenset[Value], ...]
"""Buffers of the async copies that may be in flight: the open group, then committed ones from the youngest."""


@dataclass(eq=False)
class Point:
    """An op in the control flow, or a join without one."""

    op: Op | None
    before: list[Point] = field(default_factory=list)
    after: list[Point] = field(default_factory=list)
    reads: set[Value] = field(default_factory=set)
    writes: set[Value] = field(default_factory=set)
    clears: set[Value] = field(default_factory=set)
    """What it overwrites completely, or brings into being."""


def occupied(body: Block) -> dict[Value, set[int]]:
    """For each buffer of an `alloc`, the indices of the points at which it is occupied."""
    points = flow(body)
    index = {p: i for i, p in enumerate(points)}
    found: dict[Value, set[int]] = {v: set() for p in points if isinstance(p.op, Alloc) for v in p.op.results()}
    written, live, flying = _written(points), _live(points), _flying(points)
    for p in points:
        held = p.reads | p.writes | (written[p] & live[p]) | frozenset().union(*flying[p])
        for buffer in held & found.keys():
            found[buffer].add(index[p])
    return found


def flow(body: Block) -> list[Point]:
    """The points of a body in program order, linked."""
    points: list[Point] = []
    _flow(body, points, _point(None, points))
    return points


def _point(op: Op | None, points: list[Point], *before: Point) -> Point:
    new = Point(op)
    for p in before:
        _link(p, new)
    if op is not None:
        buffers = {v for v in op.operands() if isinstance(v.type, Buffer)}
        if op.effects & Effect.READ_SHARED:
            new.reads = buffers
        if op.effects & Effect.WRITE_SHARED:
            new.writes = buffers
        if isinstance(op, Write | CopyAsync):
            new.clears = {v for v in buffers if isinstance(v.type, Buffer) and v.type.slots == 1}
        if isinstance(op, Store) and _whole(op):
            new.clears = buffers
        if isinstance(op, Alloc):
            new.clears = {op.out}
    points.append(new)
    return new


def _whole(op: Store) -> bool:
    """Whether a store fills its buffer: a tile of its shape, of which nothing is masked."""
    return shape_of(op.value.type) == axes_of(op.tensor.type) and not any(op.guards)


def _link(a: Point, b: Point) -> None:
    a.after.append(b)
    b.before.append(a)


def _flow(block: Block, points: list[Point], last: Point) -> Point:
    for op in block.ops:
        last = _point(op, points, last)
        regions = op.regions()
        if isinstance(op, If):
            last = _point(None, points, *[_flow(r, points, last) for r in regions])
        elif isinstance(op, While):
            tested = _flow(op.cond, points, last)
            _link(_flow(op.body, points, tested), last)
            last = _point(None, points, tested)
        elif regions:  # a loop: any number of trips, none included
            start = last
            for region in regions:
                last = _flow(region, points, last)
            _link(last, start)
            last = _point(None, points, start)
    return last


def _written(points: list[Point]) -> dict[Point, set[Value]]:
    """Buffers that may hold something when a point is reached."""
    state: dict[Point, set[Value]] = {p: set() for p in points}
    changed = True
    while changed:
        changed = False
        for p in points:
            arriving: set[Value] = set()
            for b in p.before:
                gone = set(b.op.results()) if isinstance(b.op, Alloc) else set()
                arriving |= (state[b] - gone) | b.writes
            if arriving != state[p]:
                state[p], changed = arriving, True
    return state


def _live(points: list[Point]) -> dict[Point, set[Value]]:
    """Buffers that may be read at a point or after it, before they are overwritten."""
    state: dict[Point, set[Value]] = {p: set() for p in points}
    changed = True
    while changed:
        changed = False
        for p in reversed(points):
            leaving = set().union(*(state[a] for a in p.after))
            needed = (leaving - p.clears) | p.reads
            if needed != state[p]:
                state[p], changed = needed, True
    return state


def _flying(points: list[Point]) -> dict[Point, Groups]:
    """Async copies that may be in flight when a point is reached."""
    state: dict[Point, Groups] = {p: (frozenset(),) for p in points}
    most = 2 + max((p.op.pending for p in points if isinstance(p.op, Wait)), default=0)
    changed = True
    while changed:
        changed = False
        for p in points:
            arriving: Groups = state[p]
            for b in p.before:
                arriving = _join(arriving, _flown(b, state[b], most))
            if arriving != state[p]:
                state[p], changed = arriving, True
    return state


def _flown(p: Point, groups: Groups, most: int) -> Groups:
    if isinstance(p.op, CopyAsync):
        return (groups[0] | {p.op.buffer}, *groups[1:])
    if isinstance(p.op, Wait):
        return groups[: 1 + p.op.pending]
    if isinstance(p.op, Commit):
        # Groups older than any wait can tell apart are kept as one.
        moved: Groups = (frozenset(), *groups)
        return moved if len(moved) <= most else (*moved[: most - 1], moved[most - 1].union(*moved[most:]))
    return groups


def _join(a: Groups, b: Groups) -> Groups:
    """The same groups counted from the youngest; a longer history keeps its tail."""
    if len(a) < len(b):
        a, b = b, a
    return (*(x | y for x, y in zip(a, b, strict=False)), *a[len(b) :])

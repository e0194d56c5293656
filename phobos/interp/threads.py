"""What single threads do: control flow that parts them, points and runs of tensors, and the per-thread ops.

The threads of a CTA run in lock step: an op in every active thread, then the next op. Where a condition differs, the
`then` of an `if` runs in some of them and the `else` in the others; a loop runs while any of them wants another trip.
`Machine.active` says which, and a value of a thread that is not active is never looked at. Points and runs happen in
thread order.

Lock step is one order of many. Between two barriers the language orders a thread's accesses against its own only: what
two threads leave that race on memory is undefined, and nobody may compare it with what they leave here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..ir.core import Value
from ..ir.thread_ops import Atomic, Barrier, DotRun, Element, LoadRun, StoreRun, SumRun, ThreadIndex
from ..ir.tile_ops import For, If, LoadPoint, Require, StorePoint, While, element, shape_of
from ..ir.types import Tile, Vec
from . import elementwise
from .machine import Machine, Mask, means
from .memory import InterpError, Ints, ThreadAccess, TrapError, check_extents
from .numbers import Array, cast, held

THREAD_OPS = (Atomic, Barrier, DotRun, Element, LoadPoint, LoadRun, StorePoint, StoreRun, SumRun, ThreadIndex)
LANES = 32
Control = For | If | While
Points = LoadPoint | StorePoint | LoadRun | StoreRun | Atomic


def _spread(m: Machine, value: Value, now: Array) -> Array:
    """What a value is in each thread."""
    return np.broadcast_to(now, (m.thread_count, *shape_of(value.type)))


def _merge(m: Machine, where: Mask, value: Value, new: Array, old: Array) -> Array:
    """A value for each thread: the new one in some of them."""
    chosen = where.reshape(-1, *(1 for _ in shape_of(value.type)))
    return np.where(chosen, _spread(m, value, new), _spread(m, value, old))


# ---- ops of one thread ------------------------------------------------------------------------------------------


@means(ThreadIndex)
def _thread_index(m: Machine, op: ThreadIndex) -> Sequence[Array]:
    m.per_thread = True
    thread = np.arange(m.thread_count, dtype=held(element(op.out.type), m.index_bits))
    return ({"thread": thread, "warp": thread // LANES, "lane": thread % LANES}[op.kind],)


@means(Barrier)
def _barrier(m: Machine, op: Barrier) -> Sequence[Array]:
    return ()  # lock step has all threads here already; the machine checks that none is missing


@means(Element)
def _element(m: Machine, op: Element) -> Sequence[Array]:
    return (m[op.a][..., op.index],)


@means(SumRun)
def _sum_run(m: Machine, op: SumRun) -> Sequence[Array]:
    elem = element(op.out.type)
    run = cast(m[op.a], element(op.a.type), elem, m.index_bits)
    total = run[..., 0]
    for place in range(1, run.shape[-1]):
        total = elementwise.binary("add", np.asarray(total), run[..., place], elem)
    return (total,)


@means(DotRun)
def _dot_run(m: Machine, op: DotRun) -> Sequence[Array]:
    a, b = (m[v].astype(np.int64) for v in (op.a, op.b))
    return ((a * b).sum(axis=-1).astype(np.int32),)


@means(Require)
def _require(m: Machine, op: Require) -> Sequence[Array]:
    if not m.varies(op.cond):
        if not m[op.cond]:
            raise TrapError(op, f"trap: {op.text}")
        return ()
    broken = np.flatnonzero(m.lanes() & ~m[op.cond])
    if len(broken):
        raise TrapError(op, f"trap in thread {broken[0]}: {op.text}")
    return ()


# ---- memory -----------------------------------------------------------------------------------------------------


def _doing(m: Machine, op: Points) -> Ints:
    """The threads that make an access: of active ones that do the same, one does it for all.

    A store or an atomic of scope "warp" is made by the first active lane; an atomic is never made for another thread.
    That threads are as much alike as the scope says is
    checked: passes rely on it.
    """
    given = (op.value,) if isinstance(op, StorePoint | StoreRun) else op.values if isinstance(op, Atomic) else ()
    values = (*op.offsets, *given)
    differing = [v for v in values if m.varies(v)]
    if op.scope == "cta":
        if m.active is not None:
            raise InterpError(op, f'{op.name} of scope "cta" under divergent control flow')
        if differing:
            raise InterpError(op, f'{differing[0]} differs between threads; the scope of the {op.name} is "cta"')
    active = np.flatnonzero(m.lanes())
    if not differing and not (isinstance(op, Atomic) and op.scope != "cta"):
        return active[:1]
    if op.scope == "thread":
        return active
    _, first, own = np.unique(active // LANES, return_index=True, return_inverse=True)
    for v in differing:
        if not np.array_equal(m[v][active], m[v][active[first][own]], equal_nan=True):
            raise InterpError(op, f'{v} differs between the lanes of a warp; the scope of the {op.name} is "warp"')
    return active if isinstance(op, LoadPoint | LoadRun) else active[first]


def _access(m: Machine, op: Points, threads: Ints) -> ThreadAccess:
    array = m.arrays[op.tensor]
    for v in op.extents:
        if m.varies(v):
            raise InterpError(op, f"the extent {v} differs between threads")
    check_extents(op, op.tensor, array, m.numbers(op.extents))
    run = (op.out if isinstance(op, LoadPoint | LoadRun | Atomic) else op.value).type
    length = run.n if isinstance(run, Vec) else 1
    # In int64: past the end of int32 a run's index must not wrap back into the tensor.
    at = [_spread(m, v, m[v])[threads, None].astype(np.int64) for v in op.offsets]
    if isinstance(op, LoadRun | StoreRun):
        at[op.axis] = at[op.axis] + np.arange(length)
    rows = tuple(np.broadcast_to(a, (len(threads), length)) for a in at)
    return ThreadAccess(op, op.tensor, element(op.tensor.type), array, threads, rows)


def _load(m: Machine, op: LoadPoint | LoadRun) -> Array:
    threads = _doing(m, op)
    found = _access(m, op, threads).load()
    if isinstance(op, LoadPoint):
        found = found[:, 0]
    if not any(m.varies(v) for v in op.offsets):
        return found[0]
    out = np.zeros((m.thread_count, *found.shape[1:]), found.dtype)
    out[threads] = found
    return out


def _store(m: Machine, op: StorePoint | StoreRun) -> None:
    threads = _doing(m, op)
    rows = _spread(m, op.value, m[op.value])[threads]
    _access(m, op, threads).store(rows)


@means(LoadPoint)
def _load_point(m: Machine, op: LoadPoint) -> Sequence[Array]:
    return (_load(m, op),)


@means(LoadRun)
def _load_run(m: Machine, op: LoadRun) -> Sequence[Array]:
    return (_load(m, op),)


@means(StorePoint)
def _store_point(m: Machine, op: StorePoint) -> Sequence[Array]:
    _store(m, op)
    return ()


@means(StoreRun)
def _store_run(m: Machine, op: StoreRun) -> Sequence[Array]:
    _store(m, op)
    return ()


def _swapped(old: Array, expect: Array, new: Array) -> Array:
    return np.where(old == expect, new, old)


@means(Atomic)
def _atomic(m: Machine, op: Atomic) -> Sequence[Array]:
    """In thread order; a warp's lanes all get what the one found that did it."""
    elem, threads = element(op.out.type), _doing(m, op)

    def renewed(old: Array, v: Array) -> Array:
        return elementwise.binary(op.kind, old, v, elem)

    values = [_spread(m, v, m[v])[threads] for v in op.values]
    found = _access(m, op, threads).change(_swapped if op.kind == "cas" else renewed, values)
    if op.scope == "cta":
        return (found[0],)
    m.per_thread = True  # now values may differ
    out = np.zeros(m.thread_count, found.dtype)
    if op.scope == "thread":
        out[threads] = found
    else:
        warps = np.zeros(-(-m.thread_count // LANES), found.dtype)
        warps[threads // LANES] = found
        out[:] = warps[np.arange(m.thread_count) // LANES]
    return (out,)


# ---- control ----------------------------------------------------------------------------------------------------


def _part(op: Control, what: str) -> None:
    """Threads part at an op: no tile may come out of it."""
    for v in op.outs:
        if isinstance(v.type, Tile):
            raise InterpError(op, f"{what} differs between threads; {op.name} gives the tile {v}")


@means(If)
def _if(m: Machine, op: If) -> Sequence[Array]:
    if not m.varies(op.cond):
        return m.run(op.then if m[op.cond] else op.orelse)
    _part(op, f"the condition {op.cond}")
    cond, lanes = m[op.cond], m.lanes()
    given: list[tuple[Array, ...]] = []
    for block, some in ((op.then, lanes & cond), (op.orelse, lanes & ~cond)):
        if some.any():
            with m.masked(some):
                given.append(m.run(block))
    # Where no thread takes an arm, the other arm's values stand in: nobody looks at them.
    return [_merge(m, cond, v, a, b) for v, a, b in zip(op.outs, given[0], given[-1], strict=True)]


def _trips(start: int, stop: int, step: int) -> range:
    """Values of a loop variable. Python's integers do not wrap; a step that is not positive gives no trips."""
    return range(start, stop, step) if step > 0 else range(0)


def _numbered(op: For, trips: Sequence[int]) -> Iterator[tuple[int, int]]:
    for trip, number in enumerate(trips):
        if op.part == "remainder" and trip > 0:
            raise InterpError(op, "a remainder loop runs a second trip")
        yield trip, number


@means(For)
def _for(m: Machine, op: For) -> Sequence[Array]:
    bounds = (op.start, op.stop, op.step)
    for v in bounds:
        if m.varies(v):
            return _parting_for(m, op, f"the bound {v}")
    carried = tuple(m[v] for v in op.inits)
    iv = held(element(op.start.type), m.index_bits)
    for _, number in _numbered(op, _trips(*m.numbers(bounds))):
        carried = m.run(op.body, (iv.type(number), *carried))
    return carried


def _parting_for(m: Machine, op: For, what: str) -> Sequence[Array]:
    _part(op, what)
    start, stop, step = (_spread(m, v, m[v]) for v in (op.start, op.stop, op.step))
    bounds = zip(start.tolist(), stop.tolist(), step.tolist(), strict=True)
    counts = np.array([len(_trips(*b)) if on else 0 for on, b in zip(m.lanes(), bounds, strict=True)])
    carried = [_spread(m, v, m[v]) for v in op.inits]
    for trip, _ in _numbered(op, range(counts.max())):
        going = counts > trip
        with m.masked(going):
            passed = m.run(op.body, (start, *carried))
        carried = [_merge(m, going, v, new, old) for v, new, old in zip(op.outs, passed, carried, strict=True)]
        start = start + step  # wraps only in threads that have had their last trip
    return carried


@means(While)
def _while(m: Machine, op: While) -> Sequence[Array]:
    carried = tuple(m[v] for v in op.inits)
    while True:
        go_on, *passed = m.run(op.cond, carried)
        if np.ndim(go_on):
            return _parting_while(m, op, go_on, passed)
        if not go_on:
            return passed
        carried = m.run(op.body, passed)


def _parting_while(m: Machine, op: While, go_on: Array, passed: Sequence[Array]) -> Sequence[Array]:
    """The rest of a loop, from the first time on that its condition differs."""
    _part(op, "the condition")
    lanes = m.lanes()
    outs = [_spread(m, v, p) for v, p in zip(op.outs, passed, strict=True)]
    while True:
        # A thread that is here for the last time leaves with these; the others will have later ones.
        outs = [_merge(m, lanes, v, new, old) for v, new, old in zip(op.outs, passed, outs, strict=True)]
        lanes = lanes & go_on
        if not lanes.any():
            return outs
        with m.masked(lanes):
            go_on, *passed = m.run(op.cond, m.run(op.body, passed))

"""sync: order every pair of conflicting accesses by different threads, and nothing else.

Requires: form "packed". Ensures: between a write and another access of the same bytes by another thread stands a
`sync`, along back edges too. Forward dataflow over pending accesses: an op that conflicts with one gets a `sync` before
it, which clears them all; an op in a region that conflicts with what came before the region gets it before the region,
so a barrier stands outside a loop where it can, unless the region needs the same barriers all the same. Async copies
count as unfinished until their `wait`.

What single threads do (points, runs and atomics of scope "warp" or "thread") is ordered against tile and uniform
accesses, and against each other only by a `barrier` of the kernel's own. Such accesses alone stand under control flow
that parts the threads, so no `sync` ever does.

What is known not to conflict: slots of different phase in a multi-buffered loop (a phase falls by one from trip to
trip), tiles of a tensor whose starts differ by a constant that keeps them apart, points that the first thread writes
or changes, and accesses to a tensor by which every thread touches its own elements again; the latter leave a `sync` of
scope "none" that says so.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ..diagnostics import InternalError
from ..ir.core import Block, Op, Value
from ..ir.cta_ops import Alloc, Commit, CopyAsync, DotFma, Read, Sync, Wait, Write
from ..ir.kernel import Fact, Kernel
from ..ir.shape_ops import Gather
from ..ir.thread_ops import Atomic, Barrier, LoadRun, StoreRun
from ..ir.tile_ops import For, If, Load, LoadPoint, Store, StorePoint, While
from ..ir.types import Buffer, Tile
from ..layout.register import Blocked
from .affine import Indices
from .options import Options

OLDEST = 16


@dataclass(frozen=True)
class Access:
    """One pending access.

    where: a buffer or a tensor. age: committed groups since an async copy, -1 when not in flight.
    alone: by single threads, unordered against others like it.
    own: the op, for telling which elements threads meet; None once a back edge was crossed that changes its offsets.
    behind: of one from an earlier trip of a loop, (the loop's variable, an axis, a distance): along the axis it lay at
    least so far below where its offset, which moves with the variable, is now. Its other offsets say nothing then.
    first: by the first thread alone.
    """

    writes: bool
    where: Value
    phase: int = -1
    age: int = -1
    alone: bool = False
    own: Load | Store | None = None
    behind: tuple[Value, int, int] | None = None
    first: bool = False
    line: int = 0

    @property
    def in_flight(self) -> bool:
        return self.age >= 0


State = frozenset[Access]
EMPTY: State = frozenset()


def run(kernel: Kernel, options: Options) -> Kernel:
    placer = _Placer(kernel)
    ops, _ = placer.ops(kernel.body.ops, EMPTY)
    return kernel.replace(body=Block(kernel.body.params, ops), used=kernel.used | frozenset(placer.used))


class _Placer:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.indices = Indices(kernel)
        self.range: dict[Value, tuple[int, int]] = {}
        self.number: dict[Value, int] = {}
        self.used: set[Fact] = set()
        for op in kernel.walk():
            if isinstance(op, Alloc):
                assert isinstance(op.out.type, Buffer)
                self.number[op.out] = len(self.number)
                self.range[op.out] = (op.offset_bytes, op.offset_bytes + op.out.type.size_bytes)

    # ---- conflicts -----------------------------------------------------------------------------------------------

    def _overlap(self, a: Access, b: Access) -> bool:
        if a.where in self.range and b.where in self.range:
            if a.where is b.where and a.phase >= 0 and b.phase >= 0 and a.phase != b.phase:
                return False
            if a.where is b.where and self._beside(a, b):
                return False
            (x0, x1), (y0, y1) = self.range[a.where], self.range[b.where]
            return x0 < y1 and y0 < x1
        if a.where in self.range or b.where in self.range:
            return False
        if a.where is b.where:
            return not self._beside(a, b)
        return not (self._apart(a.where) or self._apart(b.where))

    def _beside(self, a: Access, b: Access) -> bool:
        """Tiles of one tensor or buffer that are known to have no element in common: some axis keeps them apart."""
        if a.own is None or b.own is None:
            return False
        if a.behind is not None:
            _, axis, distance = a.behind
            gap = self.indices.affine(b.own.offsets[axis]).plus(self.indices.affine(a.own.offsets[axis]), -1)
            return gap.is_const and gap.const + distance >= _tile(a.own).shape[axis]
        for axis, (p, q) in enumerate(zip(a.own.offsets, b.own.offsets, strict=True)):
            gap = self.indices.affine(q).plus(self.indices.affine(p), -1)
            if gap.is_const and (gap.const >= _tile(a.own).shape[axis] or -gap.const >= _tile(b.own).shape[axis]):
                return True
        return False

    def _apart(self, tensor: Value) -> bool:
        """A tensor that, by the launch's word, overlaps no other one that is written."""
        fact = Fact("no_alias", tensor.name)
        if fact in self.kernel.denied:
            return False
        self.used.add(fact)
        return True

    def _conflict(self, a: Access, b: Access) -> bool:
        if (a.alone and b.alone) or (a.first and b.first):
            return False
        return (a.writes or b.writes) and self._overlap(a, b)

    def _private(self, a: Access, b: Access) -> bool:
        """Both touch the same elements with the same layout, so each thread meets only what is its own.

        Of threads that hold the same element one stores and all load, so there only two stores are alike.
        """
        if a.own is None or b.own is None or a.behind is not None or a.where is not b.where:
            return False
        x, y = _tile(a.own), _tile(b.own)
        if x.layout != y.layout or x.shape != y.shape:
            return False
        if a.writes != b.writes and not (isinstance(x.layout, Blocked) and x.layout.one_holder):
            return False
        return all(self.indices.same(p, q) for p, q in zip(a.own.offsets, b.own.offsets, strict=True))

    # ---- dataflow ------------------------------------------------------------------------------------------------

    def ops(self, ops: tuple[Op, ...], state: State) -> tuple[tuple[Op, ...], State]:
        out: list[Op] = []
        for op in ops:
            inner = [x for o in _walk(op) for x in _accesses(o)]
            clash = sorted(((p, x) for p in state for x in inner if self._conflict(p, x)), key=self._order)
            waiting = [(p, x) for p, x in clash if p.in_flight]
            if waiting and not op.regions():
                raise InternalError(
                    f"sync: line {op.span.line} meets an async copy of line {waiting[0][0].line} that nothing waits for"
                )
            real = [(p, x) for p, x in clash if not p.in_flight and not self._private(p, x)]
            if real and not self._idle(op, state):
                out.append(
                    Sync(scope="cta", why=self._why(*min(real, key=lambda r: (r[0].line, r[1].line))), span=op.span)
                )
                state = frozenset(p for p in state if p.in_flight)
            elif clash and not real and not waiting:
                p, x = clash[0]
                out.append(
                    Sync(
                        scope="none",
                        why=f"{x.where.name}: each thread meets only its own elements of line {p.line}",
                        span=op.span,
                    )
                )
            made, state = self._op(op, state)
            out.append(made)
        return tuple(out), state

    def _idle(self, op: Op, state: State) -> bool:
        """Whether a barrier before an op with regions changes none in them: then those that stand there do its work."""
        if not op.regions():
            return False
        without, _ = self._op(op, state)
        behind, _ = self._op(op, frozenset(p for p in state if p.in_flight))
        return _with_barriers(without) == _with_barriers(behind)

    def _order(self, clash: tuple[Access, Access]) -> tuple[object, ...]:
        """The order of clashes by their place: which one a sync names must not depend on the order of a set."""
        return tuple(
            (a.line, a.where.name, self.number.get(a.where, -1), a.phase, a.age, a.writes, a.alone) for a in clash
        )

    def _why(self, before: Access, after: Access) -> str:
        name = before.where.name
        did = "writes" if before.writes else "reads"
        does = "writes" if after.writes else "reads"
        same = name if after.where is before.where else f"{after.where.name}, which shares its bytes"
        return f"line {before.line} {did} {name}, then line {after.line} {does} {same}"

    def _op(self, op: Op, state: State) -> tuple[Op, State]:
        if isinstance(op, Sync):
            return op, frozenset(p for p in state if p.in_flight) if op.scope == "cta" else state
        if isinstance(op, Barrier):
            return op, frozenset(p for p in state if p.in_flight)
        if isinstance(op, Commit):
            return op, frozenset(
                dataclasses.replace(p, age=min(p.age + 1, OLDEST)) if p.in_flight else p for p in state
            )
        if isinstance(op, Wait):
            return op, frozenset(dataclasses.replace(p, age=-1) if p.age > op.pending else p for p in state)
        if isinstance(op, If):
            then, s1 = self.ops(op.then.ops, state)
            orelse, s2 = self.ops(op.orelse.ops, state)
            return op.replace(then=Block(op.then.params, then), orelse=Block(op.orelse.params, orelse)), s1 | s2
        if isinstance(op, For) and op.part == "remainder":
            # One trip at most: nothing comes round to the top.
            rest, end = self.ops(op.body.ops, state)
            return op.replace(body=Block(op.body.params, rest)), state | end
        if isinstance(op, For):
            rings = {w.buffer for w in op.body.ops if isinstance(w, Write | CopyAsync)}
            rings |= {
                w.buffer
                for i in op.body.ops
                if isinstance(i, If)
                for w in i.then.ops
                if isinstance(w, Write | CopyAsync)
            }
            rings = rings if op.stages > 1 else set()
            body, top, end = self._loop(op.body, state, rings, self.indices.constant(op.step) or 0)
            # Phases count from this loop's trips; those of a loop around it go on.
            return op.replace(body=body), frozenset(
                dataclasses.replace(p, phase=-1) if p.where in rings else p for p in top | end
            )
        if isinstance(op, While):
            whole = Block((*op.cond.params, *op.body.params), (*op.cond.ops, *op.body.ops))
            looped, top, _ = self._loop(whole, state, set())
            cut = looped.ops.index(op.cond.ops[-1])
            # The loop is left behind its condition, whatever the body has ordered.
            _, after = self.ops(op.cond.ops, top)
            return op.replace(
                cond=Block(op.cond.params, looped.ops[: cut + 1]), body=Block(op.body.params, looped.ops[cut + 1 :])
            ), after
        return op, state | frozenset(_accesses(op))

    def _loop(self, body: Block, state: State, rings: set[Value], step: int = 0) -> tuple[Block, State, State]:
        """Go round until nothing new arrives at the top: the body, and what is pending at its top and at its end.

        step: of a `for`, when it is known; its variable is the body's first parameter.
        """
        entry = state
        ops = body.ops
        for _ in range(4 * OLDEST):
            ops, end = self.ops(body.ops, entry)
            top = entry | frozenset(self._next_trip(p, body, rings, step) for p in end)
            if top == entry:
                return Block(body.params, ops), entry, end
            entry = top
        raise InternalError("sync: the pending accesses of a loop do not settle")

    def _next_trip(self, p: Access, body: Block, rings: set[Value], step: int) -> Access:
        if p.where in rings and p.phase >= 0:
            t = p.where.type
            assert isinstance(t, Buffer)
            p = dataclasses.replace(p, phase=(p.phase - 1) % t.slots)
        return self._moved(p, body, step) if p.own is not None else p

    def _moved(self, p: Access, body: Block, step: int) -> Access:
        """What is known of an access to a tensor when the next trip begins."""
        assert p.own is not None
        inside = set(body.params)
        for o in body.walk():
            inside.update(o.results(), *(b.params for b in o.regions()))
        if p.behind is not None and (p.behind[0] not in inside or (step and p.behind[0] is body.params[0])):
            return p  # of a loop around this one, or of this one: it stays behind
        forms = [self.indices.affine(v).terms for v in p.own.offsets]
        if not any(v in inside for terms in forms for v, _ in terms):
            return p
        for axis, terms in enumerate(forms if step > 0 else ()):
            moving = [(v, factor) for v, factor in terms if v in inside]
            if len(moving) == 1 and moving[0][0] is body.params[0] and moving[0][1] > 0:
                return dataclasses.replace(p, behind=(body.params[0], axis, moving[0][1] * step))
        return dataclasses.replace(p, own=None, behind=None)


def _tile(op: Load | Store) -> Tile:
    t = op.out.type if isinstance(op, Load) else op.value.type
    assert isinstance(t, Tile)
    return t


def _walk(op: Op) -> list[Op]:
    return [op, *(o for b in op.regions() for o in b.walk())]


def _with_barriers(op: Op) -> list[type[Op]]:
    """The ops in order, which tells where the barriers stand among them."""
    return [type(o) for o in _walk(op) if not (isinstance(o, Sync) and o.scope == "none")]


def _accesses(op: Op) -> list[Access]:
    line = op.span.line
    if isinstance(op, Load):
        return [] if op.invariant else [Access(False, op.tensor, own=op, line=line)]
    if isinstance(op, Store):
        return [Access(True, op.tensor, own=op, line=line)]
    if isinstance(op, Gather):
        return [] if op.invariant else [Access(False, op.tensor, line=line)]
    if isinstance(op, LoadPoint | LoadRun):
        return [] if op.invariant else [Access(False, op.tensor, alone=op.scope != "cta", line=line)]
    if isinstance(op, StorePoint | StoreRun | Atomic):
        once = op.scope == "cta"
        return [Access(True, op.tensor, alone=not once, first=once, line=line)]
    if isinstance(op, CopyAsync):
        return [Access(True, op.buffer, op.phase, 0, line=line), Access(False, op.tensor, age=0, line=line)]
    if isinstance(op, Write):
        return [Access(True, op.buffer, op.phase, line=line)]
    if isinstance(op, Read):
        return [Access(False, op.buffer, op.phase, line=line)]
    if isinstance(op, DotFma):
        return [Access(False, op.a, op.a_phase, line=line), Access(False, op.b, op.b_phase, line=line)]
    return []

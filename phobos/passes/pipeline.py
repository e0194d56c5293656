"""pipeline: loops with `stages` fetch the operands of later trips while they compute on this one.

Requires: form "staged". Ensures: a pipelined loop's staged buffers have n slots. Copies that cp.async can make run
n - 1 trips ahead, each in a committed group that is waited for in its trip; the others are loaded into registers one
trip ahead and written after the contraction. Slots rotate; `phase` tells `sync` which slot an access means. Masks stay:
cp.async fills masked elements with zero.

        prologue      fill slots 0 .. n-2
        trip i        wait for slot i; fill slot i + n-1; contract slot i
"""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import CompileError, Diagnostic, Label, Severity
from ..ir.build import Builder
from ..ir.core import Block, Effect, Op, Value
from ..ir.cta_ops import Alloc, Commit, CopyAsync, DotFma, Wait, Write
from ..ir.kernel import Fact, Kernel
from ..ir.memory import is_shared
from ..ir.rewrite import Rewriter, clone_ops, uses
from ..ir.thread_ops import Atomic, StoreRun
from ..ir.tile_ops import Const, For, If, Load, Reshape, Splat, Store, StorePoint, Yield
from ..ir.types import INDEX, Buffer, Tile, matched_axes
from ..layout.register import Blocked
from ..layout.shared import Swizzled
from ..target import Target
from .access import access_width
from .affine import Indices
from .options import Options
from .stage import copy_layout

ASYNC_BYTES = (4, 8, 16)
LARGE = ("PR408", "PR409")
"""Remarks of `spill`: the kernel has tiles that are computed box by box."""


@dataclass(frozen=True, eq=False)
class Staged:
    """A load in the loop's body whose only use is to fill a buffer, perhaps without some of its unit axes.

    address is what the load's offsets need from the body.
    """

    load: Load
    reshape: Reshape | None
    write: Write
    address: tuple[Op, ...]


def run(kernel: Kernel, options: Options) -> Kernel:
    if kernel.attributes.pipeline < 2:  # One stage is one buffer: a choice of a tuned count, and no pipeline.
        return kernel
    if any(isinstance(op, Alloc) and _slots(op) > 1 for op in kernel.walk()):
        return kernel  # A form that was written behind this pass and read again.
    maker = _Maker(kernel, options.target)
    body = Rewriter(maker.visit, inner_first=True).block(kernel.body)
    boxes = any(r.code in LARGE for r in kernel.remarks)  # Its loops are not those of the source.
    if not maker.done and not kernel.denied and not boxes:
        span = kernel.attributes.pipeline_span or kernel.span
        raise CompileError(
            (
                Diagnostic(
                    Severity.ERROR,
                    "PH402",
                    f"@pipeline: nothing in kernel `{kernel.name}` can be pipelined",
                    span,
                    "asked for here",
                    tuple(Label(loop.span, why) for loop, why in maker.declined),
                    ("a loop is pipelined when it loads an operand of a contraction from global memory in every trip",),
                    ("remove @pipeline",) if not maker.declined else (),
                ),
            )
        )
    if maker.slots:
        body = Block(body.params, tuple(_with_slots(op, maker.slots) for op in body.ops))
        body = Rewriter(lambda o, r: None, {old: new for old, (new, _) in maker.slots.items()}).block(body)
    remarks = tuple(
        Diagnostic(Severity.REMARK, "PR403", f"loop not pipelined: {why}", loop.span) for loop, why in maker.declined
    )
    return kernel.replace(
        body=body, used=kernel.used | maker.used, remarks=kernel.remarks + tuple(maker.remarks) + remarks
    )


def _slots(op: Alloc) -> int:
    assert isinstance(op.out.type, Buffer)
    return op.out.type.slots


def _with_slots(op: Op, slots: dict[Value, tuple[Value, int]]) -> Op:
    return op.replace(out=slots[op.out][0]) if isinstance(op, Alloc) and op.out in slots else op


class _Maker:
    def __init__(self, kernel: Kernel, target: Target) -> None:
        self.kernel = kernel
        self.target = target
        self.indices = Indices(kernel)
        self.uses = uses(kernel.body)
        self.used: frozenset[Fact] = frozenset()
        self.slots: dict[Value, tuple[Value, int]] = {}
        self.remarks: list[Diagnostic] = []
        self.declined: list[tuple[For, str]] = []
        self.done = 0

    def visit(self, op: Op, rewriter: Rewriter) -> tuple[Op, ...] | None:
        if not isinstance(op, For) or op.part == "remainder":
            return None
        if op.stages < 2:
            return None
        if self._trips(op) <= 1:
            self.done += 1
            return None
        staged, why = self._staged(op)
        if why:
            self.declined.append((op, why))
            return (op.replace(stages=0),)
        self.done += 1
        return self._pipelined(op, staged)

    def _trips(self, loop: For) -> int:
        """Trips when constants tell, else a large number."""
        start, stop, step = (self.indices.constant(v) for v in (loop.start, loop.stop, loop.step))
        if start is None or stop is None or not step:
            return 1 << 30
        return max(0, -(-(stop - start) // step))

    # ---- what can be fetched ahead -----------------------------------------------------------------------------

    def _staged(self, loop: For) -> tuple[list[Staged], str]:
        made = {r: op for op in loop.body.ops for r in op.results()}
        operands = {b for op in loop.body.ops if isinstance(op, DotFma) for b in (op.a, op.b)}
        found: list[Staged] = []
        why = "no operand of a contraction is loaded in it"
        stores = [
            o
            for o in loop.body.walk()
            if isinstance(o, Store | StorePoint | StoreRun | Atomic) and not is_shared(o.tensor)
        ]
        for op in loop.body.ops:
            if not isinstance(op, Write) or op.buffer not in operands:
                continue
            load = made.get(op.value)
            reshape = load if isinstance(load, Reshape) and load.keeps_axes else None
            if reshape is not None:
                load = made.get(reshape.a)
            if not isinstance(load, Load) or load.limits:
                why = f"{op.value.name} is computed in the loop, not only loaded"
                continue
            if is_shared(load.tensor):
                why = f"{load.tensor.name} is in shared memory already"
                continue
            if len(self.uses.get(op.value, ())) > 1 or len(self.uses.get(load.out, ())) > 1:
                why = f"{op.value.name} is used beside the contraction"
                continue
            if stores and not load.invariant:
                return [], f"the loop stores to {stores[0].tensor.name}, which may be where {load.tensor.name} is read"
            address = _address(load, loop, made)
            if address is None:
                why = f"the address of {op.value.name} depends on what the loop carries"
                continue
            found.append(Staged(load, reshape, op, address))
        return found, "" if found else why

    def _async(self, s: Staged) -> CopyAsync | None:
        """The copy by cp.async, with slot and offsets still to be set; None where it cannot."""
        t, buffer = s.load.out.type, s.write.buffer.type
        assert isinstance(t, Tile) and isinstance(buffer, Buffer) and isinstance(buffer.layout, Swizzled)
        if not self.target.cp_async:
            return None
        size, last = t.elem.size_bytes, len(t.shape) - 1
        fast = matched_axes(t.shape, buffer.shape)[buffer.layout.fast]
        width, why = 1, "the copy transposes"
        facts: frozenset[Fact] = frozenset()
        if fast is None:
            return None
        if fast == last:
            assert isinstance(t.layout, Blocked)
            got = access_width(
                self.indices,
                s.load.tensor,
                s.load.offsets,
                s.load.extents,
                s.load.guards,
                t.layout.vector[last],
                "copies",
            )
            width, why, facts = got.elems, got.why, got.facts
        if width * size not in ASYNC_BYTES:
            return None
        self.used |= facts
        return CopyAsync(
            tensor=s.load.tensor,
            offsets=s.load.offsets,
            extents=s.load.extents,
            buffer=s.write.buffer,
            slot=s.write.slot,
            layout=copy_layout(t.shape, t.elem, fast, self.kernel.warps, width),
            guards=s.load.guards,
            why=s.load.why,
            width=width,
            width_why=why,
            span=s.load.span,
        )

    # ---- the loop ------------------------------------------------------------------------------------------------

    def _pipelined(self, loop: For, staged: list[Staged]) -> tuple[Op, ...]:
        copies = {s: c for s in staged if (c := self._async(s)) is not None}
        held = [s for s in staged if s not in copies]
        n = max(loop.stages, 2) if copies else 2
        for s in staged:
            t = s.write.buffer.type
            assert isinstance(t, Buffer)
            self.slots[s.write.buffer] = (s.write.buffer.like(Buffer(t.elem, t.shape, t.layout, n)), n)
        b = Builder(loop.span)
        first = b.const(0, name="slot")
        self._prologue(b, loop, copies, held, n)
        iv = loop.body.params[0]
        slot = Value("slot", INDEX)
        with b.block((*loop.body.params, slot)) as region:
            room = b.sub(loop.stop, iv, name="left")
            if copies:
                b.emit(Wait(pending=n - 2))
                target = b.select(b.compare("eq", slot, 0), n - 1, b.sub(slot, 1), name="fill_slot")
                ahead = b.compare("gt", room, b.mul(loop.step, n - 1))
                with b.block() as fill:
                    self._copies(b, loop, copies, b.add(iv, b.mul(loop.step, n - 1)), target, n - 1)
                    b.yields()
                self._when(b, ahead, fill.block)
                b.emit(Commit())
            other = b.select(b.compare("eq", slot, n - 1), 0, b.add(slot, 1), name="next_slot")
            fetched = self._fetch(b, loop, held, b.compare("gt", room, loop.step), b.add(iv, loop.step)) if held else []
            self._rest(b, loop, staged, slot)
            for s, value in zip(held, fetched, strict=True):
                self._write(b, s, value, other, 1)
            last = loop.body.ops[-1]
            b.yields(*last.operands(), other)
        out = Value("slot", INDEX)
        b.emit(loop.replace(inits=(*loop.inits, first), body=region.block, outs=(*loop.outs, out), stages=n))
        if copies:
            # Only empty groups are left; the wait says so to whoever takes over the bytes.
            b.emit(Wait(pending=0))
        how = ", ".join(
            f"{s.load.tensor.name} by cp.async" if s in copies else f"{s.load.tensor.name} through registers"
            for s in staged
        )
        self.remarks.append(Diagnostic(Severity.REMARK, "PR402", f"loop pipelined with {n} stages: {how}", loop.span))
        return b.take()

    def _when(self, b: Builder, cond: Value, then: Block) -> None:
        with b.block() as nothing:
            b.yields()
        b.branch(cond, then, nothing.block)

    def _prologue(self, b: Builder, loop: For, copies: dict[Staged, CopyAsync], held: list[Staged], n: int) -> None:
        for ahead in range(n - 1 if copies else 0):
            trip = b.add(loop.start, b.mul(loop.step, ahead))
            with b.block() as fill:
                self._copies(b, loop, copies, trip, b.const(ahead), ahead)
                b.yields()
            self._when(b, b.compare("lt", trip, loop.stop), fill.block)
            b.emit(Commit())
        if held:
            with b.block() as fill:
                for s in held:
                    self._write(b, s, self._load(b, loop, s, loop.start), b.const(0), 0)
                b.yields()
            self._when(b, b.compare("lt", loop.start, loop.stop), fill.block)

    def _copies(
        self, b: Builder, loop: For, copies: dict[Staged, CopyAsync], trip: Value, slot: Value, phase: int
    ) -> None:
        mapping: dict[Value, Value] = {loop.body.params[0]: trip}
        for s, copy in copies.items():
            self._emit_address(b, s, mapping)
            offsets = tuple(mapping.get(v, v) for v in copy.offsets)
            extents = tuple(mapping.get(v, v) for v in copy.extents)
            b.emit(copy.replace(offsets=offsets, extents=extents, slot=slot, phase=phase))

    def _load(self, b: Builder, loop: For, s: Staged, trip: Value) -> Value:
        mapping: dict[Value, Value] = {loop.body.params[0]: trip}
        self._emit_address(b, s, mapping)
        (load,) = clone_ops((s.load,), mapping)
        return b.emit(load).results()[0]

    def _write(self, b: Builder, s: Staged, loaded: Value, slot: Value, phase: int) -> None:
        """Fill a slot with what was loaded."""
        if s.reshape is not None:
            loaded = b.emit(s.reshape.replace(a=loaded, out=s.reshape.out.like())).out
        b.emit(s.write.replace(value=loaded, slot=slot, phase=phase))

    def _emit_address(self, b: Builder, s: Staged, mapping: dict[Value, Value]) -> None:
        todo = tuple(op for op in s.address if op.results()[0] not in mapping)
        for op in clone_ops(todo, mapping):
            b.emit(op)

    def _fetch(self, b: Builder, loop: For, held: list[Staged], cond: Value, trip: Value) -> list[Value]:
        """Load the next trip's tiles into registers, when there is a next trip."""
        with b.block() as then:
            b.yields(*(self._load(b, loop, s, trip) for s in held))
        with b.block() as orelse:
            zeros = []
            for s in held:
                t = s.load.out.type
                assert isinstance(t, Tile)
                zero = b.emit(Const(value=0.0 if t.elem.is_float else 0, out=Value("zero", t.elem))).out
                zeros.append(b.emit(Splat(a=zero, out=s.load.out.like())).out)
            b.emit(Yield(values=tuple(zeros)))
        outs = tuple(s.load.out.like() for s in held)
        b.emit(If(cond=cond, then=then.block, orelse=orelse.block, outs=outs))
        return list(outs)

    def _rest(self, b: Builder, loop: For, staged: list[Staged], slot: Value) -> None:
        """The body without what is fetched ahead, contractions reading this trip's slot."""
        gone: set[Op | None] = {op for s in staged for op in (s.load, s.reshape, s.write)}
        buffers = {s.write.buffer for s in staged}

        def visit(op: Op, rewriter: Rewriter) -> Op | None:
            if not isinstance(op, DotFma):
                return None
            changes: dict[str, object] = {}
            if op.a in buffers:
                changes |= {"a_slot": slot, "a_phase": 0}
            if op.b in buffers:
                changes |= {"b_slot": slot, "b_phase": 0}
            return op.replace(**changes)

        for op in Rewriter(visit).ops(tuple(o for o in loop.body.ops[:-1] if o not in gone)):
            b.emit(op)


def _address(load: Load, loop: For, made: dict[Value, Op]) -> tuple[Op, ...] | None:
    """The body's pure ops that the load's offsets and extents need, in order; None when they need more than that."""
    carried = set(loop.body.params[1:])
    needed: dict[Op, None] = {}

    def visit(v: Value) -> bool:
        if v in carried:
            return False
        op = made.get(v)
        if op is None:
            return True
        if op.effects is not Effect.NONE or op.regions():
            return False
        if not all(visit(x) for x in op.operands()):
            return False
        needed[op] = None
        return True

    return tuple(needed) if all(visit(v) for v in (*load.offsets, *load.extents)) else None

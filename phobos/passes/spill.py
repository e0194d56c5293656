"""spill: tiles too large for registers are computed in boxes that fit, and kept in shared memory between uses.

Requires: form "guarded". Ensures: no value of a large shape is left where its ops can be computed box by box. Such a
value is *deferred* (each box is computed where it is consumed) while one op at the end of its uses reads each box
once; else it is *kept*: a shared buffer that a loop over its boxes fills. What loops and branches carry of these are
buffers that nothing carries. A kernel without large tiles is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..ir.core import Block, Op, Value
from ..ir.kernel import Kernel
from ..ir.reduce_ops import Reduce, ReduceArg
from ..ir.rewrite import rebase
from ..ir.shape_ops import Scan
from ..ir.tile_ops import Dot, For, If, Reshape, Store, While, Yield, shape_of
from ..ir.types import BF16, F16
from .boxes import Values, computed, whole
from .large import element_of, large_shapes, walked
from .options import Options
from .spill_axes import AxisOps, is_flat


def run(kernel: Kernel, options: Options) -> Kernel:
    large = large_shapes(kernel)
    if not large:
        return kernel
    spiller = _Spiller(kernel, large, options.target.max_dynamic_shared)
    body = spiller.block(kernel.body)
    remarks = tuple(dict.fromkeys(spiller.remarks))
    return kernel.replace(body=body, remarks=kernel.remarks + remarks)


class _Spiller(AxisOps):
    """Rebuilds the kernel, block by block."""

    def __init__(self, kernel: Kernel, large: frozenset[tuple[int, ...]], shared_bytes: int) -> None:
        super().__init__(kernel, large, shared_bytes)
        self.scope = kernel.body
        self.loans: frozenset[Value] = frozenset()
        """Values of blocks further out whose buffers are overwritten when the arm that is rebuilt ends."""

    # ---- blocks and ops -----------------------------------------------------------------------------------------

    def block(self, block: Block, params: Values = (), end: Callable[[Values], None] | None = None) -> Block:
        """The block rebuilt, with these parameters; `end` is given what it yields."""
        before = self.scope, dict(self.registers), dict(self.kept), dict(self.deferred)
        self.scope = block
        with self.b.block(params) as region:
            for op in block.ops:
                with self.b.at(op.span):
                    if op.terminator:
                        assert end is not None
                        end(op.operands())
                    else:
                        self.settle(op)
                        self.op(op)
                self.uses.done(op)
        self.scope, self.registers, self.kept, self.deferred = before
        return region.block

    def op(self, op: Op) -> None:
        outs = op.results()
        if isinstance(op, For):
            self.for_loop(op)
        elif isinstance(op, While):
            self.while_loop(op)
        elif isinstance(op, If):
            self.branch(op)
        elif isinstance(op, Store) and self.is_large(op.value):
            self.store(op)
        elif isinstance(op, Reduce | ReduceArg) and self.is_large(op.a):
            self.reduce(op)
        elif isinstance(op, Scan) and self.is_large(op.a) and element_of(op.a) not in (F16, BF16):
            self.scan(op)
        elif outs and self.is_large(outs[0]) and computed(op):
            self.defer(op, outs[0])
        elif isinstance(op, Reshape) and self.is_large(op.a) and is_flat(op):
            self.flat(op)
        elif isinstance(op, Dot) and (self.is_large(op.a) or self.is_large(op.b)):
            self.prepare_op(op, whole(shape_of(op.out.type)))
            self.registers[op.out] = self.dot(op, whole(shape_of(op.out.type)), {})
        else:
            self.b.emit(rebase(op, {v: self.whole(v) for v in op.operands()}))

    # ---- control flow -------------------------------------------------------------------------------------------

    def carry(self, op: For | While) -> dict[int, Value]:
        """The buffers of the large values that a loop carries, filled with the first ones."""
        targets: dict[int, Value] = {}
        for i, v in enumerate(op.inits):
            if not self.is_large(v):
                continue
            if self.takes_over(v, {op}, targets.values()) and op.inits.count(v) == 1:
                self.settle_buffer(self.kept[v])
                targets[i] = self.kept[v]
                continue
            targets[i] = self.alloc(op.outs[i])
            self.fill(targets[i], v)
            self.tell(op.outs[i])
        return targets

    def takes_over(self, v: Value, inside: Iterable[Op], taken: Iterable[Value]) -> bool:
        """Whether a kept value's buffer is free for what comes of it: no later trip reads it, and now only `inside`."""
        return (
            v in self.kept
            and v not in self.registers
            and self.kept[v] not in taken
            and (self.uses.made_in(v) is self.scope or v in self.loans)
            and self.uses.last_in(v, inside, self.scope)
        )

    def inner(self, block: Block, params: Values, targets: dict[int, Value], skip: int = 0) -> Block:
        """A block that carries values: the large ones live in their buffers and are written there at its end."""
        for i, buffer in targets.items():
            if params:
                self.kept[params[i]] = buffer

        def end(values: Values) -> None:
            small = tuple(self.whole(v) for i, v in enumerate(values, -skip) if i not in targets)
            self.assign([(buffer, values[i + skip]) for i, buffer in targets.items()])
            self.b.emit(Yield(values=small))

        dropped = {params[i] for i in targets} if params else set()
        return self.block(block, tuple(p for p in block.params if p not in dropped), end)

    def assign(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """Write values into buffers, all at once: none is overwritten before what reads it."""
        left = [(t, v) for t, v in pairs if v in self.deferred or self.kept.get(v) is not t]
        while left:
            ready = next((i for i in range(len(left)) if not list(self._in_the_way(left, i))), None)
            if ready is None:
                self.keep(next(self._in_the_way(left, 0)))
            else:
                self.fill(*left.pop(ready))

    def _in_the_way(self, pairs: Sequence[tuple[Value, Value]], own: int) -> Iterator[Value]:
        """The values that would not be what they are once the buffer of one of them is written."""
        for i, (_, v) in enumerate(pairs):
            hits = [aligned for memory, aligned, _ in self.reads(v) if memory is pairs[own][0]]
            if hits and (i != own or not all(hits)):
                yield v

    def for_loop(self, op: For) -> None:
        targets, loans = self.carry(op), self.loans
        self.loans = frozenset()
        body = self.inner(op.body, op.body.params[1:], targets)
        self.loans = loans
        self.loop(op, targets, body=body)

    def while_loop(self, op: While) -> None:
        targets, loans = self.carry(op), self.loans
        self.loans = frozenset()
        cond = self.inner(op.cond, op.cond.params, targets, skip=1)
        body = self.inner(op.body, op.body.params, targets)
        self.loans = loans
        self.loop(op, targets, cond=cond, body=body)

    def loop(self, op: For | While, targets: dict[int, Value], **blocks: Block) -> None:
        inits = tuple(self.whole(v) for i, v in enumerate(op.inits) if i not in targets)
        outs = tuple(v for i, v in enumerate(op.outs) if i not in targets)
        self.b.emit(op.replace(inits=inits, outs=outs, **blocks))
        self.kept.update((op.outs[i], buffer) for i, buffer in targets.items())

    def branch(self, op: If) -> None:
        inside = set(walked(op))
        arms = [op.then.ops[-1].operands(), op.orelse.ops[-1].operands()]
        targets: dict[int, Value] = {}
        loans = self.loans
        for i, out in enumerate(op.outs):
            if not self.is_large(out):
                continue
            ways = [arm[i] for arm in arms] + [v for v in self.kept if v.type == out.type]
            free = next((v for v in ways if self.takes_over(v, inside, targets.values())), None)
            if free is not None:
                self.settle_buffer(self.kept[free])
                targets[i] = self.kept[free]
                self.loans = self.loans | {free}
            else:
                targets[i] = self.alloc(out)
                self.tell(out)
        blocks = {"then": self.inner(op.then, (), targets), "orelse": self.inner(op.orelse, (), targets)}
        self.loans = loans
        outs = tuple(v for i, v in enumerate(op.outs) if i not in targets)
        self.b.emit(op.replace(outs=outs, **blocks))
        self.kept.update((op.outs[i], buffer) for i, buffer in targets.items())

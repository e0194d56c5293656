"""Who reads a value: what `spill` asks before it computes a large tile where it is consumed, box by box.

Takes a kernel in form "guarded", gives answers about its values; keeps count of the uses that are still to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..ir.core import Block, Op, Value
from ..ir.kernel import Fact, Kernel
from ..ir.memory import is_shared
from ..ir.rewrite import uses
from ..ir.thread_ops import StoreRun
from ..ir.tile_ops import Broadcast, Dot, Store, StorePoint
from .boxes import computed

Root = tuple[int, int]
"""An op that consumes a tile, by identity, and a number that tells its several readings of it apart."""


class Uses:
    """The uses of a kernel's values. `is_large` says which tiles are computed box by box."""

    def __init__(self, kernel: Kernel, is_large: Callable[[Value], bool]) -> None:
        self.kernel = kernel
        self.is_large = is_large
        self.users = {v: list(dict.fromkeys(ops)) for v, ops in uses(kernel.body).items()}
        self.left = {v: len(ops) for v, ops in self.users.items()}
        self.block_of: dict[Op, Block] = {}
        self.made: dict[Value, Block] = {}
        self.finished: set[Op] = set()
        self._place(kernel.body)
        stores = [op for op in kernel.walk() if isinstance(op, Store | StorePoint | StoreRun)]
        self.written = {op.tensor for op in stores}
        self._roots: dict[Value, frozenset[Root]] = {}

    def _place(self, block: Block) -> None:
        self.made.update((p, block) for p in block.params)
        for op in block.ops:
            self.block_of[op] = block
            self.made.update((v, block) for v in op.results())
            for inner in op.regions():
                self._place(inner)

    def count(self, v: Value) -> int:
        """How many ops read the value."""
        return len(self.users.get(v, ()))

    def pending(self, v: Value) -> bool:
        """Whether an op that is not done reads the value."""
        return self.left.get(v, 0) > 0

    def done(self, op: Op) -> None:
        self.finished.add(op)
        for v in set(op.operands()):
            self.left[v] -= 1

    def made_in(self, v: Value) -> Block | None:
        return self.made.get(v)

    def only_in(self, v: Value, ops: Iterable[Op]) -> bool:
        """Whether no op but these reads the value."""
        return set(self.users.get(v, ())) <= set(ops)

    def last_in(self, v: Value, ops: Iterable[Op], block: Block) -> bool:
        """Whether of the ops in a block that are not done none but these read the value."""
        left = set(self.users.get(v, ())) - self.finished - set(ops)
        return not left or left.isdisjoint(block.walk())

    def is_invariant(self, tensor: Value) -> bool:
        """Whether nothing writes the memory while the kernel runs, so that it may be read at any time."""
        fact = Fact("no_alias", tensor.name)
        return not is_shared(tensor) and tensor not in self.written and fact not in self.kernel.denied

    def consumed_once(self, v: Value) -> bool:
        """Whether one op, in the value's own block, reads each box of it once."""
        return len(self.roots(v)) <= 1

    def roots(self, v: Value) -> frozenset[Root]:
        """The ops at the end of the deferred ones that read a value; two for one that reads boxes several times."""
        if v not in self._roots:
            found: set[Root] = set()
            for op in self.users.get(v, ()):
                found |= self._through(op, v)
            self._roots[v] = frozenset(found)
        return self._roots[v]

    def _through(self, op: Op, v: Value) -> set[Root]:
        outs = op.results()
        if self.block_of[op] is not self.made.get(v):
            return {(id(op), 0), (id(op), 1)}
        if op.regions() or not outs or not self.is_large(outs[0]) or not computed(op):
            return {(id(op), 0)}
        if isinstance(op, Broadcast) or (isinstance(op, Dot) and v in (op.a, op.b)):
            return {(id(op), 0), (id(op), 1)}
        roots = self.roots(outs[0])
        return set(roots) if len(roots) == 1 else {(id(op), 0)}

"""Cloning, rewriting and counting over blocks: what every pass builds on.

Takes ops and blocks, gives new ones; nothing is changed in place but the mapping that a caller hands in. Field roles
say what to follow, so no op class is named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .core import Block, Op, Role, Value
from .kernel import Kernel

Mapping = dict[Value, Value]


def resolve(value: Value, mapping: Mapping) -> Value:
    """What a value stands for now, replacement after replacement."""
    while (new := mapping.get(value)) is not None and new is not value:
        value = new
    return value


def _map_field(held: Any, change: Callable[[Value], Value]) -> Any:
    """Apply `change` to a Value or to each Value of a tuple; the same object comes back when nothing changed."""
    if isinstance(held, Value):
        return change(held)
    new = tuple(change(v) for v in held)
    return held if all(a is b for a, b in zip(held, new, strict=True)) else new


def rebase(op: Op, mapping: Mapping) -> Op:
    """The op with its own operands replaced through the mapping; its regions are not entered."""
    changes = {}
    for name in op.fields(Role.OPERAND):
        held = getattr(op, name)
        new = _map_field(held, lambda v: resolve(v, mapping))
        if new is not held:
            changes[name] = new
    return op.replace(**changes) if changes else op


def _fresh(value: Value, mapping: Mapping) -> Value:
    new = value.like()
    mapping[value] = new
    return new


def clone_op(op: Op, mapping: Mapping, fresh: bool = True) -> Op:
    """The op with operands replaced through `mapping`, in its regions too.

    fresh: make new results and parameters and enter them into `mapping`; otherwise the old ones are defined again, so
    the clone must take the place of the original.
    """
    changes: dict[str, Any] = {}
    for name in op.fields(Role.OPERAND):
        changes[name] = _map_field(getattr(op, name), lambda v: resolve(v, mapping))
    for name in op.fields(Role.REGION):
        changes[name] = clone_block(getattr(op, name), mapping, fresh)
    if fresh:
        for name in op.fields(Role.RESULT):
            changes[name] = _map_field(getattr(op, name), lambda v: _fresh(v, mapping))
    return op.replace(**changes)


def clone_block(block: Block, mapping: Mapping, fresh: bool = True) -> Block:
    """A copy of a block, parameters included; `fresh` as in `clone_op`."""
    params = tuple(_fresh(p, mapping) for p in block.params) if fresh else block.params
    return Block(params, tuple(clone_op(op, mapping, fresh) for op in block.ops))


def clone_ops(ops: Iterable[Op], mapping: Mapping) -> tuple[Op, ...]:
    """Fresh copies of some ops in a row; `mapping` then leads from the old results to the new."""
    return tuple(clone_op(op, mapping) for op in ops)


Visit = Callable[[Op, "Rewriter"], "Op | tuple[Op, ...] | None"]


class Rewriter:
    """Rebuilds blocks from the top down, asking `visit(op, rewriter)` about each op.

    The op that `visit` sees has its operands rebased through `map` already. It returns None to keep the op, () to drop
    it, or what stands in its place. Whoever changes a result says so with `replace(old, new)`.

    Regions are rewritten after the visit when the op was kept, or when the very op that was handed to `visit` is among
    those returned. Other returned ops are final: a visit that rebuilds an op with regions calls `block` or `regions`
    itself, which is also how to rewrite regions first. With inner_first every op is visited after its regions.
    """

    def __init__(self, visit: Visit, mapping: Mapping | None = None, inner_first: bool = False) -> None:
        self.visit = visit
        self.map: Mapping = {} if mapping is None else mapping
        self.inner_first = inner_first

    def value(self, value: Value) -> Value:
        """What a value of the old program is now."""
        return resolve(value, self.map)

    def values(self, values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(resolve(v, self.map) for v in values)

    def replace(self, old: Value, new: Value) -> None:
        """Read `new` wherever `old` is read from here on."""
        if old is not new:
            self.map[old] = new

    def kernel(self, kernel: Kernel) -> Kernel:
        return kernel.replace(body=self.block(kernel.body))

    def block(self, block: Block, params: tuple[Value, ...] | None = None) -> Block:
        """The rewritten block; new parameters, when given, take the old ones' places."""
        if params is None:
            params = self.values(block.params)
        for old, new in zip(block.params, params, strict=True):
            self.replace(old, new)
        return Block(params, self.ops(block.ops))

    def ops(self, ops: Iterable[Op]) -> tuple[Op, ...]:
        """Rewrite some ops in a row."""
        out: list[Op] = []
        for old in ops:
            op = rebase(old, self.map)
            if self.inner_first:
                op = self.regions(op)
            answer = self.visit(op, self)
            new = (op,) if answer is None else (answer,) if isinstance(answer, Op) else answer
            out.extend(self.regions(n) if n is op and not self.inner_first else n for n in new)
        return tuple(out)

    def regions(self, op: Op) -> Op:
        """The op with its regions rewritten now."""
        names = op.fields(Role.REGION)
        return op.replace(**{name: self.block(getattr(op, name)) for name in names}) if names else op


def uses(block: Block) -> dict[Value, list[Op]]:
    """The ops that read each value, in order and nested ones included; an op stands once per operand that it reads."""
    found: dict[Value, list[Op]] = {}
    for op in block.walk():
        for value in op.operands():
            found.setdefault(value, []).append(op)
    return found


def definitions(block: Block) -> dict[Value, Op]:
    """The op that defines each result, nested ones included. Block parameters have none."""
    return {value: op for op in block.walk() for value in op.results()}


def free_values(block: Block) -> tuple[Value, ...]:
    """Values that the block reads and does not define, in order of first use."""
    free: dict[Value, None] = {}
    _free(block, set(), free)
    return tuple(free)


def _free(block: Block, inside: set[Value], free: dict[Value, None]) -> None:
    # One growing set serves nested blocks too: a value has one definition in the whole kernel.
    inside.update(block.params)
    for op in block.ops:
        free.update((v, None) for v in op.operands() if v not in inside)
        for nested in op.regions():
            _free(nested, inside, free)
        inside.update(op.results())

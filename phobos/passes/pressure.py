"""Registers that tiles take, op by op: which values are alive behind each op, and how many registers they fill.

An analysis of a placed or later form. What the assembler can make again from little is not counted: tiles of equal
elements, indices, tiles of bools; broadcast, reshaped and transposed tiles are their operand's registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..ir.core import Block, Op, Role, Value
from ..ir.kernel import Kernel
from ..ir.rewrite import definitions, free_values
from ..ir.shape_ops import Transpose
from ..ir.tile_ops import Broadcast, For, Iota, Reshape, Splat, While
from ..ir.types import BOOL, Tile

SAME = (Broadcast, Reshape, Transpose)
"""Ops whose result is their operand under another shape."""
REMADE = (Splat, Iota)


class Pressure:
    """behind(): for each op, inner ones included, the registers of a thread that tiles fill behind it."""

    def __init__(self, kernel: Kernel) -> None:
        self._made = definitions(kernel.body)
        self._behind: dict[Op, int] = {}
        self._scan(kernel.body, frozenset())

    def behind(self) -> Iterator[tuple[Op, int]]:
        yield from self._behind.items()

    def _scan(self, block: Block, alive: frozenset[Value]) -> frozenset[Value]:
        """The values alive before a block, given those alive behind it."""
        live = set(alive)
        for op in reversed(block.ops):
            self._behind[op] = sum(map(registers, live))
            live -= {self._root(v) for v in op.results()}
            regions = [getattr(op, name) for name in op.fields(Role.REGION)]
            if isinstance(op, For | While):
                # What a loop reads from outside is needed for every trip.
                live |= self._roots(v for region in regions for v in free_values(region))
            through = frozenset(live)
            for region in regions:
                live |= self._scan(region, through) - {self._root(p) for p in region.params}
            live |= self._roots(op.operands())
        return frozenset(live)

    def _roots(self, values: Iterable[Value]) -> set[Value]:
        roots = {self._root(v) for v in values if isinstance(v.type, Tile)}
        return {v for v in roots if registers(v) and not isinstance(self._made.get(v), REMADE)}

    def _root(self, v: Value) -> Value:
        op = self._made.get(v)
        while isinstance(op, SAME):
            v = op.a
            op = self._made.get(v)
        return v


def registers(v: Value) -> int:
    """Registers of a thread that a tile fills."""
    t = v.type
    if not isinstance(t, Tile) or t.layout is None or t.elem == BOOL:
        return 0
    return t.layout.registers * max(t.elem.size_bytes // 4, 1)

"""Large tiles along an axis: reductions, scans and rows laid end to end, box by box, for `spill`.

Where the axis itself is cut, what a box gives is handed on to the next.
"""

from __future__ import annotations

from ..ir.build import Index
from ..ir.core import Value
from ..ir.reduce_ops import Reduce, ReduceArg
from ..ir.shape_ops import Scan
from ..ir.tile_ops import Broadcast, Reshape, shape_of
from ..ir.types import BF16, F16, F32, I32, Tile
from .boxes import Box, Values, over, step, whole
from .large import Tiles, element_of


def is_flat(op: Reshape) -> bool:
    """Whether rows of a tile of two axes, units aside, are laid end to end."""
    axes = [[n for n in shape_of(v.type) if n != 1] for v in (op.a, op.out)]
    return [len(a) for a in axes] == [2, 1]


class AxisOps(Tiles):
    """The ops whose result at an element needs others along an axis."""

    def reduce(self, op: Reduce | ReduceArg) -> None:
        shape, axis = shape_of(op.a.type), op.axis
        sizes = self.sizes(op.a)
        self.prepare(op.a, Box((0,) * len(shape), sizes))
        if isinstance(op, ReduceArg):
            self.prepare(op.index, Box((0,) * len(shape), sizes))
        outs = op.results()
        if all(sizes[x] == n for x, n in enumerate(shape) if x != axis) and not self.is_large(outs[0]):
            made = self.reduced(op, whole(shape), sizes[axis])
            self.registers.update(zip(outs, made, strict=True))
            return
        buffers = [self.alloc(v, "it is computed in parts") for v in outs]

        def visit(box: Box) -> None:
            for buffer, value in zip(buffers, self.reduced(op, box.on(axis, 0, shape[axis]), sizes[axis]), strict=True):
                self.put(buffer, box, value)

        over(self.b, shape_of(outs[0].type), (*sizes[:axis], 1, *sizes[axis + 1 :]), visit)
        for v, buffer in zip(outs, buffers, strict=True):
            self.kept[v] = buffer
            if not self.is_large(v):
                self.registers[v] = self.load(buffer, v, whole(shape_of(v.type)))

    def reduced(self, op: Reduce | ReduceArg, box: Box, size: int) -> Values:
        """The reduction of a box, in parts along the axis."""
        b, axis = self.b, op.axis
        elem = element_of(op.a)
        one = box.on(axis, 0, 1).sizes
        wide = F32 if isinstance(op, Reduce) and op.kind == "sum" and elem in (F16, BF16) else elem
        wide = wide if size < box.sizes[axis] else elem

        def body(at: Index, length: int, carried: Values) -> Values:
            part, memo = box.on(axis, at, length), dict[tuple[Value, Box], Value]()
            a = b.cast(self.piece(op.a, part, memo), Tile(wide, part.sizes))
            out = op.out.like(Tile(wide, one))
            if isinstance(op, Reduce):
                made = b.emit(op.replace(a=a, out=out)).out
                if not carried:
                    return (made,)
                return (b.binary("add" if op.kind == "sum" else op.kind, carried[0], made, out.name),)
            index = self.piece(op.index, part, memo)
            pair = b.emit(op.replace(a=a, index=index, out=out, out_index=op.out_index.like(Tile(I32, one)))).results()
            return self.better(op.kind, carried, pair) if carried else pair

        made = step(b, box.sizes[axis], size, None, body)
        return (b.cast(made[0], Tile(elem, one)), *made[1:])

    def better(self, kind: str, old: Values, new: Values) -> Values:
        """The pair that counts, `old` when equal or when `new` is NaN."""
        b = self.b
        wins = b.compare("gt" if kind == "max" else "lt", new[0], old[0])
        if element_of(new[0]).is_float:
            number = b.binary("and", b.compare("ne", old[0], old[0]), b.compare("eq", new[0], new[0]))
            wins = b.binary("or", wins, number)
        return tuple(b.select(wins, y, x, x.name) for x, y in zip(old, new, strict=True))

    def scan(self, op: Scan) -> None:
        """Box by box along the axis, each on top of the sum of those before it."""
        b, axis, shape = self.b, op.axis, shape_of(op.a.type)
        sizes = self.sizes(op.a)
        self.prepare(op.a, Box((0,) * len(shape), sizes))
        buffer, elem = self.alloc(op.out), element_of(op.a)

        def visit(box: Box) -> None:
            one = Tile(elem, box.sizes)

            def body(at: Index, length: int, carried: Values) -> Values:
                part = box.on(axis, at, length)
                t = Tile(elem, part.sizes)
                a = self.piece(op.a, part, {})
                made = b.emit(op.replace(a=a, out=op.out.like(t))).out
                total = b.emit(Reduce(kind="sum", axis=axis, a=a, out=Value("total", one))).out
                if carried:
                    before = b.emit(Broadcast(a=carried[0], out=Value("before", t))).out
                    made, total = b.binary("add", before, made), b.binary("add", carried[0], total)
                self.put(buffer, part, made)
                return (total,)

            step(b, shape[axis], sizes[axis], None, body)

        over(b, (*shape[:axis], 1, *shape[axis + 1 :]), (*sizes[:axis], 1, *sizes[axis + 1 :]), visit)
        self.kept[op.out] = buffer
        self.tell(op.out)

    def flat(self, op: Reshape) -> None:
        """Rows laid end to end, box by box: whole rows, or a part of one."""
        b, shape, to = self.b, shape_of(op.a.type), shape_of(op.out.type)
        sizes = self.sizes(op.a)
        self.prepare(op.a, Box((0,) * len(shape), sizes))
        buffer = self.alloc(op.out)
        row, column = (x for x, n in enumerate(shape) if n != 1)
        along = next(x for x, n in enumerate(to) if n != 1)

        def visit(box: Box) -> None:
            at = b.add(b.mul(box.offsets[row], shape[column]), box.offsets[column])
            into = whole((1,) * len(to)).on(along, at, box.sizes[row] * box.sizes[column])
            out = op.out.like(Tile(element_of(op.a), into.sizes))
            self.put(buffer, into, b.emit(op.replace(a=self.piece(op.a, box, {}), out=out)).out)

        over(b, shape, sizes, visit)
        self.kept[op.out] = buffer
        self.tell(op.out)

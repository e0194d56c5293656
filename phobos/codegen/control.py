"""For, while and if: regions as basic blocks, carried values and results as phis."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ..ir.core import Op, Value
from ..ir.cta_ops import DotFma
from ..ir.tile_ops import For, If, Require, While
from ..ir.types import Tile
from .function import Cell, Function
from .types import I1, I32, LLVM, VOID, constant, integer


class LoopMetadata(ir.values.MDValue):  # type: ignore[misc]
    """A distinct node that names itself first, which is how LLVM tells loops apart."""

    def descr(self, buf: list[str]) -> None:
        parts = [self.get_reference(), *(o.get_reference() for o in self.operands)]
        buf += (f"distinct !{{ {', '.join(parts)} }}\n",)


def for_(f: Function, op: For) -> None:
    """start < stop is tested first; then the body runs before each test at the bottom."""
    start, stop, step = f.scalar(op.start), f.scalar(op.stop), f.scalar(op.step)
    inits = [f.cells[v] for v in op.inits]
    enter = _less(f, start, stop)
    if integer(enter) == 0:
        _results(f, op.outs, inits)
        return
    if op.part == "remainder":
        _once(f, op, enter, inits)
        return
    iv = op.body.params[0]
    loop, done = f.block(f"for.{iv.name}"), f.block(f"for.{iv.name}.end")
    # A loop from 0 or above cannot wrap on the way to stop - step; any other counts the distance to stop, unsigned.
    first = integer(start)
    last = f.b.sub(stop, step, flags=("nsw",)) if first is not None and first >= 0 else None
    before = f.b.block
    if integer(enter) is None:
        f.b.cbranch(enter, loop, done)
    else:
        f.b.branch(loop)
    f.b.position_at_end(loop)
    counter = f.b.phi(start.type, name=iv.name)
    counter.add_incoming(start, before)
    f.cells[iv] = counter
    phis = _phis(f, op.body.params[1:], inits, before)
    nexts = f.emit_block(op.body)
    if last is not None:
        more = f.b.icmp_signed("<", counter, last)
        advanced = f.b.add(counter, step, name=f"{iv.name}.next", flags=("nuw", "nsw"))
    else:
        more = f.b.icmp_unsigned(">", f.b.sub(stop, counter), step)
        advanced = f.b.add(counter, step, name=f"{iv.name}.next")
    latch = f.b.block
    branch = f.b.cbranch(more, loop, done)
    counter.add_incoming(advanced, latch)
    _incoming(phis, nexts, latch)
    _unroll(f, branch, op, op.unroll)
    f.b.position_at_end(done)
    ways = [(nexts, latch)]
    if integer(enter) is None:
        ways.append((inits, before))
    _merge(f, op.outs, ways)


def _once(f: Function, op: For, enter: LLVM, inits: list[Cell]) -> None:
    """A loop of 0 or 1 trips has no way back."""
    start, *carried = op.body.params
    for param, cell in zip(carried, inits, strict=True):
        f.cells[param] = cell
    f.cells[start] = f.cells[op.start]
    before = f.b.block
    body, done = f.block("remainder"), f.block("remainder.end")
    f.b.cbranch(enter, body, done)
    f.b.position_at_end(body)
    nexts = f.emit_block(op.body)
    ways = [(nexts, f.b.block), (inits, before)]
    f.b.branch(done)
    f.b.position_at_end(done)
    _merge(f, op.outs, ways)


def while_(f: Function, op: While) -> None:
    """The condition's block is the loop's head; the results are the values it handed over last."""
    inits = [f.cells[v] for v in op.inits]
    head, body, done = f.block("while"), f.block("while.body"), f.block("while.end")
    before = f.b.block
    f.b.branch(head)
    f.b.position_at_end(head)
    phis = _phis(f, op.cond.params, inits, before)
    condition, *carried = f.emit_block(op.cond)
    f.b.cbranch(condition, body, done)
    f.b.position_at_end(body)
    for param, cell in zip(op.body.params, carried, strict=True):
        f.cells[param] = cell
    nexts = f.emit_block(op.body)
    latch = f.b.block
    branch = f.b.branch(head)
    _incoming(phis, nexts, latch)
    _unroll(f, branch, op, 0)
    f.b.position_at_end(done)
    _results(f, op.outs, carried)


def if_(f: Function, op: If) -> None:
    """Two arms and a merge."""
    then, orelse, done = f.block("if"), f.block("else"), f.block("if.end")
    f.b.cbranch(f.scalar(op.cond), then, orelse)
    ways = []
    for block, start in ((op.then, then), (op.orelse, orelse)):
        f.b.position_at_end(start)
        cells = f.emit_block(block)
        ways.append((cells, f.b.block))
        f.b.branch(done)
    f.b.position_at_end(done)
    _merge(f, op.outs, ways)


def require(f: Function, op: Require) -> None:
    """Trap where the condition does not hold."""
    f.comment(f"require: {op.text}")
    condition = f.intrinsic("llvm.expect.i1", I1, (f.scalar(op.cond), constant(I1, 1)))
    trap, behind = f.block("broken"), f.block("kept")
    f.b.cbranch(condition, behind, trap)
    f.b.position_at_end(trap)
    f.intrinsic("llvm.trap", VOID, ())
    f.b.unreachable()
    f.b.position_at_end(behind)


def _less(f: Function, a: LLVM, b: LLVM) -> LLVM:
    x, y = integer(a), integer(b)
    return constant(I1, x < y) if x is not None and y is not None else f.b.icmp_signed("<", a, b)


def _flat(cell: Cell) -> tuple[LLVM, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def _phis(f: Function, params: Sequence[Value], inits: Sequence[Cell], before: LLVM) -> list[LLVM]:
    """Phis for the carried values, with their first incoming ones."""
    made = []
    for param, init in zip(params, inits, strict=True):
        phis = []
        for value in _flat(init):
            phi = f.b.phi(value.type)
            phi.add_incoming(value, before)
            phis.append(phi)
        f.bind(param, phis)
        made += phis
    return made


def _incoming(phis: Sequence[LLVM], cells: Sequence[Cell], block: LLVM) -> None:
    values = [v for cell in cells for v in _flat(cell)]
    for phi, value in zip(phis, values, strict=True):
        phi.add_incoming(value, block)


def _merge(f: Function, outs: Sequence[Value], ways: Sequence[tuple[Sequence[Cell], LLVM]]) -> None:
    """Results behind a merge of control flow."""
    if len(ways) == 1:
        _results(f, outs, ways[0][0])
        return
    for i, out in enumerate(outs):
        phis = []
        for values in zip(*(_flat(cells[i]) for cells, _ in ways), strict=True):
            phi = f.b.phi(values[0].type)
            for value, (_, block) in zip(values, ways, strict=True):
                phi.add_incoming(value, block)
            phis.append(phi)
        f.bind(out, phis)


def _results(f: Function, outs: Sequence[Value], cells: Sequence[Cell]) -> None:
    for out, cell in zip(outs, cells, strict=True):
        f.cells[out] = cell


def _unroll(f: Function, branch: LLVM, op: Op, count: int) -> None:
    """An unroll count that was asked for; loops over tiles are whole already and stay as they are."""
    if count > 1:
        _hint(f, branch, ["llvm.loop.unroll.count", I32(count)])
    elif any(isinstance(r.type, Tile) for r in op.results()) or any(
        isinstance(inner, DotFma) for region in op.regions() for inner in region.walk()
    ):
        keep_rolled(f, branch)


def keep_rolled(f: Function, branch: LLVM) -> None:
    """Ask that the loop that a branch closes is not unrolled, neither by LLVM nor by the assembler."""
    _hint(f, branch, ["llvm.loop.unroll.disable"])


def _hint(f: Function, branch: LLVM, hint: list[object]) -> None:
    nodes = [f.module.add_metadata(hint)]
    branch.set_metadata("llvm.loop", LoopMetadata(f.module, nodes, name=str(len(f.module.metadata))))

"""An entry decoded: straight segments, the graph between them, immediate post-dominators, and what may be unset.

A segment is a run of instructions that all lanes of a group execute without looking at each other; what ends it
(branch, exit, barrier, a warp's rendezvous) is its last instruction or the start of the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .errors import PtxError
from .syntax import Address, Entry, Instruction, LabelRef, Module, Not, Operand, Pair, Reg, Vector
from .table import kind_of, writes_of


@dataclass
class Segment:
    """Instructions `start` to `end` (excluded); `ends` is how the last one steers, `""` when it falls through."""

    index: int
    start: int
    end: int
    ends: str = ""
    next: int = -1
    targets: tuple[int, ...] = ()
    reconverges: int = -1

    @property
    def successors(self) -> tuple[int, ...]:
        return self.targets if self.next < 0 else (*self.targets, self.next)


@dataclass
class Program:
    """A kernel ready to be bound to a machine. Segment number `len(segments)` is the exit."""

    module: Module
    entry: Entry
    segments: list[Segment] = field(default_factory=list)
    may_be_unset: dict[int, frozenset[str]] = field(default_factory=dict)
    address_slice: frozenset[int] = frozenset()

    def source(self, i: Instruction) -> str:
        """`file:line:column` of an instruction, or the empty string."""
        return self.module.source(i.loc) if i.loc is not None and i.loc.line > 0 else self._near(i)

    def _near(self, i: Instruction) -> str:
        """Line 0 marks code without a place of its own; the column's line before it is the best there is."""
        best = None
        for each in self.entry.body:
            if each is i:
                break
            if each.loc is not None and each.loc.line > 0:
                best = each.loc
        return self.module.source(best)


def decode(module: Module, name: str) -> Program:
    """Decode one entry of a module."""
    if name not in module.entries:
        known = ", ".join(sorted(module.entries)) or "none"
        raise PtxError(0, f"there is no entry '{name}' (entries: {known})")
    entry = module.entries[name]
    program = Program(module, entry)
    program.segments = _segments(entry)
    _post_dominators(program.segments)
    program.may_be_unset = _may_be_unset(program)
    program.address_slice = _address_slice(entry)
    return program


def _segments(entry: Entry) -> list[Segment]:
    body = entry.body
    leaders = {0, len(body)}
    leaders.update(entry.labels.values())
    kinds = [kind_of(i) for i in body]
    leaders.update(at + 1 for at, kind in enumerate(kinds) if kind != "step")
    starts = sorted(leaders)
    index_at = {start: index for index, start in enumerate(starts)}
    exit_index = index_at[len(body)]
    segments = []
    for index, start in enumerate(starts[:-1]):
        end = starts[index + 1]
        segment = Segment(index, start, end)
        kind = kinds[end - 1]
        if kind != "step":
            segment.ends = kind
        if kind == "branch":
            i = body[end - 1]
            labels: list[str] = []
            for operand in i.operands:
                if isinstance(operand, LabelRef):
                    labels += entry.tables.get(operand.name, (operand.name,))
            segment.targets = tuple(index_at[entry.labels[label]] for label in labels)
            segment.next = index + 1 if i.guard is not None else -1
        elif kind == "exit":
            segment.targets = (exit_index,)
            segment.next = index + 1 if body[end - 1].guard is not None else -1
        else:
            segment.next = index + 1
        segments.append(segment)
    return segments


def _post_dominators(segments: list[Segment]) -> None:
    """Immediate post-dominators by iteration (Cooper, Harvey and Kennedy) over the reversed graph."""
    exit_index = len(segments)
    predecessors: list[list[int]] = [[] for _ in range(exit_index + 1)]
    for segment in segments:
        for successor in segment.successors:
            predecessors[successor].append(segment.index)
    order: list[int] = []  # post-order of the reversed graph, from the exit
    seen = [False] * (exit_index + 1)
    stack: list[tuple[int, Iterator[int]]] = [(exit_index, iter(predecessors[exit_index]))]
    seen[exit_index] = True
    while stack:
        node, rest = stack[-1]
        for each in rest:
            if not seen[each]:
                seen[each] = True
                stack.append((each, iter(predecessors[each])))
                break
        else:
            order.append(node)
            stack.pop()
    number = {node: position for position, node in enumerate(order)}
    immediate = {exit_index: exit_index}

    def meet(a: int, b: int) -> int:
        while a != b:
            while number[a] < number[b]:
                a = immediate[a]
            while number[b] < number[a]:
                b = immediate[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            if node == exit_index:
                continue
            best = -1
            for successor in segments[node].successors:
                if successor in immediate:
                    best = successor if best < 0 else meet(best, successor)
            if immediate.get(node) != best:
                immediate[node] = best
                changed = True
    for segment in segments:
        # What never reaches the exit (a loop without end) reconverges nowhere.
        segment.reconverges = immediate.get(segment.index, exit_index)


def registers(operand: Operand | None) -> Iterator[str]:
    """The names of the registers in an operand."""
    if isinstance(operand, Reg):
        yield operand.name
    elif isinstance(operand, Vector):
        for item in operand.items:
            yield from registers(item)
    elif isinstance(operand, Address):
        yield from registers(operand.base)
        for item in operand.extra:
            yield from registers(item)
    elif isinstance(operand, Pair):
        yield from registers(operand.first)
        yield from registers(operand.second)
    elif isinstance(operand, Not):
        yield from registers(operand.operand)


def written(i: Instruction) -> Iterator[str]:
    """The registers that an instruction writes."""
    for operand in i.operands[: writes_of(i)]:
        if not isinstance(operand, Address):
            yield from registers(operand)


def read_by(i: Instruction) -> Iterator[str]:
    """The registers that an instruction reads, its guard included."""
    if i.guard is not None:
        yield i.guard.name
    for at, operand in enumerate(i.operands):
        if at >= writes_of(i) or isinstance(operand, Address):
            yield from registers(operand)


def _may_be_unset(program: Program) -> dict[int, frozenset[str]]:
    """For each instruction that may read a register before it is written: those registers.

    Definite assignment, forwards over the segments, a register a bit of an int. A guarded write does not count.
    """
    body, segments = program.entry.body, program.segments
    bit = {name: 1 << at for at, name in enumerate(program.entry.registers)}
    everything = (1 << len(bit)) - 1
    reads = [sum({bit[name] for name in read_by(i)}) for i in body]
    writes = [sum({bit[name] for name in written(i)}) if i.guard is None else 0 for i in body]
    moves = {at: pair for at, i in enumerate(body) if (pair := _move(i, bit)) is not None}

    def after(have: int, at: int) -> int:
        # A move of a register that is not set leaves its target not set.
        if at in moves:
            target, source = moves[at]
            return have | target if have & source else have & ~target
        return have | writes[at]

    before = [everything] * (len(segments) + 1)
    before[0] = 0
    changed = True
    while changed:
        changed = False
        for segment in segments:
            have = before[segment.index]
            for at in range(segment.start, segment.end):
                have = after(have, at)
            for successor in segment.successors:
                if before[successor] & ~have:
                    before[successor] &= have
                    changed = True
    found: dict[int, frozenset[str]] = {}
    for segment in segments:
        have = before[segment.index]
        for at in range(segment.start, segment.end):
            missing = reads[at] & ~have
            if missing:
                found[at] = frozenset(name for name in read_by(body[at]) if bit[name] & missing)
            have = after(have, at)
    return found


def _move(i: Instruction, bit: dict[str, int]) -> tuple[int, int] | None:
    """Target and source of a move from register to register, as bits."""
    if i.opcode != "mov" or i.guard is not None or len(i.operands) != 2:
        return None
    target, source = i.operands
    return (bit[target.name], bit[source.name]) if isinstance(target, Reg) and isinstance(source, Reg) else None


INDEX_OPS = {"add", "sub", "mul", "mad", "mov", "or", "shl", "selp", "min", "max"}


def _address_slice(entry: Entry) -> frozenset[int]:
    """The instructions that compute 32-bit signed indices which are widened, as signed, into addresses.

    Backwards from the bases of memory operands through 64-bit arithmetic to `mul.wide.s32`, `mad.wide.s32` and
    `cvt.s64.s32`, and from there through 32-bit integer arithmetic. A sum with a logically shifted number is none: so
    does LLVM round a division of a signed number. Unsigned widening does not count: its operand may well lie above
    2^31.
    """
    by_register: dict[str, list[int]] = {}
    for at, i in enumerate(entry.body):
        for name in written(i):
            by_register.setdefault(name, []).append(at)
    wide: set[str] = set()
    narrow: set[str] = set()
    work: list[str] = []
    for i in entry.body:
        for operand in i.operands:
            if isinstance(operand, Address) and isinstance(operand.base, Reg) and operand.base.type[1:] == "64":
                work.append(operand.base.name)
    found: set[int] = set()
    while work:
        name = work.pop()
        if name in wide:
            continue
        wide.add(name)
        for at in by_register.get(name, ()):
            i = entry.body[at]
            if i.modifiers[-2:] == ("wide", "s32"):
                narrow.update(register for operand in i.operands[1:2] for register in registers(operand))
                found.add(at)
                work += [register for operand in i.operands[3:] for register in registers(operand)]
            elif i.opcode == "cvt" and i.modifiers[-2:] == ("s64", "s32"):
                narrow.update(registers(i.operands[1]))
                found.add(at)
            elif i.opcode == "cvta" or (i.opcode in INDEX_OPS and i.modifiers and i.modifiers[-1][1:] == "64"):
                found.add(at)
                work += list(read_by(i))
    work = list(narrow)
    seen: set[str] = set()
    while work:
        name = work.pop()
        if name in seen:
            continue
        seen.add(name)
        for at in by_register.get(name, ()):
            i = entry.body[at]
            if i.opcode in INDEX_OPS and i.modifiers and i.modifiers[-1] in ("s32", "b32", "u32"):
                if i.opcode in ("mul", "mad") and "lo" not in i.modifiers:
                    continue
                work += list(read_by(i))
                halves = (entry.body[k] for name in read_by(i) for k in by_register.get(name, ()))
                if i.opcode != "add" or not any(h.opcode == "shr" and h.modifiers[-1] == "u32" for h in halves):
                    found.add(at)
    return frozenset(found)

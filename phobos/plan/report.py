"""`render`: a Plan as plain text for people: what was decided, where, and why."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Iterator

from .ruler import ruler
from .schema import Access, Buffer, Contraction, Loop, Plan, Remark, Sync

WIDTH = 110
_KEY = 13
"""Columns of a row's key."""
_GUARD = {"hi": "masked past the end", "lo": "masked below 0", "both": "masked at both ends"}
_PART = {"": "", "whole": ", whole tiles", "remainder": ", remainder", "tail": ", masked tail"}


def render(plan: Plan, width: int = WIDTH) -> str:
    """The report of a Plan, lines of at most `width` columns where words allow."""
    page = _Page(width)
    _head(page, plan)
    _shared(page, plan)
    _accesses(page, plan)
    _loops(page, plan)
    _contractions(page, plan)
    _syncs(page, plan)
    _facts(page, plan)
    _remarks(page, plan)
    return page.text()


class _Page:
    """Lines of the report under construction."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._lines: list[str] = []

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines) + "\n"

    def title(self, text: str) -> None:
        if self._lines:
            self._lines.append("")
        self._lines.extend(_wrapped(text, self.width, "", "    "))

    def raw(self, line: str) -> None:
        self._lines.append(f"  {line}")

    def plain(self, text: str) -> None:
        self._lines.extend(_wrapped(text, self.width, "  ", "    "))

    def row(self, key: str, text: str) -> None:
        """A key in its column and a text that wraps beside it."""
        head = f"  {key:<{_KEY}} " if len(key) <= _KEY else f"  {key} "
        indent = " " * (_KEY + 3)
        self._lines.extend(_wrapped(text, self.width, head, indent) or [head])

    def more(self, text: str) -> None:
        """Text under the row above."""
        self.row("", text)


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """Lines of a text, broken between words only."""
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _plural(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _shape(shape: Iterable[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _where(loop: str) -> str:
    return f"in loop {loop}" if loop else "outside loops"


# ---- sections -----------------------------------------------------------------------------------------------


def _head(page: _Page, plan: Plan) -> None:
    form = "" if plan.form == "synced" else f", form {plan.form}"
    page.title(f"{plan.kernel}  {plan.file}:{plan.line}  {plan.target}, {plan.index_bits}-bit indices{form}")
    if plan.constants:
        page.row("constants", ", ".join(f"{c.name} = {c.value}" for c in plan.constants))
    for i, axis in enumerate(plan.grid):
        blocks = axis.blocks or "not inferred, pass grid="
        page.row("grid" if i == 0 else "", f"{axis.axis}: {blocks:<16} {axis.why}")
    page.row("block", "; ".join(_launch(plan)))
    page.row("registers", _registers(plan))
    page.row("shared", _shared_total(plan))
    if plan.occupancy is not None:
        o = plan.occupancy
        warps = f"{o.warps_per_sm} of {o.max_warps_per_sm} warps"
        page.row(
            "occupancy", f"{_plural(o.blocks_per_sm, 'block')} per multiprocessor, {warps}; limited by {o.limited_by}"
        )
    if plan.linked is not None:
        page.row("linker", f"{plan.linked.linker} {plan.linked.version}".rstrip())


def _launch(plan: Plan) -> Iterator[str]:
    launch = plan.launch
    yield f"{launch.threads} threads, {_plural(launch.warps, 'warp')}{'' if launch.explicit else ' (the default)'}"
    if launch.min_blocks is not None:
        yield f"at least {_plural(launch.min_blocks, 'block')} per multiprocessor asked for"
    if launch.max_regs is not None:
        yield f"at most {launch.max_regs} registers per thread"
    if launch.persistent:
        yield "persistent"
    if launch.swizzle is not None:
        yield f"blocks visited in groups of {launch.swizzle} rows"


def _registers(plan: Plan) -> str:
    linked = plan.linked
    if linked is None or linked.registers is None:
        return "not known: not linked"
    stores, loads = linked.spill_store_bytes, linked.spill_load_bytes
    spills = f"spills: {stores or 0} bytes stored, {loads or 0} bytes loaded" if stores or loads else "no spills"
    stack = f", {linked.stack_bytes} bytes of stack" if linked.stack_bytes else ""
    return f"{linked.registers} per thread, {spills}{stack}"


def _shared_total(plan: Plan) -> str:
    if not plan.shared.total_bytes:
        return "none"
    kind = "dynamic" if plan.shared.dynamic else "static"
    return f"{plan.shared.total_bytes} bytes, {kind}; {plan.target} has {plan.shared.limit_bytes} for a block"


def _shared(page: _Page, plan: Plan) -> None:
    if not plan.shared.buffers:
        return
    page.title("Shared memory")
    for line in ruler(plan.shared.buffers, plan.shared.total_bytes, page.width - 4):
        page.raw(line)
    for b in sorted(plan.shared.buffers, key=lambda b: (b.offset_bytes, b.label)):
        page.row(_offset(b), f"{_buffer(b)}  {b.layout}")
        page.more(f"line {b.line}: {b.text}" if b.text else f"line {b.line}")
        if b.why:
            page.more(f"in shared memory because {b.why}")


def _offset(buffer: Buffer) -> str:
    return "not packed" if buffer.offset_bytes < 0 else f"at {buffer.offset_bytes}"


def _buffer(buffer: Buffer) -> str:
    slots = f"{buffer.slots} x " if buffer.slots != 1 else ""
    return f"{buffer.label}: {slots}{buffer.elem}{_shape(buffer.shape)}, {buffer.bytes} bytes"


def _accesses(page: _Page, plan: Plan) -> None:
    for space, title in (("global", "Global memory"), ("shared", "Tiles in shared memory")):
        accesses = [a for a in plan.accesses if a.space == space]
        if accesses:
            page.title(title)
        for access, loops in _grouped(accesses):
            page.row(f"line {access.line}", _access(access))
            if access.text:
                page.more(access.text)
            if access.width_why:
                page.more(access.width_why)
            for guard in access.guards:
                said = _GUARD.get(guard.guard, "not masked")
                why = guard.why.removeprefix("fits: ")
                page.more(f"axis {guard.axis} ({guard.extent}) {said}{': ' + why if why else ''}")
            page.more(_counted(loops))


def _grouped(accesses: Iterable[Access]) -> list[tuple[Access, list[str]]]:
    """Accesses that differ only in their loop as one, with the loops (pipelining and splitting repeat them)."""
    groups: dict[Access, list[str]] = {}
    for access in accesses:
        groups.setdefault(dataclasses.replace(access, loop=""), []).append(access.loop)
    return list(groups.items())


def _counted(loops: list[str]) -> str:
    counts = {loop: loops.count(loop) for loop in loops}
    return "; ".join(_where(loop) + (f" ({n} times)" if n > 1 else "") for loop, n in counts.items())


def _access(access: Access) -> str:
    parts = [f"{access.kind} {access.tensor} {access.elem}{_shape(access.shape)}"]
    if access.width:
        elements = f"{access.width} x {access.elem}" if access.width > 1 else access.elem
        parts.append(f"{_plural(access.width_bytes, 'byte')} ({elements}) at a time")
        if access.threads:
            times = -(-access.elements // access.width)
            parts.append(f"{access.threads} threads, {times} {'access' if times == 1 else 'accesses'} each")
    if access.invariant:
        parts.append("read-only path")
    if access.buffer:
        parts.append(f"into {access.buffer}")
    return ", ".join(parts)


def _loops(page: _Page, plan: Plan) -> None:
    if not plan.loops:
        return
    page.title("Loops")
    for loop in plan.loops:
        page.row(f"line {loop.line}", _loop(loop))
        if loop.loop:
            page.more(_where(loop.loop))
        tiles = [c for c in loop.carried if c.type.startswith("tile")]
        for c in tiles:
            page.more(
                f"carries {c.name}: {c.type}"
                + (f", {_plural(c.registers, 'register')} per thread" if c.registers else "")
            )


def _loop(loop: Loop) -> str:
    if loop.kind == "while":
        return "while"
    parts = [f"for {loop.variable}{_PART.get(loop.part, loop.part)}: {loop.start} to {loop.stop} step {loop.step}"]
    parts.append(f"{loop.trips_text} {'trip' if loop.trips == 1 else 'trips'}")
    if loop.stages:
        parts.append(f"{loop.stages} stages")
    if loop.unroll:
        parts.append(f"unrolled by {loop.unroll}")
    return ", ".join(parts)


def _contractions(page: _Page, plan: Plan) -> None:
    if not plan.contractions:
        return
    page.title("Contractions")
    groups: dict[Contraction, list[str]] = {}
    for c in plan.contractions:
        groups.setdefault(dataclasses.replace(c, loop=""), []).append(c.loop)
    for c, loops in groups.items():
        b = (c.n, c.k) if c.trans_b else (c.k, c.n)
        path = f" on {c.path}" if c.path else ""
        operands = f"{c.elem_a}{_shape((c.m, c.k))} with {c.elem_b}{_shape(b)}"
        page.row(f"line {c.line}", f"{c.text}: {operands} into {c.elem_acc}{_shape((c.m, c.n))}{path}")
        if c.thread_tile:
            page.more(f"{' x '.join(map(str, c.thread_tile))} accumulators per thread, {c.layout}")
        for name, buffer, width in (("a", c.a, c.a_width), ("b", c.b, c.b_width)):
            if buffer:
                page.more(f"{name} from {buffer}, {_plural(width, 'element')} at a time")
        page.more(_counted(loops))


def _syncs(page: _Page, plan: Plan) -> None:
    if not plan.syncs:
        return
    kept = sum(s.kept for s in plan.syncs)
    page.title(f"Barriers: {kept} kept, {len(plan.syncs) - kept} elided")
    for s in plan.syncs:
        page.row(f"line {s.line}", _sync(s))


def _sync(s: Sync) -> str:
    said = s.scope if s.kept else "elided"
    return f"{said}, {_where(s.loop)}{': ' + s.why if s.why else ''}"


def _facts(page: _Page, plan: Plan) -> None:
    if plan.promises:
        page.title("Promises")
        for p in plan.promises:
            page.row(f"line {p.line}", f"{p.dim} is a multiple of {p.divisor}, checked {p.checked}")
    if plan.facts:
        page.title("Assumptions that a proof used (a launch outside them compiles another variant)")
        for f in plan.facts:
            page.plain(f.meaning)
    if plan.denied:
        page.title("Not assumed in this variant")
        for f in plan.denied:
            page.plain(f.meaning)


def _remarks(page: _Page, plan: Plan) -> None:
    if not plan.remarks:
        return
    page.title("Remarks")
    for r in plan.remarks:
        page.row(f"line {r.line}", f"{r.code} {'warning: ' if r.severity == 'warning' else ''}{r.message}")
        for text in _details(r):
            page.more(text)


def _details(r: Remark) -> Iterator[str]:
    if r.label:
        yield r.label
    for place in r.labels:
        yield f"line {place.line}: {place.text}"
    for note in r.notes:
        yield f"note: {note}"
    for help in r.help:
        yield f"help: {help}"

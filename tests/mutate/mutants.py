"""Mutants of a compiled kernel: one wrong thing each, of the kinds that a pass or code generation could get wrong.

Takes a `Compiled`, gives (name, recipe) pairs; a recipe is run when its mutant is judged. It changes the kernel of form
"synced", or an earlier form on which the rest of the passes then run, or what code generation makes of one op (`patch`,
for fragments of registers, which the IR has no word for), or the LLVM text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch as replaced

from phobos.codegen.function import Function
from phobos.codegen.module import HANDLERS
from phobos.ir.build import Builder
from phobos.ir.core import Block, Op, Role, Value
from phobos.ir.cta_ops import Alloc, Commit, CopyAsync, DotFma, Read, Sync, Wait, Write
from phobos.ir.kernel import Kernel
from phobos.ir.rewrite import Rewriter
from phobos.ir.thread_ops import Barrier, LoadRun, StoreRun
from phobos.ir.tile_ops import Binary, Broadcast, Cast, Compare, Const, Fma, For, Iota, Load, LoadPoint, Select, Store
from phobos.ir.types import Buffer, Tile

from .cases import Compiled, finish


@dataclass(frozen=True, eq=False)
class Product:
    """A mutant made: a kernel of form "synced", and what else is done to it on its way to PTX.

    forms: mutated kernels of earlier forms, which the verifier sees too.
    """

    kernel: Kernel
    forms: tuple[Kernel, ...] = ()
    patch: Callable[[], AbstractContextManager[Any]] = nullcontext
    llvm: Callable[[str], str] = field(default=lambda text: text)


class NoMutant(Exception):  # noqa: N818  # an answer, not an error
    """The recipe changes nothing that matters here; the text says why."""


Recipe = Callable[[], Product]
Mutation = Callable[[Compiled], Iterator[tuple[str, Recipe]]]

GUARDED: dict[str, tuple[str, ...]] = {"hi": ("",), "lo": ("",), "both": ("", "hi", "lo"), "": ()}


# ---- changing kernels -------------------------------------------------------------------------------------------


def put(kernel: Kernel, old: Op, new: Sequence[Op]) -> Kernel:
    """The kernel with `new` in the place of one op."""
    return put_all(kernel, {old: tuple(new)})


def put_all(kernel: Kernel, changes: dict[Op, tuple[Op, ...]]) -> Kernel:
    """The kernel with other ops in the places of some."""
    return Rewriter(lambda op, _: changes.get(op)).kernel(kernel)


def retyped(kernel: Kernel, value: Value, new: Value) -> Kernel:
    """The kernel with another value in one's place, at its definition too."""

    def visit(op: Op, rewriter: Rewriter) -> Op | None:
        for name in op.fields(Role.RESULT):
            if getattr(op, name) is value:
                rewriter.replace(value, new)
                return op.replace(**{name: new})
        return None

    return Rewriter(visit).kernel(kernel)


def ops_of(kernel: Kernel, *classes: type[Op]) -> list[Any]:
    return [op for op in kernel.walk() if isinstance(op, classes)]


def where(op: Op) -> str:
    """An op for people: what it does to what, and in which line."""
    about = next((getattr(op, n) for n in ("tensor", "buffer", "out", "value") if hasattr(op, n)), None)
    named = f" {about.name}" if isinstance(about, Value) else ""
    return f"{op.name}{named} line {op.span.line}"


# ---- barriers and waits -----------------------------------------------------------------------------------------


def barrier(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Drop a kept barrier, or one that the kernel asks for."""
    for op in ops_of(made.synced, Sync):
        if op.scope != "none":
            yield op.why, lambda op=op: Product(put(made.synced, op, ()))
    for op in ops_of(made.synced, Barrier):
        yield where(op), lambda op=op: Product(put(made.synced, op, ()))


def wait(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Wait for one group less, or not at all; leave a group open."""
    for op in ops_of(made.synced, Wait):
        more = op.replace(pending=op.pending + 1)
        yield f"pending {op.pending} raised", lambda op=op, more=more: Product(put(made.synced, op, (more,)))
        yield f"pending {op.pending} dropped", lambda op=op: Product(put(made.synced, op, ()))
    for op in ops_of(made.synced, Commit):
        yield "commit dropped", lambda op=op: Product(put(made.synced, op, ()))


# ---- buffers, slots and fills -----------------------------------------------------------------------------------


def buffer(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Give a buffer the bytes of its neighbour, a slot less, or an end that comes too soon."""
    kernel = made.synced
    allocs = ops_of(kernel, Alloc)
    for at, op in enumerate(allocs):
        other = allocs[(at + 1) % len(allocs)]
        if other.offset_bytes != op.offset_bytes:
            moved = op.replace(offset_bytes=other.offset_bytes)
            yield f"{op.label} over {other.label}", lambda op=op, moved=moved: Product(put(kernel, op, (moved,)))
        t = op.out.type
        if t.slots > 1:
            less = op.out.like(Buffer(t.elem, t.shape, t.layout, t.slots - 1))
            yield f"{op.label} a slot less", lambda op=op, less=less: Product(retyped(kernel, op.out, less))
    if allocs:
        yield "shared memory ends early", lambda: Product(kernel, llvm=_shorter)


def _shorter(text: str) -> str:
    found = re.search(r"^@smem_? = .*\[(\d+) x i8\]", text, re.MULTILINE)
    if found is None or found[1] == "0":
        raise NoMutant("the launch says how much shared memory there is")
    return text[: found.start(1)] + str(int(found[1]) - 1) + text[found.end(1) :]


SLOTS = (("slot", "buffer", "phase"), ("a_slot", "a", "a_phase"), ("b_slot", "b", "b_phase"))


def slots_of(op: Op) -> list[tuple[str, int, str]]:
    """The slot operands of an op into rings: field, slots of the ring, field of the phase."""
    found = []
    for slot, ring, phase in SLOTS:
        value = getattr(op, ring, None) if hasattr(op, slot) else None
        if isinstance(value, Value) and isinstance(value.type, Buffer) and value.type.slots > 1:
            found.append((slot, value.type.slots, phase))
    return found


def slot(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Take the next slot, or always the first."""
    for op in ops_of(made.synced, CopyAsync, Write, Read, DotFma):
        for name, slots, _ in slots_of(op):

            def next_one(op: Op = op, name: str = name, slots: int = slots) -> Product:
                b = Builder(op.span)
                there = b.rem(b.add(getattr(op, name), 1), slots)
                return Product(put(made.synced, op, (*b.take(), op.replace(**{name: there}))))

            def first(op: Op = op, name: str = name) -> Product:
                b = Builder(op.span)
                zero = b.const(0)
                return Product(put(made.synced, op, (*b.take(), op.replace(**{name: zero}))))

            yield f"{where(op)} {name} one on", next_one
            yield f"{where(op)} {name} 0", first


def phase(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Tell `sync` of another slot than the one that is meant, where it keeps a barrier less for it."""
    kept = len([op for op in ops_of(made.synced, Sync) if op.scope == "cta"])
    for op in ops_of(made.after["pipeline"], CopyAsync, Write, Read, DotFma):
        for _, slots, name in slots_of(op):

            def other(op: Op = op, slots: int = slots, name: str = name) -> Product:
                moved = op.replace(**{name: (getattr(op, name) + 1) % slots})
                kernel = put(made.after["pipeline"], op, (moved,))
                synced = finish(kernel, "pipeline", made.options)["sync"]
                if len([op for op in ops_of(synced, Sync) if op.scope == "cta"]) >= kept:
                    raise NoMutant("as many barriers as before")
                return Product(synced, (kernel,))

            if getattr(op, name) >= 0:
                yield f"{where(op)} {name}", other


def fill(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Do not fill a buffer: before the loop, in it or outside of any."""
    for op in ops_of(made.synced, CopyAsync, Write):
        yield where(op), lambda op=op: Product(put(made.synced, op, ()))


# ---- accesses ---------------------------------------------------------------------------------------------------


def guard(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Clear a guard, or one side of it, in the last form."""
    yield from _guards(made.synced, lambda kernel: Product(kernel))


def early_guard(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """The same behind `guard`, so that every later pass believes it."""

    def made_on(kernel: Kernel) -> Product:
        return Product(finish(kernel, "guard", made.options)["sync"], (kernel,))

    yield from _guards(made.after["guard"], made_on)


def _guards(kernel: Kernel, make: Callable[[Kernel], Product]) -> Iterator[tuple[str, Recipe]]:
    for op in ops_of(kernel, Load, Store, CopyAsync):
        for axis, flag in enumerate(op.guards):
            for less in GUARDED[flag]:
                guards = (*op.guards[:axis], less, *op.guards[axis + 1 :])
                changed = op.replace(guards=guards)
                yield (
                    f"{where(op)} axis {axis} {flag} to {less or 'none'}",
                    lambda op=op, changed=changed: make(put(kernel, op, (changed,))),
                )


def limit(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Let a mask end one element too late or too soon: by another limit, where the tensor keeps its extent."""
    kernel = made.after["guard"]
    for op in ops_of(kernel, Load, Store):
        for axis, flag in enumerate(op.guards):
            for by in (1, -1) if flag in ("hi", "both") else ():

                def moved(op: Load | Store = op, axis: int = axis, by: int = by) -> Product:
                    b = Builder(op.span)
                    limits = tuple(op.limits or op.extents)
                    number = next((c.value for c in ops_of(kernel, Const) if c.out is limits[axis]), None)
                    if number is None and limits[axis] not in kernel.dims:
                        raise NoMutant("the limit is computed on the way")
                    there = b.add(limits[axis], by) if number is None else b.const(int(number) + by)
                    changed = op.replace(limits=(*limits[:axis], there, *limits[axis + 1 :]))
                    wrong = put(kernel, op, (changed,))
                    # At the head, where passes that move the access leave it in reach.
                    wrong = wrong.replace(body=Block(wrong.body.params, (*b.take(), *wrong.body.ops)))
                    return Product(finish(wrong, "guard", made.options)["sync"], (wrong,))

                yield f"{where(op)} axis {axis} {by:+d}", moved


def width(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Access twice as many elements at once."""
    for op in ops_of(made.synced, Load, Store, LoadRun, StoreRun, CopyAsync, Write, Read, DotFma):
        for name in ("width", "a_width", "b_width"):
            if hasattr(op, name):
                wider = op.replace(**{name: 2 * getattr(op, name)})
                yield f"{where(op)} {name}", lambda op=op, wider=wider: Product(put(made.synced, op, (wider,)))


def invariant(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Believe of a tensor that the kernel writes that nothing writes it."""
    kernel = made.after["stage"]
    for op in ops_of(kernel, Load, LoadPoint, LoadRun):
        if not op.invariant:

            def believed(op: Load | LoadPoint | LoadRun = op) -> Product:
                wrong = put(kernel, op, (op.replace(invariant=True),))
                return Product(finish(wrong, "stage", made.options)["sync"], (wrong,))

            yield where(op), believed


def split(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Let the whole tiles of a split loop end, and its remainder begin, a little or a tile off."""
    kernel = made.after["split"]
    loops = ops_of(kernel, For)
    for op in loops:
        rest = next((o for o in loops if o.start is op.stop and o is not op), None)
        if op.part != "whole" or rest is None:
            continue
        for by in (-1, 1, "-tile", "+tile"):

            def moved(op: For = op, rest: For = rest, by: int | str = by) -> Product:
                if by == "-tile" and rest.part != "remainder":
                    raise NoMutant("the rest takes any number of trips, all masked")
                b = Builder(op.span)
                if isinstance(by, int):
                    middle = b.add(op.stop, by)
                else:
                    middle = b.sub(op.stop, op.step) if by == "-tile" else b.add(op.stop, op.step)
                changes = {op: (*b.take(), op.replace(stop=middle)), rest: (rest.replace(start=middle),)}
                wrong = put_all(kernel, changes)
                return Product(finish(wrong, "split", made.options)["sync"], (wrong,))

            yield f"line {op.span.line} {by:+d}" if isinstance(by, int) else f"line {op.span.line} {by}", moved


# ---- registers --------------------------------------------------------------------------------------------------


def registers(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Swap the first of a thread's registers with another where an op reads or makes a tile."""
    makers = (Load, Read, DotFma, Iota, Broadcast)
    readers = {Store: "value", Write: "value", DotFma: "acc"}
    readers |= {Binary: "a", Fma: "a", Compare: "a", Select: "a", Cast: "a"}
    for op in made.synced.walk():
        if isinstance(op, makers):
            yield from _swaps(made, op, op.out, "result", made_here=True)
        name = readers.get(type(op))
        if name is not None:
            yield from _swaps(made, op, getattr(op, name), name, made_here=False)


def _swaps(made: Compiled, op: Op, value: Value, what: str, made_here: bool) -> Iterator[tuple[str, Recipe]]:
    t = value.type
    if not isinstance(t, Tile) or t.layout is None or t.layout.registers < 2:
        return
    # Neighbours of one vector for what is read, far apart for what is made.
    at = t.layout.registers - 1 if made_here else 1

    def handled(f: Function, inner: Callable[[Function, Op], None]) -> None:
        if made_here:
            inner(f, op)
            f.cells[value] = _swapped(f.registers(value), at)
        else:
            kept = f.registers(value)
            f.cells[value] = _swapped(kept, at)
            inner(f, op)
            f.cells[value] = kept

    yield f"{where(op)} {what} 0 and {at}", lambda: Product(made.synced, patch=lambda: _hooked(op, handled))


def _swapped(cell: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    if cell[0] is cell[at]:
        raise NoMutant("both registers hold one value")
    new = list(cell)
    new[0], new[at] = new[at], new[0]
    return tuple(new)


def _hooked(
    target: Op, handled: Callable[[Function, Callable[[Function, Op], None]], None]
) -> AbstractContextManager[Any]:
    """Code generation that does something else for one op."""
    inner = HANDLERS[type(target)]

    def handler(f: Function, op: Op) -> None:
        if op is target:
            handled(f, lambda f, op: inner(f, op))
        else:
            inner(f, op)

    return replaced.dict(HANDLERS, {type(target): handler})  # type: ignore[arg-type]


def conversion(made: Compiled) -> Iterator[tuple[str, Recipe]]:
    """Take a tile's registers as they are where another layout is needed: no trip through shared memory."""
    kernel = made.synced
    for op in ops_of(kernel, Read):
        (written,) = [w for w in ops_of(kernel, Write) if w.buffer is op.buffer][:1] or [None]
        if written is None:
            continue

        def handled(f: Function, inner: Any, op: Read = op, written: Write = written) -> None:
            have, count = f.registers(written.value), f.layout(op.out).registers
            f.bind(op.out, [have[i % len(have)] for i in range(count)])

        yield where(op), lambda op=op, h=handled: Product(kernel, patch=lambda: _hooked(op, h))


MUTATIONS: dict[str, Mutation] = {
    "barrier": barrier, "buffer": buffer, "guard": guard, "early guard": early_guard, "registers": registers,
    "wait": wait, "slot": slot, "phase": phase, "fill": fill, "split": split, "width": width,
    "conversion": conversion, "invariant": invariant, "limit": limit,
}  # fmt: skip


def mutants(made: Compiled) -> dict[str, tuple[str, Recipe]]:
    """Every mutant of a case: its name leads to the kind of mutation and the recipe."""
    found: dict[str, tuple[str, Recipe]] = {}
    for kind, mutate in MUTATIONS.items():
        for text, recipe in mutate(made):
            name = f"{made.case.name}: {kind}: {text}"
            count = 2
            while name in found:
                name = f"{made.case.name}: {kind}: {text} ({count})"
                count += 1
            found[name] = (kind, recipe)
    return found


__all__ = ["MUTATIONS", "NoMutant", "Product", "mutants"]

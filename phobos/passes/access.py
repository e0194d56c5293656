"""How wide a thread may access a tensor, or a buffer as one: the widest vector whose alignment is proved, and what
limited it."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.core import Value
from ..ir.kernel import Fact
from ..ir.memory import is_shared
from ..ir.tile_ops import element
from .affine import Indices
from .choose import VECTOR_BYTES, power_of_two_in


@dataclass(frozen=True)
class Width:
    """Elements per access, the reason in words, the facts that the proof used.

    limited: a wider access would have suited the layout, and no proof allowed it. stated: bytes that the source's
    `align` says the access lies at a multiple of, which the launcher compares; 0 where it says nothing.
    """

    elems: int
    why: str
    facts: frozenset[Fact] = frozenset()
    limited: bool = False
    stated: int = 0


def access_width(
    indices: Indices,
    tensor: Value,
    offsets: tuple[Value, ...],
    extents: tuple[Value, ...],
    guards: tuple[str, ...],
    vector: int,
    verb: str = "accesses",
    end: Value | None = None,
) -> Width:
    """The widest access along the last axis for runs of `vector` consecutive elements (a power of two).

    A run of w elements is one access when the base is aligned, the start and the row pitch are multiples of w, and a
    mask on the last axis cannot cut the run: its end is a multiple of w too. end: where that is, when it is not the
    extent. verb: how the reasons call accesses.
    """
    end = extents[-1] if end is None or guards[-1] not in ("hi", "both") else end
    elem = element(tensor.type)
    size = elem.size_bytes
    widest = min(vector, max(VECTOR_BYTES // size, 1))
    base = _base(tensor)
    if widest == 1:
        return Width(1, "a thread holds single elements along the row")
    if base & indices.kernel.denied:
        return Width(1, f"the base address of {tensor.name} may not be a multiple of 16 bytes", limited=True)
    limit = ""
    w = widest
    while w > 1:
        facts = set(base)
        blocked, more = _blocked(indices, tensor, offsets, extents, guards, end, w, facts)
        if not blocked:
            if limit:
                return Width(w, f"{limit}; {w * size}-byte {verb}", frozenset(facts), limited=True)
            why = f"{w * size}-byte {verb}: {_proved(indices, tensor, offsets, extents, guards, end, w, facts)}"
            return Width(w, why, frozenset(facts))
        wide = f"{w * size}-byte {verb} of {elem}"
        limit = limit or f"{blocked}; " + (f"`{more}` would allow {wide}" if more else f"no {wide}")
        w //= 2
    return Width(1, limit, limited=True)


def run_width(
    indices: Indices,
    tensor: Value,
    offsets: tuple[Value, ...],
    extents: tuple[Value, ...],
    axis: int,
    n: int,
    align: int,
    verb: str,
) -> Width:
    """The widest access of a thread's own run of n elements along an axis.

    align: bytes that the source says the run's address is a multiple of, in place of what is proved; 0 says nothing.
    The address of a run of which the source says more than a proof does still depends on the base.
    """
    size = element(tensor.type).size_bytes
    vector = power_of_two_in(n)
    if axis != len(offsets) - 1:
        return Width(1, "the run goes across rows")
    if vector == 1:
        return Width(1, "a run of one element" if n == 1 else f"a run of {n} has no even parts")
    proved = access_width(indices, tensor, offsets, extents, ("",) * len(offsets), vector, verb)
    if not align:
        return proved
    stated = min(vector, max(VECTOR_BYTES // size, 1), max(align // size, 1))
    base = _base(tensor)
    if base & indices.kernel.denied:
        return proved
    facts = base if stated > 1 else frozenset[Fact]()
    said = stated * size if stated > 1 else 0
    if stated > proved.elems:
        why = f"{stated * size}-byte {verb}: `align = {align}` is trusted ({proved.why})"
    elif stated < proved.elems:
        narrower = f"`align = {align}` says no more, and {proved.elems * size} bytes are proved"
        why = f"{stated * size}-byte {verb}: {narrower}"
    else:
        facts |= proved.facts
        why = f"`align = {align}`, as proved: {proved.why}"
    return Width(stated, why, facts, stated=said)


def _base(memory: Value) -> frozenset[Fact]:
    """What says that the memory starts at a multiple of 16 bytes: the launch of a tensor, `pack` of a buffer."""
    return frozenset() if is_shared(memory) else frozenset({Fact("aligned_16", memory.name)})


def _pitched(rows: bool, guards: tuple[str, ...], ends_there: bool) -> bool:
    """Whether the last extent takes part: as the pitch of the rows, or where a mask ends that could cut a run."""
    return rows or (ends_there and guards[-1] in ("hi", "both"))


def _has_rows(indices: Indices, tensor: Value, offsets: tuple[Value, ...]) -> bool:
    """Whether the last extent is the distance of rows: not in rank 1, and not where strides are given."""
    return len(offsets) > 1 and not indices.kernel.strides_of(tensor)


def _blocked(
    indices: Indices,
    tensor: Value,
    offsets: tuple[Value, ...],
    extents: tuple[Value, ...],
    guards: tuple[str, ...],
    end: Value,
    w: int,
    facts: set[Fact],
) -> tuple[str, str]:
    """Why runs of w elements are not one access, "" when they are, with the facts used added; and the promise that
    would help, if one would."""
    start = indices.divides(w, offsets[-1])
    if start is None:
        return f"the start {offsets[-1].name} is only known to be a multiple of {_known(indices, offsets[-1])}", ""
    facts |= start
    if indices.kernel.strides_of(tensor):
        wide = w * element(tensor.type).size_bytes
        strides = Fact("pitch_16" if wide > 8 else "pitch_8", tensor.name)
        if strides in indices.kernel.denied:
            return f"the strides of {tensor.name} may not be multiples of {16 if wide > 8 else 8} bytes", ""
        facts.add(strides)
    rows = _has_rows(indices, tensor, offsets)
    if _pitched(rows, guards, extents[-1] is end):
        pitch = indices.divides(w, extents[-1])
        if pitch is None:
            number = indices.constant(extents[-1])
            what = "row pitch" if rows or len(offsets) == 1 else "extent"
            if number is not None:
                return f"the {what} is {number}", ""
            name = extents[-1].name
            known = _known(indices, extents[-1])
            return f"the {what} {name} is only known to be a multiple of {known}", f"@aligned({name} = {w})"
        facts |= pitch
    if end is not extents[-1]:
        whole = indices.divides(w, end)
        if whole is None:
            return f"the slice ends at {end.name}, only known to be a multiple of {_known(indices, end)}", ""
        facts |= whole
    return "", ""


def _proved(
    indices: Indices,
    tensor: Value,
    offsets: tuple[Value, ...],
    extents: tuple[Value, ...],
    guards: tuple[str, ...],
    end: Value,
    w: int,
    facts: set[Fact],
) -> str:
    """What a width rests on: the launch's facts and the promises by name."""
    pitched = _pitched(_has_rows(indices, tensor, offsets), guards, extents[-1] is end)
    multiples = "base, start and row pitch" if pitched else "base and start"
    if indices.kernel.strides_of(tensor):
        multiples = "base, start, strides and extent" if pitched else "base, start and strides"
    if end is not extents[-1]:
        multiples = multiples.replace(" and", ",") + " and end"
    given = [f"{f.subject} is assumed to be a multiple of 4" for f in sorted(facts) if f.kind == "multiple_of_4"]
    name = extents[-1].name
    if pitched and not given and indices.promised.get(name, 1) % w == 0:
        given.append(f"@aligned({name} = {indices.promised[name]})")
    return f"{multiples} are multiples of {w} elements" + (f" ({', '.join(given)})" if given else "")


def _known(indices: Indices, v: Value) -> int:
    return indices.divisor(v, set())

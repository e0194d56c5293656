"""How wide a thread may access a tensor: the widest vector whose alignment is proved, and what limited it."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.core import Value
from ..ir.kernel import Fact
from ..ir.types import Tensor
from .affine import Indices
from .choose import VECTOR_BYTES, power_of_two_in


@dataclass(frozen=True)
class Width:
    """Elements per access, the reason in words, the facts that the proof used.

    limited: a wider access would have suited the layout, and no proof allowed it.
    """

    elems: int
    why: str
    facts: frozenset[Fact] = frozenset()
    limited: bool = False


def access_width(
    indices: Indices,
    tensor: Value,
    offsets: tuple[Value, ...],
    extents: tuple[Value, ...],
    guards: tuple[str, ...],
    vector: int,
    verb: str = "accesses",
) -> Width:
    """The widest access along the last axis for runs of `vector` consecutive elements (a power of two).

    A run of w elements is one access when the base is aligned, the start and the row pitch are multiples of w, and a
    mask on the last axis cannot cut the run, which the same divisibility gives. verb: how the reasons call accesses.
    """
    assert isinstance(tensor.type, Tensor)
    elem = tensor.type.elem
    size = elem.size_bytes
    widest = min(vector, max(VECTOR_BYTES // size, 1))
    base = Fact("aligned_16", tensor.name)
    if widest == 1:
        return Width(1, "a thread holds single elements along the row")
    if base in indices.kernel.denied:
        return Width(1, f"the base address of {tensor.name} may not be a multiple of 16 bytes", limited=True)
    limit = ""
    w = widest
    while w > 1:
        facts: set[Fact] = {base}
        blocked, more = _blocked(indices, offsets, extents, guards, w, facts)
        if not blocked:
            if limit:
                return Width(w, f"{limit}; {w * size}-byte {verb}", frozenset(facts), limited=True)
            why = f"{w * size}-byte {verb}: {_proved(indices, offsets, extents, guards, w, facts)}"
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
    assert isinstance(tensor.type, Tensor)
    size = tensor.type.elem.size_bytes
    vector = power_of_two_in(n)
    if axis != len(offsets) - 1:
        return Width(1, "the run goes across rows")
    if vector == 1:
        return Width(1, "a run of one element" if n == 1 else f"a run of {n} has no even parts")
    proved = access_width(indices, tensor, offsets, extents, ("",) * len(offsets), vector, verb)
    if not align:
        return proved
    stated = min(vector, max(VECTOR_BYTES // size, 1), max(align // size, 1))
    base = Fact("aligned_16", tensor.name)
    if base in indices.kernel.denied:
        return proved
    facts = frozenset({base} if stated > 1 else ())
    if stated > proved.elems:
        return Width(stated, f"{stated * size}-byte {verb}: `align = {align}` is trusted ({proved.why})", facts)
    if stated < proved.elems:
        narrower = f"`align = {align}` says no more, and {proved.elems * size} bytes are proved"
        return Width(stated, f"{stated * size}-byte {verb}: {narrower}", facts)
    return Width(stated, f"`align = {align}`, as proved: {proved.why}", facts)


def _pitched(offsets: tuple[Value, ...], guards: tuple[str, ...]) -> bool:
    """Whether the last extent takes part: as the pitch of the rows, or as a mask that could cut a run."""
    return len(offsets) > 1 or guards[-1] in ("hi", "both")


def _blocked(
    indices: Indices,
    offsets: tuple[Value, ...],
    extents: tuple[Value, ...],
    guards: tuple[str, ...],
    w: int,
    facts: set[Fact],
) -> tuple[str, str]:
    """Why runs of w elements are not one access, "" when they are, with the facts used added; and the promise that
    would help, if one would."""
    start = indices.divides(w, offsets[-1])
    if start is None:
        return f"the start {offsets[-1].name} is only known to be a multiple of {_known(indices, offsets[-1])}", ""
    facts |= start
    if _pitched(offsets, guards):
        pitch = indices.divides(w, extents[-1])
        if pitch is None:
            number = indices.constant(extents[-1])
            if number is not None:
                return f"the row pitch is {number}", ""
            name = extents[-1].name
            known = _known(indices, extents[-1])
            return f"the row pitch {name} is only known to be a multiple of {known}", f"@aligned({name} = {w})"
        facts |= pitch
    return "", ""


def _proved(
    indices: Indices,
    offsets: tuple[Value, ...],
    extents: tuple[Value, ...],
    guards: tuple[str, ...],
    w: int,
    facts: set[Fact],
) -> str:
    """What a width rests on: the launch's facts and the promises by name."""
    multiples = "base, start and row pitch" if _pitched(offsets, guards) else "base and start"
    given = [f"{f.subject} is assumed to be a multiple of 4" for f in sorted(facts) if f.kind == "multiple_of_4"]
    name = extents[-1].name
    if _pitched(offsets, guards) and not given and indices.promised.get(name, 1) % w == 0:
        given.append(f"@aligned({name} = {indices.promised[name]})")
    return f"{multiples} are multiples of {w} elements" + (f" ({', '.join(given)})" if given else "")


def _known(indices: Indices, v: Value) -> int:
    return indices.divisor(v, set())

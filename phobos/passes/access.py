"""How wide a thread may access a tensor: the widest vector whose alignment is proved, and what limited it."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.core import Value
from ..ir.kernel import Fact
from ..ir.types import Tensor
from .affine import Indices
from .choose import VECTOR_BYTES


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
) -> Width:
    """The widest access along the last axis for runs of `vector` consecutive elements (a power of two).

    A run of w elements is one access when the base is aligned, the start and the row pitch are multiples of w, and a
    mask on the last axis cannot cut the run, which the same divisibility gives.
    """
    assert isinstance(tensor.type, Tensor)
    size = tensor.type.elem.size_bytes
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
        blocked = _blocked(indices, offsets, extents, guards, w, facts)
        if not blocked:
            if limit:
                return Width(w, f"{limit}; {w * size}-byte accesses", frozenset(facts), limited=True)
            why = f"{w * size}-byte accesses: base, start and row pitch are multiples of {w} elements"
            return Width(w, why, frozenset(facts))
        limit = limit or f"{blocked}, so no {w * size}-byte access"
        w //= 2
    return Width(1, limit, limited=True)


def _blocked(
    indices: Indices,
    offsets: tuple[Value, ...],
    extents: tuple[Value, ...],
    guards: tuple[str, ...],
    w: int,
    facts: set[Fact],
) -> str:
    """Why runs of w elements are not one access; "" when they are, with the facts used added."""
    start = indices.divides(w, offsets[-1])
    if start is None:
        return f"the start {offsets[-1].name} is only known to be a multiple of {_known(indices, offsets[-1])}"
    facts |= start
    if len(offsets) > 1 or guards[-1] in ("hi", "both"):
        pitch = indices.divides(w, extents[-1])
        if pitch is None:
            number = indices.constant(extents[-1])
            if number is not None:
                return f"the row pitch is {number}"
            name = extents[-1].name
            known = _known(indices, extents[-1])
            return f"the row pitch {name} is only known to be a multiple of {known} (@aligned({name} = {w}) says more)"
        facts |= pitch
    return ""


def _known(indices: Indices, v: Value) -> int:
    return indices.divisor(v, set())

"""How types meet: the joins, stores and shape rules of spec section 2, as pure functions on types.

Three scalar types exist only while checking: the types of literals that have not met a type yet, and `ERROR`, which
agrees with everything so that one mistake gives one error. `Pending` is the type of an elementwise expression that
holds an `iota` whose shape is not known yet. None of them is left in a finished tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..ir.types import BF16, BOOL, F16, F32, F64, I8, I32, I64, INDEX, U8, Scalar, Tensor, Tile, Type, Vec

ERROR = Scalar("?", "error", 0)
VOID = Scalar("nothing", "void", 0)
INT_LITERAL = Scalar("integer literal", "index", 64)
FLOAT_LITERAL = Scalar("float literal", "float", 32)

SOURCE_SCALARS: dict[str, Scalar] = {s.name: s for s in (F16, BF16, F32, F64, I8, U8, I32, I64, BOOL)}
CONVERSIONS: dict[str, Scalar] = {n: s for n, s in SOURCE_SCALARS.items() if s != BOOL}
MAX_RANK = 5


@dataclass(frozen=True, slots=True)
class Pending(Type):
    """An elementwise tile with an `iota` in it: `shape` is what the other operands said so far, () for nothing."""

    elem: Scalar
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"tile<{self.elem}> of the shape around it"


def elem_of(t: Type) -> Scalar:
    """The element type; a scalar is its own."""
    if isinstance(t, Scalar):
        return t
    assert isinstance(t, Tile | Pending | Vec | Tensor)
    return t.elem


def is_literal(t: Type) -> bool:
    return t in (INT_LITERAL, FLOAT_LITERAL)


def is_number(s: Scalar) -> bool:
    return s.is_float or s.is_int


def settled(s: Scalar) -> Scalar:
    """The type that a literal has when it stands alone."""
    if s == INT_LITERAL:
        return INDEX
    return F32 if s == FLOAT_LITERAL else s


def with_elem(t: Type, elem: Scalar) -> Type:
    """The same kind and shape with another element type."""
    if isinstance(t, Tile):
        return Tile(elem, t.shape)
    if isinstance(t, Pending):
        return Pending(elem, t.shape)
    if isinstance(t, Vec):
        return Vec(elem, t.n)
    return elem


# ---- joins ----------------------------------------------------------------------------------------------


def join(a: Scalar, b: Scalar, *, shaped: bool) -> Scalar | None:
    """The type in which an operation on `a` and `b` is done; None where there is none.

    shaped: an operand is a tile or a run, where an integer meets a float by becoming one.
    """
    if a == b:
        return a
    if not is_number(a) or not is_number(b):
        return None
    if a == INT_LITERAL or b == INT_LITERAL:
        return b if a == INT_LITERAL else a
    if a.is_float != b.is_float:
        return settled(a if a.is_float else b) if shaped else None
    return _join_floats(a, b) if a.is_float else _join_ints(a, b)


def _join_floats(a: Scalar, b: Scalar) -> Scalar:
    if a == FLOAT_LITERAL or b == FLOAT_LITERAL:
        return b if a == FLOAT_LITERAL else a
    if {a, b} == {F16, BF16}:
        return F32
    return a if a.bits > b.bits else b


def _join_ints(a: Scalar, b: Scalar) -> Scalar:
    """`index` is 32 or 64 bits wide: it takes in everything up to i32, and i64 takes in both."""
    if {a, b} == {I8, U8}:
        return I32
    order = (I8, U8, I32, INDEX, I64)
    return max(a, b, key=order.index)


def may_store(source: Scalar, target: Scalar, *, memory: bool) -> bool:
    """May a value of `source` be stored as `target` without a conversion being written?

    memory: the target is an element of a tensor or tile, where an integer may narrow (it wraps).
    """
    if source == target or ERROR in (source, target):
        return True
    if not is_number(source) or not is_number(target):
        return False
    if target.is_float:
        return True
    if source.is_float:
        return False
    if memory:
        return True
    if source == INDEX:
        return target in (I32, I64)
    if target == INDEX:
        return source != I64
    return target.bits > source.bits


def sum_type(s: Scalar) -> Scalar:
    """The type in which elements of `s` are added up."""
    if s.is_float:
        return F64 if s == F64 else F32
    return s if s in (I64, INDEX) else I32


def dot_type(a: Scalar, b: Scalar) -> Scalar | None:
    """The accumulator's type of a contraction; None where the operands do not go together."""
    if a.is_float and b.is_float:
        return F64 if F64 in (a, b) else F32
    ints = (I8, U8, I32)
    return I32 if a in ints and b in ints else None


# ---- values ---------------------------------------------------------------------------------------------

_FLOAT_FORMATS: dict[Scalar, tuple[int, int, float]] = {
    # bits of precision, exponent of the smallest quantum, largest finite value
    F16: (11, -24, 65504.0),
    BF16: (8, -133, float.fromhex("0x1.fep127")),
    F32: (24, -149, float.fromhex("0x1.fffffep127")),
}


def int_range(s: Scalar) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    if s.kind == "uint":
        return 0, (1 << s.bits) - 1
    return -(1 << (s.bits - 1)), (1 << (s.bits - 1)) - 1


def wrapped(value: int, s: Scalar) -> int:
    """`value` modulo the width of an integer type."""
    low, _ = int_range(s)
    return (value - low) % (1 << s.bits) + low


def fitted(value: int | float, s: Scalar) -> int | float | None:
    """A literal's value as `s`, floats rounded to nearest even; None where it does not fit."""
    if s.is_int:
        low, high = int_range(s)
        return value if isinstance(value, int) and low <= value <= high else None
    try:
        value = float(value)
    except OverflowError:
        return None
    if s == F64 or not math.isfinite(value) or value == 0.0:
        return value
    precision, least, greatest = _FLOAT_FORMATS[s]
    _, exponent = math.frexp(value)
    quantum = max(exponent - precision, least)
    rounded = math.ldexp(round(math.ldexp(value, -quantum)), quantum)
    return math.copysign(rounded, value) if abs(rounded) <= greatest else None


# ---- shapes ---------------------------------------------------------------------------------------------


def aligned_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Both shapes at one rank, by dropping leading 1s of the longer one; None where that does not help."""
    while len(a) > len(b) and a[0] == 1:
        a = a[1:]
    while len(b) > len(a) and b[0] == 1:
        b = b[1:]
    return (a, b) if len(a) == len(b) else None


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of an elementwise operation: axes of extent 1 stretch; None where the shapes do not go together."""
    pair = aligned_shapes(a, b)
    if pair is None:
        return None
    shape = []
    for m, n in zip(*pair, strict=True):
        if m != n and 1 not in (m, n):
            return None
        shape.append(n if m == 1 else m)
    return tuple(shape)


def same_but_units(a: Sequence[int], b: Sequence[int]) -> bool:
    """Are the shapes the same once axes of extent 1 are dropped?"""
    return [n for n in a if n != 1] == [n for n in b if n != 1]


def as_rank(shape: tuple[int, ...], rank: int) -> tuple[int, ...] | None:
    """A shape at a rank: 1s are added in front or dropped, leading ones first; None where it has more real axes."""
    axes = [1] * (rank - len(shape)) + list(shape)
    while len(axes) > rank:
        if 1 not in axes:
            return None
        axes.remove(1)
    return tuple(axes)


def as_rank2(shape: tuple[int, ...]) -> tuple[int, int] | None:
    """A shape at rank 2, as `as_rank` makes it."""
    axes = as_rank(shape, 2)
    return None if axes is None else (axes[0], axes[1])


def shape_text(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"

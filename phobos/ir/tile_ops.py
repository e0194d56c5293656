"""Tile ops: what a kernel means, before anything is said about threads (forms "built" to "placed").

Elementwise ops work on scalars, tiles and a thread's own runs (`vec`); operands and result have the same shape.
Interpreted by `interp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from .core import Block, Effect, Op, Value, attribute, op, operand, region, result
from .memory import GUARDS, SCOPES, check_access, check_point, scope_named
from .types import BOOL, I32, INDEX, Buffer, Scalar, Tensor, Tile, Type, Vec

__all__ = ["GUARDS", "SCOPES", "scope_named"]  # re-exported; the ops are imported by name

UNARY = (
    "neg",
    "not",
    "inv",
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "tanh",
    "sin",
    "cos",
    "abs",
    "floor",
    "ceil",
    "round",
)
BINARY = ("add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr", "min", "max", "pow")
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


def element(t: Type) -> Scalar:
    """Element type of a scalar, tile, vec, tensor or buffer."""
    if isinstance(t, Scalar):
        return t
    assert isinstance(t, Tile | Tensor | Vec | Buffer)
    return t.elem


def shape_of(t: Type) -> tuple[int, ...]:
    """Shape of a tile or vec; () for a scalar."""
    if isinstance(t, Vec):
        return (t.n,)
    return t.shape if isinstance(t, Tile) else ()


def _same(where: str, *types: Type) -> Iterator[str]:
    if len(set(types)) > 1:
        yield f"{where} differ: {', '.join(map(str, types))}"


def _same_place(where: str, *types: Type) -> Iterator[str]:
    """Same kind, shape and layout; elements may differ."""
    places = {(type(t), shape_of(t), t.layout if isinstance(t, Tile) else None) for t in types}
    if len(places) > 1:
        yield f"{where} differ: {', '.join(map(str, types))}"


@op("const")
class Const(Op):
    """A scalar constant of the result's type."""

    value: int | float | bool = attribute()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if not isinstance(self.out.type, Scalar):
            yield f"result is {self.out.type}"


@op("program_id")
class ProgramId(Op):
    """The CTA's index along a grid axis (0 x, 1 y, 2 z). Uniform, index."""

    axis: int = attribute()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        yield from _grid_axis(self.axis, self.out)


@op("grid_size")
class GridSize(Op):
    """The number of CTAs along a grid axis. Uniform, index."""

    axis: int = attribute()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        yield from _grid_axis(self.axis, self.out)


def _grid_axis(axis: int, out: Value) -> Iterator[str]:
    if axis not in (0, 1, 2):
        yield f"no grid axis {axis}"
    yield from _same("types", INDEX, out.type)


@op("unary")
class Unary(Op):
    """One of UNARY, element by element, rounded to the element type. round: ties to even."""

    kind: str = attribute()
    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if self.kind not in UNARY:
            yield f"unknown kind {self.kind}"
        yield from _same("types", self.a.type, self.out.type)


@op("binary")
class Binary(Op):
    """One of BINARY, element by element, rounded to the element type.

    Integers wrap; div and rem truncate toward zero, by zero they give an unspecified value without a trap; shift counts
    are modulo the width; shr is arithmetic on signed types. min and max give the number when one operand is NaN.
    """

    kind: str = attribute()
    a: Value = operand()
    b: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if self.kind not in BINARY:
            yield f"unknown kind {self.kind}"
        yield from _same("types", self.a.type, self.b.type, self.out.type)


@op("compare")
class Compare(Op):
    """One of COMPARE, IEEE on floats (ne is true on NaN). The result's element type is bool."""

    kind: str = attribute()
    a: Value = operand()
    b: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if self.kind not in COMPARE:
            yield f"unknown kind {self.kind}"
        yield from _same("types", self.a.type, self.b.type)
        yield from _same_place("shapes", self.a.type, self.out.type)
        if element(self.out.type) != BOOL:
            yield f"result is {self.out.type}"


@op("select")
class Select(Op):
    """a where cond is true, else b."""

    cond: Value = operand()
    a: Value = operand()
    b: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        yield from _same("types", self.a.type, self.b.type, self.out.type)
        yield from _same_place("shapes", self.cond.type, self.out.type)
        if element(self.cond.type) != BOOL:
            yield f"condition is {self.cond.type}"


@op("fma")
class Fma(Op):
    """a * b + c with one rounding, in the element type."""

    a: Value = operand()
    b: Value = operand()
    c: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        yield from _same("types", self.a.type, self.b.type, self.c.type, self.out.type)


@op("cast")
class Cast(Op):
    """Element conversion: to nearest even between floats, float to int truncates and saturates (NaN gives 0),
    int to narrower int wraps."""

    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        yield from _same_place("shapes", self.a.type, self.out.type)


@op("splat")
class Splat(Op):
    """A tile or vec with every element equal to a scalar."""

    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if self.a.type != element(self.out.type):
            yield f"{self.a.type} into {self.out.type}"


@op("broadcast")
class Broadcast(Op):
    """Repeat a tile along the axes where it has extent 1; the rank stays."""

    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        old, new = shape_of(self.a.type), shape_of(self.out.type)
        yield from _same("elements", element(self.a.type), element(self.out.type))
        if len(old) != len(new) or any(o not in (1, n) for o, n in zip(old, new, strict=True)):
            yield f"{self.a.type} into {self.out.type}"


@op("reshape")
class Reshape(Op):
    """The same elements, row by row, in another shape: axes of extent 1 added or dropped, or rows laid end to end."""

    a: Value = operand()
    out: Value = result()

    @property
    def keeps_axes(self) -> bool:
        """Whether only axes of extent 1 come and go."""
        old, new = ([s for s in shape_of(t) if s != 1] for t in (self.a.type, self.out.type))
        return old == new

    def verify(self) -> Iterator[str]:
        yield from _same("elements", element(self.a.type), element(self.out.type))
        if prod(shape_of(self.a.type)) != prod(shape_of(self.out.type)):
            yield f"{self.a.type} into {self.out.type}"


@op("iota")
class Iota(Op):
    """An i32 tile holding each element's index along an axis."""

    axis: int = attribute()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if element(self.out.type) != I32 or not 0 <= self.axis < len(shape_of(self.out.type)):
            yield f"axis {self.axis} of {self.out.type}"


@op("load", effects=Effect.READ_GLOBAL, memory="tensor")
class Load(Op):
    """Read a tile of `out`'s shape whose corner is at `offsets`. Elements that a guard masks read 0.

    tensor: a tensor, or a shared buffer of one slot that keeps a tile of the source; so it is in every access.
    extents: the tensor's extent on each axis (index values), for addresses and guards. guards: one of GUARDS per axis:
    "hi" masks coordinates at or past the extent, "lo" negative ones, "both" both. why: the reason of each guard.
    limits: where "hi" ends on each axis, no more than the extent, when that is not the extent (none: the extents).
    width: elements per memory access, 0 before `stage`; width_why says what limited it. invariant: nothing writes the
    tensor while the kernel runs, so the read-only path may be used.
    """

    tensor: Value = operand()
    offsets: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    limits: tuple[Value, ...] = operand(default=())
    guards: tuple[str, ...] = attribute()
    why: tuple[str, ...] = attribute(default=())
    width: int = attribute(default=0)
    width_why: str = attribute(default="")
    invariant: bool = attribute(default=False)
    out: Value = result()

    @property
    def ends(self) -> tuple[Value, ...]:
        """Where "hi" ends on each axis."""
        return self.limits or self.extents

    def verify(self) -> Iterator[str]:
        tile = self.out.type
        yield from check_access(self.tensor, self.offsets, self.extents, self.limits, self.guards, tile)


@op("store", effects=Effect.WRITE_GLOBAL, memory="tensor")
class Store(Op):
    """Write a tile with its corner at `offsets`; masked elements are not written. Fields as in `load`."""

    tensor: Value = operand()
    offsets: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    value: Value = operand()
    limits: tuple[Value, ...] = operand(default=())
    guards: tuple[str, ...] = attribute()
    why: tuple[str, ...] = attribute(default=())
    width: int = attribute(default=0)
    width_why: str = attribute(default="")

    @property
    def ends(self) -> tuple[Value, ...]:
        """Where "hi" ends on each axis."""
        return self.limits or self.extents

    def verify(self) -> Iterator[str]:
        tile = self.value.type
        yield from check_access(self.tensor, self.offsets, self.extents, self.limits, self.guards, tile)


@op("load_point", effects=Effect.READ_GLOBAL, memory="tensor")
class LoadPoint(Op):
    """Read one element, unmasked, in every active thread.

    scope: "cta" when all threads are there and read the same element, "warp" when those of a warp do, "thread" when
    each is on its own; then it is ordered against other threads' accesses by a `barrier` alone.
    """

    tensor: Value = operand()
    offsets: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    scope: str = attribute(default="cta")
    invariant: bool = attribute(default=False)
    out: Value = result()

    def verify(self) -> Iterator[str]:
        yield from check_point(self.tensor, self.offsets, self.extents, self.out.type, self.scope)


@op("store_point", effects=Effect.WRITE_GLOBAL, memory="tensor")
class StorePoint(Op):
    """Write one scalar, unmasked.

    scope: "cta" once, by one thread; "warp" once in each warp; "thread" by each active thread.
    """

    tensor: Value = operand()
    offsets: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    value: Value = operand()
    scope: str = attribute(default="cta")

    def verify(self) -> Iterator[str]:
        yield from check_point(self.tensor, self.offsets, self.extents, self.value.type, self.scope)


@op("dot")
class Dot(Op):
    """out = acc + a b, accumulated in acc's element type, k ascending, one fma per step (floats).

    a is [M, K]; b is [K, N], or [N, K] when trans_b. Operands are converted exactly to acc's element type first.
    """

    a: Value = operand()
    b: Value = operand()
    acc: Value = operand()
    trans_b: bool = attribute(default=False)
    out: Value = result()

    def verify(self) -> Iterator[str]:
        a, b, acc = self.a.type, self.b.type, self.acc.type
        if not (isinstance(a, Tile) and isinstance(b, Tile) and isinstance(acc, Tile)):
            yield "operands must be tiles"
            return
        if not len(a.shape) == len(b.shape) == len(acc.shape) == 2:
            yield f"ranks of {a}, {b} and {acc} are not 2"
            return
        k, n = (b.shape[1], b.shape[0]) if self.trans_b else b.shape
        if a.shape[1] != k:
            yield f"contracts {a.shape[1]} with {k}"
        if acc.shape != (a.shape[0], n) or acc != self.out.type:
            yield f"accumulates {a} and {b} on {acc} into {self.out.type}"


@op("require", effects=Effect.ORDER)
class Require(Op):
    """Trap the kernel unless cond is true; `text` says what was promised. Uniform."""

    cond: Value = operand()
    text: str = attribute()

    def verify(self) -> Iterator[str]:
        yield from _same("types", BOOL, self.cond.type)


@op("for")
class For(Op):
    """Run body for iv in range(start, stop, step), step positive, carrying values.

    body has parameters (iv, carried..) and yields the next carried values; outs are the last ones. stages: buffers
    asked of `pipeline`, 0 for none. part: "" for an entire loop; a split one is "whole" and then "remainder", of 0 or 1
    trips, or "tail", of any number. unroll: a count asked for, 0 for none.
    """

    start: Value = operand()
    stop: Value = operand()
    step: Value = operand()
    inits: tuple[Value, ...] = operand()
    unroll: int = attribute(default=0)
    stages: int = attribute(default=0)
    part: str = attribute(default="")
    body: Block = region()
    outs: tuple[Value, ...] = result()

    def verify(self) -> Iterator[str]:
        if len(self.body.params) != 1 + len(self.inits) or len(self.outs) != len(self.inits):
            yield f"carries {len(self.inits)} values, body takes {len(self.body.params) - 1}, gives {len(self.outs)}"
            return
        yield from _same(
            "types of the bounds", self.start.type, self.stop.type, self.step.type, self.body.params[0].type
        )
        for i, p, o in zip(self.inits, self.body.params[1:], self.outs, strict=True):
            yield from _same(f"types of carried {p}", i.type, p.type, o.type)


@op("while")
class While(Op):
    """Evaluate `cond` (a block that yields a bool and the carried values), then `body`, until it is false.

    Both blocks take the carried values; body yields the next ones; outs are those that cond yielded last.
    """

    inits: tuple[Value, ...] = operand()
    cond: Block = region()
    body: Block = region()
    outs: tuple[Value, ...] = result()

    def verify(self) -> Iterator[str]:
        if not len(self.inits) == len(self.cond.params) == len(self.body.params) == len(self.outs):
            yield (
                f"carries {len(self.inits)} values, the condition takes {len(self.cond.params)}, "
                f"the body {len(self.body.params)}, gives {len(self.outs)}"
            )
            return
        for values in zip(self.inits, self.cond.params, self.body.params, self.outs, strict=True):
            yield from _same(f"types of carried {values[1]}", *(v.type for v in values))


@op("if")
class If(Op):
    """Run one of two blocks; both yield values of outs' types. Where cond differs between threads they part."""

    cond: Value = operand()
    then: Block = region()
    orelse: Block = region()
    outs: tuple[Value, ...] = result()

    def verify(self) -> Iterator[str]:
        yield from _same("types", BOOL, self.cond.type)
        if self.then.params or self.orelse.params:
            yield "its blocks take no parameters"


@op("yield", terminator=True)
class Yield(Op):
    """End a block, handing values to the op that owns it."""

    values: tuple[Value, ...] = operand()


@op("convert")
class Convert(Op):
    """The same tile in another register layout. Stands only where two layout classes meet.

    From `staged` on it moves elements between the lanes of a warp alone; others have become a `write` and a `read`.
    """

    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        yield from _same("elements", element(self.a.type), element(self.out.type))
        if shape_of(self.a.type) != shape_of(self.out.type):
            yield f"{self.a.type} into {self.out.type}"


ELEMENTWISE = (Unary, Binary, Compare, Select, Fma, Cast)
"""Ops that make each element of their result from the elements of their operands at the same place."""

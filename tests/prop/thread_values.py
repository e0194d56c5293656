"""What a thread of a random program reads and writes: its own elements and runs, and values of its own.

`Touched` knows what single threads have met, so that `thread_programs` can put barriers where they must stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.prop.productions import LATER
from tests.prop.shape_expressions import ShapeExpressions
from tests.prop.subscripts import Cta, Made, Meaning, Piece, Scope, convert

BYTES = {"i8": 1, "u8": 1, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
COMPARES: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip


class ExitError(Exception):
    """break, continue or return."""

    def __init__(self, how: str) -> None:
        self.how = how


@dataclass(frozen=True)
class Spot:
    """An element of a tensor for each thread, or the run of `n` along `axis` that starts there.

    own: no two threads of a CTA have an element in common.
    """

    made: Made
    at: tuple[Piece, ...]
    own: bool
    axis: int = -1
    n: int = 1

    @property
    def text(self) -> str:
        subscripts = [f"{p.text} :+ {self.n}" if a == self.axis else p.text for a, p in enumerate(self.at)]
        return f"{self.made.name}[{', '.join(subscripts)}]"

    def place(self, c: Cta) -> tuple[Any, ...]:
        numbers = [int(p.do(c)) for p in self.at]
        found = [slice(x, x + self.n) if a == self.axis else x for a, x in enumerate(numbers)]
        for a, (x, extent) in enumerate(zip(numbers, self.made.shape, strict=True)):
            assert 0 <= x <= extent - (self.n if a == self.axis else 1), f"{self.text} is not guarded"
        return tuple(found)

    def read(self, c: Cta) -> Any:
        return np.array(c.memory(self.made.name)[self.place(c)])

    def write(self, c: Cta, value: Any) -> None:
        at = self.place(c)
        c.to_write(self.made.name)[at] = value


@dataclass
class Touched:
    """What single threads have read and written."""

    spots: list[tuple[Spot, bool]] = field(default_factory=list)
    unknown: bool = False
    """Anything may have been met, anyhow."""

    def clashes(self, other: Touched) -> bool:
        if self.unknown and other.spots:
            return True
        return any(
            a.made.name == b.made.name and (w or v) and not (a.text == b.text and a.own and b.own)
            for a, w in self.spots
            for b, v in other.spots
        )


@dataclass
class Group:
    """A statement of single threads in the making."""

    index: Piece
    """Differs in every thread, 0 or more."""
    touched: Touched = field(default_factory=Touched)
    guards: list[tuple[Piece, Piece]] = field(default_factory=list)
    """Left sides that must be less than right ones."""

    def guarded(self, lines: list[str], do: Meaning) -> tuple[list[str], Meaning]:
        """Do it where the guards hold."""
        guards = list({(a.text, b.text): (a, b) for a, b in self.guards}.values())
        self.guards.clear()
        if not guards:
            return lines, do
        condition = " && ".join(f"{a.text} < {b.text}" for a, b in guards)

        def run(c: Cta) -> None:
            if all(a.do(c) < b.do(c) for a, b in guards):
                do(c)

        return [f"if {condition} {{", *("  " + line for line in lines), "}"], run


def number(n: int) -> Piece:
    return Piece(str(n), lambda c: n)


class ThreadValues(ShapeExpressions):
    """Makes places and scalars that differ from thread to thread."""

    # ---- where ------------------------------------------------------------------------------------------------------

    def thread_number(self) -> Piece:
        """A number that differs in every thread of the CTA, and mostly in every thread of the grid's axis."""
        r = self.rng
        if self.axes and r.random() < 0.7:
            axis = r.choice(sorted(self.axes))
            self.note("thread of the grid")
            return Piece(f"(ctx.block.{axis} * ctx.threads + ctx.thread)",
                         lambda c: c.values[axis] * self.threads + c.values["thread"])  # fmt: skip
        if r.random() < 0.25:
            self.note("ctx.warp and ctx.lane")
            return Piece("(ctx.warp * ctx.lanes + ctx.lane)", lambda c: c.values["thread"])
        self.note("ctx.thread")
        return Piece("ctx.thread", lambda c: c.values["thread"])

    def extent(self, made: Made, axis: int) -> Piece:
        dim = made.dims[axis]
        return number(dim) if isinstance(dim, int) else Piece(dim, lambda c: c.values[dim])

    def candidates(self, scope: Scope, written: bool) -> list[Made]:
        found = self.tensors if "tile point" in LATER else self.memories(scope, written)
        return [m for m in found if 0 not in m.shape and m.elem != "bool"]

    def spot(self, scope: Scope, group: Group, written: bool, made: Made | None = None) -> Spot:
        """An element for each thread, with what guards it."""
        r = self.rng
        if made is None:
            made = r.choice(self.candidates(scope, written) or self.nothing())
        rank = len(made.dims)
        at = [self.point_in(d, e) for d, e in zip(made.dims, made.shape, strict=True)]
        axis = max(r.sample(range(rank), 2 if rank > 1 else 1), key=lambda a: made.shape[a])
        roll = r.random()
        if rank > 1 and roll < 0.2:
            a, b = r.sample(range(rank), 2)
            warp = Piece("ctx.warp", lambda c: c.values["thread"] // 32)
            lane = Piece("ctx.lane", lambda c: c.values["thread"] % 32)
            at[a], at[b] = warp, lane
            group.guards += [(warp, self.extent(made, a)), (lane, self.extent(made, b))]
            self.note("spot: warp and lane")
        elif rank > 1 and roll < 0.35:
            a, b = r.sample(range(rank), 2)
            by, i = self.extent(made, b), group.index
            at[a] = Piece(f"{i.text} / {by.text}", lambda c: i.do(c) // by.do(c))
            at[b] = Piece(f"{i.text} % {by.text}", lambda c: i.do(c) % by.do(c))
            group.guards.append((at[a], self.extent(made, a)))
            self.note("spot: quotient and remainder")
        elif roll < 0.5:
            i, extent = group.index, self.extent(made, axis)
            at[axis] = Piece(f"{extent.text} - 1 - {i.text}", lambda c: extent.do(c) - 1 - i.do(c))
            group.guards.append((i, extent))
            self.note("spot: reversed")
        else:
            by = number(r.choice((0, 0, 0, 0, 1, 2, 4, 5)))
            i, plus = group.index, by.do
            at[axis] = Piece(f"{i.text} + {by.text}", lambda c: i.do(c) + plus(c)) if by.text != "0" else i
            group.guards.append((at[axis], self.extent(made, axis)))
            self.note("spot: thread")
        found = Spot(made, tuple(at), True)
        group.touched.spots.append((found, written))
        if made not in self.tensors:
            self.note("tile point of a thread")
        return found

    def nothing(self) -> list[Made]:
        raise LookupError

    # ---- what -------------------------------------------------------------------------------------------------------

    def lane_value(self, elem: str, read: list[Spot], depth: int) -> Piece:
        """A scalar of a type for each thread."""
        r = self.rng
        if depth <= 0 or r.random() < 0.15:
            if read and r.random() < 0.7:
                spot = r.choice(read)
                source = spot.made.elem
                text = spot.text if source == elem and spot.n == 1 else f"{elem}({spot.text})"
                return Piece(text, lambda c: convert(c, spot.read(c), source, elem))
            if r.random() < 0.4:
                kind, do = r.choice((("thread", lambda t: t), ("warp", lambda t: t // 32), ("lane", lambda t: t % 32)))
                return Piece(f"{elem}(ctx.{kind} % 5)", lambda c: convert(c, do(c.values["thread"]) % 5, "i64", elem))
            n = self.literal(elem)
            return Piece(f"{elem}({n.text})", lambda c: convert(c, n.do(c), elem, elem))
        a, b = self.lane_value(elem, read, depth - 1), self.lane_value(elem, read, depth - 1)
        return self.combined(elem, a, b)

    def combined(self, elem: str, a: Piece, b: Piece) -> Piece:
        r = self.rng
        roll = r.random()
        if roll < 0.15:
            which, do1 = r.choice((("min", np.minimum), ("max", np.maximum)))
            return Piece(f"{which}({a.text}, {b.text})", lambda c: do1(a.do(c), b.do(c)))
        if roll < 0.3:
            op = r.choice(sorted(COMPARES))
            return Piece(f"where({a.text} {op} {b.text}, {b.text}, {a.text})",
                         lambda c: np.where(COMPARES[op](a.do(c), b.do(c)), b.do(c), a.do(c)))  # fmt: skip
        op = r.choice("++-*")
        do2 = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
        return Piece(f"({a.text} {op} {b.text})", lambda c: c.rounded(do2(a.do(c), b.do(c)), elem))

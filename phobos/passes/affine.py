"""Facts about index values: affine form, divisibility, sign and upper bounds.

An analysis: it looks at a kernel and changes nothing. Each proof says which launch facts it leaned on, since those
become the kernel's assumption class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import gcd, lcm

from ..ir.core import Block, Op, Value
from ..ir.kernel import Fact, Kernel
from ..ir.thread_ops import ThreadIndex
from ..ir.tile_ops import Binary, Const, For, GridSize, ProgramId

AXES = "xyz"


@dataclass(frozen=True)
class Affine:
    """sum(coefficient * value) + const."""

    terms: tuple[tuple[Value, int], ...] = ()
    const: int = 0

    @staticmethod
    def of(terms: dict[Value, int], const: int) -> Affine:
        return Affine(tuple(sorted(((v, c) for v, c in terms.items() if c), key=lambda t: id(t[0]))), const)

    def plus(self, other: Affine, sign: int = 1) -> Affine:
        terms = dict(self.terms)
        for v, c in other.terms:
            terms[v] = terms.get(v, 0) + sign * c
        return Affine.of(terms, self.const + sign * other.const)

    def times(self, factor: int) -> Affine:
        return Affine.of({v: c * factor for v, c in self.terms}, self.const * factor)

    @property
    def is_const(self) -> bool:
        return not self.terms

    @property
    def only(self) -> Value | None:
        """The value itself when the form is that value alone."""
        return self.terms[0][0] if len(self.terms) == 1 and self.const == 0 and self.terms[0][1] == 1 else None


@dataclass
class Proof:
    """A claim that was proved: the reason in words and the launch facts it leaned on."""

    why: str
    facts: set[Fact] = field(default_factory=set)


class Indices:
    """Facts about the index values of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.defs: dict[Value, Op] = {}
        self.loops: dict[Value, For] = {}
        self._scan(kernel.body)
        self._memo: dict[Value, Affine] = {}

    def _scan(self, block: Block) -> None:
        for op in block.ops:
            for r in op.results():
                self.defs[r] = op
            if isinstance(op, For):
                self.loops[op.body.params[0]] = op
            for b in op.regions():
                self._scan(b)

    @cached_property
    def promised(self) -> dict[str, int]:
        """Divisor of each dim by `@aligned`."""
        out: dict[str, int] = {}
        for a in self.kernel.attributes.aligned:
            out[a.dim] = lcm(out.get(a.dim, 1), a.divisor)
        return out

    def affine(self, v: Value) -> Affine:
        """The value as an affine form over values that are not sums themselves."""
        if v not in self._memo:
            self._memo[v] = self._affine(v)
        return self._memo[v]

    def _affine(self, v: Value) -> Affine:
        op = self.defs.get(v)
        if isinstance(op, Const):
            return Affine((), int(op.value))
        if isinstance(op, Binary):
            a, b = self.affine(op.a), self.affine(op.b)
            if op.kind == "add":
                return a.plus(b)
            if op.kind == "sub":
                return a.plus(b, -1)
            if op.kind == "mul" and (a.is_const or b.is_const):
                return b.times(a.const) if a.is_const else a.times(b.const)
            if op.kind == "shl" and b.is_const and 0 <= b.const < 31:
                return a.times(1 << b.const)
        return Affine(((v, 1),), 0)

    def constant(self, v: Value) -> int | None:
        a = self.affine(v)
        return a.const if a.is_const else None

    def span_start(self, offset: Value) -> Value:
        """The subscript from which an access with limits is walked: its loop's start, which is cut off at 0."""
        loop = self.loops.get(offset)
        start = loop.start if loop is not None else offset
        op = self.defs.get(start)
        return op.a if isinstance(op, Binary) and op.kind == "max" and self.constant(op.b) == 0 else start

    # ---- divisibility: 0 is divisible by everything, so gcd joins ------------------------------------------

    def divisor(self, v: Value, assumed: set[Fact] | None = None) -> int:
        """The largest number known to divide the value; 0 when the value is 0.

        assumed: a set that takes the "multiple of 4" facts used; None to prove without them.
        """
        a = self.affine(v)
        d = abs(a.const)
        for atom, c in a.terms:
            d = gcd(d, abs(c) * self._atom_divisor(atom, assumed))
        return d

    def _atom_divisor(self, v: Value, assumed: set[Fact] | None) -> int:
        if v in self.kernel.dims:
            d = self.promised.get(v.name, 1)
            fact = Fact("multiple_of_4", v.name)
            if assumed is not None and d % 4 and fact not in self.kernel.denied:
                assumed.add(fact)
                return lcm(d, 4)
            return d
        loop = self.loops.get(v)
        if loop is not None:
            return gcd(self.divisor(loop.start, assumed), self.divisor(loop.step, assumed))
        op = self.defs.get(v)
        if isinstance(op, Binary):
            if op.kind == "mul":
                return self.divisor(op.a, assumed) * self.divisor(op.b, assumed)
            if op.kind in ("min", "max"):
                return gcd(self.divisor(op.a, assumed), self.divisor(op.b, assumed))
            if op.kind == "rem":
                return gcd(self.divisor(op.a, assumed), self.divisor(op.b, assumed))
        return 1

    def residue(self, v: Value) -> tuple[int, int]:
        """The constant part of the value and the largest number known to divide the rest, 0 for no rest."""
        a = self.affine(v)
        rest = 0
        for atom, c in a.terms:
            rest = gcd(rest, abs(c) * self._atom_divisor(atom, None))
        return a.const, rest

    def divides(self, n: int, v: Value) -> set[Fact] | None:
        """The facts with which n divides v (fewest first), or None."""
        if self.divisor(v) % n == 0:
            return set()
        facts: set[Fact] = set()
        return facts if self.divisor(v, facts) % n == 0 else None

    # ---- sign and bounds ------------------------------------------------------------------------------------

    def nonnegative(self, v: Value) -> bool:
        a = self.affine(v)
        return a.const >= 0 and all(c > 0 and self._atom_nonnegative(t) for t, c in a.terms)

    def _atom_nonnegative(self, v: Value) -> bool:
        if v in self.kernel.dims:
            return True
        if v in self.loops:
            return self.nonnegative(self.loops[v].start)
        op = self.defs.get(v)
        if isinstance(op, ProgramId | GridSize | ThreadIndex):
            return True
        if isinstance(op, Binary):
            if op.kind in ("mul", "div", "min", "and", "shr"):
                return self.nonnegative(op.a) and self.nonnegative(op.b)
            if op.kind == "rem":
                return self.nonnegative(op.a)
            if op.kind == "max":
                return self.nonnegative(op.a) or self.nonnegative(op.b)
        return False

    def same(self, a: Value, b: Value) -> bool:
        return self.affine(a) == self.affine(b)

    def at_most(self, a: Value, b: Value) -> bool:
        """a <= b for sure."""
        gap = self.affine(b).plus(self.affine(a), -1)
        if gap.const >= 0 and all(c > 0 and self._atom_nonnegative(t) for t, c in gap.terms):
            return True
        op = self.defs.get(a)
        if isinstance(op, Binary) and op.kind == "min":
            return self.at_most(op.a, b) or self.at_most(op.b, b)
        return False

    def below(self, offset: Value, extent: Value) -> Proof | None:
        """offset < extent, from a loop's bound, the inferred grid or constants."""
        a, e = self.affine(offset), self.affine(extent)
        if a.is_const and e.is_const and a.const < e.const:
            return Proof("constant offset below a constant extent")
        loop = self.loops.get(a.only) if a.only is not None else None
        if loop is not None and self.at_most(loop.stop, extent):
            return Proof("the loop ends at the extent")
        if len(a.terms) == 1 and a.const == 0:
            atom, factor = a.terms[0]
            op = self.defs.get(atom)
            if isinstance(op, ProgramId):
                axis = self.kernel.grid[op.axis]
                subject: int | str | None = (
                    e.const if e.is_const else (e.only.name if e.only in self.kernel.dims else None) if e.only else None
                )
                fact = Fact("grid", AXES[op.axis])
                if (
                    not axis.unknown
                    and axis.extent == subject
                    and axis.tile == factor
                    and fact not in self.kernel.denied
                ):
                    return Proof(f"the grid has ceil({subject} / {factor}) blocks along {AXES[op.axis]}", {fact})
        return None

    def largest(self, v: Value) -> int | None:
        """An upper bound that is a number."""
        a = self.affine(v)
        total = a.const
        for atom, c in a.terms:
            loop, op = self.loops.get(atom), self.defs.get(atom)
            if c >= 0 and isinstance(op, ThreadIndex):
                total += c * (self._indices_of(op.kind) - 1)
                continue
            if c < 0 or loop is None:
                return None
            start, stop, step = (self.constant(x) for x in (loop.start, loop.stop, loop.step))
            if start is None or stop is None or step is None or step <= 0:
                return None
            total += c * (start + max(stop - 1 - start, 0) // step * step)
        return total

    def _indices_of(self, kind: str) -> int:
        """How many values a thread index takes."""
        return {"thread": self.kernel.threads, "warp": self.kernel.warps, "lane": 32}[kind]

    def fits(self, offset: Value, span: int, extent: Value) -> Proof | None:
        """offset + span <= extent, by numbers or by divisibility of offset and extent by the span."""
        e = self.constant(extent)
        top = self.largest(offset)
        if e is not None and top is not None and top + span <= e:
            return Proof(f"{top} + {span} <= {e}")
        bound = self.below(offset, extent)
        if bound is None:
            return None
        d1, d2 = self.divides(span, offset), self.divides(span, extent)
        if d1 is None or d2 is None:
            return None
        return Proof(f"{bound.why}, and offset and extent are multiples of {span}", bound.facts | d1 | d2)

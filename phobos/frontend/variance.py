"""Variance of every value, and whether what needs uniform control flow has it (spec section 3).

Takes a finished `TypedKernel`; findings go to the sink, and the kernel's `scopes` say for each per-thread access how
many threads are alike in it, which lowering needs; nothing else of the tree is changed. A value is uniform over the
CTA, uniform over a warp, or its own in each lane. The walk follows the program: an assignment to a `var` sets its
level, and what is written under a condition is at least as varied as the condition. What loops carry round is found by
walking the whole kernel again until nothing rises; levels only rise, so that ends. Then one more walk reports.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..diagnostics import Label, Sink
from ..ir.types import Tile
from ..source import NOWHERE, Span
from . import typed as t
from .walk import ATOMICS, expressions, statements, tree

UNIFORM_LEVEL, WARP_LEVEL, LANE_LEVEL = 0, 1, 2
SCOPES = ("cta", "warp", "thread")
"""How many threads do the same, by the level of what they do it with."""
BETWEEN = {WARP_LEVEL: "between warps", LANE_LEVEL: "between the lanes of a warp"}
PER_CTA = ("barrier", "grid_barrier", "cta_sum", "cta_max", "cta_min", "cta_any", "cta_all")
PER_WARP = ("lane_sum", "lane_max", "lane_min", "lane_any", "lane_all", "lane_ballot")
SHUFFLES = ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down")


@dataclass(frozen=True, slots=True)
class Varies:
    """How much a value varies. origin: where that came from, in words `source`; name: the value that carries it here.

    via: for control flow, the condition that parts the threads.
    """

    level: int = UNIFORM_LEVEL
    origin: Span = NOWHERE
    source: str = ""
    name: str = ""
    via: Span = NOWHERE


UNIFORM = Varies()


def most(parts: Iterable[Varies]) -> Varies:
    """The first of the most varied."""
    found = UNIFORM
    for part in parts:
        if part.level > found.level:
            found = part
    return found


Levels = dict[t.Symbol, Varies]


@dataclass(slots=True)
class Escapes:
    """Under what control flow a block is left, by each kind of jump."""

    by: dict[str, Varies] = field(default_factory=dict)

    def add(self, kind: str, control: Varies) -> None:
        self.by[kind] = most((self.by.get(kind, UNIFORM), control))

    def merge(self, other: Escapes, skip: tuple[str, ...] = ()) -> None:
        for kind, control in other.by.items():
            if kind not in skip:
                self.add(kind, control)

    def worst(self) -> Varies:
        return most(self.by.values())


@dataclass(slots=True)
class Region:
    """What is known of a loop or inlined body over all walks: what it writes, and how threads leave it."""

    written: Levels = field(default_factory=dict)
    control: Varies = UNIFORM


def check_variance(kernel: t.TypedKernel, sink: Sink) -> None:
    """Report the statements and operands that need more uniformity than they have; fill `kernel.scopes`."""
    walk = _Walk(sink)
    while True:
        walk.rose = False
        walk.levels.clear()
        walk.block(kernel.body, UNIFORM)
        if not walk.rose:
            break
    walk.reporting = True
    walk.levels.clear()
    walk.block(kernel.body, UNIFORM)
    kernel.scopes = {node: SCOPES[level] for node, level in walk.accesses.items()}


class _Walk:
    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.levels: Levels = {}
        self.regions: dict[int, Region] = {}
        self.open: list[Region] = []
        self.inlined: list[t.InlineBlock] = []
        self.rose = False
        self.reporting = False
        self.reported: set[tuple[str, int]] = set()
        self.accesses: dict[t.TExpr | t.TStmt, int] = {}

    # ---- blocks -----------------------------------------------------------------------------------------

    def block(self, body: list[t.TStmt], control: Varies) -> Escapes:
        out = Escapes()
        for stmt in body:
            left = self.statement(stmt, control)
            out.merge(left)
            control = most((control, left.worst()))
        return out

    def statement(self, stmt: t.TStmt, control: Varies) -> Escapes:
        self.tile_statement(stmt, control)
        out = Escapes()
        match stmt:
            case t.Declare():
                value = UNIFORM if stmt.value is None else self.value(stmt.value, control)
                self.levels[stmt.symbol] = value
            case t.Assign():
                self.write(stmt.symbol, most((self.value(stmt.value, control), control)))
            case t.SliceStore():
                self.uniform_parts(stmt.subs, control)
                self.scalar_of_tile(stmt.value, control)
            case t.PointStore():
                at = self.points(stmt.subs, control)
                self.access(stmt, most((at, self.value(stmt.value, control))), control)
            case t.Evaluate():
                self.value(stmt.expr, control)
            case t.If():
                out = self.if_(stmt, control)
            case t.For() | t.While():
                out = self.loop(stmt, control)
            case t.InlineBlock():
                out = self.inline(stmt, control)
            case t.Break() | t.Continue() | t.Return() | t.Leave():
                out.add(type(stmt).__name__, control)
        return out

    def write(self, symbol: t.Symbol, value: Varies) -> None:
        value = value if value.level == UNIFORM_LEVEL else replace(value, name=symbol.name)
        self.levels[symbol] = value
        for region in self.open:
            self.raise_written(region, symbol, value)

    def raise_written(self, region: Region, symbol: t.Symbol, value: Varies) -> None:
        have = region.written.get(symbol)
        if have is None or have.level < value.level:
            region.written[symbol] = value
            self.rose = True

    def if_(self, stmt: t.If, control: Varies) -> Escapes:
        inner = self.under(control, self.value(stmt.cond, control), stmt.cond.span)
        before = dict(self.levels)
        out = self.block(stmt.then, inner)
        after_then = self.levels
        self.levels = before
        out.merge(self.block(stmt.orelse, inner))
        for symbol, value in after_then.items():
            self.levels[symbol] = most((value, self.levels.get(symbol, UNIFORM)))
        return out

    def under(self, control: Varies, cond: Varies, span: Span) -> Varies:
        """Control flow below a condition."""
        return replace(cond, via=span) if cond.level > control.level else control

    def region(self, stmt: t.TStmt) -> Region:
        return self.regions.setdefault(id(stmt), Region())

    def enter(self, region: Region) -> None:
        """Take in what earlier trips wrote."""
        for symbol, value in region.written.items():
            self.levels[symbol] = most((self.levels.get(symbol, UNIFORM), value))
        self.open.append(region)

    def leave(self, region: Region, control: Varies) -> None:
        """What the region wrote counts as written under the control flow that it was left by."""
        self.open.pop()
        for symbol in list(region.written):
            if control.level > UNIFORM_LEVEL:
                self.raise_written(region, symbol, replace(control, name=symbol.name))
            self.levels[symbol] = most((self.levels.get(symbol, UNIFORM), region.written[symbol]))

    def loop(self, stmt: t.For | t.While, control: Varies) -> Escapes:
        region = self.region(stmt)
        inner = most((control, region.control))
        if isinstance(stmt, t.For):
            bounds = most([self.value(e, control) for e in (stmt.start, stmt.stop, stmt.step)])
            self.enter(region)
            self.levels[stmt.symbol] = replace(bounds, name=stmt.symbol.name) if bounds.level else UNIFORM
            # a constant trip count that starts apart still keeps the lanes together only by chance
            inner = self.under(inner, bounds, stmt.start.span.to(stmt.step.span))
            left = self.block(stmt.body, inner)
        else:
            self.enter(region)
            left = self.block(stmt.setup, inner)
            cond = self.value(stmt.cond, inner)
            inner = self.under(inner, cond, stmt.cond.span)
            left.merge(self.block(stmt.body, inner))
            # the condition is evaluated again by those that stayed
            inner_again = most((region.control, inner))
            self.raise_control(region, inner_again)
        jumps = left.worst()
        gone = most([v for kind, v in left.by.items() if kind != "Continue"])
        if gone.level > control.level:
            self.raise_control(region, gone)
        self.leave(region, most((inner, jumps)))
        out = Escapes()
        out.merge(left, skip=("Break", "Continue"))
        return out

    def raise_control(self, region: Region, control: Varies) -> None:
        if control.level > region.control.level:
            region.control = control
            self.rose = True

    def inline(self, stmt: t.InlineBlock, control: Varies) -> Escapes:
        region = self.region(stmt)
        self.inlined.append(stmt)
        before = dict(self.levels)
        self.open.append(region)
        left = self.block(stmt.body, control)
        self.open.pop()
        self.inlined.pop()
        jumped = left.by.get("Leave")
        if jumped is not None:
            # some threads leave early: what the body writes is any of what it wrote on the way
            for symbol, value in region.written.items():
                parts = [value, before.get(symbol, UNIFORM) if symbol.kind == "var" else UNIFORM]
                if jumped.level > UNIFORM_LEVEL:
                    parts.append(replace(jumped, name=symbol.name))
                self.levels[symbol] = most(parts)
        out = Escapes()
        out.merge(left, skip=("Leave",))
        return out

    # ---- values -----------------------------------------------------------------------------------------

    def value(self, e: t.TExpr, control: Varies) -> Varies:
        """How much a value varies; reports what in it needs more uniformity."""
        match e:
            case t.Const() | t.DimRef() | t.Iota():
                return UNIFORM
            case t.SymbolRef():
                found = self.levels.get(e.symbol, UNIFORM)
                return replace(found, name=e.symbol.name) if found.level else found
            case t.CtxRef():
                level = {"thread": LANE_LEVEL, "lane": LANE_LEVEL, "warp": WARP_LEVEL}.get(e.name, UNIFORM_LEVEL)
                return Varies(level, e.span, f"ctx.{e.name}", f"ctx.{e.name}") if level else UNIFORM
            case t.Splat():
                return self.splat(e, control)
            case t.SliceLoad():
                self.uniform_parts(e.subs, control)
                return UNIFORM
            case t.PointLoad():
                at = self.points(e.subs, control)
                self.access(e, at, control)
                return most((at, self.levels.get(e.base, UNIFORM)))
            case t.Binary(op="land" | "lor"):
                left = self.value(e.left, control)
                return most((left, self.value(e.right, self.under(control, left, e.left.span))))
            case t.Unary() | t.Convert() | t.Broadcast() | t.Reshape():
                return self.value(e.operand, control)
            case t.Binary() | t.Compare():
                return most((self.value(e.left, control), self.value(e.right, control)))
            case t.Select():
                return most([self.value(p, control) for p in (e.cond, e.a, e.b)])
            case t.FmaExpr():
                return most([self.value(p, control) for p in (e.a, e.b, e.c)])
            case t.Dot():
                return most((self.value(e.a, control), self.value(e.b, control)))
            case t.Call():
                return self.call(e, control)
        raise AssertionError(type(e).__name__)

    def points(self, subs: tuple[t.Range, ...], control: Varies) -> Varies:
        return most([self.value(sub.start, control) for sub in subs])

    def access(self, node: t.TExpr | t.TStmt, varies: Varies, control: Varies) -> None:
        """Note how far the threads that make an access are alike: under control flow that parts them, not at all."""
        if self.reporting:
            level = LANE_LEVEL if control.level > UNIFORM_LEVEL else varies.level
            self.accesses[node] = max(level, self.accesses.get(node, UNIFORM_LEVEL))

    def splat(self, e: t.Splat, control: Varies) -> Varies:
        if not isinstance(e.type, Tile):
            return self.value(e.operand, control)
        self.scalar_of_tile(e.operand, control)
        return UNIFORM

    def scalar_of_tile(self, e: t.TExpr, control: Varies) -> None:
        """A scalar that a tile operation takes."""
        found = self.value(e, control)
        if found.level > UNIFORM_LEVEL:
            self.not_uniform(e, found)

    def uniform_parts(self, subs: tuple[t.Range, ...], control: Varies) -> None:
        for sub in subs:
            self.scalar_of_tile(sub.start, control)
            if sub.length_expr is not None:
                self.scalar_of_tile(sub.length_expr, control)

    def call(self, e: t.Call, control: Varies) -> Varies:
        if e.name == "generate":
            self.generated(e)
            return UNIFORM
        parts = []
        tile = isinstance(e.type, Tile)
        for arg in e.args:
            if isinstance(arg, t.Place):
                if any(sub.kind != "point" for sub in arg.subs) and e.name == "atomic_add":
                    self.uniform_parts(arg.subs, control)
                parts.append(self.points(arg.subs, control))
            elif isinstance(arg, t.TExpr):
                parts.append(self.value(arg, control))
        worst = most(parts)
        if e.name in ("elem", "store", *ATOMICS):
            self.access(e, worst, control)
        if e.name in PER_CTA:
            self.needs(UNIFORM_LEVEL, control, e.span, f"`{e.name}`", "PH301")
            return UNIFORM
        if e.name in PER_WARP or e.name in SHUFFLES:
            self.needs(WARP_LEVEL, control, e.span, f"`{e.name}`", "PH303")
            level = WARP_LEVEL
            if e.name in SHUFFLES and (e.name != "shuffle" or parts[1].level > WARP_LEVEL):
                level = LANE_LEVEL
            return Varies(level, e.span, e.name, e.name)
        if e.name in ATOMICS:
            level = max(worst.level, LANE_LEVEL if control.level else UNIFORM_LEVEL)
            return Varies(level, e.span, e.name, e.name) if level else UNIFORM
        return UNIFORM if tile else worst

    def generated(self, e: t.Call) -> None:
        """The values from outside that a generated element uses."""
        parts: list[t.TExpr] = [e.attrs["result"]]
        for stmt in statements(e.attrs["body"]):
            parts.extend(expressions(stmt))
        for part in parts:
            for node in tree(part):
                if isinstance(node, t.SymbolRef | t.CtxRef):
                    found = self.value(node, UNIFORM)
                    if found.level > UNIFORM_LEVEL:
                        self.not_uniform(node, found)

    # ---- reports ----------------------------------------------------------------------------------------

    def tile_statement(self, stmt: t.TStmt, control: Varies) -> None:
        if not self.reporting or control.level == UNIFORM_LEVEL:
            return
        tile = isinstance(stmt, t.SliceStore) or any(
            isinstance(node.type, Tile) for e in expressions(stmt) for node in tree(e)
        )
        tile = tile or (isinstance(stmt, t.Declare | t.Assign) and isinstance(stmt.symbol.type, Tile))
        if tile:
            span = stmt.span
            if isinstance(stmt, t.If | t.For | t.While):
                span = next(iter(expressions(stmt))).span
            self.needs(UNIFORM_LEVEL, control, span, "a tile statement", "PH301")

    def needs(self, level: int, control: Varies, span: Span, what: str, code: str) -> None:
        """Report `what` when the control flow around it varies more than it may."""
        if not self.reporting or control.level <= level or (code, control.via.start) in self.reported:
            return
        self.reported.add((code, control.via.start))
        whole = "all threads of the CTA" if level == UNIFORM_LEVEL else "all lanes of the warp"
        name = f"`{control.name}` differs " if control.name else "this differs "
        self.sink.error(
            code,
            f"{what} under control flow that differs {BETWEEN[control.level]}",
            span,
            f"needs {whole} to come here together",
            labels=(Label(control.via, f"{name}{BETWEEN[control.level]}"), *self.came_from(control, control.via)),
            help=(self.advice(what, level),),
        )

    def advice(self, what: str, level: int) -> str:
        if what == "a tile statement":
            return "move it out of the condition, or make the condition the same for all threads"
        if level == WARP_LEVEL:
            return "call it outside, where all lanes take part, with a neutral value for the others"
        return f"move {what} out of the condition"

    def not_uniform(self, e: t.TExpr, found: Varies) -> None:
        if not self.reporting:
            return
        name = f"`{found.name}`" if found.name else "this value"
        self.sink.error(
            "PH302",
            f"{name} differs {BETWEEN[found.level]}, and a tile operation takes one value",
            e.span,
            "not the same for all threads",
            labels=self.came_from(found, e.span),
            notes=("tiles belong to the CTA: every scalar that they meet is the same in all threads",),
        )

    def came_from(self, found: Varies, near: Span) -> tuple[Label, ...]:
        """Labels for the origin of a variance, and for the calls it is in."""
        labels = []
        if found.origin.source is near.source and not (
            near.start <= found.origin.start and found.origin.end <= near.end
        ):
            labels.append(Label(found.origin, f"`{found.source}` differs {BETWEEN[found.level]}"))
        labels += [Label(call.span, f"in this call of `{call.name}`") for call in reversed(self.inlined)]
        return tuple(labels[:8])

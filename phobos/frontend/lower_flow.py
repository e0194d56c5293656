"""Take `break`, `continue`, `return` and the `return` of an inlined `fn` out of a typed body.

Takes a list of typed statements, gives one that says the same with `if` and bool variables only:

    while c { if d { break }; S }      var broken = false; while !broken && c { if d { broken = true } else { S } }

A statement that sets such a flag is followed by `if !flag { the rest of its block }`; where one arm of an `if` always
leaves, the rest moves into the other arm and needs no test. The body of a `for` that can be left early is guarded by
the flag and its remaining trips do nothing, so that the loop stays a `for` with a known trip count. A flag that
nothing tests is not made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.types import BOOL
from ..source import Span
from . import typed as t
from .walk import statements

Stmts = list[t.TStmt]
Flags = dict[t.Symbol, None]
"""An ordered set of flags."""


def structured(body: Stmts, span: Span) -> Stmts:
    """`body` without early exits. `span` is where the kernel's own flag is declared."""
    if not _leaves(body):
        return body
    flow = _Flow()
    returned = _flag("returned", span)
    out, may = flow.block(body, _Targets(returned=returned))
    if returned in may:
        out = [_declare(returned), *out]
    return _without_unread(out, flow.flags - flow.read)


@dataclass(frozen=True)
class _Targets:
    """The flag that each kind of exit sets at this place."""

    returned: t.Symbol
    broken: t.Symbol | None = None
    skipped: t.Symbol | None = None
    left: t.Symbol | None = None


EXITS = (t.Break, t.Continue, t.Return, t.Leave)


def _leaves(body: Stmts) -> bool:
    """Whether an exit stands anywhere in `body`."""
    return any(isinstance(stmt, EXITS) for stmt in statements(body))


def _flag(name: str, span: Span) -> t.Symbol:
    return t.Symbol(name, "var", BOOL, span)


def _declare(flag: t.Symbol) -> t.Declare:
    return t.Declare(span=flag.span, symbol=flag, value=t.Const(type=BOOL, span=flag.span, value=False))


class _Flow:
    """Rewrites blocks; remembers which flags exist and which are tested."""

    def __init__(self) -> None:
        self.flags: set[t.Symbol] = set()
        self.read: set[t.Symbol] = set()

    def block(self, stmts: Stmts, to: _Targets) -> tuple[Stmts, Flags]:
        """The rewritten statements, and the flags that they may set."""
        out: Stmts = []
        for i, stmt in enumerate(stmts):
            rest = stmts[i + 1 :]
            match stmt:
                case t.Break() | t.Continue() | t.Return() | t.Leave():
                    flag = self._target(stmt, to)
                    out.append(
                        t.Assign(span=stmt.span, symbol=flag, value=t.Const(type=BOOL, span=stmt.span, value=True))
                    )
                    return out, {flag: None}  # what follows cannot be reached
                case t.If() if rest and stmt.then and isinstance(stmt.then[-1], EXITS):
                    made, may = self._if(replace(stmt, orelse=[*stmt.orelse, *rest]), to)
                    return [*out, *made], may
                case t.If() if rest and stmt.orelse and isinstance(stmt.orelse[-1], EXITS):
                    made, may = self._if(replace(stmt, then=[*stmt.then, *rest]), to)
                    return [*out, *made], may
                case t.If():
                    made, may = self._if(stmt, to)
                case t.For():
                    made, may = self._for(stmt, to)
                case t.While():
                    made, may = self._while(stmt, to)
                case t.InlineBlock():
                    made, may = self._inline(stmt, to)
                case _:
                    made, may = [stmt], {}
            out += made
            if may:
                after, later = self.block(rest, to)
                if after:
                    out.append(t.If(span=stmt.span, cond=self._none_of(may, stmt.span), then=after, orelse=[]))
                return out, {**may, **later}
        return out, {}

    def _target(self, stmt: t.TStmt, to: _Targets) -> t.Symbol:
        match stmt:
            case t.Break():
                flag = to.broken
            case t.Continue():
                flag = to.skipped
            case t.Leave():
                flag = to.left
            case _:
                flag = to.returned
        assert flag is not None, "an exit outside of what it leaves passed the checker"
        self.flags.add(flag)
        return flag

    def _none_of(self, flags: Flags, span: Span) -> t.TExpr:
        """`!(a | b | ..)`."""
        self.read |= flags.keys()
        terms: list[t.TExpr] = [t.SymbolRef(type=BOOL, span=span, symbol=flag) for flag in flags]
        any_of = terms[0]
        for term in terms[1:]:
            any_of = t.Binary(type=BOOL, span=span, op="or", left=any_of, right=term)
        return t.Unary(type=BOOL, span=span, op="not", operand=any_of)

    def _if(self, stmt: t.If, to: _Targets) -> tuple[Stmts, Flags]:
        then, a = self.block(stmt.then, to)
        orelse, b = self.block(stmt.orelse, to)
        return [replace(stmt, then=then, orelse=orelse)], {**a, **b}

    def _loop_body(self, body: Stmts, span: Span, to: _Targets) -> tuple[Stmts, Stmts, Flags, Flags]:
        """(before the loop, the body, flags that stop the loop, those of them that leave further than the loop)."""
        broken, skipped = _flag("broken", span), _flag("skipped", span)
        inner, may = self.block(body, replace(to, broken=broken, skipped=skipped))
        if skipped in may:
            inner = [_declare(skipped), *inner]
        before: Stmts = [_declare(broken)] if broken in may else []
        stop = {flag: None for flag in may if flag is not skipped}
        return before, inner, stop, {flag: None for flag in stop if flag is not broken}

    def _for(self, stmt: t.For, to: _Targets) -> tuple[Stmts, Flags]:
        before, body, stop, outer = self._loop_body(stmt.body, stmt.span, to)
        if stop:
            body = [t.If(span=stmt.span, cond=self._none_of(stop, stmt.span), then=body, orelse=[])]
        return [*before, replace(stmt, body=body)], outer

    def _while(self, stmt: t.While, to: _Targets) -> tuple[Stmts, Flags]:
        setup, left = self.block(stmt.setup, to)
        assert not left, "an exit in the set-up of a condition"
        before, body, stop, outer = self._loop_body(stmt.body, stmt.span, to)
        cond = stmt.cond
        if stop:
            # The condition is not evaluated again after a break: it may read memory.
            going = _flag("going", stmt.span)
            test = t.Assign(span=cond.span, symbol=going, value=cond)
            guard = t.If(span=stmt.span, cond=self._none_of(stop, stmt.span), then=[*setup, test], orelse=[])
            setup = [_declare(going), guard]
            cond = t.SymbolRef(type=BOOL, span=cond.span, symbol=going)
        return [*before, replace(stmt, setup=setup, cond=cond, body=body)], outer

    def _inline(self, stmt: t.InlineBlock, to: _Targets) -> tuple[Stmts, Flags]:
        left = _flag("left", stmt.span)
        body, may = self.block(stmt.body, replace(to, left=left))
        if left in may:
            body = [_declare(left), *body]
        return [replace(stmt, body=body)], {flag: None for flag in may if flag is not left}


def _without_unread(stmts: Stmts, unread: set[t.Symbol]) -> Stmts:
    """`stmts` without declarations of and assignments to the flags in `unread`."""
    out: Stmts = []
    for stmt in stmts:
        match stmt:
            case t.Declare(symbol=symbol) | t.Assign(symbol=symbol) if symbol in unread:
                continue
            case t.If():
                then, orelse = (_without_unread(part, unread) for part in (stmt.then, stmt.orelse))
                out.append(replace(stmt, then=then, orelse=orelse))
            case t.While():
                setup, body = (_without_unread(part, unread) for part in (stmt.setup, stmt.body))
                out.append(replace(stmt, setup=setup, body=body))
            case t.For() | t.InlineBlock():
                out.append(replace(stmt, body=_without_unread(stmt.body, unread)))
            case _:
                out.append(stmt)
    return out

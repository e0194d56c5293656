"""Walking the typed tree: the operands of an expression, the expressions and blocks of a statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import typed as t

ATOMICS = ("atomic_add", "atomic_max", "atomic_min", "atomic_cas")
EFFECTS = frozenset(["store", *ATOMICS, "barrier", "grid_barrier", "print", "assert"])
"""Builtins that do more than give a value."""


def sub_operands(subs: Iterable[t.Range]) -> Iterator[t.TExpr]:
    for sub in subs:
        yield sub.start
        if sub.length_expr is not None:
            yield sub.length_expr


def operands(e: t.TExpr) -> Iterator[t.TExpr]:
    """The operands in order of evaluation; those of a `generate`'s body are not among them."""
    match e:
        case t.Unary() | t.Convert() | t.Splat() | t.Broadcast() | t.Reshape():
            yield e.operand
        case t.Binary() | t.Compare():
            yield e.left
            yield e.right
        case t.Select():
            yield from (e.cond, e.a, e.b)
        case t.FmaExpr():
            yield from (e.a, e.b, e.c)
        case t.PointLoad() | t.SliceLoad():
            yield from sub_operands(e.subs)
        case t.Dot():
            yield from (e.a, e.b)
        case t.Call():
            for arg in e.args:
                if isinstance(arg, t.TExpr):
                    yield arg
                elif isinstance(arg, t.Place):
                    yield from sub_operands(arg.subs)


def expressions(stmt: t.TStmt) -> Iterator[t.TExpr]:
    """The expressions of a statement itself, in order of evaluation."""
    match stmt:
        case t.Declare():
            if stmt.value is not None:
                yield stmt.value
        case t.Assign():
            yield stmt.value
        case t.SliceStore() | t.PointStore():
            yield from sub_operands(stmt.subs)
            yield stmt.value
        case t.For():
            yield from (stmt.start, stmt.stop, stmt.step)
        case t.While() | t.If():
            yield stmt.cond
        case t.Evaluate():
            yield stmt.expr


def blocks(stmt: t.TStmt) -> Iterator[list[t.TStmt]]:
    """The blocks of statements inside a statement."""
    match stmt:
        case t.For() | t.InlineBlock():
            yield stmt.body
        case t.While():
            yield stmt.setup
            yield stmt.body
        case t.If():
            yield stmt.then
            yield stmt.orelse


def tree(e: t.TExpr) -> Iterator[t.TExpr]:
    """An expression and everything below it."""
    stack = [e]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(operands(node))


def statements(body: Iterable[t.TStmt]) -> Iterator[t.TStmt]:
    """All statements of a body, those in inner blocks too."""
    for stmt in body:
        yield stmt
        for block in blocks(stmt):
            yield from statements(block)


def has_effect(e: t.TExpr) -> bool:
    return any(isinstance(n, t.Call) and n.name in EFFECTS for n in tree(e))


def reads_memory(e: t.TExpr) -> bool:
    """Could a store between now and later change the value?"""
    return any(isinstance(n, t.PointLoad | t.SliceLoad | t.Call) for n in tree(e))


def changes_memory(body: Iterable[t.TStmt]) -> bool:
    """Could running `body` change what an expression beside it reads?"""
    for stmt in statements(body):
        if isinstance(stmt, t.SliceStore | t.PointStore):
            return True
        if any(has_effect(e) for e in expressions(stmt)):
            return True
    return False

"""Index expressions as sums of unknowns, to see that two of them differ by a constant (`A[k : k + 16]`)."""

from __future__ import annotations

from collections.abc import Hashable

from . import typed as t

Linear = tuple[int, dict[Hashable, int]]
"""A constant, and a factor for each unknown."""


def linear(e: t.TExpr) -> Linear | None:
    """The expression as such a sum; None when it holds what cannot be compared, such as a call."""
    match e:
        case t.Const(value=int() as value):
            return int(value), {}
        case t.SymbolRef():
            return 0, {("symbol", id(e.symbol)): 1}
        case t.DimRef() | t.CtxRef():
            return 0, {(type(e).__name__, e.name): 1}
        case t.Convert():
            return linear(e.operand)
        case t.Unary(op="neg"):
            return _scaled(linear(e.operand), -1)
        case t.Binary():
            return _binary(e)
        case t.PointLoad():
            keys = [_key(linear(sub.start)) for sub in e.subs]
            return None if None in keys else (0, {("point", id(e.base), tuple(keys)): 1})
    return None


def _binary(e: t.Binary) -> Linear | None:
    a, b = linear(e.left), linear(e.right)
    if a is None or b is None:
        return None
    if e.op in ("add", "sub"):
        return _added(a, _scaled(b, 1 if e.op == "add" else -1))
    if e.op == "mul" and not a[1]:
        return _scaled(b, a[0])
    if e.op == "mul" and not b[1]:
        return _scaled(a, b[0])
    keys = [_key(a), _key(b)]
    if e.op == "mul":
        keys.sort(key=repr)
    return 0, {(e.op, *keys): 1}


def _key(x: Linear | None) -> Hashable:
    return None if x is None else (x[0], tuple(sorted(x[1].items(), key=repr)))


def _scaled(x: Linear | None, by: int) -> Linear | None:
    return None if x is None else (x[0] * by, {k: n * by for k, n in x[1].items() if n * by})


def _added(a: Linear, b: Linear | None) -> Linear | None:
    if b is None:
        return None
    terms = dict(a[1])
    for k, n in b[1].items():
        terms[k] = terms.get(k, 0) + n
    return a[0] + b[0], {k: n for k, n in terms.items() if n}


def difference(stop: t.TExpr, start: t.TExpr) -> int | None:
    """`stop - start` where that is a constant."""
    a, b = linear(stop), linear(start)
    if a is None or b is None:
        return None
    met = _added(a, _scaled(b, -1))
    return met[0] if met is not None and not met[1] else None

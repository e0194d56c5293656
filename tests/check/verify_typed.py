"""What `phobos/frontend/typed.py` promises of a typed tree, checked node by node without asking the checker."""

from __future__ import annotations

from math import prod

from phobos.frontend import typed as t
from phobos.frontend.walk import expressions, statements, tree
from phobos.ir.types import BOOL, INDEX, SCALARS, Scalar, Tensor, Tile, Type, Vec

PLAIN = set(SCALARS.values())


def verify(kernel: t.TypedKernel) -> None:
    """Fail on the first node that is not as the typed tree's documentation says."""
    declared: set[t.Symbol] = set(kernel.params)
    for stmt in statements(kernel.body):
        if isinstance(stmt, t.Declare | t.For):
            declared.add(stmt.symbol)
        for e in expressions(stmt):
            for node in tree(e):
                _node(node)
        _statement(stmt)
    for stmt in statements(kernel.body):
        for e in expressions(stmt):
            for node in tree(e):
                if isinstance(node, t.SymbolRef):
                    assert node.symbol in declared, f"{node.symbol.name} is never declared"


def _plain(kind: Type) -> Scalar:
    """The element type, one of those that programs have."""
    assert isinstance(kind, Scalar | Tile | Vec)
    elem = kind if isinstance(kind, Scalar) else kind.elem
    assert elem in PLAIN, f"{kind} is left in the tree"
    if isinstance(kind, Tile):
        assert kind.shape
        assert all(n > 0 for n in kind.shape)
    return elem


def _shape(kind: Type) -> tuple[int, ...]:
    if isinstance(kind, Tile):
        return kind.shape
    return (-kind.n,) if isinstance(kind, Vec) else ()


def _node(e: t.TExpr) -> None:
    if isinstance(e, t.Call) and e.type == Scalar("nothing", "void", 0):
        return
    elem = _plain(e.type)
    match e:
        case t.Const():
            assert isinstance(e.type, Scalar)
            assert isinstance(e.value, bool) == (e.type == BOOL)
            assert not elem.is_int or isinstance(e.value, int)
            assert not elem.is_float or isinstance(e.value, float)
            if elem.is_int and elem != INDEX:
                low = 0 if elem.kind == "uint" else -(1 << (elem.bits - 1))
                assert low <= e.value < low + (1 << elem.bits)
        case t.SymbolRef():
            assert e.type == e.symbol.type
        case t.Unary():
            assert e.operand.type == e.type
        case t.Binary():
            assert e.left.type == e.type
            assert e.right.type == e.type
        case t.Compare():
            assert elem == BOOL
            assert e.left.type == e.right.type
            assert _shape(e.left.type) == _shape(e.type)
        case t.Select():
            assert e.a.type == e.b.type == e.type
            assert _plain(e.cond.type) == BOOL
            assert _shape(e.cond.type) == _shape(e.type)
        case t.FmaExpr():
            assert e.a.type == e.b.type == e.c.type == e.type
        case t.Convert():
            assert _shape(e.operand.type) == _shape(e.type)
            assert e.operand.type != e.type
        case t.Splat():
            assert e.operand.type == elem
            assert not isinstance(e.type, Scalar)
        case t.Broadcast():
            assert _plain(e.operand.type) == elem
            pairs = zip(_shape(e.operand.type), _shape(e.type), strict=True)
            assert all(m in (1, n) for m, n in pairs)
        case t.Reshape():
            assert _plain(e.operand.type) == elem
            assert [n for n in _shape(e.operand.type) if n != 1] == [n for n in _shape(e.type) if n != 1]
        case t.PointLoad() | t.SliceLoad():
            assert t.elem_type(e.base.type) == elem
            _subs(e.base, e.subs)
            shape = tuple(s.length or 1 for s in e.subs) if isinstance(e, t.SliceLoad) else ()
            assert _shape(e.type) == shape
        case t.Dot():
            m, k = _shape(e.a.type)
            n, other = _shape(e.b.type) if e.trans_b else _shape(e.b.type)[::-1]
            assert k == other
            assert _shape(e.type) == (m, n)
        case t.Call():
            for arg in e.args:
                if isinstance(arg, t.Place):
                    _subs(arg.base, arg.subs)
            if e.name in ("flat", "transpose"):
                assert prod(_shape(e.args[0].type)) == prod(_shape(e.type))


def _subs(base: t.Symbol, subs: tuple[t.Range, ...]) -> None:
    rank = {Tensor: lambda k: len(k.dims), Tile: lambda k: len(k.shape), Vec: lambda k: 1}[type(base.type)](base.type)
    assert len(subs) == rank
    for sub in subs:
        assert sub.start.type == INDEX
        assert (sub.length is not None) == (sub.kind == "span")
        assert (sub.length_expr is not None) == (sub.kind == "dynamic")


def _statement(stmt: t.TStmt) -> None:
    match stmt:
        case t.Declare():
            _plain(stmt.symbol.type)
            assert stmt.value is None or stmt.value.type == stmt.symbol.type
            assert (stmt.value is None) == stmt.symbol.uninitialised
        case t.Assign():
            assert stmt.symbol.kind == "var"
            assert stmt.value.type == stmt.symbol.type
        case t.SliceStore():
            _subs(stmt.base, stmt.subs)
            if all(s.kind in ("span", "point") for s in stmt.subs):
                assert _shape(stmt.value.type) == tuple(s.length or 1 for s in stmt.subs)
            else:
                assert isinstance(stmt.value.type, Scalar)
            assert stmt.op or t.elem_type(stmt.value.type) == t.elem_type(stmt.base.type)
        case t.PointStore():
            _subs(stmt.base, stmt.subs)
            assert stmt.value.type == t.elem_type(stmt.base.type)
        case t.For():
            assert stmt.start.type == stmt.stop.type == stmt.step.type == stmt.symbol.type == INDEX
        case t.While() | t.If():
            assert stmt.cond.type == BOOL

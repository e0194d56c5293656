"""Typed expressions -> tile ops, and the products that fuse.

**Fusing.** `+` and `-` on floats with an operand that is a written product is one `fma`, rounded once in the type of
the sum; of two products the left one fuses:

    a * b + c  ->  fma(a, b, c)         a * b - c  ->  fma(a, b, -c)
    c + a * b  ->  fma(a, b, c)         c - a * b  ->  fma(-a, b, c)

(negation is exact). `x += a * b` is `x + a * b`. A written product is a `*` node that is the operand itself: one that
has the sum's own type. What stands in between keeps it apart, because it says that the product was rounded first: a
name (`let p = a * b`), a negation, a conversion (an f16 product added to an f32 tile), a splat (a product of scalars
added to a tile) and a broadcast. Integers never fuse. f16 and bf16 fuse like f32, with one rounding to their own type.

**Contractions.** `x + dot(..)` and `dot(..) + x` accumulate on x when the dot has the sum's own type; so
`acc += dot(..)` into an f32 tile is one op, and into an f16 tile it is a `cast`, a `dot` in f32 and a `cast` back, one
rounding per `+=`. Any other dot accumulates on zero.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.core import Value
from ..ir.reduce_ops import Reduce, ReduceArg
from ..ir.thread_ops import THREAD_INDICES, Barrier, Element, SumRun, ThreadIndex
from ..ir.tile_ops import Broadcast, Compare, Dot, GridSize, Iota, ProgramId, Reshape
from ..ir.types import BOOL, I32, INDEX, Tile, Vec
from . import lower_memory
from . import typed as t
from .lower_access import atomic, load, load_point, load_run, store_run
from .lower_generate import lifted
from .lower_shape import lower_shape
from .lower_state import State
from .lower_support import REDUCTIONS, SHAPES
from .walk import ATOMICS, reads_memory

AXES = "xyz"
Product = tuple[Value, Value]


def lower_expr(state: State, expr: t.TExpr, name: str = "") -> Value:
    """The value of `expr` at this place. `name` is what the source calls it; a plain name or extent needs no op."""
    build = state.build
    with build.at(expr.span):
        match expr:
            case t.Const(value=value):
                return build.const(value, t.elem_type(expr.type), name or _literal_name(value))
            case t.SymbolRef(symbol=symbol) if symbol in state.buffers:
                return lower_memory.read(state, symbol, name)
            case t.SymbolRef(symbol=symbol):
                return state.read(symbol, expr.span)
            case t.DimRef(name=dim):
                return state.dims[dim]
            case t.CtxRef():
                return _ctx(state, expr, name)
            case t.Binary(op="land" | "lor"):
                return _short_circuit(state, expr, name)
            case t.Binary():
                return _chain(state, expr, name)
            case t.Unary(op=op, operand=operand):
                return build.unary(op, lower_expr(state, operand), name)
            case t.Compare(op=op, left=left, right=right):
                x, y = lower_expr(state, left), lower_expr(state, right)
                return build.emit(Compare(kind=op, a=x, b=y, out=Value(name or op, expr.type))).out
            case t.Select(cond=cond, a=a, b=b):
                chosen = lower_expr(state, cond)
                return build.select(chosen, lower_expr(state, a), lower_expr(state, b), name)
            case t.FmaExpr(a=a, b=b, c=c):
                return build.fma(lower_expr(state, a), lower_expr(state, b), lower_expr(state, c), name)
            case t.Convert(operand=operand):
                return build.cast(lower_expr(state, operand), expr.type, name)
            case t.Splat(operand=operand):
                return build.splat(lower_expr(state, operand), t.splat_type(expr), name)
            case t.Broadcast(operand=operand):
                tile = lower_expr(state, operand)
                return build.emit(Broadcast(a=tile, out=Value(name or tile.name, expr.type))).out
            case t.Reshape(operand=operand):
                tile = lower_expr(state, operand)
                return build.emit(Reshape(a=tile, out=Value(name or tile.name, expr.type))).out
            case t.Iota(axis=axis):
                return build.emit(Iota(axis=axis, out=Value(name or "iota", expr.type))).out
            case t.Dot():
                return _dot(state, expr, state.zero(expr.type, "zero"), name)
            case t.SliceLoad():
                return load(state, expr, _lowering(state), name)
            case t.PointLoad(base=base) if isinstance(base.type, Vec):
                return _element(state, expr, name)
            case t.PointLoad():
                return load_point(state, expr, _lowering(state), name)
            case t.Call(name="elem"):
                return load_run(state, expr, _lowering(state), name, state.align)
            case t.Call(name=called) if called in ATOMICS:
                return atomic(state, expr, _lowering(state), name)
            case t.Call(name="sum"):
                return _sum(state, expr, name)
            case t.Call(name=called) if called in REDUCTIONS:
                return _reduction(state, expr, name)
            case t.Call(name="generate"):
                return _generated(state, expr, name)
            case t.Call(name=called) if called in SHAPES:
                return lower_shape(state, expr, _lowering(state), name)
            case _:
                raise AssertionError(f"{type(expr).__name__} passed lower_support")


def _lowering(state: State) -> Callable[[t.TExpr], Value]:
    return lambda expr: lower_expr(state, expr)


def _literal_name(value: int | float | bool) -> str:
    """`c32` for the number 32; other literals have no short name."""
    return f"c{value}" if type(value) is int and value >= 0 else "c"


def _ctx(state: State, expr: t.CtxRef, name: str) -> Value:
    kind, _, axis = expr.name.partition(".")
    out = Value(name or expr.name.replace(".", "_"), INDEX)
    if kind == "block":
        return state.build.emit(ProgramId(axis=AXES.index(axis), out=out)).out
    if kind == "grid":
        return state.build.emit(GridSize(axis=AXES.index(axis), out=out)).out
    assert kind in THREAD_INDICES, f"ctx.{expr.name} passed the checker"
    return state.build.emit(ThreadIndex(kind=kind, out=out)).out


# ---- a thread's own runs --------------------------------------------------------------------------------


def _element(state: State, expr: t.PointLoad, name: str) -> Value:
    """`v[c]`."""
    at = expr.subs[0].start
    assert isinstance(at, t.Const)
    vec = state.read(expr.base, expr.span)
    return state.build.emit(Element(index=int(at.value), a=vec, out=Value(name or vec.name, expr.type))).out


def _sum(state: State, expr: t.Call, name: str) -> Value:
    """`sum(e)`. The checker has put the conversion to the sum's type at e's leaves; `align` is for every run in e."""
    outer, state.align = state.align, expr.attrs.get("align", 0)
    vec = lower_expr(state, expr.args[0])
    state.align = outer
    return state.build.emit(SumRun(a=vec, out=Value(name or "sum", expr.type))).out


def lower_effect(state: State, expr: t.TExpr) -> None:
    """An expression that stands for its effect."""
    match expr:
        case t.Call(name="store"):
            store_run(state, expr, _lowering(state))
        case t.Call(name="barrier"):
            state.build.emit(Barrier())
        case _:
            lower_expr(state, expr)


def _generated(state: State, expr: t.Call, name: str) -> Value:
    """`generate(f, ..)`: the statements of its fn on whole tiles, then its value."""
    body, value = lifted(expr)
    with state.scope():
        state.statements(body)
        return lower_expr(state, value, name or "generated")


# ---- reductions -----------------------------------------------------------------------------------------


def _reduction(state: State, expr: t.Call, name: str) -> Value:
    """`rowsum(x)` and the like: the elements of a sum are converted to its type first."""
    build, axis, kind = state.build, int(expr.name.startswith("row")), expr.name[3:]
    tile = lower_expr(state, expr.args[0])
    assert isinstance(tile.type, Tile) and isinstance(expr.type, Tile)
    if kind == "argmax":
        index = build.emit(Iota(axis=axis, out=Value("iota", Tile(I32, tile.type.shape)))).out
        most = Value("rowmax", Tile(tile.type.elem, expr.type.shape))
        out = Value(name or expr.name, expr.type)
        return build.emit(ReduceArg(kind="max", axis=axis, a=tile, index=index, out=most, out_index=out)).out_index
    tile = build.cast(tile, Tile(expr.type.elem, tile.type.shape))
    return build.emit(Reduce(kind=kind, axis=axis, a=tile, out=Value(name or expr.name, expr.type))).out


# ---- binary operators -----------------------------------------------------------------------------------


def _chain(state: State, expr: t.Binary, name: str) -> Value:
    """A binary operator and those that lean on its left, from the innermost out: `a + b + c ..` may be long."""
    spine = [expr]
    while isinstance(spine[-1].left, t.Binary) and spine[-1].left.op not in ("land", "lor"):
        spine.append(spine[-1].left)
    innermost = spine[-1].left
    left: Value | Product | t.Dot = innermost if isinstance(innermost, t.Dot) else lower_expr(state, innermost)
    for i in reversed(range(len(spine))):
        node = spine[i]
        with state.build.at(node.span):
            if i > 0 and _fuses(node, spine[i - 1]):
                factor = lower_expr(state, left) if isinstance(left, t.Dot) else left
                assert isinstance(factor, Value), "a product has no product of a sum on its left"
                left = factor, lower_expr(state, node.right)
            else:
                left = _binary(state, node, left, name if i == 0 else "")
    assert isinstance(left, Value)
    return left


def _binary(state: State, expr: t.Binary, left: Value | Product | t.Dot, name: str) -> Value:
    """One operator whose left side is lowered already, as a product when it fuses, unless it is a contraction.

    `+` and `-` are an fma when an operand is a product, an accumulating dot when one is a dot, else themselves.
    """
    build, right = state.build, expr.right
    subtracts = expr.op == "sub"
    if isinstance(left, t.Dot):
        accumulates = expr.op == "add" and left.type == expr.type and not isinstance(right, t.Dot)
        if accumulates and not (isinstance(right, t.Binary) and _fuses(right, expr)):
            return _dot(state, left, lower_expr(state, right), name)
        left = lower_expr(state, left)
    if isinstance(left, tuple):
        c = lower_expr(state, right)
        return build.fma(*left, build.unary("neg", c) if subtracts else c, name or "fma")
    if isinstance(right, t.Binary) and _fuses(right, expr):
        a, b = lower_expr(state, right.left), lower_expr(state, right.right)
        return build.fma(build.unary("neg", a) if subtracts else a, b, left, name or "fma")
    if expr.op == "add" and isinstance(right, t.Dot) and right.type == expr.type:
        return _dot(state, right, left, name)
    return build.binary(expr.op, left, lower_expr(state, right), name)


def _fuses(operand: t.Binary, of: t.Binary) -> bool:
    """Whether `operand`, a direct operand of `of`, is a product that becomes one fma with it."""
    product_of_sum = operand.op == "mul" and of.op in ("add", "sub") and operand.type == of.type
    return product_of_sum and t.elem_type(of.type).is_float


def _dot(state: State, expr: t.Dot, acc: Value, name: str) -> Value:
    a, b = lower_expr(state, expr.a), lower_expr(state, expr.b)
    out = Value(name or "dot", expr.type)
    with state.build.at(expr.span):
        return state.build.emit(Dot(a=a, b=b, acc=acc, trans_b=expr.trans_b, out=out)).out


# ---- && and || on scalars -------------------------------------------------------------------------------


def _short_circuit(state: State, expr: t.Binary, name: str) -> Value:
    """The right side is not evaluated when the left one decides: it may be a point that is out of bounds then."""
    left = lower_expr(state, expr.left)
    if not reads_memory(expr.right):
        return state.build.binary("and" if expr.op == "land" else "or", left, lower_expr(state, expr.right), name)
    with state.build.block() as evaluated, state.scope():
        state.build.yields(lower_expr(state, expr.right))
    with state.build.block() as decided:
        state.build.yields(state.build.const(expr.op == "lor", BOOL))
    then, orelse = (evaluated, decided) if expr.op == "land" else (decided, evaluated)
    out = Value(name or expr.op, expr.type)
    state.build.branch(left, then.block, orelse.block, (out,))
    return out

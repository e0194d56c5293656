"""The typed tree: what `check` gives and `lower` takes.

One `TypedKernel` for one choice of constants. Everything that needs judgement has been judged: names are
resolved to `Symbol`s, `fn` calls are inlined, implicit conversions, splats, broadcasts and unit-axis reshapes are
explicit nodes, constants are folded into `Const`. Types are those of `ir.types`. Nodes compare by identity.

Shapes: operands of an elementwise node have exactly the node's own type's shape (a tile node) or are scalars
(a scalar node); mixed forms do not exist, `Splat`, `Broadcast` and `Reshape` stand in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..ir.kernel import Aligned, Attributes, Launch
from ..ir.types import Scalar, Tile, Type, Vec
from ..source import Span

__all__ = ["Aligned", "Attributes", "Launch"]  # re-exported; the tree's own classes are imported by name


@dataclass(eq=False, slots=True)
class Symbol:
    """A variable, parameter or loop variable.

    kind: "tensor", "scalar" (kernel parameters), "let", "var", "loop". `type` is a Tensor for tensors, else a
    Scalar, Tile or Vec. `uninitialised` is set for `var t: tile<..>[..]` without a value.
    """

    name: str
    kind: str
    type: Type
    span: Span
    uninitialised: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class TExpr:
    type: Type
    span: Span


@dataclass(eq=False, slots=True, kw_only=True)
class Const(TExpr):
    """A scalar constant of the node's type (int, float or bool), already in the type's range."""

    value: int | float | bool


@dataclass(eq=False, slots=True, kw_only=True)
class SymbolRef(TExpr):
    """The value of a scalar, tile or vec symbol."""

    symbol: Symbol


@dataclass(eq=False, slots=True, kw_only=True)
class DimRef(TExpr):
    """The run-time extent called `name`, an index."""

    name: str


@dataclass(eq=False, slots=True, kw_only=True)
class CtxRef(TExpr):
    """`block.x`, `grid.y`, `thread`, `warp`, `lane` ... (`threads`, `warps`, `lanes` are Const)."""

    name: str


@dataclass(eq=False, slots=True, kw_only=True)
class Unary(TExpr):
    """op: "neg", "not" (bool), "inv" (bitwise), or a function.

    exp exp2 log log2 sqrt rsqrt tanh sin cos abs floor ceil round.
    """

    op: str
    operand: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Binary(TExpr):
    """op: add sub mul div rem and or xor shl shr, or min max pow. `&& ||` on scalars are "land", "lor" (short-circuit);
    on tiles they are "and", "or". Operands have the node's element type (shift counts too)."""

    op: str
    left: TExpr
    right: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Compare(TExpr):
    """op: eq ne lt le gt ge; operands share one element type; the result's element type is bool."""

    op: str
    left: TExpr
    right: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Select(TExpr):
    """where(cond, a, b)."""

    cond: TExpr
    a: TExpr
    b: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class FmaExpr(TExpr):
    """The builtin fma(a, b, c), one rounding. (Fusing of written products is `lower`'s work.)"""

    a: TExpr
    b: TExpr
    c: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Convert(TExpr):
    """Element conversion to the node's type, scalar or tile of the same shape."""

    operand: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Splat(TExpr):
    """A tile or vec with every element equal to a scalar of the same element type."""

    operand: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Broadcast(TExpr):
    """Repeat a tile along axes where it has extent 1; same rank, same element type."""

    operand: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Reshape(TExpr):
    """Add or drop axes of extent 1."""

    operand: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Iota(TExpr):
    """i32 tile: the index along `axis` inside the tile."""

    axis: int


@dataclass(eq=False, slots=True)
class Range:
    """One subscript, normalised.

    kind "point": index `start`, extent 1 kept only among slices. kind "span": `length` elements from `start`
    (a compile-time int). kind "rest": `A[s:]`, `A[:]`-like up to the extent with a run-time length (length None),
    never masked. kind "dynamic": run-time length `stop - start` or `:+ n` with n unknown (fills only; `length_expr`).
    `whole` marks `:` on a static axis (a span with start 0).
    """

    kind: str
    start: TExpr
    length: int | None
    span: Span
    length_expr: TExpr | None = None
    whole: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class PointLoad(TExpr):
    """One element of a tensor or tile symbol; all subscripts are points. The node's type is the element type."""

    base: Symbol
    subs: tuple[Range, ...]


@dataclass(eq=False, slots=True, kw_only=True)
class SliceLoad(TExpr):
    """A tile read from a tensor or tile symbol through subscripts; the type's shape has one extent per axis."""

    base: Symbol
    subs: tuple[Range, ...]


@dataclass(eq=False, slots=True, kw_only=True)
class Dot(TExpr):
    """a[M,K] b[K,N], or with trans_b b[N,K]; operands are rank-2 tiles in their own element types.

    The node's type has the accumulator's element type (f32, f64 or i32).
    """

    a: TExpr
    b: TExpr
    trans_b: bool


@dataclass(eq=False, slots=True, kw_only=True)
class Call(TExpr):
    """Any other builtin: name as written, args in order (TExpr, Symbol for tensors, or Place), and named arguments.

    Covers rowsum .. colmin, transpose, tril, cumsum, flat, gather, generate, elem, sum, lanes, cta_*, words, atomics.
    """

    name: str
    args: tuple[Any, ...]
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Place:
    """A subscripted tensor or tile as a builtin's argument (atomic_add(A[i], v), elem(A[i, j :+ 4]))."""

    base: Symbol
    subs: tuple[Range, ...]
    span: Span


# ---- statements -----------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True, kw_only=True)
class TStmt:
    span: Span


@dataclass(eq=False, slots=True, kw_only=True)
class Declare(TStmt):
    """`let` or `var`; value has the symbol's type, None when uninitialised."""

    symbol: Symbol
    value: TExpr | None


@dataclass(eq=False, slots=True, kw_only=True)
class Assign(TStmt):
    """symbol = value (whole). Compound assignment has been expanded: `x += e` is value Binary(add, x, e)."""

    symbol: Symbol
    value: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class SliceStore(TStmt):
    """base[subs] = value; value is a tile of the slice's shape, or a scalar to fill with for run-time lengths.

    op: for compound assignment through run-time lengths, the `Binary` op: each element becomes
    `element op value`, computed in value's type.
    """

    base: Symbol
    subs: tuple[Range, ...]
    value: TExpr
    op: str = ""


@dataclass(eq=False, slots=True, kw_only=True)
class PointStore(TStmt):
    """base[points] = value, a scalar of the element type."""

    base: Symbol
    subs: tuple[Range, ...]
    value: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class For(TStmt):
    """unroll: 0 when not asked."""

    symbol: Symbol
    start: TExpr
    stop: TExpr
    step: TExpr
    unroll: int
    body: list[TStmt]


@dataclass(eq=False, slots=True, kw_only=True)
class While(TStmt):
    """setup runs before each evaluation of cond (it holds inlined `fn` bodies, mostly empty)."""

    setup: list[TStmt]
    cond: TExpr
    body: list[TStmt]


@dataclass(eq=False, slots=True, kw_only=True)
class If(TStmt):
    cond: TExpr
    then: list[TStmt]
    orelse: list[TStmt]


@dataclass(eq=False, slots=True, kw_only=True)
class Break(TStmt):
    pass


@dataclass(eq=False, slots=True, kw_only=True)
class Continue(TStmt):
    pass


@dataclass(eq=False, slots=True, kw_only=True)
class Return(TStmt):
    """Ends the kernel (inlined `fn` returns become an InlineBlock's `leave`)."""


@dataclass(eq=False, slots=True, kw_only=True)
class Evaluate(TStmt):
    """An expression for its effect."""

    expr: TExpr


@dataclass(eq=False, slots=True, kw_only=True)
class InlineBlock(TStmt):
    """The inlined body of a `fn` called `name`; `Leave` inside jumps to its end. Results travel in a `var` symbol."""

    name: str
    body: list[TStmt]


@dataclass(eq=False, slots=True, kw_only=True)
class Leave(TStmt):
    pass


# ---- kernels --------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class TypedKernel:
    """One kernel for one choice of constants.

    tensors and scalars are in parameter order (`params` has both); dims are the distinct run-time extents in order
    of first use; constants has every `@autotune` name with its value; choices every name with its list;
    attribute_spans has the place of each attribute but `@autotune`. scopes has, for each access of a point and of a
    thread's run (`PointLoad`, `PointStore`, `elem`, `store`), how many threads are alike there: "cta", "warp" or
    "thread" (`variance` fills it).
    """

    name: str
    span: Span
    params: tuple[Symbol, ...]
    tensors: tuple[Symbol, ...]
    scalars: tuple[Symbol, ...]
    dims: tuple[str, ...]
    constants: dict[str, int]
    choices: dict[str, tuple[int, ...]]
    attributes: Attributes
    body: list[TStmt]
    attribute_spans: dict[str, Span] = field(default_factory=dict)
    scopes: dict[TExpr | TStmt, str] = field(default_factory=dict)


def tile_type(expr: TExpr) -> Tile:
    assert isinstance(expr.type, Tile)
    return expr.type


def splat_type(expr: TExpr) -> Tile | Vec:
    assert isinstance(expr.type, Tile | Vec)
    return expr.type


def elem_type(t: Type) -> Scalar:
    """The element type of a scalar, tile, tensor or vec."""
    if isinstance(t, Scalar):
        return t
    elem = t.elem  # type: ignore[attr-defined]
    assert isinstance(elem, Scalar)
    return elem

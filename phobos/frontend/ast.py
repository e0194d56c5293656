"""The syntax tree, one class per grammar alternative, exactly as written; no names resolved, no types.

Nodes are frozen and carry the span of their text. `docs/spec.md` section 1 is the grammar.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    span: Span


# ---- expressions ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Expr(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class IntLit(Expr):
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class FloatLit(Expr):
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class BoolLit(Expr):
    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class StrLit(Expr):
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Name(Expr):
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Ctx(Expr):
    """`ctx.block.x` has path ("block", "x"); `ctx.lane` has ("lane",)."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Expr):
    """op: "-" "!" "~"."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Expr):
    """op: || && | ^ & == != < <= > >= << >> + - * / %."""

    op: str
    left: Expr
    right: Expr
    op_span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Argument(Node):
    """A call argument; `name` for `align = 4`."""

    name: str | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expr):
    callee: str
    callee_span: Span
    args: tuple[Argument, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sub(Node):
    """One subscript.

    kind "point": start; "range" `s : e`, `s:`, `:e`, `:`: start, stop; "span" `s :+ n`: start, length.
    """

    kind: str
    start: Expr | None = None
    stop: Expr | None = None
    length: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Subscript(Expr):
    base: Expr
    subs: tuple[Sub, ...]


# ---- types ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TypeExpr(Node):
    """head: a scalar name with no dims, or "tensor" / "tile" with element name and dims."""

    head: str
    elem: str | None = None
    elem_span: Span | None = None
    dims: tuple[Expr, ...] = ()


# ---- statements -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Stmt(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Block(Node):
    stmts: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Let(Stmt):
    name: str
    name_span: Span
    type: TypeExpr | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Var(Stmt):
    name: str
    name_span: Span
    type: TypeExpr | None
    value: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Stmt):
    """op: "=" or a compound operator such as "+="; target: a Name or a Subscript of a Name."""

    op: str
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class For(Stmt):
    """unroll: the count of `for<unroll n>`, else None."""

    var: str
    var_span: Span
    start: Expr
    stop: Expr
    step: Expr | None
    unroll: Expr | None
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class While(Stmt):
    cond: Expr
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class If(Stmt):
    """orelse: a Block, a nested If for `else if`, or None."""

    cond: Expr
    then: Block
    orelse: Block | If | None


@dataclass(frozen=True, slots=True, eq=False)
class Break(Stmt):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Continue(Stmt):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Return(Stmt):
    value: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class CallStmt(Stmt):
    call: Call


# ---- declarations ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class AttrArg(Node):
    """kind "value": value; "set" `K = value`: name, value; "in" `N in [..]`: name, values.

    Values are literals or a Name.
    """

    kind: str
    name: str | None = None
    value: Expr | None = None
    values: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Attribute(Node):
    name: str
    name_span: Span
    args: tuple[AttrArg, ...]
    has_parens: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Param(Node):
    """type is None only for an untyped `fn` parameter."""

    name: str
    name_span: Span
    type: TypeExpr | None


@dataclass(frozen=True, slots=True, eq=False)
class Fn(Node):
    name: str
    name_span: Span
    params: tuple[Param, ...]
    result: TypeExpr | None
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Kernel(Node):
    name: str
    name_span: Span
    attributes: tuple[Attribute, ...]
    params: tuple[Param, ...]
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Program(Node):
    fns: tuple[Fn, ...]
    kernels: tuple[Kernel, ...]

"""Expressions: literals, names, operators, conversions and calls."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Label
from ..ir.types import BOOL, INDEX, Scalar
from ..source import Span
from . import ast
from . import typed as t
from .check_values import Values
from .folding import fold
from .joins import (
    CONVERSIONS,
    ERROR,
    FLOAT_LITERAL,
    INT_LITERAL,
    VOID,
    elem_of,
    is_literal,
    is_number,
    join,
    settled,
    with_elem,
)
from .scope import Binding
from .walk import tree

ARITHMETIC = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "rem",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "shl",
    ">>": "shr",
}
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
LOGICAL = {"&&": ("land", "and"), "||": ("lor", "or")}
INTEGER_ONLY = {"%", "&", "|", "^", "<<", ">>"}
ALSO_BOOL = {"&", "|", "^"}

_AXES = ("x", "y", "z")


def short(e: ast.Expr) -> str:
    """An expression as it stands in a suggestion: as written, unless it is long."""
    text = e.span.text
    return text if len(text) < 40 and "\n" not in text else "x"


class Expressions(Values):
    def expr(self, e: ast.Expr) -> t.TExpr:
        # calls and subscripts go through more functions of the checker than operators do
        with self.nested(e.span, 2 if isinstance(e, ast.Call | ast.Subscript) else 1):
            match e:
                case ast.IntLit():
                    return t.Const(type=INT_LITERAL, span=e.span, value=e.value)
                case ast.FloatLit():
                    return t.Const(type=FLOAT_LITERAL, span=e.span, value=e.value)
                case ast.BoolLit():
                    return t.Const(type=BOOL, span=e.span, value=e.value)
                case ast.Name():
                    return self.in_sum(self.name(e)) if self.runs else self.name(e)
                case ast.Ctx():
                    return self.ctx(e)
                case ast.Unary():
                    return self.unary(e)
                case ast.Binary():
                    return self.binary(e)
                case ast.Subscript():
                    return self.subscript(e)
                case ast.Call():
                    return self.call(e)
                case ast.StrLit():
                    return self.error(
                        "PH242", "a string is not a value", e.span, notes=("strings stand only in print and assert",)
                    )
        raise AssertionError(type(e).__name__)

    def value(self, e: ast.Expr) -> t.TExpr:
        """A value as it stands alone."""
        v = self.settle(self.expr(e))
        return self.no_value(v) if v.type == VOID else v

    # ---- names ------------------------------------------------------------------------------------------

    def name(self, e: ast.Name) -> t.TExpr:
        found = self.scope.find(e.name)
        if found is None:
            return self.unknown_name(e)
        if found.kind == "tensor":
            assert found.symbol is not None
            rank = len(found.symbol.type.dims)  # type: ignore[attr-defined]
            return self.error(
                "PH203",
                f"tensor `{e.name}` used as a value",
                e.span,
                labels=(Label(found.span, f"`{e.name}` is a tensor"),),
                help=(f"subscript it: {e.name}[{', '.join('ijklm'[:rank])}] is one element",),
            )
        return self.read(found, e.span)

    def read(self, found: Binding, span: Span) -> t.TExpr:
        match found.value:
            case t.Const() as c:
                return t.Const(type=c.type, span=span, value=c.value)
            case t.DimRef() as d:
                return t.DimRef(type=INDEX, span=span, name=d.name)
        assert found.symbol is not None
        self.note_read(found.symbol, span)
        return t.SymbolRef(type=found.symbol.type, span=span, symbol=found.symbol)

    def note_read(self, symbol: t.Symbol, span: Span) -> None:
        """Warn of a read of a tile that nothing has written."""
        at = self.unwritten.get(symbol)
        if at is None:
            return
        loops, conditions = at
        if self.loops > loops and self.conditions > conditions:
            return  # an earlier trip may have written it
        del self.unwritten[symbol]
        self.sink.warning(
            "PR203",
            f"`{symbol.name}` is read before anything is written to it",
            span,
            "holds no value yet",
            labels=(Label(symbol.span, "declared without a value"),),
            help=("give it a value where it is declared: = 0.0",),
        )

    def unknown_name(self, e: ast.Name) -> t.TExpr:
        if e.name in self.fns or self.is_builtin(e.name):
            return self.error(
                "PH208", f"`{e.name}` is a function", e.span, "not a value", help=(f"call it: {e.name}(..)",)
            )
        return self.error(
            "PH201",
            f"unknown name `{e.name}`",
            e.span,
            "not declared here",
            help=self.suggestion(e.name, self.scope.visible()),
        )

    def ctx(self, e: ast.Ctx) -> t.TExpr:
        match e.path:
            case ("block" | "grid", axis) if axis in _AXES:
                return t.CtxRef(type=INDEX, span=e.span, name=".".join(e.path))
            case ("thread" | "warp" | "lane",):
                return t.CtxRef(type=INDEX, span=e.span, name=e.path[0])
            case ("threads",):
                return self.index_constant(self.attributes.launch.threads, e.span)
            case ("warps",):
                return self.index_constant(self.attributes.launch.threads // 32, e.span)
            case ("lanes",):
                return self.index_constant(32, e.span)
        raise AssertionError("the parser lets only these paths through")

    # ---- operators --------------------------------------------------------------------------------------

    def unary(self, e: ast.Unary) -> t.TExpr:
        v = self.expr(e.operand)
        if v.type == ERROR:
            return v
        if v.type == VOID:
            return self.no_value(v)
        elem = elem_of(v.type)
        good = {"-": is_number(elem), "!": elem == BOOL, "~": elem.is_int}[e.op]
        if not good:
            wants = {"-": "a number", "!": "a bool", "~": "an integer"}[e.op]
            help_ = (f"compare it: {short(e.operand)} == 0",) if e.op == "!" and is_number(elem) else ()
            return self.error(
                "PH211",
                f"`{e.op}` needs {wants}, not {self.describe(v)}",
                e.span,
                labels=(self.type_label(v),),
                help=help_,
            )
        if isinstance(v, t.Const) and e.op != "!":
            folded: int | float | None
            if e.op == "~":
                folded = -int(v.value) - 1 if v.type in (INT_LITERAL, INDEX) else None
            elif elem.is_int:
                folded = fold("sub", 0, int(v.value), elem)
            else:
                folded = -float(v.value)
            if folded is not None:
                return t.Const(type=elem, span=e.span, value=folded)
        v = self.as_elem(v, settled(elem))
        return t.Unary(type=v.type, span=e.span, op={"-": "neg", "!": "not", "~": "inv"}[e.op], operand=v)

    def binary(self, e: ast.Binary) -> t.TExpr:
        """A chain of operators that leans left is walked in a loop: `a + b + c ..` may be long."""
        spine: list[ast.Binary] = []
        left: ast.Expr = e
        while isinstance(left, ast.Binary) and left.op not in LOGICAL:
            spine.append(left)
            left = left.left
        if not spine:
            return self.logical(e)
        with self.nested(e.span, len(spine)):
            value = self.expr(left)
            for node in reversed(spine):
                value = self._binary(node, value)
        return value

    def _binary(self, node: ast.Binary, left: t.TExpr) -> t.TExpr:
        a, b = self.in_order(self.after(left, node.right))
        if node.op in COMPARISONS:
            return self.compare(node.op, a, b, node.span, node.op_span)
        return self.arithmetic(node.op, a, b, node.span, node.op_span)

    def after(self, first: t.TExpr, second: ast.Expr) -> Iterator[t.TExpr]:
        """A value that is there already, and one that is evaluated after it."""
        yield first
        yield self.expr(second)

    def joined(self, parts: list[t.TExpr], what: str, span: Span) -> tuple[list[t.TExpr], Scalar] | None:
        """The operands in one element type; None when there is an error, which is reported."""
        for p in parts:
            if p.type == VOID:
                self.no_value(p)
                return None
        if any(p.type == ERROR for p in parts):
            return None
        shaped = any(not isinstance(p.type, Scalar) for p in parts)
        # literals go last, so that they take the type of what the others agree on
        ordered = sorted(parts, key=lambda p: is_literal(p.type))
        elem = elem_of(ordered[0].type)
        first = ordered[0]
        for p in ordered[1:]:
            met = join(elem, elem_of(p.type), shaped=shaped)
            if met is None:
                self.no_join(first, p, what, span)
                return None
            if met != elem:
                first = p
            elem = met
        done = [p if is_literal(elem) else self.as_elem(p, elem) for p in parts]
        return None if any(p.type == ERROR for p in done) else (done, elem)

    def no_join(self, a: t.TExpr, b: t.TExpr, what: str, span: Span) -> None:
        one, other = elem_of(a.type), elem_of(b.type)
        if BOOL in (one, other):
            number = b if one == BOOL else a
            help_ = (
                f"compare the number: {number.span.text} != 0" if len(number.span.text) < 40 else "compare the number"
            )
        else:
            whole, real = (a, other) if one.is_int else (b, one)
            text = whole.span.text
            help_ = f"convert it: {settled(real)}({text})" if len(text) < 40 else f"convert it with {settled(real)}(..)"
        self.error(
            "PH210",
            f"{what} of {self.describe(a)} and {self.describe(b)}",
            span,
            labels=(self.type_label(a), self.type_label(b)),
            notes=("an integer scalar meets a float scalar only through a conversion; a bool meets only bools",),
            help=(help_,),
        )

    def type_label(self, e: t.TExpr) -> Label:
        return Label(e.span, self.describe(e))

    def arithmetic(self, op: str, a: t.TExpr, b: t.TExpr, span: Span, op_span: Span) -> t.TExpr:
        name = ARITHMETIC[op]
        for p in (a, b):
            elem = elem_of(p.type) if p.type != VOID else VOID
            if elem in (ERROR, VOID):
                continue
            wrong = (
                (elem == BOOL and op not in ALSO_BOOL)
                or (elem.is_float and op in INTEGER_ONLY)
                or elem.kind not in ("float", "int", "uint", "index", "bool")
            )
            if wrong:
                return self.wrong_operand(op, p, op_span)
        return self.combine(name, [a, b], f"`{op}`", span)

    def wrong_operand(self, op: str, p: t.TExpr, op_span: Span) -> t.TExpr:
        wants = "numbers"
        if op in INTEGER_ONLY:
            wants = "integers or bools" if op in ALSO_BOOL else "integers"
        return self.error(
            "PH211", f"`{op}` needs {wants}, not {self.describe(p)}", op_span, labels=(self.type_label(p),)
        )

    def combine(self, op: str, parts: list[t.TExpr], what: str, span: Span) -> t.TExpr:
        """A two-operand elementwise operation in the join of its operands' types."""
        met = self.joined(parts, what, span)
        if met is None:
            return self.broken(span)
        (a, b), elem = met
        if isinstance(a, t.Const) and isinstance(b, t.Const) and is_number(elem):
            value = fold(op, a.value, b.value, elem)
            if value is not None:
                return t.Const(type=elem, span=span, value=value)
        if is_literal(elem):
            elem = settled(elem)
            a, b = self.as_elem(a, elem), self.as_elem(b, elem)
            if ERROR in (a.type, b.type):
                return self.broken(span)
        if op in ("div", "rem") and elem.is_int and isinstance(b, t.Const) and b.value == 0:
            self.sink.warning("PR206", "division by zero gives no particular value", span, "the divisor is 0")
        shaped = self.elementwise([a, b], what, span)
        if shaped is None:
            return self.broken(span)
        (a, b), kind = shaped
        return t.Binary(type=with_elem(kind, elem), span=span, op=op, left=a, right=b)

    def compare(self, op: str, a: t.TExpr, b: t.TExpr, span: Span, op_span: Span) -> t.TExpr:
        ordered = op not in ("==", "!=")
        for p in (a, b):
            if p.type not in (ERROR, VOID) and ordered and elem_of(p.type) == BOOL:
                return self.error(
                    "PH211", f"`{op}` needs numbers, not {self.describe(p)}", op_span, labels=(self.type_label(p),)
                )
        met = self.joined([a, b], f"`{op}`", span)
        if met is None:
            return self.broken(span)
        parts, elem = met
        parts = [self.as_elem(p, settled(elem)) for p in parts]
        shaped = self.elementwise(parts, f"`{op}`", span)
        if shaped is None:
            return self.broken(span)
        (a, b), kind = shaped
        return t.Compare(type=with_elem(kind, BOOL), span=span, op=COMPARISONS[op], left=a, right=b)

    def logical(self, e: ast.Binary) -> t.TExpr:
        a = self.expr(e.left)
        mark = len(self.out)
        with self.emitting() as setup:
            self.conditions += 1
            b = self.expr(e.right)
            self.conditions -= 1
        for p in (a, b):
            if p.type == VOID:
                return self.no_value(p)
            if p.type != ERROR and elem_of(p.type) != BOOL:
                help_ = ("compare it: x != 0",) if is_number(elem_of(p.type)) else ()
                return self.error(
                    "PH211",
                    f"`{e.op}` needs bools, not {self.describe(p)}",
                    e.op_span,
                    labels=(self.type_label(p),),
                    help=help_,
                )
        if ERROR in (a.type, b.type):
            return self.broken(e.span)
        lazy, eager = LOGICAL[e.op]
        if a.type == BOOL and b.type == BOOL:
            if setup:
                return self._guarded(lazy, a, b, setup, e.span)
            return t.Binary(type=BOOL, span=e.span, op=lazy, left=a, right=b)
        self.out[mark:mark] = setup
        shaped = self.elementwise([a, b], f"`{e.op}`", e.span)
        if shaped is None:
            return self.broken(e.span)
        (a, b), kind = shaped
        return t.Binary(type=with_elem(kind, BOOL), span=e.span, op=eager, left=a, right=b)

    def _guarded(self, op: str, a: t.TExpr, b: t.TExpr, setup: list[t.TStmt], span: Span) -> t.TExpr:
        """`a && f(..)`: the statements of the inlined call run only when `a` leaves the answer open."""
        result = t.Symbol("tmp", "var", BOOL, span)
        ref = t.SymbolRef(type=BOOL, span=span, symbol=result)
        test: t.TExpr = ref
        if op == "lor":
            test = t.Unary(type=BOOL, span=span, op="not", operand=ref)
        self.out.append(t.Declare(span=span, symbol=result, value=a))
        assign = t.Assign(span=b.span, symbol=result, value=b)
        self.out.append(t.If(span=span, cond=test, then=[*setup, assign], orelse=[]))
        return t.SymbolRef(type=BOOL, span=span, symbol=result)

    # ---- conversions ------------------------------------------------------------------------------------

    def conversion(self, e: ast.Call, target: Scalar) -> t.TExpr:
        if len(e.args) != 1 or e.args[0].name is not None:
            return self.error(
                "PH240", f"{target} converts one value, not {len(e.args)}", e.span, help=(f"write {target}(x)",)
            )
        v = self.expr(e.args[0].value)
        if v.type == ERROR:
            return v
        if v.type == VOID:
            return self.no_value(v)
        if isinstance(v, t.Const) and is_literal(v.type):
            if v.type == FLOAT_LITERAL and target.is_int:
                v = self.as_elem(v, settled(elem_of(v.type)))
            else:
                v = self.as_elem(v, target)
                v.span = e.span
                return v
        if v.type == ERROR:
            return v
        if elem_of(v.type) == target:
            return v
        if isinstance(v, t.Const) and elem_of(v.type).is_int:
            v = self.as_elem(v, target, wrap=True)
            v.span = e.span
            return v
        return t.Convert(type=with_elem(v.type, target), span=e.span, operand=v)

    def bool_conversion(self, e: ast.Call) -> t.TExpr:
        text = short(e.args[0].value) if e.args else "x"
        return self.error(
            "PH216",
            "bool is not a conversion",
            e.callee_span,
            help=(f"compare: {text} != 0",),
        )

    def numeric_type(self, name: str) -> Scalar | None:
        return CONVERSIONS.get(name)

    def simple(self, e: t.TExpr) -> bool:
        """Is evaluating it twice the same as once, and as cheap?"""
        return not any(isinstance(n, t.Call | t.PointLoad | t.SliceLoad) for n in tree(e))

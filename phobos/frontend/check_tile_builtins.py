"""Builtins on tiles and their elements: elementwise math, reductions, shape functions and contractions."""

from __future__ import annotations

import math

from ..diagnostics import Label
from ..ir.types import BOOL, F32, F64, I32, Scalar, Tensor, Tile
from . import ast
from . import typed as t
from .check_statements import Statements
from .joins import (
    ERROR,
    INT_LITERAL,
    VOID,
    Pending,
    dot_type,
    elem_of,
    is_literal,
    is_number,
    settled,
    sum_type,
    with_elem,
)

Args = list[ast.Expr]


def convert_help(text: str, target: Scalar) -> tuple[str, ...]:
    return (f"convert it: {target}({text})",) if len(text) < 40 else (f"convert it with {target}(..)",)


class TileBuiltins(Statements):
    # ---- arguments --------------------------------------------------------------------------------------

    def wrong_argument(self, e: ast.Call, v: t.TExpr, wants: str, help: tuple[str, ...] = ()) -> t.TExpr:
        """An argument of the wrong type."""
        return self.error(
            "PH243", f"`{e.callee}` needs {wants}, not {self.describe(v)}", v.span, self.describe(v), help=help
        )

    def number(self, e: ast.Call, arg: ast.Expr) -> t.TExpr:
        """A scalar, tile or run of numbers."""
        v = self.expr(arg)
        if v.type == VOID:
            return self.no_value(v)
        return v if v.type == ERROR or is_number(elem_of(v.type)) else self.wrong_argument(e, v, "numbers")

    def float(self, e: ast.Call, arg: ast.Expr) -> t.TExpr:
        """A scalar, tile or run of floats; a literal becomes one."""
        v = self.number(e, arg)
        if v.type == ERROR:
            return v
        if is_literal(v.type):
            return self.as_elem(v, F32)
        if not elem_of(v.type).is_float:
            return self.wrong_argument(e, v, "floats", convert_help(arg.span.text, F32))
        return v

    def tile(self, e: ast.Call, arg: ast.Expr, *, numbers: bool = True) -> t.TExpr:
        """A tile of rank 2."""
        v = self.rank2(self.expr(arg), f"`{e.callee}`")
        if v.type != ERROR and numbers and not is_number(elem_of(v.type)):
            return self.wrong_argument(e, v, "numbers")
        return v

    # ---- elementwise ------------------------------------------------------------------------------------

    def float_function(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.float(e, args[0])
        if v.type == ERROR:
            return v
        return t.Unary(type=v.type, span=e.span, op=e.callee, operand=v)

    def absolute(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.number(e, args[0])
        v = self.as_elem(v, settled(elem_of(v.type))) if is_literal(v.type) else v
        return v if v.type == ERROR else t.Unary(type=v.type, span=e.span, op="abs", operand=v)

    def numbers(self, e: ast.Call, args: Args) -> list[t.TExpr]:
        return self.in_order(self.number(e, arg) for arg in args)

    def two_numbers(self, e: ast.Call, args: Args) -> t.TExpr:
        """min, max and pow, in the join of the operands' types."""
        parts = self.numbers(e, args)
        return self.combine(e.callee, parts, f"`{e.callee}`", e.span)

    def tmax(self, e: ast.Call, args: Args) -> t.TExpr:
        a, b = self.numbers(e, args)
        both = isinstance(a.type, Tile) and isinstance(b.type, Tile)
        if both and elem_of(a.type) != elem_of(b.type):
            return self.error(
                "PH210",
                f"`tmax` of {self.describe(a)} and {self.describe(b)}",
                e.span,
                labels=(self.type_label(a), self.type_label(b)),
                notes=("the tiles that `tmax` takes have one element type",),
                help=("`max` joins the types",),
            )
        return self.combine("max", [a, b], "`tmax`", e.span)

    def fma(self, e: ast.Call, args: Args) -> t.TExpr:
        parts = self.in_order(self.number(e, arg) for arg in args)
        for p in parts:
            if p.type != ERROR and elem_of(p.type).is_int and p.type != INT_LITERAL:
                return self.wrong_argument(e, p, "floats", convert_help(p.span.text, F32))
        met = self.joined(parts, "`fma`", e.span)
        if met is None:
            return self.broken(e.span)
        parts, elem = met
        if is_literal(elem):
            parts, elem = [self.as_elem(p, F32) for p in parts], F32
        shaped = self.elementwise(parts, "`fma`", e.span)
        if shaped is None:
            return self.broken(e.span)
        (a, b, c), kind = shaped
        return t.FmaExpr(type=with_elem(kind, elem), span=e.span, a=a, b=b, c=c)

    def where(self, e: ast.Call, args: Args) -> t.TExpr:
        cond, a, b = self.in_order(self.expr(arg) for arg in args)
        if cond.type == VOID:
            return self.no_value(cond)
        if cond.type != ERROR and elem_of(cond.type) != BOOL:
            return self.wrong_argument(e, cond, "a condition of bools", ("compare it: x != 0",))
        met = self.joined([a, b], "`where`", e.span)
        if met is None or cond.type == ERROR:
            return self.broken(e.span)
        (a, b), elem = met
        elem = settled(elem)
        a, b = self.as_elem(a, elem), self.as_elem(b, elem)
        shaped = self.elementwise([cond, a, b], "`where`", e.span)
        if shaped is None:
            return self.broken(e.span)
        (cond, a, b), kind = shaped
        return t.Select(type=with_elem(kind, elem), span=e.span, cond=cond, a=a, b=b)

    def iota(self, e: ast.Call, args: Args) -> t.TExpr:
        axis = self.constant(args[0], "the axis of iota")
        if axis is None:
            return self.broken(e.span)
        if not 0 <= axis < 5:
            return self.error("PH230", f"iota({axis})", args[0].span, notes=("axes are counted from 0",))
        return t.Iota(type=Pending(I32, ()), span=e.span, axis=axis)

    # ---- reductions and shapes --------------------------------------------------------------------------

    def reduction(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.tile(e, args[0])
        if v.type == ERROR:
            return v
        assert isinstance(v.type, Tile)
        rows, columns = v.type.shape
        elem = v.type.elem
        if e.callee.endswith("sum"):
            elem = sum_type(elem)
        elif e.callee == "rowargmax":
            elem = I32
        shape = (rows, 1) if e.callee.startswith("row") else (1, columns)
        return t.Call(type=Tile(elem, shape), span=e.span, name=e.callee, args=(v,))

    def transpose(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.tile(e, args[0], numbers=False)
        if not isinstance(v.type, Tile):
            return v
        shape = (v.type.shape[1], v.type.shape[0])
        return t.Call(type=Tile(v.type.elem, shape), span=e.span, name="transpose", args=(v,))

    def tril(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.tile(e, args[0])
        return v if v.type == ERROR else t.Call(type=v.type, span=e.span, name="tril", args=(v,))

    def cumsum(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.tile(e, args[0])
        if not isinstance(v.type, Tile):
            return v
        return t.Call(type=Tile(sum_type(v.type.elem), v.type.shape), span=e.span, name="cumsum", args=(v,))

    def flat(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.settle(self.expr(args[0]))
        if v.type == ERROR:
            return v
        if isinstance(v, t.SliceLoad):
            return self.error(
                "PH243",
                "`flat` of a slice",
                v.span,
                "a slice, not a whole tile",
                help=("give the slice a name first: let t = ..",),
            )
        if not isinstance(v.type, Tile):
            return self.error("PH220", f"`flat` needs a tile, not {self.describe(v)}", v.span, self.describe(v))
        shape = (1, math.prod(v.type.shape))
        return t.Call(type=Tile(v.type.elem, shape), span=e.span, name="flat", args=(v,))

    def gather(self, e: ast.Call, args: Args) -> t.TExpr:
        table, elem = self.table(e, args[0])
        index = self.settle(self.expr(args[1]))
        if index.type == VOID:
            return self.no_value(index)
        if table is None or index.type == ERROR:
            return self.broken(e.span)
        if not isinstance(index.type, Tile):
            help_ = ("one element is a point: table[i]",) if isinstance(index.type, Scalar) else ()
            return self.error(
                "PH220", f"`gather` needs a tile of indices, not {self.describe(index)}", index.span, help=help_
            )
        if not index.type.elem.is_int:
            return self.wrong_argument(e, index, "a tile of integers", convert_help(args[1].span.text, I32))
        return t.Call(type=Tile(elem, index.type.shape), span=e.span, name="gather", args=(table, index))

    def table(self, e: ast.Call, arg: ast.Expr) -> tuple[t.Symbol | t.TExpr | None, Scalar]:
        """The table of a `gather`: a tensor's name, or a tile; rank 1 or [1, n]."""
        found = self.scope.find(arg.name) if isinstance(arg, ast.Name) else None
        if found is not None and found.kind == "tensor":
            assert found.symbol is not None
            assert isinstance(found.symbol.type, Tensor)
            dims: tuple[int | str, ...] = found.symbol.type.dims
            table: t.Symbol | t.TExpr = found.symbol
            elem, text = found.symbol.type.elem, str(found.symbol.type)
        else:
            v = self.settle(self.expr(arg))
            if v.type == ERROR:
                return None, ERROR
            if not isinstance(v.type, Tile):
                self.error("PH220", f"`gather` needs a table, not {self.describe(v)}", v.span, self.describe(v))
                return None, ERROR
            dims, table, elem, text = v.type.shape, v, v.type.elem, str(v.type)
        if len(dims) != 1 and (len(dims) != 2 or dims[0] != 1):
            self.error(
                "PH219", f"the table of `gather` is {text}", arg.span, notes=("a table has rank 1, or shape [1, n]",)
            )
            return None, ERROR
        return table, elem

    # ---- contractions -----------------------------------------------------------------------------------

    def dot(self, e: ast.Call, args: Args) -> t.TExpr:
        a, b = self.in_order(self.tile(e, arg) for arg in args)
        if not isinstance(a.type, Tile) or not isinstance(b.type, Tile):
            return self.broken(e.span)
        trans = e.callee == "dot_t"
        elem = dot_type(a.type.elem, b.type.elem)
        if elem is None:
            return self.error(
                "PH210",
                f"`{e.callee}` of {self.describe(a)} and {self.describe(b)}",
                e.span,
                labels=(self.type_label(a), self.type_label(b)),
                notes=("a contraction takes floats with floats, or i8, u8 and i32 with each other",),
            )
        if elem == F64:
            a, b = self.as_elem(a, F64), self.as_elem(b, F64)
        m, k = t.tile_type(a).shape
        n, other = t.tile_type(b).shape if trans else t.tile_type(b).shape[::-1]
        if k != other:
            return self.contracts(e, a, b, k, other)
        return t.Dot(type=Tile(elem, (m, n)), span=e.span, a=a, b=b, trans_b=trans)

    def contracts(self, e: ast.Call, a: t.TExpr, b: t.TExpr, k: int, other: int) -> t.TExpr:
        """The contracted extents differ."""
        trans = e.callee == "dot_t"
        axis = "columns" if trans else "rows"
        labels = [Label(a.span, f"{k} columns"), Label(b.span, f"{other} {axis}")]
        for operand, index, extent in ((a, 1, k), (b, 1 if trans else 0, other)):
            span = self.origin(operand, index)
            if span is not None and not (operand.span.start <= span.start and span.end <= operand.span.end):
                labels.append(self.extent_label(span, extent))
        named = [n for n, v in self.constants.items() if v in (k, other)]
        help_ = tuple(f"{n} = {self.constants[n]} in this configuration" for n in named[:3])
        rule = "a[m, k] and b[n, k]" if trans else "a[m, k] and b[k, n]"
        return self.error(
            "PH204",
            f"{e.callee} contracts {k} with {other}",
            e.span,
            labels=tuple(labels),
            notes=(f"{e.callee}(a, b) needs {rule} with the same k",),
            help=help_,
        )

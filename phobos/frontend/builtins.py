"""The table of builtins, one row each: what it looks like, how many arguments it takes, and who checks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import ast
from . import typed as t
from .check_thread_builtins import ThreadBuiltins
from .inline import Inline


class Builtins(Inline, ThreadBuiltins):
    """Calls: a fn of the file, else a builtin, else a conversion."""

    def is_builtin(self, name: str) -> bool:
        return name in TABLE or name == "bool" or self.numeric_type(name) is not None

    def call(self, e: ast.Call) -> t.TExpr:
        fn = self.fns.get(e.callee)
        if fn is not None:
            return self.inline(fn, e)
        row = TABLE.get(e.callee)
        if row is not None:
            return self.builtin(row, e)
        target = self.numeric_type(e.callee)
        if target is not None:
            return self.conversion(e, target)
        if e.callee == "bool":
            return self.bool_conversion(e)
        for arg in e.args:
            if not isinstance(arg.value, ast.StrLit):
                self.expr(arg.value)
        known = [*self.fns, *TABLE]
        return self.error(
            "PH202",
            f"unknown function `{e.callee}`",
            e.callee_span,
            "neither a fn of this file nor a builtin",
            help=self.suggestion(e.callee, known),
        )

    def builtin(self, row: Row, e: ast.Call) -> t.TExpr:
        args = [arg.value for arg in e.args if arg.name is None]
        for arg in e.args:
            if arg.name is not None and arg.name not in row.named:
                names = ", ".join(row.named)
                return self.error(
                    "PH241",
                    f"`{e.callee}` has no argument called `{arg.name}`",
                    arg.span,
                    notes=(f"write {row.signature}", *((f"its named argument is {names}",) if names else ())),
                )
        if not row.low <= len(args) <= row.high:
            count = str(row.low) if row.low == row.high else f"at least {row.low}"
            if row.low < row.high < MANY:
                count = f"{row.low} to {row.high}"
            return self.error(
                "PH240",
                f"`{e.callee}` takes {count} argument{'s' if count != '1' else ''}, not {len(args)}",
                e.span,
                notes=(f"write {row.signature}",),
            )
        return row.check(self, e, args)


Check = Callable[[Builtins, ast.Call, list[ast.Expr]], t.TExpr]
MANY = 64


@dataclass(frozen=True, slots=True)
class Row:
    """A builtin: how it is written, least and most positional arguments, its check, its named arguments."""

    signature: str
    low: int
    high: int
    check: Check
    named: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.signature.split("(")[0]


B = Builtins
ROWS: tuple[Row, ...] = (
    # elementwise
    Row("exp(x)", 1, 1, B.float_function),
    Row("exp2(x)", 1, 1, B.float_function),
    Row("log(x)", 1, 1, B.float_function),
    Row("log2(x)", 1, 1, B.float_function),
    Row("sqrt(x)", 1, 1, B.float_function),
    Row("rsqrt(x)", 1, 1, B.float_function),
    Row("tanh(x)", 1, 1, B.float_function),
    Row("sin(x)", 1, 1, B.float_function),
    Row("cos(x)", 1, 1, B.float_function),
    Row("floor(x)", 1, 1, B.float_function),
    Row("ceil(x)", 1, 1, B.float_function),
    Row("round(x)", 1, 1, B.float_function),
    Row("abs(x)", 1, 1, B.absolute),
    Row("pow(x, y)", 2, 2, B.two_numbers),
    Row("min(a, b)", 2, 2, B.two_numbers),
    Row("max(a, b)", 2, 2, B.two_numbers),
    Row("tmax(a, b)", 2, 2, B.tmax),
    Row("fma(a, b, c)", 3, 3, B.fma),
    Row("where(cond, a, b)", 3, 3, B.where),
    Row("iota(axis)", 1, 1, B.iota),
    # reductions of a tile
    Row("rowsum(t)", 1, 1, B.reduction),
    Row("rowmax(t)", 1, 1, B.reduction),
    Row("rowmin(t)", 1, 1, B.reduction),
    Row("rowargmax(t)", 1, 1, B.reduction),
    Row("colsum(t)", 1, 1, B.reduction),
    Row("colmax(t)", 1, 1, B.reduction),
    Row("colmin(t)", 1, 1, B.reduction),
    # shape
    Row("transpose(t)", 1, 1, B.transpose),
    Row("tril(t)", 1, 1, B.tril),
    Row("cumsum(t)", 1, 1, B.cumsum),
    Row("flat(t)", 1, 1, B.flat),
    Row("gather(table, idx)", 2, 2, B.gather),
    Row("generate(f, R, C, args..)", 3, MANY, B.generate),
    # contraction
    Row("dot(a, b)", 2, 2, B.dot),
    Row("dot_t(a, b)", 2, 2, B.dot),
    # a thread's run
    Row("elem(A[i, j :+ n])", 1, 1, B.elem, ("align",)),
    Row("store(A[i, j :+ n], v)", 2, 2, B.store, ("align",)),
    Row("sum(e)", 1, 1, B.sum, ("align",)),
    # lanes and the CTA
    Row("lane_sum(v)", 1, 1, B.collective_number),
    Row("lane_max(v)", 1, 1, B.collective_number),
    Row("lane_min(v)", 1, 1, B.collective_number),
    Row("lane_any(c)", 1, 1, B.collective_bool),
    Row("lane_all(c)", 1, 1, B.collective_bool),
    Row("lane_ballot(c)", 1, 1, B.collective_bool),
    Row("shuffle(v, lane)", 2, 2, B.shuffle),
    Row("shuffle_xor(v, mask)", 2, 2, B.shuffle),
    Row("shuffle_up(v, n)", 2, 2, B.shuffle),
    Row("shuffle_down(v, n)", 2, 2, B.shuffle),
    Row("cta_sum(v)", 1, 1, B.collective_number),
    Row("cta_max(v)", 1, 1, B.collective_number),
    Row("cta_min(v)", 1, 1, B.collective_number),
    Row("cta_any(c)", 1, 1, B.collective_bool),
    Row("cta_all(c)", 1, 1, B.collective_bool),
    Row("barrier()", 0, 0, B.barrier),
    Row("grid_barrier(bar)", 1, 1, B.grid_barrier),
    # words
    Row("word(v)", 1, 1, B.word),
    Row("byteperm(a, b, sel)", 3, 3, B.byteperm),
    Row("popcount(x)", 1, 1, B.popcount),
    Row("f16bits(x)", 1, 1, B.f16bits),
    # atomics
    Row("atomic_add(A[i, j], v)", 2, 3, B.atomic),
    Row("atomic_max(A[i, j], v)", 2, 3, B.atomic),
    Row("atomic_min(A[i, j], v)", 2, 3, B.atomic),
    Row("atomic_cas(A[i], expect, new)", 3, 3, B.atomic_cas),
    # the rest
    Row("extent(A, d)", 2, 2, B.extent),
    Row('assert(c, "text")', 1, 2, B.assert_),
    Row('print("text", v..)', 1, MANY, B.print),
)
TABLE: dict[str, Row] = {row.name: row for row in ROWS}

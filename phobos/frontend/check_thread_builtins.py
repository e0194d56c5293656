"""Builtins of per-thread code: a thread's runs, lanes, the CTA's collectives, words, atomics; and assert and print."""

from __future__ import annotations

import math

from ..diagnostics import Label
from ..ir.types import BF16, BOOL, F16, F32, I8, I32, I64, INDEX, U8, Scalar, Tensor, Tile, Vec
from . import ast
from . import typed as t
from .check_subscripts import Spot
from .check_tile_builtins import Args, TileBuiltins
from .joins import ERROR, VOID, elem_of, is_number, sum_type
from .scope import Binding

ATOMIC_TYPES = (I32, I64, F32, F16, BF16)


class ThreadBuiltins(TileBuiltins):
    def scalar(self, e: ast.Call, arg: ast.Expr, wants: str) -> t.TExpr:
        """A scalar of any type, standing alone."""
        v = self.value(arg)
        if v.type == ERROR or isinstance(v.type, Scalar):
            return v
        return self.wrong_argument(e, v, wants)

    def simple_call(self, e: ast.Call, kind: Scalar, *args: t.TExpr) -> t.TExpr:
        if any(a.type == ERROR for a in args):
            return self.broken(e.span)
        return t.Call(type=kind, span=e.span, name=e.callee, args=args)

    # ---- runs -------------------------------------------------------------------------------------------

    def align(self, e: ast.Call) -> dict[str, object]:
        """The named argument `align = bytes`."""
        for arg in e.args:
            if arg.name == "align":
                value = self.constant(arg.value, "`align`")
                if value is None:
                    continue
                if value < 1 or value & (value - 1) or value > 128:
                    self.error(
                        "PH243", f"an alignment of {value} bytes", arg.span, notes=("an alignment is 1, 2, 4, .. 128",)
                    )
                    continue
                return {"align": value}
        return {}

    def elem(self, e: ast.Call, args: Args) -> t.TExpr:
        attrs = self.align(e)
        spot = self.place_of(args[0], "`elem`")
        if spot is None:
            return self.broken(e.span)
        if isinstance(spot.base.type, Vec):
            return self.error("PH243", "`elem` of a run", args[0].span, "this is a run's element already")
        self.note_read(spot.base, args[0].span)
        value = self.run_of(spot, attrs)
        value.span = e.span
        return value

    def store(self, e: ast.Call, args: Args) -> t.TExpr:
        attrs = self.align(e)
        spot = self.place_of(args[0], "`store`")
        if spot is None:
            self.expr(args[1])
            return self.broken(e.span)
        assert isinstance(args[0], ast.Subscript)
        if not self.writable(spot, args[0]):
            return self.broken(e.span)
        run = self.run_of(spot, {})
        value = self.value(args[1])
        if ERROR in (run.type, value.type):
            return self.broken(e.span)
        because = (Label(args[0].span, f"a run of {spot.base.name}"),)
        value = self.stored(value, run.type, "the run", memory=True, because=because)
        if value.type == ERROR:
            return value
        self.unwritten.pop(spot.base, None)
        return t.Call(type=VOID, span=e.span, name="store", args=(spot.place(), value), attrs=attrs)

    def sum(self, e: ast.Call, args: Args) -> t.TExpr:
        attrs = self.align(e)
        outer, self.runs = self.runs, True
        v = self.settle(self.expr(args[0]))
        self.runs = outer
        if v.type == ERROR:
            return v
        if not isinstance(v.type, Vec) or not is_number(v.type.elem):
            help_ = ("rowsum and colsum add up a tile",) if isinstance(v.type, Tile) else ()
            return self.wrong_argument(e, v, "an expression over a thread's runs", help_)
        return t.Call(type=sum_type(v.type.elem), span=e.span, name="sum", args=(v,), attrs=attrs)

    # ---- collectives ------------------------------------------------------------------------------------

    def collective_number(self, e: ast.Call, args: Args) -> t.TExpr:
        """lane_sum, cta_max and so on."""
        v = self.scalar(e, args[0], "a scalar")
        if v.type != ERROR and not is_number(elem_of(v.type)):
            return self.wrong_argument(e, v, "a number")
        elem = elem_of(v.type)
        kind = sum_type(elem) if e.callee.endswith("sum") and elem != ERROR else elem
        return self.simple_call(e, kind, v)

    def collective_bool(self, e: ast.Call, args: Args) -> t.TExpr:
        """lane_any, cta_all, lane_ballot."""
        v = self.condition(self.expr(args[0]), f"the argument of `{e.callee}`")
        return self.simple_call(e, I32 if e.callee == "lane_ballot" else BOOL, v)

    def shuffle(self, e: ast.Call, args: Args) -> t.TExpr:
        role = {"shuffle": "a lane", "shuffle_xor": "a lane mask"}.get(e.callee, "a distance in lanes")
        v, lane = self.in_order(
            self.integer(self.expr(arg), role) if i else self.scalar(e, arg, "a scalar") for i, arg in enumerate(args)
        )
        return self.simple_call(e, elem_of(v.type), v, lane)

    def barrier(self, e: ast.Call, args: Args) -> t.TExpr:
        return t.Call(type=VOID, span=e.span, name="barrier", args=())

    def grid_barrier(self, e: ast.Call, args: Args) -> t.TExpr:
        found = self.tensor_argument(e, args[0])
        if found is None:
            return self.broken(e.span)
        assert found.symbol is not None
        kind = found.symbol.type
        assert isinstance(kind, Tensor)
        size = math.prod(d for d in kind.dims if isinstance(d, int))
        if kind.elem != I32 or (all(isinstance(d, int) for d in kind.dims) and size < 2):
            return self.error(
                "PH243",
                f"`grid_barrier` needs a tensor of at least two i32, not {kind}",
                args[0].span,
                labels=(Label(found.span, "declared here"),),
            )
        if not self.attributes.persistent:
            return self.error(
                "PH278",
                "`grid_barrier` in a kernel without @persistent",
                e.span,
                notes=("blocks that wait for each other must all be resident at once",),
                help=("add @persistent above the kernel",),
            )
        return t.Call(type=VOID, span=e.span, name="grid_barrier", args=(found.symbol,))

    def tensor_argument(self, e: ast.Call, arg: ast.Expr) -> Binding | None:
        """The name of a tensor."""
        found = self.scope.find(arg.name) if isinstance(arg, ast.Name) else None
        if found is not None and found.kind == "tensor":
            return found
        v = self.expr(arg)
        if v.type != ERROR:
            self.error("PH242", f"`{e.callee}` needs the name of a tensor", arg.span, self.describe(v))
        return None

    # ---- words ------------------------------------------------------------------------------------------

    def word(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.value(args[0])
        if v.type == ERROR or (isinstance(v.type, Vec) and v.type.n == 4 and v.type.elem in (I8, U8)):
            return self.simple_call(e, I32, v)
        return self.wrong_argument(e, v, "a run of 4 i8", ("read one: elem(A[i, j :+ 4])",))

    def byteperm(self, e: ast.Call, args: Args) -> t.TExpr:
        parts = self.in_order(self.word_argument(e, arg) for arg in args)
        return self.simple_call(e, I32, *parts)

    def word_argument(self, e: ast.Call, arg: ast.Expr) -> t.TExpr:
        """A scalar integer as an i32."""
        v = self.expr(arg)
        if v.type == ERROR:
            return v
        if v.type == VOID:
            return self.no_value(v)
        if not isinstance(v.type, Scalar) or not v.type.is_int:
            return self.wrong_argument(e, self.settle(v), "an integer")
        return self.as_elem(v, I32)

    def popcount(self, e: ast.Call, args: Args) -> t.TExpr:
        v = self.scalar(e, args[0], "an integer")
        if v.type != ERROR and not elem_of(v.type).is_int:
            return self.wrong_argument(e, v, "an integer")
        return self.simple_call(e, I32, v)

    def f16bits(self, e: ast.Call, args: Args) -> t.TExpr:
        """An f16's bits as an i32, or the f16 that an integer's low bits are."""
        v = self.scalar(e, args[0], "an f16 or an integer")
        if v.type == ERROR:
            return v
        if v.type == F16:
            return self.simple_call(e, I32, v)
        if elem_of(v.type).is_int:
            return self.simple_call(e, F16, self.as_elem(v, I32, wrap=True))
        return self.wrong_argument(e, v, "an f16 or an integer")

    # ---- atomics ----------------------------------------------------------------------------------------

    def atomic(self, e: ast.Call, args: Args) -> t.TExpr:
        """atomic_add, atomic_max, atomic_min: `(A[i, j], v)`, `(A, i, v)` at rank 1; add also with a tile."""
        spot = self.atomic_place(e, args)
        if spot is None:
            self.expr(args[-1])
            return self.broken(e.span)
        if spot.elem not in ATOMIC_TYPES:
            return self.no_atomic(e, spot, ", ".join(map(str, ATOMIC_TYPES)))
        value = self.expr(args[-1])
        because = (Label(spot.binding.span, f"`{spot.base.name}` is {spot.base.type}"),)
        if spot.is_point:
            value = self.stored(value, spot.elem, f"an element of `{spot.base.name}`", memory=True, because=because)
            return self.atomic_call(e, spot.elem, spot, value)
        if e.callee != "atomic_add":
            return self.error(
                "PH242",
                f"`{e.callee}` of a slice",
                spot.span,
                "not one element",
                notes=("only atomic_add takes tiles",),
            )
        if spot.open_axis is not None:
            return self.not_static(spot)
        kind = Tile(spot.elem, spot.shape)
        value = self.stored(value, kind, f"the slice of `{spot.base.name}`", memory=True, because=because)
        return self.atomic_call(e, VOID, spot, value)

    def atomic_call(self, e: ast.Call, kind: Scalar, spot: Spot, *values: t.TExpr) -> t.TExpr:
        if any(v.type == ERROR for v in values):
            return self.broken(e.span)
        return t.Call(type=kind, span=e.span, name=e.callee, args=(spot.place(), *values))

    def no_atomic(self, e: ast.Call, spot: Spot, types: str) -> t.TExpr:
        return self.error(
            "PH243",
            f"`{e.callee}` on {spot.elem}",
            spot.span,
            f"`{spot.base.name}` is {spot.base.type}",
            notes=(f"`{e.callee}` works on {types}",),
        )

    def atomic_cas(self, e: ast.Call, args: Args) -> t.TExpr:
        spot = self.atomic_place(e, [args[0], args[2]])
        if spot is None:
            return self.broken(e.span)
        if spot.elem not in (I32, I64) or not spot.is_point:
            return self.no_atomic(e, spot, "one element of i32 or i64")
        because = (Label(spot.binding.span, f"`{spot.base.name}` is {spot.base.type}"),)
        what = f"an element of `{spot.base.name}`"
        expect, new = self.in_order(
            self.stored(self.expr(arg), spot.elem, what, memory=True, because=because) for arg in args[1:]
        )
        return self.atomic_call(e, spot.elem, spot, expect, new)

    def atomic_place(self, e: ast.Call, args: Args) -> Spot | None:
        """The element or slice of a named tensor that an atomic changes."""
        if len(args) == 3:
            found = self.tensor_argument(e, args[0])
            index = self.integer(self.expr(args[1]), "a subscript")
            if found is None or index.type == ERROR:
                return None
            assert found.symbol is not None
            assert isinstance(found.symbol.type, Tensor)
            if len(found.symbol.type.dims) != 1:
                self.error(
                    "PH226",
                    f"`{e.callee}(A, i, v)` needs a tensor of rank 1, not {found.symbol.type}",
                    args[0].span,
                    labels=(Label(found.span, "declared here"),),
                    help=(f"write {e.callee}({found.name}[i, j], v)",),
                )
                return None
            subs = (t.Range("point", index, None, args[1].span),)
            return Spot(found, found.symbol, subs, args[0].span.to(args[1].span))
        spot = self.place_of(args[0], f"`{e.callee}`")
        if spot is not None and spot.binding.kind != "tensor":
            self.error(
                "PH242",
                f"`{e.callee}` needs an element of a tensor",
                args[0].span,
                f"`{spot.base.name}` is {spot.base.type}",
                labels=(Label(spot.binding.span, "declared here"),),
            )
            return None
        return spot

    # ---- the rest ---------------------------------------------------------------------------------------

    def extent(self, e: ast.Call, args: Args) -> t.TExpr:
        found = self.scope.find(args[0].name) if isinstance(args[0], ast.Name) else None
        axis = self.constant(args[1], "the axis of `extent`")
        dims: tuple[int | str, ...] = ()
        if found is not None and found.symbol is not None and isinstance(found.symbol.type, Tensor):
            dims, text = found.symbol.type.dims, str(found.symbol.type)
        else:
            v = self.settle(self.expr(args[0]))
            if v.type == ERROR:
                return v
            if not isinstance(v.type, Tile):
                return self.wrong_argument(e, v, "a tensor or a tile")
            dims, text = v.type.shape, str(v.type)
        if axis is None:
            return self.broken(e.span)
        if not 0 <= axis < len(dims):
            return self.error("PH243", f"axis {axis} of {text}", args[1].span, f"the axes are 0 to {len(dims) - 1}")
        dim = dims[axis]
        if isinstance(dim, int):
            return self.index_constant(dim, e.span)
        return t.DimRef(type=INDEX, span=e.span, name=dim)

    def assert_(self, e: ast.Call, args: Args) -> t.TExpr:
        cond = self.condition(self.expr(args[0]), "what `assert` checks")
        text = args[1].value if len(args) > 1 and isinstance(args[1], ast.StrLit) else ""
        if len(args) > 1 and not isinstance(args[1], ast.StrLit):
            return self.not_text(e, args[1])
        if cond.type == ERROR:
            return cond
        return t.Call(type=VOID, span=e.span, name="assert", args=(cond,), attrs={"text": text})

    def print(self, e: ast.Call, args: Args) -> t.TExpr:
        if not isinstance(args[0], ast.StrLit):
            return self.not_text(e, args[0])
        values = self.in_order(self.scalar(e, arg, "scalars") for arg in args[1:])
        if any(v.type == ERROR for v in values):
            return self.broken(e.span)
        return t.Call(type=VOID, span=e.span, name="print", args=tuple(values), attrs={"text": args[0].value})

    def not_text(self, e: ast.Call, arg: ast.Expr) -> t.TExpr:
        return self.error("PH242", f"`{e.callee}` needs a text here", arg.span, "not a string")

"""Statements: declarations, assignment in all its forms, control flow; and the types that are written in them."""

from __future__ import annotations

from dataclasses import replace

from ..diagnostics import Label
from ..ir.types import INDEX, Scalar, Tensor, Tile, Type, Vec
from ..source import Span
from . import ast
from . import typed as t
from .check_expressions import ARITHMETIC
from .check_subscripts import Spot, Subscripts
from .joins import ERROR, MAX_RANK, SOURCE_SCALARS, VOID, elem_of, same_but_units
from .scope import Binding
from .walk import has_effect


class Statements(Subscripts):
    def statements(self, body: ast.Block) -> None:
        with self.block():
            for stmt in body.stmts:
                self.statement(stmt)

    def statement(self, stmt: ast.Stmt) -> None:
        with self.nested(stmt.span):
            match stmt:
                case ast.Let():
                    self.let(stmt)
                case ast.Var():
                    self.var(stmt)
                case ast.Assign():
                    self.assign(stmt)
                case ast.For():
                    self.for_(stmt)
                case ast.While():
                    self.while_(stmt)
                case ast.If():
                    self.if_(stmt)
                case ast.Break() | ast.Continue():
                    self.jump(stmt)
                case ast.Return():
                    self.return_(stmt)
                case ast.CallStmt():
                    self.call_statement(stmt)
                case _:
                    raise AssertionError(type(stmt).__name__)

    # ---- written types ----------------------------------------------------------------------------------

    def local_type(self, written: ast.TypeExpr) -> Type:
        """The type of a variable, or of a fn's tile or scalar parameter and result."""
        if not written.dims:
            return SOURCE_SCALARS[written.head]
        if written.head == "tensor":
            self.error(
                "PH221",
                "a variable cannot be a tensor",
                written.span,
                notes=("tensors are parameters of kernels; what a kernel computes is in tiles",),
                help=("write tile<..>[..]",),
            )
            return ERROR
        elem = SOURCE_SCALARS[written.elem or ""]
        shape = self.tile_dims(written)
        return ERROR if shape is None else Tile(elem, shape)

    def tile_dims(self, written: ast.TypeExpr) -> tuple[int, ...] | None:
        if not self.rank_fits(written):
            return None
        shape = [self.tile_dim(dim) for dim in written.dims]
        return None if None in shape else tuple(n for n in shape if n is not None)

    def rank_fits(self, written: ast.TypeExpr) -> bool:
        if len(written.dims) <= MAX_RANK:
            return True
        self.error("PH224", f"a {written.head} of rank {len(written.dims)}", written.span, f"at most rank {MAX_RANK}")
        return False

    def tile_dim(self, dim: ast.Expr) -> int | None:
        """One extent of a tile: a constant expression, at least 1."""
        if isinstance(dim, ast.Name):
            found = self.scope.find(dim.name)
            if found is None or (found.kind == "dim" and found.constant is None):
                what = "not declared" if found is None else "a run-time extent"
                labels = () if found is None else (Label(found.span, f"`{dim.name}` is an extent of a tensor"),)
                self.error(
                    "PH222",
                    f"unknown constant `{dim.name}`",
                    dim.span,
                    what,
                    labels=labels,
                    notes=("a tile's shape is known at compile time",),
                    help=(f"declare it: @autotune({dim.name} in [64])",) if not self.calls else (),
                )
                return None
        value = self.constant(dim, "an extent of a tile")
        if value is not None and value <= 0:
            self.bad_extent(value, dim.span)
            return None
        return value

    def bad_extent(self, value: int, span: Span) -> None:
        values = self.constant_values(span)
        self.error("PH224", f"an extent of {value}", span, values, notes=("extents are at least 1",))

    # ---- declarations -----------------------------------------------------------------------------------

    def let(self, stmt: ast.Let) -> None:
        value, kind = self.initial(stmt)
        symbol = t.Symbol(stmt.name, "let", kind, stmt.name_span)
        binding = Binding(stmt.name, "let", stmt.name_span, symbol)
        if isinstance(value, t.Const) and value.type != ERROR and elem_of(value.type).is_int:
            binding.value = value
        self.finish(stmt, binding, value)

    def var(self, stmt: ast.Var) -> None:
        if stmt.value is not None:
            value, kind = self.initial(stmt)
        else:
            assert stmt.type is not None
            value, kind = None, self.local_type(stmt.type)
        symbol = t.Symbol(stmt.name, "var", kind, stmt.name_span, uninitialised=value is None)
        if value is None and isinstance(kind, Tile):
            self.unwritten[symbol] = (self.loops, self.conditions)
        self.finish(stmt, Binding(stmt.name, "var", stmt.name_span, symbol), value)

    def initial(self, stmt: ast.Let | ast.Var) -> tuple[t.TExpr, Type]:
        """The first value of a variable in the variable's type."""
        assert stmt.value is not None
        if stmt.type is None:
            value = self.value(stmt.value)
            return value, value.type
        kind = self.local_type(stmt.type)
        value = self.expr(stmt.value)
        because = (Label(stmt.type.span, "declared so here"),)
        value = self.stored(value, kind, f"`{stmt.name}`", memory=isinstance(kind, Tile), because=because)
        return value, kind

    def finish(self, stmt: ast.Let | ast.Var, binding: Binding, value: t.TExpr | None) -> None:
        assert binding.symbol is not None
        self.declare(binding)
        self.declared[binding.symbol] = (stmt.type, value)
        self.out.append(t.Declare(span=stmt.span, symbol=binding.symbol, value=value))

    # ---- assignment -------------------------------------------------------------------------------------

    def assign(self, stmt: ast.Assign) -> None:
        if isinstance(stmt.target, ast.Name):
            self.assign_name(stmt, stmt.target)
        elif isinstance(stmt.target, ast.Subscript):
            self.assign_place(stmt, stmt.target)
        else:
            self.error("PH206", "this cannot be assigned to", stmt.target.span, notes=("assign to a name or a slice",))

    def assign_name(self, stmt: ast.Assign, target: ast.Name) -> None:
        found = self.scope.find(target.name)
        if found is None:
            self.unknown_name(target)
            self.expr(stmt.value)
            return
        if found.kind != "var":
            self.fixed(found, target.span)
            self.expr(stmt.value)
            return
        assert found.symbol is not None
        if stmt.op == "=":
            value = self.expr(stmt.value)
        else:
            old, by = self.in_order(self.after(self.read(found, target.span), stmt.value))
            value = self.compound(stmt, old, by)
        kind = found.symbol.type
        because = (Label(found.span, f"`{found.name}` is {kind}"),)
        value = self.stored(value, kind, f"`{found.name}`", memory=isinstance(kind, Tile), because=because)
        self.unwritten.pop(found.symbol, None)
        self.out.append(t.Assign(span=stmt.span, symbol=found.symbol, value=value))

    def compound(self, stmt: ast.Assign, old: t.TExpr, by: t.TExpr) -> t.TExpr:
        """`x op= e` is `x = x op e`; axes of extent 1 are dropped or added between its sides as in an assignment."""
        if isinstance(old.type, Tile) and isinstance(by.type, Tile) and same_but_units(old.type.shape, by.type.shape):
            by = self.reshaped(by, old.type.shape)
        return self.arithmetic(stmt.op[:-1], old, by, stmt.span, stmt.span)

    def fixed(self, found: Binding, span: Span) -> None:
        """An assignment to what cannot change."""
        help_: tuple[str, ...] = ()
        if found.kind == "tensor":
            assert found.symbol is not None
            assert isinstance(found.symbol.type, Tensor)
            axes = ", ".join([":"] * len(found.symbol.type.dims))
            help_ = (f"assign to its elements: {found.name}[{axes}] = ..",)
        elif found.kind == "let" and found.span.start:
            help_ = (f"declare it with `var {found.name}`",)
        elif found.kind != "constant":
            help_ = (f"copy it into a variable: var x = {found.name}",)
        self.error(
            "PH206",
            f"`{found.name}` cannot be assigned to",
            span,
            f"{found.role} never changes" if found.kind != "tensor" else "a tensor is not assigned as a whole",
            labels=(Label(found.span, "declared here"),),
            help=help_,
        )

    def assign_place(self, stmt: ast.Assign, target: ast.Subscript) -> None:
        spot = self.spot(target)
        if spot is None:
            self.expr(stmt.value)
            return
        if not self.writable(spot, target):
            self.expr(stmt.value)
            return
        if stmt.op != "=":
            self.note_read(spot.base, target.base.span)
            spot = self.settled_spot(spot)
        because = (Label(spot.binding.span, f"`{spot.base.name}` is {spot.base.type}"),)
        if spot.open_axis is not None:
            self.fill_place(stmt, spot, because)
            return
        value = self.expr(stmt.value)
        if stmt.op != "=":
            value = self.compound(stmt, self.load(spot), value)
        self.unwritten.pop(spot.base, None)
        if spot.is_point:
            value = self.stored(value, spot.elem, f"`{target.span.text}`", memory=True, because=because)
            self.out.append(t.PointStore(span=stmt.span, base=spot.base, subs=spot.subs, value=value))
            return
        labels = because + tuple(
            self.extent_label(sub.span, sub.length) for sub in spot.subs if sub.length is not None and not sub.whole
        )
        kind = Tile(spot.elem, spot.shape)
        value = self.stored(value, kind, f"the slice of `{spot.base.name}`", memory=True, because=labels)
        self.out.append(t.SliceStore(span=stmt.span, base=spot.base, subs=spot.subs, value=value))

    def writable(self, spot: Spot, target: ast.Subscript) -> bool:
        if isinstance(spot.base.type, Vec):
            self.error(
                "PH206",
                f"an element of the run `{spot.base.name}` cannot be assigned to",
                target.span,
                "a run is a value",
                labels=(Label(spot.binding.span, "declared here"),),
                help=("compute the whole run: v = v * 2.0",),
            )
            return False
        if spot.binding.kind in ("tensor", "var"):
            return True
        self.fixed(spot.binding, target.span)
        return False

    def settled_spot(self, spot: Spot) -> Spot:
        """The place with subscripts that may be written twice: what calls or loads is evaluated once before."""
        subs = []
        for sub in spot.subs:
            start, length = sub.start, sub.length_expr
            start = start if self.simple(start) else self.bind(start, "index")
            if isinstance(length, t.Binary) and length.op == "sub" and length.right is sub.start:
                if not self.simple(length.left):  # `s : e`: the end is evaluated once, and stays an end
                    length = replace(length, left=self.bind(length.left, "end"))
            elif length is not None and not self.simple(length):
                length = self.bind(length, "length")
            subs.append(t.Range(sub.kind, start, sub.length, sub.span, length, sub.whole))
        return Spot(spot.binding, spot.base, tuple(subs), spot.span)

    def fill_place(self, stmt: ast.Assign, spot: Spot, because: tuple[Label, ...]) -> None:
        """A fill of, or a compound assignment to, a slice of run-time length: with a scalar only."""
        value = self.expr(stmt.value)
        if value.type == ERROR:
            return
        if value.type == VOID:
            self.no_value(value)
            return
        if not isinstance(value.type, Scalar):
            self.not_static(spot)
            return
        self.unwritten.pop(spot.base, None)
        op = ""
        if stmt.op == "=":
            value = self.stored(value, spot.elem, f"`{spot.base.name}`", memory=True, because=because)
        else:
            op = ARITHMETIC[stmt.op[:-1]]
            # the rules are those for a tile of one element
            one = Tile(spot.elem, (1,))
            like = t.SliceLoad(type=one, span=spot.span, base=spot.base, subs=spot.subs)
            made = self.arithmetic(stmt.op[:-1], like, value, stmt.span, stmt.span)
            if self.stored(made, one, f"`{spot.base.name}`", memory=True, because=because).type == ERROR:
                return
            value = self.as_elem(value, elem_of(made.type))
        self.out.append(t.SliceStore(span=stmt.span, base=spot.base, subs=spot.subs, value=value, op=op))

    # ---- control flow -----------------------------------------------------------------------------------

    def for_(self, stmt: ast.For) -> None:
        start, stop, step = self.bounds(stmt)
        unroll = 0
        if stmt.unroll is not None:
            count = self.constant(stmt.unroll, "the unroll count")
            if count is not None and count < 1:
                self.error("PH263", f"an unroll count of {count}", stmt.unroll.span, "at least 1")
            unroll = count or 0
        symbol = t.Symbol(stmt.var, "loop", INDEX, stmt.var_span)
        with self.block(), self.emitting() as body:
            self.declare(Binding(stmt.var, "loop", stmt.var_span, symbol))
            self.loop_body(stmt.body)
        self.out.append(
            t.For(span=stmt.span, symbol=symbol, start=start, stop=stop, step=step, unroll=unroll, body=body)
        )

    def bounds(self, stmt: ast.For) -> list[t.TExpr]:
        """start, stop and step as indices."""
        parts = [(stmt.start, "the start of a loop"), (stmt.stop, "the end of a loop")]
        if stmt.step is not None:
            parts.append((stmt.step, "the step of a loop"))
        values = self.in_order(self.integer(self.expr(e), role) for e, role in parts)
        if stmt.step is None:
            values.append(self.index_constant(1, stmt.stop.span))
        step = values[2]
        if isinstance(step, t.Const) and step.type != ERROR and step.value <= 0:
            values_text = self.constant_values(step.span)
            self.error(
                "PH262",
                f"a step of {step.value}",
                step.span,
                values_text or "not positive",
                notes=("`range` counts up: a step is at least 1",),
            )
        return values

    def loop_body(self, body: ast.Block) -> None:
        self.loops += 1
        self.breakable += 1
        self.statements(body)
        self.breakable -= 1
        self.loops -= 1

    def while_(self, stmt: ast.While) -> None:
        with self.emitting() as setup:
            cond = self.condition(self.expr(stmt.cond), "the condition of `while`")
        with self.emitting() as body:
            self.loop_body(stmt.body)
        self.out.append(t.While(span=stmt.span, setup=setup, cond=cond, body=body))

    def if_(self, stmt: ast.If) -> None:
        cond = self.condition(self.expr(stmt.cond), "the condition of `if`")
        self.conditions += 1
        with self.emitting() as then:
            self.statements(stmt.then)
        with self.emitting() as orelse:
            if isinstance(stmt.orelse, ast.If):
                self.statement(stmt.orelse)
            elif stmt.orelse is not None:
                self.statements(stmt.orelse)
        self.conditions -= 1
        self.out.append(t.If(span=stmt.span, cond=cond, then=then, orelse=orelse))

    def jump(self, stmt: ast.Break | ast.Continue) -> None:
        word = "break" if isinstance(stmt, ast.Break) else "continue"
        if not self.breakable:
            self.error("PH260", f"`{word}` outside of a loop", stmt.span, "no loop around it")
            return
        self.out.append(t.Break(span=stmt.span) if word == "break" else t.Continue(span=stmt.span))

    def return_(self, stmt: ast.Return) -> None:
        if self.calls:
            self.leave(stmt)
            return
        if stmt.value is not None:
            self.expr(stmt.value)
            self.error(
                "PH261",
                "a kernel returns no value",
                stmt.value.span,
                help=("store the result into a tensor, and write `return` alone",),
            )
        self.out.append(t.Return(span=stmt.span))

    def call_statement(self, stmt: ast.CallStmt) -> None:
        value = self.expr(stmt.call)
        if value.type == ERROR or (value.type == VOID and not isinstance(value, t.Call)):
            return
        if value.type == VOID or has_effect(value):
            self.out.append(t.Evaluate(span=stmt.span, expr=value))
            return
        if stmt.call.callee not in self.fns:
            self.sink.warning(
                "PR204",
                f"the result of `{stmt.call.callee}` is not used",
                stmt.span,
                "has no effect",
                help=(f"give it a name: let x = {stmt.call.callee}(..)",),
            )

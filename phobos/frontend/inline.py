"""Calls of a `fn`: its body is checked where it is called, with the parameters bound to the arguments.

A fn whose one `return` is its last statement becomes the statements before it and the returned expression. Any other
becomes an `InlineBlock` whose `Leave`s jump to its end, with the result in a `var`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..diagnostics import Label, Sink
from ..ir.types import BOOL, INDEX, Scalar, Tensor, Tile, Type, Vec
from ..source import Span
from . import ast
from . import typed as t
from .check_base import MAX_CALLS, CallSite
from .check_statements import Statements
from .joins import ERROR, SOURCE_SCALARS, VOID, Pending, as_rank, elem_of
from .scope import Binding, Scope
from .walk import expressions, has_effect, statements, tree


@dataclass(slots=True)
class Given:
    """An argument: a tensor by its name, or a value."""

    span: Span
    tensor: Binding | None = None
    value: t.TExpr | None = None


@dataclass(slots=True)
class Frame:
    """A fn that is being inlined. tail: its only `return`, when that is its last statement."""

    fn: ast.Fn
    written: Type | None
    tail: ast.Return | None
    result: t.Symbol | None = None
    value: t.TExpr | None = None
    returns: list[Span] = field(default_factory=list)


def returns_in(body: ast.Block) -> Iterator[ast.Return]:
    """Every `return` of a body."""
    stack: list[ast.Stmt] = list(body.stmts)
    while stack:
        stmt = stack.pop()
        match stmt:
            case ast.Return():
                yield stmt
            case ast.For() | ast.While():
                stack.extend(stmt.body.stmts)
            case ast.If():
                stack.extend(stmt.then.stmts)
                if isinstance(stmt.orelse, ast.If):
                    stack.append(stmt.orelse)
                elif stmt.orelse is not None:
                    stack.extend(stmt.orelse.stmts)


def always_returns(body: ast.Block) -> bool:
    """Does every path through the body end in a `return`?"""
    return any(_always(stmt) for stmt in body.stmts)


def _always(stmt: ast.Stmt) -> bool:
    if isinstance(stmt, ast.Return):
        return True
    if not isinstance(stmt, ast.If) or stmt.orelse is None:
        return False
    orelse = _always(stmt.orelse) if isinstance(stmt.orelse, ast.If) else always_returns(stmt.orelse)
    return orelse and always_returns(stmt.then)


class Inline(Statements):
    def __init__(self, program: ast.Program, kernel: ast.Kernel, sink: Sink) -> None:
        super().__init__(program, kernel, sink)
        self.frames: list[Frame] = []
        self.inlined_calls = 0

    # ---- calls ------------------------------------------------------------------------------------------

    def inline(self, fn: ast.Fn, e: ast.Call) -> t.TExpr:
        for arg in e.args:
            if arg.name is not None:
                return self.error(
                    "PH241",
                    f"the fn `{fn.name}` takes no named arguments",
                    arg.span,
                    labels=(Label(fn.name_span, "declared here"),),
                    help=("give the value alone",),
                )
        if len(e.args) != len(fn.params):
            return self.argument_count(fn, e.span, len(e.args))
        given = self.given(fn.params, [arg.value for arg in e.args])
        value = self.inlined(fn, e, given)
        value.span = e.span
        return value

    def argument_count(self, fn: ast.Fn, span: Span, count: int, extra: str = "") -> t.TExpr:
        n = len(fn.params)
        return self.error(
            "PH240",
            f"`{fn.name}` takes {n} argument{'s' if n != 1 else ''}{extra}, not {count}",
            span,
            labels=(Label(fn.name_span, "declared here"),),
        )

    def given(self, params: tuple[ast.Param, ...], args: list[ast.Expr]) -> list[Given]:
        """The arguments, evaluated once and in order."""
        given: list[Given] = []

        def value(param: ast.Param, arg: ast.Expr) -> t.TExpr:
            found = self.scope.find(arg.name) if isinstance(arg, ast.Name) else None
            wants_tensor = param.type is None or param.type.head == "tensor"
            if found is not None and found.kind == "tensor" and wants_tensor:
                given.append(Given(arg.span, tensor=found))
                return self.broken_quietly(arg.span)
            v = self.expr(arg)
            v = self.no_value(v) if v.type == VOID else v
            given.append(Given(arg.span, value=v))
            return v

        values = self.in_order(value(p, a) for p, a in zip(params, args, strict=True))
        for entry, v in zip(given, values, strict=True):
            if entry.tensor is None:
                entry.value = v
        return given

    def broken_quietly(self, span: Span) -> t.TExpr:
        return t.Const(type=ERROR, span=span, value=0)

    def inlined(self, fn: ast.Fn, e: ast.Call, given: list[Given]) -> t.TExpr:
        """The value of a call; its statements are emitted."""
        if any(site.name == fn.name for site in self.calls):
            return self.error(
                "PH244",
                f"`{fn.name}` calls itself",
                e.callee_span,
                "recursive call",
                labels=(Label(fn.name_span, "declared here"),),
                notes=("a fn is inlined where it is called, so it cannot be recursive",),
                help=("write a loop",),
            )
        self.inlined_calls += 1
        if self.inlined_calls > MAX_CALLS:
            self.too_deep(
                e.span, f"more than {MAX_CALLS} inlined calls in one kernel", "call once and keep the result with `let`"
            )
        outer = (self.scope, self.breakable, self.runs)
        self.scope, self.breakable, self.runs = Scope(), 0, False
        self.calls.append(CallSite(fn.name, e.span))
        try:
            with self.nested(e.span):
                return self.body_of(fn, given, e.span)
        finally:
            self.calls.pop()
            self.scope, self.breakable, self.runs = outer

    def body_of(self, fn: ast.Fn, given: list[Given], span: Span) -> t.TExpr:
        fits = self.bind_dims(fn, given)
        if fits:
            fits = all([self.bind_parameter(param, arg) for param, arg in zip(fn.params, given, strict=True)])
        if not fits:
            return self.broken(span)
        written = None if fn.result is None else self.local_type(fn.result)
        rets = list(returns_in(fn.body))
        last = fn.body.stmts[-1] if fn.body.stmts else None
        tail = last if isinstance(last, ast.Return) and rets == [last] else None
        frame = Frame(fn, written, tail)
        self.frames.append(frame)
        try:
            if tail is not None or not rets:
                self.statements(fn.body)
            else:
                self.early_returns(frame, span)
        finally:
            self.frames.pop()
        if (written is not None or any(r.value is not None for r in rets)) and not always_returns(fn.body):
            return self.error(
                "PH245",
                f"`{fn.name}` does not return a value on all paths",
                fn.name_span,
                "the end of its body is reached",
                labels=() if fn.result is None else (Label(fn.result.span, "it returns this"),),
                help=("end the body with a `return`",),
            )
        if written == ERROR:
            return self.broken(span)
        if frame.value is not None:
            return frame.value
        if frame.result is not None:
            return t.SymbolRef(type=frame.result.type, span=span, symbol=frame.result)
        return t.Const(type=VOID, span=span, value=0)

    def early_returns(self, frame: Frame, span: Span) -> None:
        with self.emitting() as body:
            self.statements(frame.fn.body)
        if frame.result is not None:
            kind = frame.result.type
            zero: t.TExpr | None = None
            if isinstance(kind, Scalar) and kind != ERROR:
                zero = t.Const(type=kind, span=span, value=False if kind == BOOL else 0.0 if kind.is_float else 0)
            frame.result.uninitialised = zero is None
            self.out.append(t.Declare(span=span, symbol=frame.result, value=zero))
        self.out.append(t.InlineBlock(span=span, name=frame.fn.name, body=body))

    # ---- return -----------------------------------------------------------------------------------------

    def leave(self, stmt: ast.Return) -> None:
        frame = self.frames[-1]
        if stmt.value is None:
            if frame.written is not None or frame.result is not None:
                where = frame.fn.result.span if frame.fn.result is not None else frame.returns[0]
                self.error(
                    "PH246",
                    f"`{frame.fn.name}` returns a value",
                    stmt.span,
                    "no value here",
                    labels=(Label(where, "it returns this"),),
                )
            self.jump_out(frame, stmt)
            return
        value = self.returned(frame, stmt.value)
        if frame.tail is stmt:
            frame.value = value
            return
        if frame.result is None:
            frame.result = t.Symbol("result", "var", value.type, stmt.span)
        frame.returns.append(stmt.value.span)
        self.out.append(t.Assign(span=stmt.span, symbol=frame.result, value=value))
        self.jump_out(frame, stmt)

    def jump_out(self, frame: Frame, stmt: ast.Return) -> None:
        if stmt is not frame.fn.body.stmts[-1]:
            self.out.append(t.Leave(span=stmt.span))

    def returned(self, frame: Frame, e: ast.Expr) -> t.TExpr:
        """The returned value in the type that the fn gives."""
        value = self.expr(e)
        if frame.written is not None:
            assert frame.fn.result is not None
            memory = isinstance(frame.written, Tile)
            because = (Label(frame.fn.result.span, "declared so here"),)
            return self.stored(value, frame.written, f"what `{frame.fn.name}` returns", memory=memory, because=because)
        value = self.settle(value)
        if value.type == VOID:
            return self.no_value(value)
        if (
            frame.result is not None
            and ERROR not in (value.type, frame.result.type)
            and value.type != frame.result.type
        ):
            return self.error(
                "PH246",
                f"`{frame.fn.name}` returns {self.describe(value)} here and {frame.result.type} elsewhere",
                value.span,
                self.describe(value),
                labels=(Label(frame.returns[0], f"{frame.result.type}"),),
                help=("declare the type after the parameters: -> f32",),
            )
        return value

    # ---- parameters -------------------------------------------------------------------------------------

    def bind_dims(self, fn: ast.Fn, given: list[Given]) -> bool:
        """Bind the dim names of the parameters' types to the extents of the arguments."""
        fits = True
        for param, arg in zip(fn.params, given, strict=True):
            dims: tuple[int | str, ...] = ()
            written = param.type
            if written is None or not written.dims:
                continue
            value = arg.value
            if value is not None and isinstance(value.type, Pending) and value.type.shape and self.open_dims(written):
                arg.value = self.settle(value)
            if arg.tensor is not None and written.head == "tensor":
                assert arg.tensor.symbol is not None
                assert isinstance(arg.tensor.symbol.type, Tensor)
                dims = arg.tensor.symbol.type.dims
            elif written.head == "tile" and arg.value is not None and isinstance(arg.value.type, Tile):
                found = as_rank(arg.value.type.shape, len(written.dims))
                if found is None:
                    fits = self.too_many_axes(param, arg, len(written.dims))
                    continue
                dims = found
            if len(dims) != len(written.dims):
                continue  # `bind_parameter` reports it
            for name, dim in zip(written.dims, dims, strict=True):
                if isinstance(name, ast.Name):
                    fits = self.bind_dim(name, dim, arg.span) and fits
        return fits

    def open_dims(self, written: ast.TypeExpr) -> bool:
        """Whether a parameter's type has dim names that no earlier parameter has bound."""
        return any(isinstance(n, ast.Name) and self.scope.find(n.name) is None for n in written.dims)

    def too_many_axes(self, param: ast.Param, arg: Given, rank: int) -> bool:
        """An argument that no dropping of axes of extent 1 brings to the parameter's rank."""
        assert arg.value is not None
        self.error(
            "PH247",
            f"the parameter `{param.name}` is a tile of rank {rank}, not {self.describe(arg.value)}",
            arg.span,
            self.describe(arg.value),
            labels=(Label(param.span, "the parameter"),),
            notes=("axes of extent 1 may be dropped or added",),
        )
        return False

    def bind_dim(self, name: ast.Name, dim: int | str, span: Span) -> bool:
        value: t.TExpr
        value = (
            self.index_constant(dim, name.span) if isinstance(dim, int) else t.DimRef(type=INDEX, span=span, name=dim)
        )
        earlier = self.scope.find(name.name)
        if earlier is None:
            self.scope.add(Binding(name.name, "dim", name.span, value=value))
            return True
        was = earlier.constant if not isinstance(earlier.value, t.DimRef) else earlier.value.name
        if was == dim:
            return True
        self.error(
            "PH247",
            f"the extent `{name.name}` is {was} and {dim}",
            span,
            f"{dim} here",
            labels=(Label(name.span, f"`{name.name}` was {was} in an earlier parameter"),),
            notes=("a dim name in a fn stands for one extent",),
        )
        return False

    def bind_parameter(self, param: ast.Param, arg: Given) -> bool:
        """Enter a parameter under its name; False when the argument does not fit, which is reported."""
        if arg.tensor is not None:
            return self.bind_tensor(param, arg)
        value = arg.value
        assert value is not None
        where = (Label(param.span, "the parameter"),)
        if param.type is None:
            value = self.settle(value)
        elif param.type.head == "tensor":
            if value.type != ERROR:
                self.error(
                    "PH242",
                    f"the parameter `{param.name}` is a tensor and takes the name of one",
                    arg.span,
                    self.describe(value),
                    labels=where,
                )
            return False
        elif param.type.dims and isinstance(value.type, Scalar | Vec):
            if value.type not in (ERROR, VOID):
                self.error(
                    "PH247",
                    f"the parameter `{param.name}` is a tile, not {self.describe(value)}",
                    arg.span,
                    self.describe(value),
                    labels=where,
                )
            return False
        else:
            kind = self.local_type(param.type)
            value = self.stored(
                value, kind, f"the parameter `{param.name}`", memory=isinstance(kind, Tile), because=where
            )
            if kind == ERROR:
                return False
        if value.type == ERROR:
            return False
        self.declare(self.parameter(param, value))
        return True

    def parameter(self, param: ast.Param, value: t.TExpr) -> Binding:
        """What reads of the parameter stand for: a constant, a name that cannot change, or a `let` of its own."""
        if isinstance(value, t.DimRef) or (isinstance(value, t.Const) and elem_of(value.type).is_int):
            return Binding(param.name, "scalar", param.name_span, value=value)
        if isinstance(value, t.SymbolRef) and value.symbol.kind != "var":
            return Binding(param.name, "scalar", param.name_span, value.symbol)
        symbol = t.Symbol(param.name, "let", value.type, param.name_span)
        self.declared[symbol] = (None, value)
        self.out.append(t.Declare(span=value.span, symbol=symbol, value=value))
        return Binding(param.name, "scalar", param.name_span, symbol)

    def bind_tensor(self, param: ast.Param, arg: Given) -> bool:
        assert arg.tensor is not None
        symbol = arg.tensor.symbol
        assert symbol is not None
        assert isinstance(symbol.type, Tensor)
        if param.type is not None:
            elem = SOURCE_SCALARS[param.type.elem or ""]
            if elem != symbol.type.elem or len(param.type.dims) != len(symbol.type.dims):
                self.error(
                    "PH247",
                    f"the parameter `{param.name}` is {param.type.span.text}, not {symbol.type}",
                    arg.span,
                    f"{symbol.type}",
                    labels=(Label(param.span, "the parameter"), Label(arg.tensor.span, "declared here")),
                )
                return False
            for written, dim in zip(param.type.dims, symbol.type.dims, strict=True):
                if isinstance(written, ast.Name):
                    continue
                extent = self.constant(written, "an extent")
                if extent is None:
                    return False
                if extent != dim:
                    self.error(
                        "PH247",
                        f"the extent {extent} is {dim} in the argument",
                        arg.span,
                        f"{symbol.type}",
                        labels=(Label(written.span, f"{extent} here"),),
                    )
                    return False
        self.declare(Binding(param.name, "tensor", param.name_span, symbol))
        return True

    # ---- generate ---------------------------------------------------------------------------------------

    def generate(self, e: ast.Call, args: list[ast.Expr]) -> t.TExpr:
        """generate(f, R, C, args..): the tile whose element [i, j] is f(i, j, args..)."""
        name = args[0]
        fn = self.fns.get(name.name) if isinstance(name, ast.Name) else None
        if fn is None:
            if isinstance(name, ast.Name) and self.scope.find(name.name) is None and not self.is_builtin(name.name):
                return self.error(
                    "PH202",
                    f"unknown function `{name.name}`",
                    name.span,
                    help=self.suggestion(name.name, list(self.fns)),
                )
            return self.error("PH242", "`generate` needs the name of a fn", name.span, "not a fn")
        shape = [self.constant(args[1], "an extent of a tile"), self.constant(args[2], "an extent of a tile")]
        for n, arg in zip(shape, args[1:3], strict=True):
            if n is not None and n <= 0:
                self.bad_extent(n, arg.span)
                return self.broken(e.span)
        if len(args) - 1 != len(fn.params):
            return self.argument_count(fn, e.span, len(args) - 1, " with i and j")
        given = self.given(fn.params[2:], args[3:])
        for entry in given:
            if entry.value is not None and entry.value.type != ERROR:
                entry.value = self.kept(self.settle(entry.value))
        i, j = (t.Symbol(p.name, "loop", INDEX, p.name_span) for p in fn.params[:2])
        index = [Given(args[0].span, value=t.SymbolRef(type=INDEX, span=args[0].span, symbol=s)) for s in (i, j)]
        with self.emitting() as body:
            result = self.settle(self.inlined(fn, e, [*index, *given]))
        if None in shape or result.type == ERROR:
            return self.broken(e.span)
        if result.type == VOID:
            return self.error(
                "PH250",
                f"`{fn.name}` gives no value for an element",
                name.span,
                labels=(Label(fn.name_span, "the fn"),),
            )
        odd = self.not_per_element(body, result)
        if odd is not None:
            return self.error(
                "PH250",
                f"`{fn.name}` cannot be computed element by element",
                name.span,
                labels=(Label(odd, "this works on more than one element, or changes memory"),),
                notes=("the fn of `generate` works on scalars and stores nothing",),
            )
        attrs = {"i": i, "j": j, "body": body, "result": result}
        rows, columns = (n or 1 for n in shape)
        return t.Call(
            type=Tile(elem_of(result.type), (rows, columns)), span=e.span, name="generate", args=(), attrs=attrs
        )

    def kept(self, value: t.TExpr) -> t.TExpr:
        """An argument of `generate`: evaluated once, outside of the elements."""
        simple = isinstance(value, t.Const | t.DimRef) or (
            isinstance(value, t.SymbolRef) and value.symbol.kind != "var"
        )
        return value if simple or value.type == ERROR else self.bind(value, "arg")

    def not_per_element(self, body: list[t.TStmt], result: t.TExpr) -> Span | None:
        """The first place in a generated element's computation that is not scalar or changes something."""
        parts = [result]
        for stmt in statements(body):
            if isinstance(stmt, t.SliceStore | t.PointStore | t.Evaluate):
                return stmt.span
            parts.extend(expressions(stmt))
        for part in parts:
            for node in tree(part):
                if isinstance(node.type, Tile | Vec | Pending) or has_effect(node):
                    return node.span
                if isinstance(node, t.Call) and node.name.startswith(("lane_", "cta_", "shuffle")):
                    return node.span
        return None

"""`lower`: the typed tree of one kernel -> tile IR in form "built": SSA, structured, tile shapes known, no layouts.

Every op carries the span of the expression or statement it comes from, and values keep the names of the source. A
`var` becomes a value carried through the loops and out of the `if`s that assign it, or memory (`lower_memory`).
Expressions and the fusing of products are in `lower_expr`, accesses of memory in `lower_access`, early exits in
`lower_flow`; `lower_support` lists what cannot be lowered yet and reports all of it in one run.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostics import Sink
from ..ir.build import Builder
from ..ir.core import Block, Value
from ..ir.kernel import Aligned, Fact, Kernel
from ..ir.tile_ops import For, Require, While
from ..ir.types import INDEX, Tensor, Tile
from ..source import Span
from . import lower_memory, lower_support
from . import typed as t
from .lower_access import store, store_point
from .lower_expr import lower_effect, lower_expr
from .lower_fill import fill
from .lower_flow import structured
from .lower_memory import in_memory
from .lower_state import State
from .walk import statements


def lower(typed: t.TypedKernel, denied: frozenset[Fact] = frozenset()) -> Kernel:
    """The kernel in form "built". Raises `CompileError` with a PH401 for each construct that cannot be lowered yet."""
    sink = Sink()
    lower_support.report(typed, sink)
    sink.raise_errors()

    tensors = {symbol: Value(symbol.name, symbol.type) for symbol in typed.tensors}
    dims = {name: Value(name, INDEX) for name in typed.dims}
    strides = tuple(_strides(tensor, denied) for tensor in tensors.values())
    scalars = {symbol: Value(symbol.name, symbol.type) for symbol in typed.scalars}

    state = State(Builder(typed.span), tensors, dims, typed.scopes, typed.attributes.launch.threads)
    state.env.update(scalars)
    for promise in typed.attributes.aligned:
        if promise.dim in dims:  # one on a constant extent was checked with the types
            _require_aligned(state, promise)
    body = structured(typed.body, typed.span)
    state.in_memory = in_memory(body)
    _Statements(state, typed.attributes.pipeline).block(body)

    return Kernel(
        name=typed.name,
        form="built",
        tensors=tuple(tensors.values()),
        dims=tuple(dims.values()),
        scalars=tuple(scalars.values()),
        body=Block((), state.build.take()),
        attributes=typed.attributes,
        constants=tuple(typed.constants.items()),
        span=typed.span,
        denied=denied,
        strides=strides if any(strides) else (),
    )


def _strides(tensor: Value, denied: frozenset[Fact]) -> tuple[Value, ...]:
    """The outer strides of a tensor that may not be dense, as parameters."""
    assert isinstance(tensor.type, Tensor)
    if Fact("dense", tensor.name) not in denied:
        return ()
    return tuple(Value(f"{tensor.name}_stride{axis}", INDEX) for axis in range(len(tensor.type.dims) - 1))


def _require_aligned(state: State, promise: Aligned) -> None:
    """Trap at entry unless the extent is a whole number of tiles."""
    build = state.build
    with build.at(promise.span):
        rest = build.binary("rem", state.dims[promise.dim], build.const(promise.divisor, name=f"c{promise.divisor}"))
        text = f"@aligned({promise.dim} = {promise.divisor}): {promise.dim} must be a multiple of {promise.divisor}"
        build.emit(Require(cond=build.compare("eq", rest, 0), text=text))


def _assigned(stmts: Iterable[t.TStmt]) -> set[t.Symbol]:
    """Every symbol that `stmts` assign, at any depth."""
    return {stmt.symbol for stmt in statements(stmts) if isinstance(stmt, t.Assign)}


class _Statements:
    """Lowers statements into the state's builder. stages: the buffers that `@pipeline` asks of every loop."""

    def __init__(self, state: State, stages: int) -> None:
        self.state = state
        self.build = state.build
        self.stages = stages
        state.statements = self.block

    def block(self, stmts: Iterable[t.TStmt]) -> None:
        for stmt in stmts:
            with self.build.at(stmt.span):
                self._stmt(stmt)

    def _expr(self, expr: t.TExpr, name: str = "") -> Value:
        return lower_expr(self.state, expr, name)

    def _stmt(self, stmt: t.TStmt) -> None:
        match stmt:
            case t.Declare(symbol=symbol, value=value) if symbol in self.state.in_memory:
                made = None if value is None else self._expr(value, symbol.name)
                lower_memory.declare(self.state, symbol, made)
            case t.Assign(symbol=symbol, value=value) if symbol in self.state.in_memory:
                lower_memory.write(self.state, symbol, self._expr(value, symbol.name))
            case t.Declare(symbol=symbol, value=value):
                self.state.env[symbol] = None if value is None else self._expr(value, symbol.name)
            case t.Assign(symbol=symbol, value=value):
                self.state.env[symbol] = self._expr(value, symbol.name)
            case t.SliceStore(value=value) if not isinstance(value.type, Tile):
                fill(self.state, stmt, self._expr(value), self._expr)
            case t.SliceStore(value=value):
                store(self.state, stmt, self._expr(value), self._expr)
            case t.PointStore(value=value):
                store_point(self.state, stmt, self._expr(value), self._expr)
            case t.For():
                self._for(stmt)
            case t.While():
                self._while(stmt)
            case t.If():
                self._if(stmt)
            case t.InlineBlock(body=body):
                self.block(body)
            case t.Evaluate(expr=expr):
                lower_effect(self.state, expr)
            case _:
                raise AssertionError(f"{type(stmt).__name__} passed lower_flow")

    # ---- regions ------------------------------------------------------------------------------------------

    def _carried(self, *parts: Iterable[t.TStmt]) -> list[t.Symbol]:
        """The variables of the surrounding scope that a region assigns, in order of declaration."""
        written = set().union(*map(_assigned, parts))
        return [symbol for symbol in self.state.env if symbol in written]

    def _values(self, symbols: list[t.Symbol], span: Span) -> tuple[Value, ...]:
        return tuple(self.state.read(symbol, span) for symbol in symbols)

    def _bind(self, symbols: list[t.Symbol]) -> tuple[Value, ...]:
        """New values for `symbols`, which they have from here on: the parameters of a block or the results of an op."""
        values = tuple(Value(symbol.name, symbol.type) for symbol in symbols)
        self.state.env.update(zip(symbols, values, strict=True))
        return values

    def _if(self, stmt: t.If) -> None:
        cond = self._expr(stmt.cond)
        carried = self._carried(stmt.then, stmt.orelse)
        arms: list[Block] = []
        for arm in (stmt.then, stmt.orelse):
            with self.state.scope(), self.build.block() as region:
                self.block(arm)
                self.build.yields(*self._values(carried, stmt.span))
            arms.append(region.block)
        self.build.branch(cond, arms[0], arms[1], self._bind(carried))

    def _for(self, stmt: t.For) -> None:
        start, stop, step = self._range(stmt)
        carried = self._carried(stmt.body)
        inits = self._values(carried, stmt.span)
        iv = Value(stmt.symbol.name, INDEX)
        with self.state.scope(), self.build.block((iv, *self._bind(carried))) as region:
            self.state.env[stmt.symbol] = self.build.cast(iv, stmt.symbol.type)
            self.block(stmt.body)
            self.build.yields(*self._values(carried, stmt.span))
        loop = For(
            start=start,
            stop=stop,
            step=step,
            inits=inits,
            unroll=stmt.unroll,
            stages=self.stages,
            body=region.block,
            outs=self._bind(carried),
        )
        self.build.emit(loop)

    def _range(self, stmt: t.For) -> tuple[Value, Value, Value]:
        """(start, stop, step) as indices. A step that is not positive, known only at run time, gives no trips."""
        start, stop, step = (self.build.cast(self._expr(e), INDEX) for e in (stmt.start, stmt.stop, stmt.step))
        if isinstance(stmt.step, t.Const):
            return start, stop, step
        up = self.build.compare("gt", step, 0)
        return start, self.build.select(up, stop, start, "stop"), self.build.select(up, step, 1, "step")

    def _while(self, stmt: t.While) -> None:
        carried = self._carried(stmt.setup, stmt.body)
        inits = self._values(carried, stmt.span)
        with self.state.scope(), self.build.block(self._bind(carried)) as test:
            self.block(stmt.setup)
            cond = self._expr(stmt.cond)
            self.build.yields(cond, *self._values(carried, stmt.span))
        with self.state.scope(), self.build.block(self._bind(carried)) as body:
            self.block(stmt.body)
            self.build.yields(*self._values(carried, stmt.span))
        self.build.emit(While(inits=inits, cond=test.block, body=body.block, outs=self._bind(carried)))

"""Checks of `fn`s as written: their names, and the bodies of those that no kernel calls, name by name.

A called fn is checked where it is inlined. For the others the types of the parameters may be open, so what can be said
is whether every name and function in them exists, and whether they call themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Sink
from . import ast
from .builtins import TABLE
from .joins import SOURCE_SCALARS
from .scope import Binding, Scope, nearest


def calls_in(node: ast.Node) -> Iterator[ast.Call]:
    """Every call below a node; `generate(f, ..)` counts as it stands."""
    stack: list[object] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Call):
            yield item
        if isinstance(item, tuple):
            stack.extend(item)
        elif isinstance(item, ast.Node):
            stack.extend(getattr(item, name) for name in _fields(type(item)) if name != "span")


def _fields(cls: type) -> list[str]:
    return [name for c in cls.__mro__ for name in getattr(c, "__slots__", ())]


def callees(node: ast.Node) -> Iterator[tuple[str, ast.Call]]:
    for call in calls_in(node):
        yield call.callee, call
        if call.callee == "generate" and call.args and isinstance(call.args[0].value, ast.Name):
            yield call.args[0].value.name, call


def check_fns(program: ast.Program, sink: Sink) -> None:
    fns = {fn.name: fn for fn in reversed(program.fns)}
    for fn in program.fns:
        if fn.name in TABLE or fn.name in SOURCE_SCALARS:
            sink.error(
                "PH207",
                f"the fn `{fn.name}` has the name of a builtin",
                fn.name_span,
                help=("choose another name",),
            )
    reached: set[str] = set()
    waiting: list[ast.Node] = list(program.kernels)
    while waiting:
        for name, _ in callees(waiting.pop()):
            if name in fns and name not in reached:
                reached.add(name)
                waiting.append(fns[name])
    for fn in program.fns:
        if fn.name not in reached:
            _Names(fns, sink).check(fn)
            _check_recursion(fn, fns, sink)


def _check_recursion(fn: ast.Fn, fns: dict[str, ast.Fn], sink: Sink) -> None:
    """Report the call through which an uncalled fn comes back to itself."""
    seen = {fn.name}
    waiting = [fn]
    while waiting:
        for name, call in callees(waiting.pop()):
            if name == fn.name:
                sink.error("PH244", f"`{fn.name}` calls itself", call.callee_span, "recursive call")
                return
            if name in fns and name not in seen:
                seen.add(name)
                waiting.append(fns[name])


class _Names:
    """Walks a body with its scopes and reports the names that nothing declares."""

    def __init__(self, fns: dict[str, ast.Fn], sink: Sink) -> None:
        self.fns = fns
        self.sink = sink
        self.scope = Scope()

    def add(self, name: str, node: ast.Node) -> None:
        self.scope.names[name] = Binding(name, "let", node.span)

    def check(self, fn: ast.Fn) -> None:
        for param in fn.params:
            self.add(param.name, param)
            for dim in param.type.dims if param.type is not None else ():
                if isinstance(dim, ast.Name):
                    self.add(dim.name, dim)
        self.type(fn.result)
        self.block(fn.body)

    def type(self, written: ast.TypeExpr | None) -> None:
        for dim in written.dims if written is not None else ():
            self.expr(dim)

    def block(self, block: ast.Block) -> None:
        outer = self.scope
        self.scope = Scope(outer)
        for stmt in block.stmts:
            self.stmt(stmt)
        self.scope = outer

    def stmt(self, stmt: ast.Stmt) -> None:
        match stmt:
            case ast.Let() | ast.Var():
                self.type(stmt.type)
                self.expr(stmt.value)
                self.add(stmt.name, stmt)
            case ast.Assign():
                self.expr(stmt.target)
                self.expr(stmt.value)
            case ast.For():
                for e in (stmt.start, stmt.stop, stmt.step):
                    self.expr(e)
                outer = self.scope
                self.scope = Scope(outer)
                self.add(stmt.var, stmt)
                self.block(stmt.body)
                self.scope = outer
            case ast.While():
                self.expr(stmt.cond)
                self.block(stmt.body)
            case ast.If():
                self.expr(stmt.cond)
                self.block(stmt.then)
                if isinstance(stmt.orelse, ast.If):
                    self.stmt(stmt.orelse)
                elif stmt.orelse is not None:
                    self.block(stmt.orelse)
            case ast.Return():
                self.expr(stmt.value)
            case ast.CallStmt():
                self.expr(stmt.call)

    def expr(self, e: ast.Expr | None) -> None:
        match e:
            case ast.Name():
                if self.scope.find(e.name) is None and e.name not in self.fns:
                    close = nearest(e.name, self.scope.visible())
                    help_ = (f"did you mean `{close}`?",) if close is not None else ()
                    self.sink.error("PH201", f"unknown name `{e.name}`", e.span, "not declared here", help=help_)
            case ast.Unary():
                self.expr(e.operand)
            case ast.Binary():
                self.expr(e.left)
                self.expr(e.right)
            case ast.Subscript():
                self.expr(e.base)
                for sub in e.subs:
                    for part in (sub.start, sub.stop, sub.length):
                        self.expr(part)
            case ast.Call():
                if e.callee not in self.fns and e.callee not in TABLE and e.callee not in SOURCE_SCALARS:
                    close = nearest(e.callee, [*self.fns, *TABLE])
                    help_ = (f"did you mean `{close}`?",) if close is not None else ()
                    self.sink.error("PH202", f"unknown function `{e.callee}`", e.callee_span, help=help_)
                for arg in e.args:
                    self.expr(arg.value)

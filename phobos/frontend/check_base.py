"""What all parts of the checker share: its state, errors with the call chain, and emitting statements.

The checker is one class in layers, each a file: `Base` (here), then `Values` (giving a value another type or
shape), `Expressions`, `Subscripts`, `Statements`, then `TileBuiltins`, `ThreadBuiltins` and `Inline` beside each other,
and `Builtins` on top; `check` adds the kernel itself. What a lower layer needs from a higher one is declared here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

from ..diagnostics import Label, Sink
from ..ir.types import INDEX, Type
from ..source import Span
from . import ast
from . import typed as t
from .joins import ERROR
from .scope import Binding, Scope, nearest
from .walk import changes_memory, reads_memory

MAX_DEPTH = 120
"""Nesting of expressions, statements and inlined calls together, far below Python's own limit."""

MAX_CALLS = 2000
"""Inlined calls in one kernel: twenty nested functions that call each other twice would be a million."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """An inlined call that is being checked."""

    name: str
    span: Span


class TooDeepError(Exception):
    """The limit on nesting was reached; the error is in the sink, and the kernel is given up."""


class Base:
    """State of the check of one kernel for one choice of constants."""

    def __init__(self, program: ast.Program, kernel: ast.Kernel, sink: Sink) -> None:
        self.program = program
        self.kernel = kernel
        self.sink = sink
        self.fns = {fn.name: fn for fn in reversed(program.fns)}
        self.constants: dict[str, int] = {}
        self.attributes = t.Attributes()
        self.scope = Scope()
        self.root = self.scope
        self.out: list[t.TStmt] = []
        self.calls: list[CallSite] = []
        self.depth = 0
        self.loops = 0
        self.breakable = 0
        """Loops around the statement in its own kernel or fn."""
        self.conditions = 0
        self.runs = False
        """Inside `sum(..)`: a slice is a thread's run, not a tile."""
        self.unwritten: dict[t.Symbol, tuple[int, int]] = {}
        """Tiles without a value that nothing has written yet, with the loops and conditions around them."""
        self.declared: dict[t.Symbol, tuple[ast.TypeExpr | None, t.TExpr | None]] = {}
        """Where a symbol's shape came from: its written type and its first value."""
        self.failed = False

    # ---- errors -----------------------------------------------------------------------------------------

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: tuple[str, ...] = (),
    ) -> t.TExpr:
        """Report an error, with the calls that led here, and give the expression that agrees with everything."""
        self.failed = True
        chain = tuple(Label(site.span, f"in this call of `{site.name}`") for site in reversed(self.calls))
        self.sink.error(code, message, span, label, labels + chain[:8], notes, help)
        return t.Const(type=ERROR, span=span, value=0)

    def broken(self, span: Span) -> t.TExpr:
        """The value of something that has its error already."""
        self.failed = True
        return t.Const(type=ERROR, span=span, value=0)

    def constant_values(self, span: Span) -> str:
        """`TILE_K = 64, TILE_N = 32` for the constants that a piece of text names."""
        names: list[str] = []
        for word in "".join(c if c.isalnum() or c == "_" else " " for c in span.text).split():
            if word in self.constants and word not in names:
                names.append(word)
        return ", ".join(f"{n} = {self.constants[n]}" for n in names)

    @contextmanager
    def nested(self, span: Span, levels: int = 1) -> Iterator[None]:
        """Some levels deeper; raises `TooDeepError` at the limit."""
        self.depth += levels
        if self.depth > MAX_DEPTH:
            self.too_deep(span)
        try:
            yield
        finally:
            self.depth -= levels

    def too_deep(
        self,
        span: Span,
        message: str = f"nested more than {MAX_DEPTH} deep",
        help: str = "give parts of it names with `let`",
    ) -> NoReturn:
        self.error(
            "PH248",
            message,
            span,
            help=(help,),
        )
        raise TooDeepError

    # ---- names ------------------------------------------------------------------------------------------

    def declare(self, binding: Binding) -> None:
        """Enter a name into the innermost block."""
        if binding.name == "ctx":
            self.error("PH207", "`ctx` is reserved", binding.span, "no variable can have this name")
            return
        earlier = self.scope.add(binding)
        if earlier is not None:
            self.error(
                "PH205",
                f"`{binding.name}` is declared twice in one block",
                binding.span,
                "declared again",
                labels=(Label(earlier.span, "first declared here"),),
                help=("use another name; an inner block may use the same one",),
            )

    def suggestion(self, name: str, candidates: Iterator[str] | list[str]) -> tuple[str, ...]:
        found = nearest(name, candidates)
        return (f"did you mean `{found}`?",) if found is not None else ()

    @contextmanager
    def block(self) -> Iterator[None]:
        """The names declared inside end with the block."""
        outer = self.scope
        self.scope = Scope(outer)
        try:
            yield
        finally:
            self.scope = outer

    # ---- emitting ---------------------------------------------------------------------------------------

    @contextmanager
    def emitting(self) -> Iterator[list[t.TStmt]]:
        """Collect the statements emitted inside."""
        outer = self.out
        self.out = []
        try:
            yield self.out
        finally:
            self.out = outer

    def bind(self, e: t.TExpr, name: str = "tmp", at: int | None = None) -> t.TExpr:
        """Evaluate now, into a `let` of our own; `at` is the place among the emitted statements."""
        symbol = t.Symbol(name, "let", e.type, e.span)
        declare = t.Declare(span=e.span, symbol=symbol, value=e)
        self.out.insert(len(self.out) if at is None else at, declare)
        return t.SymbolRef(type=e.type, span=e.span, symbol=symbol)

    def in_order(self, parts: Iterable[t.TExpr]) -> list[t.TExpr]:
        """Evaluate operands left to right; `parts` makes each one when it is asked for it.

        An inlined call emits its body before the statement that holds it, so an operand to its left that reads
        memory is evaluated into a `let` first when that body could change what it reads.
        """
        done: list[t.TExpr] = []
        mark = len(self.out)
        for value in parts:
            if done and len(self.out) > mark and changes_memory(self.out[mark:]):
                for i, earlier in enumerate(done):
                    if isinstance(earlier.type, Type) and earlier.type != ERROR and reads_memory(earlier):
                        done[i] = self.bind(earlier, at=mark)
                        mark += 1
            done.append(value)
            mark = len(self.out)
        return done

    # ---- what lower layers need from higher ones --------------------------------------------------------

    def expr(self, e: ast.Expr) -> t.TExpr:
        """An expression's value; literals and pending shapes are left open."""
        raise NotImplementedError

    def subscript(self, e: ast.Subscript) -> t.TExpr:
        raise NotImplementedError

    def call(self, e: ast.Call) -> t.TExpr:
        raise NotImplementedError

    def inline(self, fn: ast.Fn, e: ast.Call) -> t.TExpr:
        raise NotImplementedError

    def statements(self, body: ast.Block) -> None:
        raise NotImplementedError

    def is_builtin(self, name: str) -> bool:
        raise NotImplementedError

    def in_sum(self, value: t.TExpr) -> t.TExpr:
        raise NotImplementedError

    def leave(self, stmt: ast.Return) -> None:
        """A `return` inside of an inlined fn."""
        raise NotImplementedError

    def index_constant(self, value: int, span: Span) -> t.Const:
        return t.Const(type=INDEX, span=span, value=value)

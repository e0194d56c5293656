"""Where lowering stands in the middle of a kernel: the builder, and the SSA value that each symbol has now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..ir.build import Builder
from ..ir.core import Value
from ..ir.types import INDEX, Dim, Tile, Type, Vec
from ..source import Span
from . import typed as t


class State:
    """`env` maps every scalar, tile and vec symbol in reach to its value; None while it is uninitialised. A tile that
    lives in shared memory has a buffer instead.

    `tensors` and `dims` are the kernel's parameters, `scopes` the typed kernel's. Blocks copy `env`, so an assignment
    inside a region is seen outside only through the results of the op that owns the region.
    """

    def __init__(
        self,
        builder: Builder,
        tensors: dict[t.Symbol, Value],
        dims: dict[str, Value],
        scopes: dict[t.TExpr | t.TStmt, str] | None = None,
        threads: int = 256,
    ) -> None:
        self.build = builder
        self.tensors = tensors
        self.dims = dims
        self.scopes = scopes or {}
        self.threads = threads
        self.align = 0
        """The alignment in bytes that the `sum` around this place states for its runs; 0 for none."""
        self.env: dict[t.Symbol, Value | None] = {}
        self.statements: Callable[[list[t.TStmt]], None]
        """Lowers statements here; `lower` sets it."""
        self.in_memory: dict[t.Symbol, str] = {}
        """The tiles that live in shared memory, and why; they are not in `env`."""
        self.buffers: dict[t.Symbol, Value] = {}
        """The buffers of those that are declared already."""

    def read(self, symbol: t.Symbol, span: Span) -> Value:
        """The symbol's value here. What nobody wrote may be anything; it is zero."""
        value = self.env[symbol]
        if value is None:
            value = self.env[symbol] = self._zero(symbol, span)
        return value

    def _zero(self, symbol: t.Symbol, span: Span) -> Value:
        with self.build.at(span):
            return self.zero(symbol.type, symbol.name)

    def zero(self, type: Type, name: str) -> Value:
        """A scalar, tile or vec of zeros."""
        elem = t.elem_type(type)
        zero = self.build.const(False if elem.kind == "bool" else 0.0 if elem.is_float else 0, elem, "zero")
        return self.build.splat(zero, type, name) if isinstance(type, Tile | Vec) else zero

    def extent(self, dim: Dim) -> Value:
        """A tensor's extent on one axis as an index."""
        return self.build.const(dim, INDEX, f"c{dim}") if isinstance(dim, int) else self.dims[dim]

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Assignments and declarations inside the `with` are forgotten after it."""
        outer, self.env = self.env, dict(self.env)
        try:
            yield
        finally:
            self.env = outer

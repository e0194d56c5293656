"""Names and what they stand for, block by block."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..source import Span
from .typed import Const, Symbol, TExpr


@dataclass(eq=False, slots=True)
class Binding:
    """What a name stands for.

    kind: "tensor", "let", "var", "loop" or "scalar" with a symbol; "dim" and "constant" with a value that is read
    instead. A `let` bound to a constant has both. role is the word for it in messages.
    """

    name: str
    kind: str
    span: Span
    symbol: Symbol | None = None
    value: TExpr | None = None

    @property
    def role(self) -> str:
        return _ROLES[self.kind]

    @property
    def constant(self) -> int | None:
        """The value of a constant integer."""
        if isinstance(self.value, Const) and not isinstance(self.value.value, bool | float):
            return self.value.value
        return None


_ROLES = {
    "tensor": "a tensor parameter",
    "scalar": "a parameter",
    "let": "a `let`",
    "var": "a `var`",
    "loop": "a loop variable",
    "dim": "a dim",
    "constant": "a constant",
}


class Scope:
    """One block's names over those of the blocks around it."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Binding] = {}

    def find(self, name: str) -> Binding | None:
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def add(self, binding: Binding) -> Binding | None:
        """Enter a name; gives the earlier binding of the same block, which stays, or None."""
        earlier = self.names.get(binding.name)
        if earlier is None:
            self.names[binding.name] = binding
        return earlier

    def visible(self) -> Iterator[str]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was probably meant to be."""
    pool = list(candidates)
    for candidate in pool:
        if candidate.lower() == name.lower() and candidate != name:
            return candidate
    close = difflib.get_close_matches(name, pool, n=1, cutoff=0.6)
    return close[0] if close else None

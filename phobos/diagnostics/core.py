"""The diagnostic object and the sink that collects it.

A stage makes diagnostics and puts them into a `Sink`; it never prints. `Sink.raise_errors` turns the errors
of a stage into one `CompileError`. Rendering to text and JSON is in `render`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..source import Span
from .codes import CODES


class Severity(Enum):
    """How much a diagnostic weighs."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary place and the local fact that it shows, such as where an expectation came from."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    message: what is wrong, lower case, no full stop. label: the local fact under the caret.
    labels: other places. notes: the rule. help: one action each.
    """

    severity: Severity
    code: str
    message: str
    span: Span
    label: str = ""
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.code in CODES, f"diagnostic code {self.code} is not registered"


class CompileError(Exception):
    """The user's program has errors; `diagnostics` holds them all, and the warnings beside them, sorted by place."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__(diagnostics)

    def __str__(self) -> str:
        from .render import render_text

        return "\n\n".join(render_text(d) for d in self.diagnostics)


class InternalError(Exception):
    """A fault of the compiler, never of the user (PH9xx). Says the pass and the op where it arose."""


class Sink:
    """Collects diagnostics; an error raised twice at the same place with the same code is kept once."""

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []
        self._seen: set[tuple[str, int, int, str]] = set()

    def add(self, diagnostic: Diagnostic) -> None:
        key = (diagnostic.code, diagnostic.span.start, diagnostic.span.end, diagnostic.message)
        if key not in self._seen:
            self._seen.add(key)
            self._items.append(diagnostic)

    def _make(
        self,
        severity: Severity,
        code: str,
        message: str,
        span: Span,
        label: str,
        labels: tuple[Label, ...],
        notes: tuple[str, ...],
        help: tuple[str, ...],
    ) -> None:
        self.add(Diagnostic(severity, code, message, span, label, labels, notes, help))

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: tuple[str, ...] = (),
    ) -> None:
        self._make(Severity.ERROR, code, message, span, label, labels, notes, help)

    def warning(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: tuple[str, ...] = (),
    ) -> None:
        self._make(Severity.WARNING, code, message, span, label, labels, notes, help)

    def remark(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: tuple[str, ...] = (),
    ) -> None:
        self._make(Severity.REMARK, code, message, span, label, labels, notes, help)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings so far, sorted by place."""
        return tuple(sorted(self._items, key=lambda d: (d.span.start, d.span.end, d.code)))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)

    def raise_errors(self) -> None:
        """Raise `CompileError` with the errors and warnings if there is an error among the findings."""
        if self.errors:
            raise CompileError(tuple(d for d in self.diagnostics if d.severity is not Severity.REMARK))

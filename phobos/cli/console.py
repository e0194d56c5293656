"""What the commands print and where: products on stdout, diagnostics and times on stderr, colours on a terminal."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TextIO

from .options import FORMS, Command

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic


class Console:
    """Prints for one command. form: "text" or "json" for diagnostics."""

    def __init__(self, form: str = "text") -> None:
        self._json = form == "json"

    def line(self, text: str = "") -> None:
        """A line of the product."""
        print(text)

    def text(self, text: str) -> None:
        """A product that ends its own lines."""
        sys.stdout.write(text)

    def report(self, text: str) -> None:
        """A report: its titles in bold on a terminal."""
        if not _colours(sys.stdout):
            sys.stdout.write(text)
            return
        from rich.console import Console as Rich
        from rich.text import Text

        styled = Text(text)
        styled.highlight_regex(r"(?m)^\S.*$", "bold")
        styled.highlight_regex(r"(?<!not )\bmasked (?:past the end|below 0|at both ends)|\bspills:.*", "yellow")
        styled.highlight_regex(r"\bnot masked\b|\bno spills\b", "green")
        styled.highlight_regex(r"\bP[HR]\d{3}\b", "cyan")
        Rich(soft_wrap=True).print(styled, end="")

    def markdown(self, text: str) -> None:
        """A page: laid out on a terminal, else as it is."""
        if not _colours(sys.stdout):
            sys.stdout.write(text)
            return
        from rich.console import Console as Rich
        from rich.markdown import Markdown

        Rich().print(Markdown(text))

    def diagnostics(self, found: Iterable[Diagnostic]) -> None:
        """Diagnostics as text with an empty line between them, or one JSON object per line."""
        from ..diagnostics.render import render_text, to_json

        for diagnostic in found:
            if self._json:
                print(json.dumps(to_json(diagnostic), ensure_ascii=False), file=sys.stderr)
            else:
                print(render_text(diagnostic, colour=_colours(sys.stderr)), end="\n\n", file=sys.stderr)

    def note(self, text: str) -> None:
        """Something to know that is neither product nor diagnostic."""
        if self._json:
            print(json.dumps({"severity": "note", "message": text}, ensure_ascii=False), file=sys.stderr)
        else:
            print(f"note: {text}", file=sys.stderr)

    def times(self, title: str, times_ms: Mapping[str, float]) -> None:
        """Stages with their milliseconds and the sum."""
        width = max(map(len, (*times_ms, "total")))
        print(title, file=sys.stderr)
        for name, ms in (*times_ms.items(), ("total", sum(times_ms.values()))):
            print(f"  {name:<{width}}  {ms:9.2f} ms", file=sys.stderr)

    def usage(self, text: str) -> None:
        """A wrong command line."""
        if self._json:
            print(json.dumps({"severity": "usage", "message": text}, ensure_ascii=False), file=sys.stderr)
        else:
            print(f"python -m phobos: error: {text}", file=sys.stderr)

    def internal(self, error: Exception, options: Command) -> None:
        """A fault of the compiler: what it said, where, and what to do. The traceback with PHOBOS_LOG=debug."""
        from ..diagnostics import InternalError

        said = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}".rstrip(": ")
        where, op = _origin(error), _op(error)
        if self._json:
            record = {"severity": "internal", "code": "PH901", "message": said, "where": where, "op": op}
            print(json.dumps(record, ensure_ascii=False), file=sys.stderr)
            return
        print(f"internal compiler error[PH901]: {said}", file=sys.stderr)
        if where:
            print(f"  = raised in {where}", file=sys.stderr)
        if op:
            print(f"  = at {op}", file=sys.stderr)
        print("  = note: this is a fault of the compiler, not of your program", file=sys.stderr)
        if options.command in ("build", "check", "run"):
            dump = f"python -m phobos build {options.file} --verify --emit {','.join(FORMS)} -o DIR"
            print(f"  = help: report it with what this writes: {dump}", file=sys.stderr)
        if os.environ.get("PHOBOS_LOG", "").lower() in ("debug", "trace"):
            traceback.print_exception(error)
        else:
            print("  = help: PHOBOS_LOG=debug shows the traceback", file=sys.stderr)


def _origin(error: Exception) -> str:
    """module:line of the innermost frame of this package."""
    package = __name__.partition(".")[0]
    frames = [(frame.f_globals.get("__name__", ""), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [f"{name}:{line}" for name, line in frames if name == package or name.startswith(f"{package}.")]
    return own[-1] if own else ""


def _op(error: Exception) -> str:
    """The op that the innermost frame with one was busy with, and its place in the source."""
    from ..ir.core import Op
    from ..ir.printer import print_op

    ops = [frame.f_locals.get("op") for frame, _ in traceback.walk_tb(error.__traceback__)]
    found = [op for op in ops if isinstance(op, Op)]
    return f"{found[-1].span}: {print_op(found[-1])}" if found else ""


def _colours(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

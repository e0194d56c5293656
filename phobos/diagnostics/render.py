"""A diagnostic as text for people and as a record for editors. Pure: takes a `Diagnostic`, prints nothing.

    error[PH204]: dot contracts 64 with 32
      --> gemm.ph:14:12
       |
    11 |   let b = B[kt :+ 32, n :+ TILE_N]
       |             -------- this makes b a tile<f16>[32, 128]
    14 |   acc += dot(a, b)
       |              ^  ^ 32 rows
       |              |
       |              64 columns
       = note: dot(a, b) needs a[m, k] and b[k, n] with the same k
       = see: python -m phobos explain PH204

`^` marks the place of the finding, `-` the places that explain it. Columns are counted as a terminal shows them:
a tab goes to the next multiple of four, wide characters take two.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from ..source import Source, Span
from .core import Diagnostic, Severity

_TAB = 4
_MAX_WIDTH = 200  # of a source line; a longer one is cut to the part around its first mark
_COLOURS = {"error": "1;31", "warning": "1;33", "remark": "1;36", "gutter": "1;34", "bold": "1"}


@dataclass(frozen=True, slots=True)
class _Mark:
    """Underlined columns `start` to `end` (excluded) of one line, with the text that belongs to them."""

    start: int
    end: int
    text: str
    primary: bool


def render_text(diagnostic: Diagnostic, colour: bool = False) -> str:
    """The diagnostic as a person reads it, without a newline at the end."""
    paint = _Paint(diagnostic.severity, colour)
    header = paint.severity(f"{diagnostic.severity.value}[{diagnostic.code}]") + paint.bold(f": {diagnostic.message}")
    places = [(diagnostic.span, diagnostic.label, True)]
    places += [(label.span, label.text, False) for label in diagnostic.labels]
    files = _by_line(places)
    lines_shown = [number for by_line in files.values() for number in by_line]
    gutter = len(str(max(lines_shown, default=1)))
    out = [header]
    for source, by_line in files.items():
        first = diagnostic.span if source is diagnostic.span.source else _first_span(places, source)
        out.append(" " * gutter + paint.gutter("--> ") + str(first))
        if not source.text:
            continue
        out.append(paint.gutter(" " * gutter + " |"))
        previous = 0
        for number, marks in sorted(by_line.items()):
            if previous and number > previous + 2:
                out.append(paint.gutter("..."))
            elif previous and number == previous + 2:
                out += _source_line(number - 1, source.line(number - 1), [], gutter, paint)
            out += _source_line(number, source.line(number), marks, gutter, paint)
            previous = number
    tail = " " * gutter + paint.gutter(" = ")
    notes = [("note", text) for text in diagnostic.notes] + [("help", text) for text in diagnostic.help]
    for kind, text in [*notes, ("see", f"python -m phobos explain {diagnostic.code}")]:
        more = "\n" + " " * (gutter + len(kind) + 5)
        out.append(tail + paint.bold(f"{kind}:") + " " + text.replace("\n", more))
    return "\n".join(out)


def to_json(diagnostic: Diagnostic) -> dict[str, object]:
    """The diagnostic as a record of JSON values."""
    return {
        "severity": diagnostic.severity.value,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "file": diagnostic.span.source.name,
        "span": _span_json(diagnostic.span),
        "label": diagnostic.label,
        "labels": [
            {"file": label.span.source.name, "span": _span_json(label.span), "text": label.text}
            for label in diagnostic.labels
        ],
        "notes": list(diagnostic.notes),
        "help": list(diagnostic.help),
    }


def _span_json(span: Span) -> dict[str, int]:
    """Lines and columns count from 1, offsets from 0; the end is the first place behind the span."""
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "start": span.start,
        "end": span.end,
    }


class _Paint:
    """Terminal colours, or none."""

    def __init__(self, severity: Severity, colour: bool) -> None:
        self._severity = severity.value
        self._colour = colour

    def _in(self, colour: str, text: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._colour and text.strip() else text

    def severity(self, text: str) -> str:
        return self._in(self._severity, text)

    def gutter(self, text: str) -> str:
        return self._in("gutter", text)

    def bold(self, text: str) -> str:
        return self._in("bold", text)

    def canvas(self, text: str, colours: list[str]) -> str:
        """`text` with a colour per character, neighbours of one colour together; "" is no colour."""
        out = ""
        start = 0
        for i in range(1, len(text) + 1):
            if i == len(text) or colours[i] != colours[start]:
                piece = text[start:i]
                out += self._in(colours[start], piece) if colours[start] else piece
                start = i
        return out

    def mark(self, primary: bool) -> str:
        return self._severity if primary else "gutter"


def _by_line(places: list[tuple[Span, str, bool]]) -> dict[Source, dict[int, list[_Mark]]]:
    """The marks of each line of each source, the source of the finding first."""
    files: dict[Source, dict[int, list[_Mark]]] = {}
    for span, text, primary in places:
        lines = files.setdefault(span.source, {})
        for number, mark in _marks(span, text, primary):
            lines.setdefault(number, []).append(mark)
    return files


def _marks(span: Span, text: str, primary: bool) -> list[tuple[int, _Mark]]:
    """The mark of a span on its line; a span over several lines is marked on its first and its last."""
    source = span.source
    line, column = source.position(span.start)
    last, end_column = source.position(max(span.start, span.end - 1))
    first_text = source.line(line)
    start = _width(first_text[: column - 1])
    if last == line:
        end = _width(first_text[: column - 1 + span.end - span.start])
        return [(line, _Mark(start, max(end, start + 1), text, primary))]
    last_text = source.line(last)
    indent = _width(last_text[: len(last_text) - len(last_text.lstrip())])
    end = max(_width(last_text[:end_column]), indent + 1)
    begin = _Mark(start, max(_width(first_text.rstrip()), start + 1), "", primary)
    return [(line, begin), (last, _Mark(indent, end, text, primary))]


def _first_span(places: list[tuple[Span, str, bool]], source: Source) -> Span:
    return next(span for span, _, _ in places if span.source is source)


def _source_line(number: int, text: str, marks: list[_Mark], gutter: int, paint: _Paint) -> list[str]:
    """A line of source and, below it, its underlines and their texts."""
    shown = _expand(text).rstrip()
    shown, marks = _cut(shown, marks)
    empty = paint.gutter(" " * gutter + " |")
    out = [paint.gutter(f"{number:>{gutter}} |") + (f" {shown}" if shown else "")]
    rows = _annotations(marks)
    for chars in rows:
        line = "".join(char for char, _ in chars)
        width = len(line.rstrip())
        colours = [colour for _, colour in chars]
        out.append(empty + " " + paint.canvas(line[:width], _named(colours[:width], paint)))
    return out


def _named(colours: list[str], paint: _Paint) -> list[str]:
    return [paint.mark(c == "^") if c else "" for c in colours]


def _annotations(marks: list[_Mark]) -> list[list[tuple[str, str]]]:
    """The rows below a source line: underlines with the last text, then a bar and a text for each other mark."""
    if not marks:
        return []
    rows: list[list[tuple[str, str]]] = [[]]
    # a primary mark is drawn over others
    for mark in sorted(marks, key=lambda m: m.primary):
        _put(rows[0], mark.start, ("^" if mark.primary else "-") * (mark.end - mark.start), mark.primary)
    texts = sorted((m for m in marks if m.text), key=lambda m: (m.start, m.end, m.primary))
    if not texts:
        return rows
    last = texts[-1]
    beside = last.end >= max(m.end for m in marks) and sum(m.start == last.start for m in texts) == 1
    if beside:
        texts.pop()
        _put(rows[0], last.end + 1, last.text, last.primary)
    if texts:
        rows.append(_bars(texts))
    while texts:
        mark = texts.pop()
        row = _bars([m for m in texts if m.start < mark.start])
        _put(row, mark.start, mark.text, mark.primary)
        rows.append(row)
    return rows


def _bars(marks: list[_Mark]) -> list[tuple[str, str]]:
    row: list[tuple[str, str]] = []
    for mark in marks:
        _put(row, mark.start, "|", mark.primary)
    return row


def _put(row: list[tuple[str, str]], at: int, text: str, primary: bool) -> None:
    """Write `text` into a row of (character, "^" or "-" or "") from column `at`."""
    row.extend([(" ", "")] * (at + len(text) - len(row)))
    for i, char in enumerate(text):
        row[at + i] = (char, "^" if primary else "-")


def _cut(text: str, marks: list[_Mark]) -> tuple[str, list[_Mark]]:
    """The part of a very long line around its first mark, and the marks moved along."""
    if len(text) <= _MAX_WIDTH:
        return text, marks
    start = max(0, min((m.start for m in marks), default=0) - _MAX_WIDTH // 4)
    end = start + _MAX_WIDTH
    lead = "... " if start else ""
    shown = lead + text[start:end] + (" ..." if end < len(text) else "")
    moved = []
    for mark in marks:
        left = min(mark.start, end) - start + len(lead)
        right = max(min(mark.end, end) - start + len(lead), left + 1)
        moved.append(_Mark(left, right, mark.text, mark.primary))
    return shown, moved


def _expand(text: str) -> str:
    """`text` with tabs as spaces and control characters as dots."""
    out = ""
    if "\t" not in text and text.isprintable():
        return text
    column = 0
    for char in text:
        if char == "\t":
            piece = " " * (_TAB - column % _TAB)
        elif char.isprintable() or _char_width(char) != 1:
            piece = char
        else:
            piece = "."
        out += piece
        column += _width(piece)
    return out


def _width(text: str) -> int:
    """Columns that `text` takes at the start of a line."""
    if text.isascii() and "\t" not in text:
        return len(text)
    column = 0
    for char in text:
        column += _TAB - column % _TAB if char == "\t" else _char_width(char)
    return column


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1

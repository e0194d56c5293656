"""Diagnostics: each file marks the lines where findings are expected, and has the rendered text beside it.

`//~ PH204` expects the code on its own line, `//~^ PH204` on the line above (one line more per `^`). A file must
yield exactly the findings that it marks, remarks included. The parser runs, then, if it found no error, the checker.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from phobos.diagnostics import Sink
from phobos.diagnostics.render import render_text
from phobos.frontend.check import check_program
from phobos.frontend.parser import parse
from phobos.source import Source
from tests.filetest import cases, expect_sibling

_MARK = re.compile(r"//~(\^*)((?: [A-Z]{2}\d{3})+)")


def marked(text: str) -> Counter[tuple[int, str]]:
    """(line, code) of each expected finding."""
    found: Counter[tuple[int, str]] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        for mark in _MARK.finditer(line):
            for code in mark[2].split():
                found[number - len(mark[1]), code] += 1
    return found


@pytest.mark.parametrize("path", cases(__file__))
def test_ui(path: Path, bless: bool) -> None:
    source = Source(path.name, path.read_text(encoding="utf-8"))
    sink = Sink()
    program = parse(source, sink)
    if not sink.errors:
        check_program(program, source, sink)
    findings = Counter((d.span.line, d.code) for d in sink.diagnostics)
    expected = marked(source.text)
    assert findings == expected, f"not marked: {findings - expected}, not found: {expected - findings}"
    expect_sibling(path, ".err", "\n\n".join(render_text(d) for d in sink.diagnostics), bless)


def test_each_err_file_has_its_source() -> None:
    here = Path(__file__).parent
    assert [e.name for e in here.glob("*.err") if not e.with_suffix(".ph").is_file()] == []

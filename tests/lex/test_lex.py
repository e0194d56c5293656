"""Tokens: the source stands above `// ----`, one token a line (line:column, kind, value) below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from phobos.diagnostics import Sink
from phobos.frontend.dump import dump_tokens
from phobos.frontend.lexer import tokenize
from phobos.source import Source
from tests.filetest import cases, expect, split


@pytest.mark.parametrize("path", cases(__file__))
def test_tokens(path: Path, bless: bool) -> None:
    source = Source(path.name, split(path)[0])
    sink = Sink()
    tokens = tokenize(source, sink)
    findings = [f"{d.span.line}:{d.span.column} {d.code}" for d in sink.diagnostics]
    expect(path, "\n".join([dump_tokens(tokens, source), *findings]), bless)

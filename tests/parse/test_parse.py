"""Syntax trees: the source stands above `// ----`, the tree as an s-expression below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from phobos.diagnostics import Sink
from phobos.frontend.dump import dump
from phobos.frontend.parser import parse
from phobos.source import Source
from tests.filetest import cases, expect, split


@pytest.mark.parametrize("path", cases(__file__))
def test_tree(path: Path, bless: bool) -> None:
    sink = Sink()
    program = parse(Source(path.name, split(path)[0]), sink)
    sink.raise_errors()
    expect(path, dump(program), bless)

"""Lowering: a kernel above the line, its tile IR in form "built" below it; or `// error:` lines with each PH401."""

from __future__ import annotations

from pathlib import Path

import pytest

from phobos.diagnostics import CompileError, Sink
from phobos.frontend.check import check_kernel
from phobos.frontend.lower import lower
from phobos.frontend.parser import parse
from phobos.ir import parser as ir_parser
from phobos.ir.kernel import Kernel
from phobos.ir.printer import print_kernel
from phobos.ir.verify import check
from phobos.source import NOWHERE, Source
from tests.filetest import cases, expect, split


def built(text: str, name: str = "test.ph") -> Kernel:
    """The first kernel of a source, lowered and verified."""
    source, sink = Source(name, text), Sink()
    program = parse(source, sink)
    sink.raise_errors()
    typed = check_kernel(program, program.kernels[0], {}, sink)
    sink.raise_errors()
    assert typed is not None
    kernel = lower(typed)
    check(kernel, "lower")
    return kernel


@pytest.mark.parametrize("path", cases(__file__))
def test_lower(path: Path, bless: bool) -> None:
    text, _ = split(path)
    try:
        kernel = built(text, path.name)
    except CompileError as error:
        expect(path, "".join(f"// error: {d.span.line}: {d.code} {d.message}\n" for d in error.diagnostics), bless)
        return
    printed = print_kernel(kernel)
    expect(path, printed, bless)
    assert print_kernel(ir_parser.parse(printed)) == printed


@pytest.mark.parametrize("path", cases(__file__))
def test_every_op_has_a_place_in_the_source(path: Path) -> None:
    text, _ = split(path)
    try:
        kernel = built(text, path.name)
    except CompileError:
        return
    assert [op for op in kernel.walk() if op.span is NOWHERE or op.span.start >= op.span.end] == []

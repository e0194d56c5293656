"""Deep and long sources: a coded error, in time that grows with the length, and never a stack overflow."""

from __future__ import annotations

import time

import pytest

from phobos.diagnostics import Sink
from phobos.frontend.cursor import MAX_DEPTH
from phobos.frontend.parser import parse
from phobos.source import Source

N = 10_000

DEEP = {
    "brackets": "x = " + "(" * N + "1" + ")" * N,
    "open brackets": "x = " + "(" * N,
    "subscripts": "x = " + "A[" * N + "0" + "]" * N,
    "calls": "x = " + "f(" * N + "0" + ")" * N,
    "postfix": "x = A" + "[0]" * N,
    "minus": "x = " + "-" * N + "1",
    "sum": "x = 1" + " + 1" * N,
    "places": "A" + "[0]" * N + " = 1",
    "dimensions": "let t: tile<f32>[" + "(" * N,
    "blocks": "if a {\n" * N + "}\n" * N,
    "open blocks": "while a { " * N,
    "conditions": "if " + "!(" * N,
    "else if": "if a { }" + " else if a { }" * N,
    "loops": "for i in range(0, 4) {\n" * N + "}\n" * N,
}
WIDE = {
    "statements": "x = 1\n" * N,
    "long call": "f(" + "1, " * N + "1)",
    "names": "let " * N,
    "elements": "let t: " + "tile<" * N,
    "dimensions of dimensions": "let t: " + "tile<f32>[" * N,
    "braces": "{" * N + "}" * N,
    "junk": "$ " * N,
    "at signs": "@ " * N,
    "one word": "let " + "a" * 100 * N + " = 1",
    "digits": "x = " + "1" * 100 * N,
}


def run(text: str) -> list[str]:
    sink = Sink()
    parse(Source("t.ph", "kernel k() {\n" + text + "\n}\n"), sink)
    return [d.code for d in sink.diagnostics]


@pytest.mark.parametrize("name", DEEP)
def test_deep(name: str) -> None:
    found = run(DEEP[name])
    assert "PH109" in found
    assert len(found) <= 3


@pytest.mark.parametrize("name", [*DEEP, *WIDE])
def test_time_is_linear(name: str) -> None:
    text = {**DEEP, **WIDE}[name]
    start = time.process_time()
    run(text)
    assert time.process_time() - start < 3.0  # about 0.1 s; a quadratic parser takes minutes


def test_the_limit_itself() -> None:
    # the body of the kernel and the expression are two levels, the operand is the third
    assert run("x = 1" + " + 1" * (MAX_DEPTH - 3)) == []
    assert run("x = 1" + " + 1" * (MAX_DEPTH - 2)) == ["PH109"]
    assert run("x = " + "(" * (MAX_DEPTH - 2) + "1" + ")" * (MAX_DEPTH - 2)) == []
    assert run("x = " + "(" * (MAX_DEPTH - 1) + "1" + ")" * (MAX_DEPTH - 1)) == ["PH109"]


def test_a_file_of_sixty_lines_takes_milliseconds() -> None:
    text = "kernel k(A: tensor<f32>[M, K], B: tensor<f32>[K, N]) {\n"
    text += "  let b = B[kt :+ TILE_K, pn * TILE_N :+ TILE_N] + alpha * exp(A[i, j])\n" * 58 + "}\n"
    times = []
    for _ in range(10):
        start = time.process_time()
        parse(Source("t.ph", text), Sink())
        times.append(time.process_time() - start)
    assert min(times) < 0.02  # some 3 ms on an idle core; CI shares its cores

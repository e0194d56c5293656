"""Any text whatever goes through lexer, parser and checker with diagnostics only: no other exception, no hang.

The default run takes a few hundred sources of each kind; `-m slow` takes 20,000 in all.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phobos.compiler import Unit
from phobos.diagnostics import CODES, CompileError, Sink
from phobos.diagnostics.render import render_text, to_json
from phobos.frontend import lexer
from phobos.frontend.check import check_program
from phobos.frontend.parser import parse
from phobos.source import Source

ROOT = Path(__file__).parents[2]

WORDS = [
    *sorted(lexer.KEYWORDS),
    "ctx", "ctx.block.x", "ctx.thread", "range", "tensor", "tile", "f32", "i32", "bool", "x", "A", "N", "unroll", "dot",
    "exp", "print", "assert", "iota", "sum", "1", "0", "42", "2.5", "1e5", "0xff", "7.", '"text"', '"', "1..2", "12ab",
    "$", "é", "//", "/*", "@autotune(N in [16])", "@launch(256)", "kernel k(", "fn g(x) {", "let x =", "if x {",
    "for i in range(", "} else {", "A[i :+ 4]", "+=", "<<=", ":+", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "\n", ";", *"+-*/%&|^~!<>=()[]{},:.@",
]  # fmt: skip
SEEDS = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.ph"))] + [
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").glob("**/*.ph")) if path.stat().st_size < 4_000
]

quick = settings(max_examples=700, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
thorough = settings(quick, max_examples=7_000, derandomize=False)

soups = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
bodies = soups.map(lambda soup: f"kernel k(A: tensor<f32>[N], x: f32) {{\n{soup}\n}}\n")
texts = st.text(max_size=80) | soups | bodies


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """A program of the repository with a few characters or words deleted, doubled, swapped or put in."""
    text = draw(st.sampled_from(SEEDS))
    rng = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randint(0, len(text)), rng.choice((1, 1, 2, 5, 20))
        piece = text[at : at + length]
        put = rng.choice(("", piece * 2, rng.choice(WORDS), f" {rng.choice(WORDS)} ", piece[::-1]))
        text = text[:at] + put + text[at + length :]
    return text


@st.composite
def nests(draw: st.DrawFn) -> str:
    """Brackets, operators and blocks many times over, closed or not."""
    opens = draw(
        st.lists(st.sampled_from(["(", "A[", "f(", "-", "1 + ", "a < ", "if a { ", "{", "tile<", "x = "]), max_size=6)
    )
    closes = draw(st.lists(st.sampled_from([")", "]", "}", "1", " + 1", "[0]", "\n"]), max_size=6))
    count = draw(st.sampled_from([1, 3, 127, 128, 500, 2_000]))
    return "kernel k() { x = " + "".join(opens) * count + "1" + "".join(closes) * count


def goes_through(text: str) -> None:
    source, sink = Source("fuzz.ph", text), Sink()
    program = parse(source, sink)
    if not sink.errors:
        check_program(program, source, sink)
        found = sink.diagnostics
    else:
        with pytest.raises(CompileError) as raised:
            Unit(source)
        found = raised.value.diagnostics
    for finding in found[:20]:
        assert finding.code in CODES
        assert 0 <= finding.span.start <= finding.span.end <= len(text)
        assert finding.code in render_text(finding)
        json.dumps(to_json(finding))


@quick
@given(texts)
def test_any_text(text: str) -> None:
    goes_through(text)


@quick
@given(mutants())
def test_mutated_programs(text: str) -> None:
    goes_through(text)


@settings(quick, max_examples=100)
@given(nests())
def test_nests(text: str) -> None:
    goes_through(text)


@pytest.mark.slow
@thorough
@given(texts)
def test_any_text_at_length(text: str) -> None:
    goes_through(text)


@pytest.mark.slow
@settings(thorough, max_examples=13_000)
@given(mutants())
def test_mutated_programs_at_length(text: str) -> None:
    goes_through(text)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_prefix_line_of_a_program(seed: str) -> None:
    lines = seed.splitlines(keepends=True)
    for end in range(0, len(lines), max(1, len(lines) // 12)):
        goes_through("".join(lines[:end]))

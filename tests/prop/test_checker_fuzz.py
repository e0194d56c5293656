"""Programs that parse go through the checker with diagnostics only, and a tree that it gives is as it should be.

Half of the sources are made from a grammar that mostly makes sense, with types wrong now and then; half are programs of
the repository with names, numbers, operators and types exchanged, so that they still parse.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phobos.diagnostics import CODES, Sink
from phobos.diagnostics.render import render_text
from phobos.frontend.builtins import TABLE
from phobos.frontend.check import check_kernel, check_program
from phobos.frontend.dump_typed import dump
from phobos.frontend.parser import parse
from phobos.source import Source
from tests.check.verify_typed import verify

ROOT = Path(__file__).parents[2]
SEEDS = [
    path.read_text(encoding="utf-8")
    for path in [*sorted((ROOT / "examples").glob("*.ph")), *sorted((ROOT / "tests").glob("**/*.ph"))]
    if path.stat().st_size < 6_000 and not path.name.startswith("PH1")
]
KINDS = ["f16", "bf16", "f32", "f64", "i8", "u8", "i32", "i64", "bool"]
INTS = ["n", "l", "M", "N", "T", "2", "0", "ctx.block.x", "ctx.lane", "ctx.thread", "i", "c", "I[n]", "3", "16", "-1"]
FLOATS = ["x", "h", "d", "1.0", "0.5", "V[n]", "A[n, 0]", "1e30", "s"]
BOOLS = ["p", "true", "n < 3", "x > 0.0", "F[n]", "ctx.lane == 0"]
TILES = ["a", "t", "A[n :+ 16, 0 :+ 8]", "H[0 :+ 16, c :+ 8]", "Q[0 :+ 16, 0 :+ 8]", "V[0 :+ 8]", "A[n, 0 :+ 8]",
         "S[:, 0 :+ 8]", "iota(1)", "A[0 :+ T, 0 : 8]", "b"]  # fmt: skip
RUNS = ["elem(V[ctx.lane * 4 :+ 4])", "v", "elem(A[n, 0 :+ 4], align = 4)"]
HEAD = """\
@autotune(T in [16, 32], C in [8])
@launch(128)
{attribute}
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], H: tensor<f16>[M, N], I: tensor<i32>[N], Q: tensor<i8>[M, N],
         S: tensor<f32>[30, 64], F: tensor<bool>[N], bar: tensor<i32>[2], n: i32, x: f32, h: f16, d: f64, l: i64,
         p: bool) {{
  let c = 4
  let a = A[0 :+ 16, 0 :+ 8]
  let b = H[0 :+ T, 0 :+ C]
  let v = elem(V[ctx.lane * 4 :+ 4])
  var t: tile<f32>[16, 8] = 0.0
  var i = 0
  var s = 0.0
"""


EXPRS = {
    "int": ["($int + $int)", "($int * $int)", "($int / $int)", "($int % $int)", "($int & $int)", "($int << $int)",
            "min($int, $int)", "$KIND($int)", "I[$int]", "g($int, $int)", "atomic_add(I[$int], $int)", "-$int",
            "where($bool, $int, $int)", "lane_sum($int)", "extent(A, 1)", "i32($int)"],
    "float": ["($float + $float)", "($float * $float)", "($float / $float)", "exp($float)", "-$float", "f32($int)",
              "f($float)", "V[$int]", "cta_sum($float)", "sum($run)", "t[$int, $int]", "($tile)[0, 0]",
              "fma($float, $float, $float)", "shuffle($float, $int)"],
    "bool": ["($int < $int)", "($int == $int)", "!$bool", "($bool && $bool)", "($bool || $bool)", "($bool ^ $bool)",
             "odd(V, $int)", "($float < $float)", "lane_any($bool)"],
    "tile": ["($tile + $tile)", "($tile * $float)", "($tile - $int)", "exp($tile)", "rowsum($tile)", "flat($tile)",
             "dot($tile, transpose($tile))", "dot_t($tile, $tile)", "where($tile < $tile, $tile, 0.0)", "$KIND($tile)",
             "w($tile)", "tril($tile)", "A[$int :+ 16, $int : $int]", "A[$int :+ T, $int :+ C]", "-$tile", "u($tile)",
             "A[0 :+ n, $int :+ C]", "generate(q, T, C, $float)", "gather(V, $tile)"],
    "run": ["($run + $run)", "($run * $float)", "exp($run)", "elem(A[$int, $int :+ 4])", "f32($run)", "u($run)"],
}  # fmt: skip
STMTS = ["let yNN = $ANY", "t = $tile", "t += $tile", "s = $float", "s += $float", "i = $int", "V[$int] += $float",
         "A[$int :+ 16, $int :+ 8] = $tile", "A[$int : $int, :] *= $float", "var zNN: tile<$KIND>[16, C] = $tile",
         "put(V, $int)", "t[0 :+ 4, $int:] = $float", "store(V[$int :+ 4], $run)", "barrier()", "let zNN: $KIND = $ANY",
         "if p { return }", "let zNN: f32 = $float", "let zNN: i64 = $int", 'print("v", $ANY)',
         "$FN($ANY, $ANY)", "$FN($ANY)"]  # fmt: skip
BLOCKS = ["if $bool {\n$BODY\n} else {\n$BODY\n}", "if $bool {\n$BODY\n}", "for j in range($int, $int, 1) {\n$BODY\n}",
          "for j in range($int, N, T) {\n$BODY\n}", "while $bool {\n$BODY\nbreak\n}", "while $bool {\n$BODY\n}",
          "for j in range(0, 8) {\n$BODY\ncontinue\n}"]  # fmt: skip
LEAVES = {"int": INTS, "float": FLOATS, "bool": BOOLS, "tile": TILES, "run": RUNS}
HOLE = re.compile(r"\$(\w+)|NN")


class Maker:
    """Makes programs, expressions mostly of the type that is asked for."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.pick = rng.choice

    def filled(self, template: str, depth: int) -> str:
        def fill(hole: re.Match[str]) -> str:
            kind = hole[1]
            if kind is None:
                return str(self.rng.randint(0, 99))
            if kind == "BODY":
                return self.body(self.rng.randint(0, 3), depth - 1)
            if kind in ("KIND", "FN"):
                return self.pick(KINDS if kind == "KIND" else sorted(TABLE))
            if kind == "ANY" or self.rng.random() < 0.01:
                kind = self.pick(sorted(EXPRS))
            if depth <= 0 or self.rng.random() < 0.4:
                return self.pick(LEAVES[kind])
            return self.filled(self.pick(EXPRS[kind]), depth - 1)

        return HOLE.sub(fill, template)

    def stmt(self, depth: int) -> str:
        if depth > 0 and self.rng.random() < 0.3:
            return self.filled(self.pick(BLOCKS), depth)
        return self.filled(self.pick(STMTS), self.rng.randint(0, 3))

    def body(self, count: int, depth: int) -> str:
        return "\n".join(self.stmt(depth) for _ in range(count))

    def program(self) -> str:
        fns = [
            f"fn g(a, b: i32) {{ if a < b {{ return {self.pick(['a', 'b', 'b', '1', 'g(a, b)'])} }}\nreturn b }}",
            f"fn f(a: f32) -> f32 {{ return {self.pick(['a', 'exp(a)', 'f16(a)', 'f64(a) + 1.0', 'i32(a)'])} }}",
            "fn odd(A: tensor<f32>[K], j) -> bool { while j < K { if A[j] > 1.0 { return true } }\nreturn false }",
            "fn w(a: tile<f32>[R, C]) -> tile<f32>[R, C] { var r: tile<f32>[R, C] = a\nr += rowmax(a)\nreturn r }",
            "fn u(a) { let r = a * 2\nreturn r - a }",
            "fn q(i, j, z) -> f32 { if i > j { return z }\nreturn 0.0 }",
            "fn put(A, j) { A[j] = 1.0\nif j > 3 { return }\nA[j + 1] = 0.0 }",
        ]
        head = HEAD.format(
            attribute=self.pick(["", "@persistent\n@swizzle(4)", "@aligned(M = T)", "@pipeline(3)", "@precise"])
        )
        return "\n".join(fns) + "\n" + head + self.body(self.rng.randint(1, 6), 2) + "\n}\n"


WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*|\d+(?:\.\d+)?|:\+|[-+*/%&|^<>=!]=?")
CLASSES = [INTS + FLOATS, KINDS, ["+", "-", "*", "/", "%", "&", "|"], ["=", "+=", "*=", "&="], ["<", "==", ">="],
           sorted(TABLE), ["let", "var"], [":", ":+"], ["for", "while"], ["break", "continue", "return"]]  # fmt: skip


def mutated(text: str, rng: random.Random) -> str:
    """The program with a few words exchanged for others of their class, or of the program."""
    for _ in range(rng.randint(1, 5)):
        words = list(WORD.finditer(text))
        if not words:
            return text
        found = rng.choice(words)
        classes = [c for c in CLASSES if found[0] in c] or [[w[0] for w in words]]
        text = text[: found.start()] + rng.choice(rng.choice(classes)) + text[found.end() :]
    return text


def goes_through(text: str) -> bool:
    """Did it check without an error?"""
    source, sink = Source("fuzz.ph", text), Sink()
    program = parse(source, sink)
    if sink.errors:
        return False
    check_program(program, source, sink)
    for finding in sink.diagnostics[:20]:
        assert finding.code in CODES
        assert finding.code in render_text(finding)
    for kernel in program.kernels:
        own = Sink()
        made = check_kernel(program, kernel, {}, own)
        assert (made is None) == bool(own.errors), "a kernel without a tree has an error, and only such a kernel"
        if made is not None:
            verify(made)
            dump(made)
    return not sink.errors


quick = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
thorough = settings(quick, max_examples=10_000, derandomize=False)
seeds = st.integers(0, 2**48)


@quick
@given(seeds)
def test_made_programs(seed: int) -> None:
    goes_through(Maker(random.Random(seed)).program())


@quick
@given(seeds)
def test_exchanged_words(seed: int) -> None:
    rng = random.Random(seed)
    goes_through(mutated(rng.choice(SEEDS), rng))


@pytest.mark.slow
@thorough
@given(seeds)
def test_made_programs_at_length(seed: int) -> None:
    goes_through(Maker(random.Random(seed)).program())


@pytest.mark.slow
@thorough
@given(seeds)
def test_exchanged_words_at_length(seed: int) -> None:
    rng = random.Random(seed)
    goes_through(mutated(rng.choice(SEEDS), rng))


def test_the_grammar_makes_sense() -> None:
    """Enough of the made programs are right: a fuzz of errors alone would test little."""
    good = sum(goes_through(Maker(random.Random(seed)).program()) for seed in range(100))
    assert good > 10


def test_deep_calls_and_wide_inlining_are_errors() -> None:
    """Twenty fns that each call the next one twice would be a million bodies."""
    fns = "\n".join(f"fn step{n}(x) {{ return step{n + 1}(x) + step{n + 1}(x) }}" for n in range(20))
    text = f"{fns}\nfn step20(x) {{ return x }}\nkernel k(V: tensor<f32>[N]) {{ V[0] = step0(V[0]) }}\n"
    source, sink = Source("wide.ph", text), Sink()
    check_program(parse(source, sink), source, sink)
    assert {d.code for d in sink.errors} == {"PH248"}
    nest = "min(1, " * 100 + "2" + ")" * 100
    source, sink = Source("deep.ph", f"kernel k(V: tensor<f32>[N]) {{ V[0] = {nest} }}\n"), Sink()
    program = parse(source, sink)
    assert not sink.errors
    check_program(program, source, sink)
    assert {d.code for d in sink.errors} == {"PH248"}

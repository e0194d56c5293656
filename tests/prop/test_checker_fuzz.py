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


class Maker:
    """Makes expressions and statements, mostly of the type that is asked for."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.pick = rng.choice

    def expr(self, kind: str, depth: int) -> str:
        if self.rng.random() < 0.03:
            kind = self.pick(["int", "float", "bool", "tile", "run"])
        if depth <= 0 or self.rng.random() < 0.3:
            return self.pick({"int": INTS, "float": FLOATS, "bool": BOOLS, "tile": TILES, "run": RUNS}[kind])
        e = lambda k: self.expr(k, depth - 1)  # noqa: E731
        match kind:
            case "int":
                forms = [
                    f"({e('int')} {self.pick('+-*/%&|^')} {e('int')})",
                    f"({e('int')} << {e('int')})",
                    f"min({e('int')}, {e('int')})",
                    f"{self.pick(KINDS)}({e('int')})",
                    f"I[{e('int')}]",
                    f"g({e('int')}, {e('int')})",
                    f"atomic_add(I[{e('int')}], {e('int')})",
                    f"-{e('int')}",
                    f"where({e('bool')}, {e('int')}, {e('int')})",
                    f"lane_sum({e('int')})",
                    f"extent(A, {e('int')})",
                ]
            case "float":
                forms = [
                    f"({e('float')} {self.pick('+-*/')} {e('float')})",
                    f"exp({e('float')})",
                    f"-{e('float')}",
                    f"f32({e('int')})",
                    f"f({e('float')})",
                    f"V[{e('int')}]",
                    f"cta_sum({e('float')})",
                    f"sum({e('run')})",
                    f"t[{e('int')}, {e('int')}]",
                    f"({e('tile')})[0, 0]",
                    f"fma({e('float')}, {e('float')}, {e('float')})",
                    f"shuffle({e('float')}, {e('int')})",
                ]
            case "bool":
                forms = [
                    f"({e('int')} {self.pick(['<', '==', '>=', '!='])} {e('int')})",
                    f"!{e('bool')}",
                    f"({e('bool')} {self.pick(['&&', '||', '&', '^'])} {e('bool')})",
                    f"odd(V, {e('int')})",
                    f"({e('float')} < {e('float')})",
                    f"lane_any({e('bool')})",
                ]
            case "tile":
                forms = [
                    f"({e('tile')} {self.pick('+-*/')} {e(self.pick(['tile', 'float', 'int']))})",
                    f"exp({e('tile')})",
                    f"rowsum({e('tile')})",
                    f"dot({e('tile')}, transpose({e('tile')}))",
                    f"dot_t({e('tile')}, {e('tile')})",
                    f"where({e('tile')} < {e('tile')}, {e('tile')}, 0.0)",
                    f"{self.pick(KINDS)}({e('tile')})",
                    f"w({e('tile')})",
                    f"flat({e('tile')})",
                    f"tril({e('tile')})",
                    f"A[{e('int')} :+ {self.pick(['16', 'T', 'C', 'n'])}, {e('int')} : {e('int')}]",
                    f"generate(q, T, C, {e('float')})",
                    f"gather(V, {e('tile')})",
                    f"-{e('tile')}",
                    f"u({e('tile')})",
                ]
            case _:
                forms = [f"({e('run')} {self.pick('+-*')} {e(self.pick(['run', 'float']))})", f"exp({e('run')})",
                         f"elem(A[{e('int')}, {e('int')} :+ 4])", f"f32({e('run')})", f"u({e('run')})"]  # fmt: skip
        return self.pick(forms)

    def stmt(self, depth: int) -> str:
        e = lambda k: self.expr(k, self.rng.randint(0, 3))  # noqa: E731
        any_kind = self.pick(["int", "float", "bool", "tile", "run"])
        forms = [f"let y{self.rng.randint(0, 99)} = {e(any_kind)}", f"t {self.pick(['', '+', '*'])}= {e('tile')}",
                 f"s {self.pick(['', '+'])}= {e('float')}", f"i = {e('int')}", f"V[{e('int')}] += {e('float')}",
                 f"A[{e('int')} :+ 16, {e('int')} :+ 8] = {e('tile')}", f"A[{e('int')} : {e('int')}, :] *= {e('float')}",
                 f"var z{self.rng.randint(0, 99)}: tile<{self.pick(KINDS)}>[16, C] = {e('tile')}", f"put(V, {e('int')})",
                 f"t[0 :+ 4, {e('int')}:] = {e('float')}", f"store(V[{e('int')} :+ 4], {e('run')})", "barrier()",
                 f"let z{self.rng.randint(0, 99)}: {self.pick(KINDS)} = {e(any_kind)}", "return", "grid_barrier(bar)",
                 f'print("v", {e(any_kind)})', f"{self.pick(sorted(TABLE))}({e(any_kind)}, {e(any_kind)})"]  # fmt: skip
        if depth > 0:
            inner = lambda: self.body(self.rng.randint(0, 3), depth - 1)  # noqa: E731
            forms += [
                f"if {e('bool')} {{\n{inner()}\n}} else {{\n{inner()}\n}}",
                f"for j in range({e('int')}, {e('int')}, {self.pick(['1', 'T', 'n', '0'])}) {{\n{inner()}\n}}",
                f"while {e('bool')} {{\n{inner()}\n{self.pick(['break', 'continue', 'i += 1'])}\n}}",
            ]
        return self.pick(forms)

    def body(self, count: int, depth: int) -> str:
        return "\n".join(self.stmt(depth) for _ in range(count))

    def program(self) -> str:
        fns = [
            f"fn g(a, b: i32) {{ if a < b {{ return {self.pick(['a', 'b', '1', 'g(a, b)', '1.0'])} }}\nreturn b }}",
            f"fn f(a: f32) -> f32 {{ return {self.pick(['a', 'exp(a)', 'f16(a)', 'f64(a) + 1.0', 'i32(a)'])} }}",
            "fn odd(A: tensor<f32>[K], j) -> bool { for k in range(0, K) { if A[j] > 1.0 { return true } }\nreturn false }",
            "fn w(a: tile<f32>[R, C]) -> tile<f32>[R, C] { var r: tile<f32>[R, C] = a\nr += rowmax(a)\nreturn r }",
            "fn u(a) { let r = a * 2\nreturn r - a }",
            "fn q(i, j, z) -> f32 { if i > j { return z }\nreturn 0.0 }",
            "fn put(A, j) { A[j] = 1.0\nif j > 3 { return }\nA[j + 1] = 0.0 }",
        ]
        head = HEAD.format(attribute=self.pick(["", "@persistent", "@aligned(M = T)", "@pipeline(3)", "@precise"]))
        return "\n".join(fns) + "\n" + head + self.body(self.rng.randint(1, 8), 3) + "\n}\n"


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
    fns = "\n".join(f"fn f{n}(x) {{ return f{n + 1}(x) + f{n + 1}(x) }}" for n in range(20))
    text = f"{fns}\nfn f20(x) {{ return x }}\nkernel k(V: tensor<f32>[N]) {{ V[0] = f0(V[0]) }}\n"
    source, sink = Source("wide.ph", text), Sink()
    check_program(parse(source, sink), source, sink)
    assert {d.code for d in sink.errors} == {"PH248"}
    nest = "min(1, " * 100 + "2" + ")" * 100
    source, sink = Source("deep.ph", f"kernel k(V: tensor<f32>[N]) {{ V[0] = {nest} }}\n"), Sink()
    program = parse(source, sink)
    assert not sink.errors
    check_program(program, source, sink)
    assert {d.code for d in sink.errors} == {"PH248"}

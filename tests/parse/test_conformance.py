"""The promises B001 to B018 of the language about its lexer and parser, one test each."""

from __future__ import annotations

import pytest

from phobos.diagnostics import Sink
from phobos.frontend import ast
from phobos.frontend.dump import dump
from phobos.frontend.lexer import tokenize
from phobos.frontend.parser import parse
from phobos.source import Source


def codes(text: str) -> list[str]:
    """`line code` of each finding of a whole file."""
    sink = Sink()
    parse(Source("t.ph", text), sink)
    return [f"{d.span.line} {d.code}" for d in sink.diagnostics]


def body_codes(statements: str) -> list[str]:
    return codes("fn f() {" + statements + "}")


def body(statements: str) -> list[str]:
    """The trees of the statements of a fn body, which has no errors."""
    sink = Sink()
    program = parse(Source("t.ph", "fn f() {" + statements + "}"), sink)
    assert [str(d) for d in sink.diagnostics] == []
    return [dump(stmt) for stmt in program.fns[0].body.stmts]


def kinds(text: str) -> list[str]:
    return [token.kind for token in tokenize(Source("t.ph", text), Sink())]


@pytest.mark.parametrize("end", ["a", "1", "2.0", "true", "false", "g(1)", "A[1]"])
def test_b001_newline_ends_a_statement(end: str) -> None:
    assert len(body(f"x = {end}\ny = {end}\n")) == 2
    assert len(body(f"x = {end}")) == 1
    assert len(body("if a { }\ny = 1")) == 2


def test_b001_end_of_file_ends_a_statement() -> None:
    assert kinds("a")[-1] == "eof"
    assert codes("fn f() { x = 1 }") == []


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "%", "&&", "||", "<", "==", "<<", "&", "="])
def test_b002_newline_after_an_operator_continues(op: str) -> None:
    assert len(body(f"x = a {op if op != '=' else '+'}\n b")) == 1
    assert len(body("x =\n b")) == 1


def test_b003_newline_after_a_comma_continues() -> None:
    assert body("x = g(a,\n b,\n c)") == ["(assign = x (call g [(argument a) (argument b) (argument c)]))"]
    assert codes("kernel k(A: tensor<f32>[M,\n N],\n b: f32,\n) { }") == []


def test_b004_newline_inside_brackets_never_ends_a_statement() -> None:
    assert body("x = g(a\n , b\n )") == ["(assign = x (call g [(argument a) (argument b)]))"]
    assert body("x = A[i\n , j\n ]\n") == ["(assign = x (subscript A [(sub point start=i) (sub point start=j)]))"]
    assert body("x = (a\n + b)") == ["(assign = x (binary + a b))"]


def test_b005_semicolons() -> None:
    assert len(body("x = 1; y = 2")) == 2
    assert len(body("x = 1; y = 2;")) == 2
    assert len(body("x = 1;; y = 2;\n;")) == 2
    assert body_codes("x = 1 y = 2") == ["1 PH129"]


def test_b006_else_stands_on_the_line_of_the_brace() -> None:
    assert body_codes("if a { }\nelse { }") == ["2 PH111"]
    assert body("if a { } else { }") == ["(if a (block) orelse=(block))"]
    chain = "(if a (block) orelse=(if b (block) orelse=(if c (block) orelse=(block))))"
    assert body("if a { } else if b { } else if c { } else { }") == [chain]


def test_b007_comments() -> None:
    assert kinds("a // b / c") == ["name", "eof"]
    assert kinds("a / b // c\n// d\n//") == ["name", "/", "name", "newline", "eof"]


def test_b008_literals_and_characters() -> None:
    assert body_codes("x = 18446744073709551616") == ["1 PH106"]
    assert body_codes("x = " + "9" * 10_000) == ["1 PH106"]
    assert body("x = 18446744073709551615") == ["(assign = x 18446744073709551615)"]
    assert body("x = 7.; y = 2.5; z = 42") == ["(assign = x 7.0)", "(assign = y 2.5)", "(assign = z 42)"]
    sink = Sink()
    parse(Source("t.ph", "fn f() {\n  x = 1 ? 2\n}"), sink)
    (finding,) = sink.diagnostics
    assert (finding.code, finding.span.line, finding.span.column) == ("PH101", 2, 9)
    assert "`?`" in finding.message


def test_b010_span_is_one_token() -> None:
    assert kinds("a:+b") == ["name", ":+", "name", "eof"]
    assert body("x = A[a:+b]") == ["(assign = x (subscript A [(sub span start=a length=b)]))"]
    assert body_codes("x = A[a : + b]") == ["1 PH117"]


def test_b011_precedence() -> None:
    assert body("x = 1 + 2 * 3") == ["(assign = x (binary + 1 (binary * 2 3)))"]
    assert body("x = a + b < c == d") == ["(assign = x (binary == (binary < (binary + a b) c) d))"]
    assert body("x = a == b < c") == ["(assign = x (binary == a (binary < b c)))"]


def test_b012_attributes() -> None:
    text = "@flag @ints(1, 2)\n@floats(1.5) @bools(true, false)\n@names(sync)\n\n@set(K = N, L = 4)\n@list(N in [1, 2])"
    sink = Sink()
    program = parse(Source("t.ph", text + "\nkernel k() { }"), sink)
    assert not sink.diagnostics
    attributes = program.kernels[0].attributes
    assert [a.name for a in attributes] == ["flag", "ints", "floats", "bools", "names", "set", "list"]
    assert [a.has_parens for a in attributes] == [False] + [True] * 6
    assert [arg.kind for a in attributes for arg in a.args] == ["value"] * 6 + ["set"] * 2 + ["in"]


def test_b013_several_kernels_and_empty_lists() -> None:
    sink = Sink()
    program = parse(Source("t.ph", "kernel a() {}\nkernel b() {\n}\nfn c() {}\nkernel d(x: f32) {}"), sink)
    assert not sink.diagnostics
    assert [k.name for k in program.kernels] == ["a", "b", "d"]
    assert [f.name for f in program.fns] == ["c"]
    assert program.kernels[0].params == ()
    assert program.kernels[0].body.stmts == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernel k(a: int) {}", "1 PH125"),
        ("kernel k(a: tensor<float>[N]) {}", "1 PH125"),
        ("kernel k a: f32) {}", "1 PH102"),
        ("kernel k(a: tile<f32>) {}", "1 PH102"),
        ("kernel k(a: tensor<f32>[]) {}", "1 PH102"),
    ],
)
def test_b014_declarations_in_error(text: str, expected: str) -> None:
    assert codes(text) == [expected]


def test_b015_calls_and_places() -> None:
    assert body_codes("x = 1(2)") == ["1 PH124"]
    assert body_codes("1 = 2") == ["1 PH114"]
    assert body_codes("A[0][1] = 2") == ["1 PH114"]
    assert body("x = A[0][1]") == ["(assign = x (subscript (subscript A [(sub point start=0)]) [(sub point start=1)]))"]


def test_b016_only_range() -> None:
    assert body_codes("for i in foo(0, 4) { }") == ["1 PH118"]
    assert body("for i in range(0, 4) { }") == ["(for i 0 4 (block))"]


def test_b017_initializers() -> None:
    assert body_codes("let x: f32") == ["1 PH120"]
    assert body_codes("var x") == ["1 PH120"]
    assert body_codes("var x: f32") == ["1 PH120"]
    assert body("var x: tile<f32>[4]") == ["(var x type=(typeexpr tile elem=f32 [4]))"]


@pytest.mark.parametrize(
    "text",
    [
        "x = A[16:]", "x = A[:16]", "break", "continue", "return", "return 1", "for<unroll 4> i in range(0, 8) { }",
        "x = a & b | c ^ ~d << 1 >> 2", "x = a && b || !c", "x += 1", "x <<= 1", "x = 1.0e-5 + 1e5",
    ],
)  # fmt: skip
def test_b018_these_parse(text: str) -> None:
    assert len(body(text)) == 1


def test_all_errors_of_a_file_in_one_run() -> None:
    text = "kernel a( {\n  x = $\n  if a = 1 {\n    1 = 2\n  } else {\n    let y\n  }\n}\nlet z\nkernel b() { x = }\n"
    assert codes(text) == ["1 PH108", "2 PH101", "3 PH116", "4 PH114", "6 PH120", "9 PH128", "10 PH102"]


def test_spans_cover_brackets() -> None:
    program = parse(Source("t.ph", "fn f() { x = (a + b) * -(c) }"), Sink())
    assign = program.fns[0].body.stmts[0]
    assert isinstance(assign, ast.Assign)
    assert assign.span.text == "x = (a + b) * -(c)"
    assert assign.value.span.text == "(a + b) * -(c)"
    assert isinstance(assign.value, ast.Binary)
    assert assign.value.op_span.text == "*"
    assert assign.value.left.span.text == "a + b"

"""`fn`s: inlining, what parameters take, results, and errors with the calls that led to them."""

from __future__ import annotations

import time

import pytest

from phobos.frontend.dump_typed import dump
from tests.check.helpers import body, codes, findings, type_of

TYPES = [
    ("fn f(y) { return y * 2.0 }", "f(h)", "f16"),
    ("fn f(y) { return y * 2.0 }", "f(A[0 :+ 4, 0 :+ 8])", "tile<f32>[4, 8]"),
    ("fn f(y) -> f64 { return y }", "f(n)", "f64"),
    ("fn f(y: f32) { return y }", "f(h)", "f32"),
    ("fn f(t: tile<f32>[R, C]) -> tile<f32>[C, R] { return transpose(t) }", "f(H[0 :+ 4, 0 :+ 8])", "tile<f32>[8, 4]"),
    ("fn f(t: tile<f32>[R, C]) -> tile<f32>[R, 1] { return rowsum(t) }", "f(A[n, 0 :+ 8])", "tile<f32>[1, 1]"),
    ("fn f(t: tile<f32>[R, C]) -> tile<f32>[R, C * 2] { return 0.0 }", "f(A[n, 0 :+ 8])", "tile<f32>[1, 16]"),
    (
        "fn f(t: tile<f32>[R, C]) -> tile<f32>[R, C] { return t * f32(C) }",
        "f(Q4[0, 0 :+ 4, n, 0 :+ 8])",
        "tile<f32>[4, 8]",
    ),
    (
        "fn f(t: tile<f32>[R, C]) -> tile<f32>[C, R] { return transpose(t) }",
        "f(Q4[0, n, 0 :+ 4, 8 :+ 1])",
        "tile<f32>[1, 4]",
    ),
    (
        "fn f(t: tile<i32>[R, C]) -> tile<i32>[C, R] { return transpose(t) }",
        "f(iota(1) + i32(A[0 :+ 4, 0 :+ 8]))",
        "tile<i32>[8, 4]",
    ),
    ("fn f(t: tile<f32>[B, R, C]) { return C }", "f(A[n, 0 :+ 8])", "index"),
    ("fn f(X: tensor<f32>[J]) { return J }", "f(V)", "index"),
    ("fn f(X: tensor<f32>[J, K]) { var t: tile<f32>[K, 4] = 0.0\nreturn t }", "f(S)", "tile<f32>[64, 4]"),
    ("fn f(X) { return X[0] }", "f(V)", "f32"),
    ("fn f(w) { var t: tile<f32>[w, w] = 0.0\nreturn t }", "f(R)", "tile<f32>[16, 16]"),
    ("fn f(y) { if y > 1 { return 1.0 }\nreturn y }", "f(x)", "f32"),
    ("fn f(y) { return g(y) + g(y) }\nfn g(y) { return y * y }", "f(n)", "i32"),
    ("fn f(v) { return v[0] }", "f(elem(V[0 :+ 4]))", "f32"),
]


@pytest.mark.parametrize(("fns", "expr", "kind"), TYPES)
def test_results(fns: str, expr: str, kind: str) -> None:
    fns = fns.replace("y > 1 ", "y > 1.0 ")
    assert type_of(expr, fns=fns) == kind


REFUSED = [
    ("fn f(y) { return y }", "V[0] = f()", "PH240"),
    ("fn f(y) { return y }", "V[0] = f(y = 1.0)", "PH241"),
    ("fn f(y: f32) -> f32 { if y > 0.0 { return y } }", "V[0] = f(x)", "PH245"),
    ("fn f(y) { if y > 0.0 { return y } }", "V[0] = f(x)", "PH245"),
    ("fn f(y) -> i32 { return y }", "V[0] = f(x)", "PH214"),
    ("fn f(y: i32) -> i32 { return y }", "V[0] = f(x)", "PH214"),
    ("fn f(y) { y = 2.0\nreturn y }", "V[0] = f(x)", "PH206"),
    ("fn f(t: tile<f32>[R]) { t[0] = 1.0 }", "f(V[0 :+ 4])", "PH206"),
    ("fn f(y) { return T }", "V[0] = f(x)", "PH201"),  # kernel constants are passed
    ("fn f(y) { break }", "for i in range(0, 4) { f(x) }", "PH260"),
    ("fn f(t: tile<f32>[R, C]) { }", "let t = f(Q4[0, 0 :+ 4, 0 :+ 4, 0 :+ 8])", "PH247"),
    ("fn f(X: tensor<f32>[K]) { }", "f(H)", "PH247"),
    ("fn f(X: tensor<f32>[K]) { }", "f(V[0 :+ 4])", "PH242"),
    ("fn f(y: f32) { }", "f(V)", "PH203"),
    ("fn f(X: tensor<f32>[K, K]) { }", "f(A)", "PH247"),
    ("fn f(X: tensor<f32>[16, 64]) { }", "f(S)", "PH247"),
    ("fn f(y) { return f(y) }", "V[0] = f(x)", "PH244"),
    ("fn f(y) { return g(y) }\nfn g(y) { return f(y) }", "V[0] = f(x)", "PH244"),
    ("fn f(y) { }", "V[0] = f(x)", "PH231"),
    ("fn f(y) -> tensor<f32>[4] { return y }", "V[0] = f(x)", "PH221"),
    ("fn f(i, j) { return A2[i] }", "let t = generate(f, 4, 4)", "PH201"),
    ("fn f(i, j) { return 1.0 }", "let t = generate(f, 4, n)", "PH223"),
    ("fn f(i, j, k) { return 1.0 }", "let t = generate(f, 4, 4)", "PH240"),
    ("fn f(i, j) { barrier()\nreturn 1.0 }", "let t = generate(f, 4, 4)", "PH250"),
    ("fn f(i, j) { }", "let t = generate(f, 4, 4)", "PH250"),
    ("fn f(i) { return 1.0 }\nfn f(j) { return 2.0 }", "V[0] = f(n)", "PH205"),
    ("fn sum(y) { return y }", "V[0] = sum(x)", "PH207"),
    ("fn f(y) { return zz }", "V[0] = x", "PH201"),  # no kernel calls it
    ("fn f(y) { return f(y - 1) }", "V[0] = x", "PH244"),
]


@pytest.mark.parametrize(("fns", "text", "code"), REFUSED)
def test_refused(fns: str, text: str, code: str) -> None:
    assert codes(text, fns) == [code]


def test_the_calls_that_led_to_an_error_are_labels() -> None:
    text = """\
fn inner(y) { return y + true }
fn outer(y) { return inner(y) }
kernel k(V: tensor<f32>[N]) { V[0] = outer(V[1]) }
"""
    (found,) = findings(text).errors
    assert found.code == "PH211"
    assert [(label.span.text, label.text) for label in found.labels[-2:]] == [
        ("inner(y)", "in this call of `inner`"),
        ("outer(V[1])", "in this call of `outer`"),
    ]


def lines(text: str, fns: str) -> list[str]:
    return [line.strip() for line in dump(body(text, fns)).splitlines()[3:]]


def test_arguments_are_evaluated_once() -> None:
    assert lines("V[0] = f(V[1])", "fn f(y) { return y * y }") == [
        "let y: f32 = V[1:index]",
        "V[0:index] = (y * y)",
    ]


def test_names_that_never_change_are_not_copied() -> None:
    text = "let a = x * x\nV[0] = f(a, M, 3, A)"
    assert lines(text, "fn f(y, m, c, B) { return y * B[m, c] }") == [
        "let a: f32 = (x * x)",
        "V[0:index] = (a * A[M, 3:index])",
    ]


def test_a_variable_is_copied_when_it_is_passed() -> None:
    text = "var a = x\na = f(a)"
    assert lines(text, "fn f(y) { return y * y }") == ["var a: f32 = x", "let y: f32 = a", "a = (y * y)"]


def test_early_returns_leave_the_inlined_body() -> None:
    fns = "fn f(y) -> f32 { if y > 1.0 { return 1.0 }\nreturn y }"
    assert lines("V[0] = f(x)", fns) == [
        "var result: f32 = 0.0:f32",
        "inline f",
        "if (x > 1.0:f32)",
        "result = 1.0:f32",
        "leave",
        "result = x",
        "V[0:index] = result",
    ]


def test_operands_are_evaluated_left_to_right_around_a_call_that_stores() -> None:
    fns = "fn put(B, y) { B[0] = y\nreturn y }"
    assert lines("x2(V[0] + put(V, 2.0))", fns + "\nfn x2(y) { V2(y) }\nfn V2(y) { }")[:3] == [
        "let tmp: f32 = V[0:index]",
        "let y: f32 = 2.0:f32",
        "V[0:index] = y",
    ]


def test_a_call_right_of_a_short_circuit_runs_only_when_it_must() -> None:
    fns = "fn big(B, i) -> bool { if B[i] > 1.0 { return true }\nreturn false }"
    made = lines("if n < 4 || big(V, n) { V[0] = 0.0 }", fns)
    assert made[:3] == ["var tmp: bool = (n < 4:i32)", "if not(tmp)", "var result: bool = false:bool"]
    assert made[-3:] == ["tmp = result", "if tmp", "V[0:index] = 0.0:f32"]


def test_the_condition_of_while_is_set_up_before_each_test() -> None:
    fns = "fn big(B, i) -> bool { let y = B[i]\nreturn y > 1.0 }"
    assert lines("while big(V, n) { V[n] = 0.0 }", fns) == [
        "while",
        "let y: f32 = V[index(n)]",
        "test (y > 1.0:f32)",
        "V[index(n)] = 0.0:f32",
    ]


def test_checking_takes_milliseconds() -> None:
    text = "for kt in range(0, N, T) { let a = A[n :+ R, kt :+ T]\nV[n :+ R] += rowsum(a) }\n" * 10
    start = time.perf_counter()
    body(text)
    assert time.perf_counter() - start < 0.5

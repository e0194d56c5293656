"""Rendering: each case holds a source, a finding in it, and the whole text that comes out."""

from __future__ import annotations

import json
import re

import pytest

from phobos.diagnostics import CompileError, Diagnostic, Label, Severity, Sink
from phobos.diagnostics.render import render_text, to_json
from phobos.source import NOWHERE, Source, Span

TEXT = """\
kernel k(A: tensor<f16>[M, K]) {
  let b = B[kt :+ 32, n :+ TILE_N]

  let unrelated = 1

  acc += dot(a, b)
}
"""
SOURCE = Source("k.ph", TEXT)


def at(text: str, source: Source = SOURCE, nth: int = 0) -> Span:
    start = -1
    for _ in range(nth + 1):
        start = source.text.index(text, start + 1)
    return Span(source, start, start + len(text))


def error(span: Span, label: str = "", *labels: Label, notes: tuple[str, ...] = ()) -> Diagnostic:
    return Diagnostic(Severity.ERROR, "PH102", "a message", span, label, labels, notes)


def body(diagnostic: Diagnostic) -> str:
    """The lines between the header and the notes."""
    lines = render_text(diagnostic).split("\n")
    assert lines[0] == "error[PH102]: a message"
    return "\n".join(line for line in lines[1:] if " = " not in line[:5])


def test_everything_at_once() -> None:
    diagnostic = Diagnostic(
        Severity.ERROR,
        "PH102",
        "dot contracts 64 with 32",
        at("a", nth=TEXT[: TEXT.index("a, b")].count("a")),
        "64 columns",
        (
            Label(at("b", nth=TEXT[: TEXT.index("b)")].count("b")), "32 rows"),
            Label(at("B[kt :+ 32, n :+ TILE_N]"), "this makes b a tile<f16>[32, 128]"),
        ),
        ("dot(a, b) needs a[m, k] and b[k, n] with the same k",),
        ("did you mean TILE_K?\nIt is 64 here",),
    )
    assert render_text(diagnostic) == (
        "error[PH102]: dot contracts 64 with 32\n"
        " --> k.ph:6:14\n"
        "  |\n"
        "2 |   let b = B[kt :+ 32, n :+ TILE_N]\n"
        "  |           ------------------------ this makes b a tile<f16>[32, 128]\n"
        "...\n"
        "6 |   acc += dot(a, b)\n"
        "  |              ^  - 32 rows\n"
        "  |              |\n"
        "  |              64 columns\n"
        "  = note: dot(a, b) needs a[m, k] and b[k, n] with the same k\n"
        "  = help: did you mean TILE_K?\n"
        "          It is 64 here\n"
        "  = see: python -m phobos explain PH102"
    )


def test_no_label_and_a_single_place() -> None:
    assert body(error(at("acc"))) == " --> k.ph:6:3\n  |\n6 |   acc += dot(a, b)\n  |   ^^^"


def test_three_labels_on_a_line() -> None:
    one = Source("t.ph", "a + b + c")
    labels = (Label(at("b", one), "second"), Label(at("c", one), "third"))
    assert body(error(at("a", one), "first", *labels)) == (
        " --> t.ph:1:1\n  |\n1 | a + b + c\n  | ^   -   - third\n  | |   |\n  | |   second\n  | first"
    )


def test_a_label_inside_the_span_of_another() -> None:
    one = Source("t.ph", "f(a, b)")
    assert body(error(at("f(a, b)", one), "whole", Label(at("b", one), "part"))) == (
        " --> t.ph:1:1\n  |\n1 | f(a, b)\n  | ^^^^^^^\n  | |    |\n  | |    part\n  | whole"
    )


def test_neighbouring_lines_are_joined_by_the_line_between() -> None:
    text = body(error(at("acc"), "here", Label(at("unrelated"), "there")))
    assert text == (
        " --> k.ph:6:3\n  |\n4 |   let unrelated = 1\n  |       --------- there\n5 |\n"
        "6 |   acc += dot(a, b)\n  |   ^^^ here"
    )


def test_tabs_take_four_columns() -> None:
    one = Source("t.ph", "\tx\ty = $")
    assert body(error(at("$", one))) == " --> t.ph:1:8\n  |\n1 |     x   y = $\n  |             ^"


def test_wide_and_combining_characters() -> None:
    one = Source("t.ph", 'p("日本", e\u0301, $)')
    assert body(error(at("$", one))).split("\n")[-1] == "  |              ^"
    assert body(error(at("日本", one))).split("\n")[-1] == "  |    ^^^^"


def test_control_characters_do_not_reach_the_terminal() -> None:
    one = Source("t.ph", "a \x1b[31m b")
    assert "\x1b" not in body(error(at("b", one)))


def test_a_span_over_several_lines() -> None:
    one = Source("t.ph", "x = f(a,\n      b,\n      c)\n")
    assert body(error(Span(one, 4, len(one.text) - 1), "here")) == (
        " --> t.ph:1:5\n  |\n1 | x = f(a,\n  |     ^^^^\n2 |       b,\n3 |       c)\n  |       ^^ here"
    )


def test_the_end_of_the_file() -> None:
    one = Source("t.ph", "x")
    assert body(error(Span(one, 1, 1), "end")) == " --> t.ph:1:2\n  |\n1 | x\n  |  ^ end"


def test_a_place_in_another_file() -> None:
    std = Source("std.ph", "fn f(x) { }")
    text = body(error(at("acc"), "here", Label(at("x", std), "there")))
    assert " --> k.ph:6:3\n" in text
    assert " --> std.ph:1:6\n  |\n1 | fn f(x) { }\n  |      - there" in text


def test_no_source() -> None:
    assert body(error(NOWHERE, "here")) == " --> <built-in>:1:1"


def test_a_very_long_line_is_cut_around_the_mark() -> None:
    one = Source("t.ph", "1 + " * 500 + "$" + " + 1" * 500)
    lines = body(error(at("$", one), "here")).split("\n")
    assert len(lines[2]) < 230
    assert lines[2][lines[3].index("^")] == "$"


@pytest.mark.parametrize("severity", Severity)
def test_colour_changes_nothing_else(severity: Severity) -> None:
    diagnostic = Diagnostic(severity, "PH102", "m", at("acc"), "x", (Label(at("dot"), "y"),), ("n",), ("h",))
    coloured = render_text(diagnostic, colour=True)
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert plain == render_text(diagnostic)


def test_json() -> None:
    record = to_json(error(at("acc"), "here", Label(at("dot"), "there"), notes=("n",)))
    assert json.loads(json.dumps(record)) == record
    start = TEXT.index("acc")
    assert record["span"] == {
        "line": 6, "column": 3, "end_line": 6, "end_column": 6, "start": start, "end": start + 3,
    }  # fmt: skip
    assert record["labels"] == [
        {
            "file": "k.ph",
            "span": {"line": 6, "column": 10, "end_line": 6, "end_column": 13, "start": start + 7, "end": start + 10},
            "text": "there",
        }
    ]
    assert {key: record[key] for key in ("severity", "code", "message", "file", "label", "notes", "help")} == {
        "severity": "error", "code": "PH102", "message": "a message", "file": "k.ph", "label": "here",
        "notes": ["n"], "help": [],
    }  # fmt: skip


def test_compile_error_shows_all_findings_by_place() -> None:
    sink = Sink()
    sink.error("PH102", "second", at("acc"))
    sink.error("PH101", "first", at("let"))
    sink.error("PH102", "second", at("acc"))
    with pytest.raises(CompileError) as raised:
        sink.raise_errors()
    assert [d.message for d in raised.value.diagnostics] == ["first", "second"]
    assert str(raised.value).count("error[") == 2

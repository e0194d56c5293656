"""The warning for a maximum that may see the zeros of a masked load: B091, B092.

The kernel here reduces `S[r :+ 16, c :+ 64]` in a loop; each case is what stands in the loop and the `where` that the
help must give, "" for no warning.
"""

from __future__ import annotations

import pytest

import phobos
from phobos.compiler import Unit
from phobos.diagnostics import Diagnostic, Severity
from phobos.source import Source
from phobos.target import target

PROGRAM = """
fn most(t) {{
  return rowmax(t)
}}

{attributes}
kernel last(S: tensor<{elem}>[M, N], T: tensor<{elem}>[N, 64], B: tensor<{elem}>[2, M, N], Y: tensor<{elem}>[M, 1]) {{
  let r = ctx.block.x * 16
  var best: tile<{elem}>[16, 1] = {start}
  for c in range(0, N, 64) {{
    {body}
  }}
  Y[r :+ 16, 0 :+ 1] = best
}}
"""
MASKED = "iota(1) < N - c"


def warnings(body: str, elem: str = "f32", attributes: str = "") -> list[Diagnostic]:
    text = PROGRAM.format(body=body, elem=elem, attributes=attributes, start="-1.0e4" if elem[0] == "f" else "0")
    unit = Unit(Source("last.ph", text), verify=True)
    artifact = unit.compile("last", target("sm_80"))
    return [d for d in artifact.remarks if d.code == "PR305"]


CASES = [
    # Straight from the load, by a name, through elementwise ops and what control flow carries.
    ("best = max(best, rowmax(S[r :+ 16, c :+ 64]))", f"where({MASKED}, S[r :+ 16, c :+ 64], -1.0e30)"),
    ("let s = S[r :+ 16, c :+ 64]\nbest = max(best, rowmax(s))", f"where({MASKED}, s, -1.0e30)"),
    ("let s = S[r :+ 16, c :+ 64] * 2.0 + 1.0\nbest = max(best, rowmax(exp(s)))", f"where({MASKED}, exp(s), -1.0e30)"),
    ("let s = S[r :+ 16, c :+ 64]\nbest = min(best, rowmin(s))", f"where({MASKED}, s, 1.0e30)"),
    ("let s = S[r :+ 16, c :+ 64]\nbest = max(best, f32(rowargmax(s)))", f"where({MASKED}, s, -1.0e30)"),
    ("let s = S[r :+ 16, c :+ 64]\nbest = max(best, most(s))", f"where({MASKED}, s, -1.0e30)"),
    (
        "var s = S[r :+ 16, c :+ 64]\nif N > 100 {\ns = s * 2.0\n}\nbest = max(best, rowmax(s))",
        f"where({MASKED}, s, -1.0e30)",
    ),
    (
        "var s = S[r :+ 16, c :+ 64]\nfor k in range(0, 3) {\ns = s + 1.0\n}\nbest = max(best, rowmax(s))",
        f"where({MASKED}, s, -1.0e30)",
    ),
    # The start in the source's words; a slice with both masks.
    (
        "best = max(best, rowmax(S[r :+ 16, c + 2 :+ 62]))",
        "where(iota(1) < N - (c + 2), S[r :+ 16, c + 2 :+ 62], -1.0e30)",
    ),
    (
        "let s = S[r :+ 16, c - 1 :+ 64]\nbest = max(best, rowmax(s))",
        "where(iota(1) >= -(c - 1) && iota(1) < N - (c - 1), s, -1.0e30)",
    ),
    # Through a contraction, and across unit axes: the axis is that of what the call was given.
    ("let s = dot_t(S[r :+ 16, 0 :+ 64], T[c :+ 64, :])\nbest = max(best, rowmax(s))", f"where({MASKED}, s, -1.0e30)"),
    (
        "let s = B[1, r :+ 16, c :+ 64]\nbest = max(best, rowmax(s))",
        "where(iota(2) < N - c, s, -1.0e30)",
    ),
    ("best = max(best, colmax(S[r :+ 16, c :+ 1]))", "where(iota(0) < M - r, S[r :+ 16, c :+ 1], -1.0e30)"),
    # A `where` that does not look along the axis masks nothing there.
    (
        "let s = where(iota(0) < M - r, S[r :+ 16, c :+ 64], -1.0e30)\nbest = max(best, rowmax(s))",
        f"where({MASKED}, s, -1.0e30)",
    ),
    # No warning: masked, harmless zeros, no mask at all.
    ("let s = where(iota(1) < N - c, S[r :+ 16, c :+ 64], -1.0e30)\nbest = max(best, rowmax(s))", ""),
    ("let s = where(iota(1) < N - c, S[r :+ 16, c :+ 64], -1.0e30) * 2.0\nbest = max(best, rowmax(exp(s)))", ""),
    ("best = best + rowsum(S[r :+ 16, c :+ 64])", ""),
    ("best = max(best, rowmax(abs(S[r :+ 16, c :+ 64])))", ""),
    ("let s = S[r :+ 16, c :+ 64] * 2.0\nbest = max(best, rowmax(s * s))", ""),
    ("best = max(best, rowmax(S[r :+ 16, c :+ 1]))", ""),
]


@pytest.mark.parametrize(("body", "line"), CASES)
def test_the_line_to_write(body: str, line: str) -> None:
    found = warnings(body)
    assert [help for d in found for help in d.help] == ([f"mask them: {line}"] if line else [])
    assert all(d.severity is Severity.WARNING for d in found)


@pytest.mark.parametrize(
    ("elem", "kind", "fill"),
    [
        ("f16", "max", "-65504.0"),
        ("f64", "max", "-1.0e30"),
        ("bf16", "min", "1.0e30"),
        ("i8", "max", "-127"),
        ("i32", "min", "2147483647"),
        ("i64", "max", "-9223372036854775807"),
        ("u8", "min", "255"),
    ],
)
def test_the_line_is_right_for_each_type(elem: str, kind: str, fill: str) -> None:
    """What the help says compiles, and there is no warning left."""
    (found,) = warnings(f"let s = S[r :+ 16, c :+ 64]\nbest = {kind}(best, row{kind}(s))", elem)
    line = found.help[0].removeprefix("mask them: ")
    assert line == f"where({MASKED}, s, {fill})"
    assert not warnings(f"let s = S[r :+ 16, c :+ 64]\nbest = {kind}(best, row{kind}({line}))", elem)


def test_rows_laid_end_to_end_have_other_axes() -> None:
    (found,) = warnings("let s = S[r :+ 16, c :+ 64]\nlet f = flat(s)\nbest = max(best, rowmax(f))")
    assert found.help == ("mask the tile with `where` before it is laid flat",)


def test_zero_is_the_least_unsigned_number() -> None:
    assert not warnings("best = max(best, rowmax(S[r :+ 16, c :+ 64]))", "u8")


def test_a_promise_ends_the_warning() -> None:
    assert not warnings("best = max(best, rowmax(S[r :+ 16, c :+ 64]))", attributes="@aligned(N = 64)")


def test_it_points_at_the_load() -> None:
    (found,) = warnings("let s = S[r :+ 16, c :+ 64]\nbest = max(best, rowmax(s))")
    assert found.span.text == "rowmax(s)"
    assert [label.span.text for label in found.labels] == ["S[r :+ 16, c :+ 64]"]
    assert "N is not known to be a multiple of 64" in found.labels[0].text


def test_the_plan_has_it() -> None:
    text = PROGRAM.format(body="best = max(best, rowmax(S[r :+ 16, c :+ 64]))", elem="f32", attributes="", start="0.0")
    assert [r.severity for r in phobos.compile(text, target="sm_80").last.plan.remarks if r.code == "PR305"] == [
        "warning"
    ]

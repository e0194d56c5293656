"""Where tile statements and collectives may stand, and which scalars they may take."""

from __future__ import annotations

import pytest

from tests.check.helpers import codes, findings

RIGHT = {
    "uniform condition": "if ctx.block.x < n { barrier() }",
    "loaded at a uniform place": "if V[n] > 0.0 { barrier() }",
    "per-thread code under a lane condition": "if ctx.thread < n { V[ctx.thread] = 0.0\nI[ctx.thread] = 1 }",
    "variable overwritten": "var y = ctx.lane\ny = 0\nif y == 0 { barrier() }",
    "both arms uniform": "var y = 0\nif n > 3 { y = 1 } else { y = 2 }\nif y == 1 { barrier() }",
    "after the lanes meet again": "for i in range(ctx.lane, N, 32) { V[i] = 0.0 }\nbarrier()",
    "break in a per-thread loop": "while true { if ctx.lane == 3 { break } }\nlet s = lane_sum(x)\nbarrier()",
    "cta collective of lane values": "let s = cta_sum(V[ctx.thread])\nA[0 :+ 4, 0 :+ 4] = s",
    "flag from a vote": "while cta_any(V[ctx.thread] > x) { barrier() }",
    "ticket": "var i = atomic_add(I[0], 1)\nwhile i < n { barrier()\ni = atomic_add(I[0], 1) }",
    "warp collective in a warp": "if ctx.warp == 1 { let s = lane_sum(x)\nlet u = shuffle(s, 0) }",
    "shuffle from a uniform lane": "let s = shuffle(V[ctx.thread], 0)\nif s > 0.0 { let u = lane_sum(x) }",
    "uniform break": "for i in range(0, n) { if i == 4 { break }\nbarrier() }",
    "uniform return": "if n == 0 { return }\nbarrier()",
    "extents and parameters": "for i in range(0, M) { A[i * n :+ 4, 0 :+ 4] = x }",
    "a tile's point": "var t: tile<f32>[R, C] = 0.0\nif t[0, 0] > 0.0 { barrier() }",
}
WRONG = {
    "element of a lane's run": ("let v = elem(V[ctx.lane * 4 :+ 4])\nif v[0] > 0.0 { barrier() }", "PH301"),
    "lane condition": ("if ctx.lane == 0 { barrier() }", "PH301"),
    "warp condition": ("if ctx.warp == 0 { barrier() }", "PH301"),
    "thread through a let": ("let i = ctx.thread + n\nif i < n { barrier() }", "PH301"),
    "loaded at a lane's place": ("if V[ctx.thread] > 0.0 { barrier() }", "PH301"),
    "else arm": ("if ctx.lane == 0 { } else { barrier() }", "PH301"),
    "variable written under a lane condition": (
        "var y = 0\nif ctx.lane > 3 { y = 1 }\nif y == 1 { barrier() }",
        "PH301",
    ),
    "written in a lane's loop": ("var y = 0\nfor i in range(0, ctx.lane) { y = 1 }\nif y == 1 { barrier() }", "PH301"),
    "carried round a loop": ("var y = 0\nfor i in range(0, n) { if y > 3 { barrier() }\ny += ctx.lane }", "PH301"),
    "carried twice": (
        "var y = 0\nvar z = 0\nfor i in range(0, n) { if z > 3 { barrier() }\nz = y\ny = ctx.lane }",
        "PH301",
    ),
    "after a lane's break": ("for i in range(0, n) { if ctx.lane == i { break }\nbarrier() }", "PH301"),
    "before a lane's break, next trip": ("for i in range(0, n) { barrier()\nif ctx.lane == i { break } }", "PH301"),
    "after a lane's continue": ("for i in range(0, n) { if ctx.lane == i { continue }\nbarrier() }", "PH301"),
    "counted in a loop with a lane's break": (
        "var y = 0\nwhile y < n { y += 1\nif ctx.lane == y { break } }\nif y > 2 { barrier() }",
        "PH301",
    ),
    "after a lane's return": ("if ctx.thread >= n { return }\nA[0 :+ 4, 0 :+ 4] = 0.0", "PH301"),
    "return in a loop": ("for i in range(0, n) { if ctx.lane == i { return } }\nbarrier()", "PH301"),
    "while with lanes": ("var y = ctx.lane\nwhile y < n { y += 1\nbarrier() }", "PH301"),
    "right of a short circuit": ("if ctx.lane < 4 && lane_any(p) { V[0] = x }", "PH303"),
    "warp collective under a lane condition": ("if ctx.lane < 4 { let s = lane_sum(x) }", "PH303"),
    "cta collective in a warp": ("if ctx.warp == 0 { let s = cta_sum(x) }", "PH301"),
    "warp sum is not uniform": ("let s = lane_sum(x)\nif s > 0.0 { barrier() }", "PH301"),
    "shuffle_xor is a lane's": ("let s = shuffle_xor(x, 1)\nif s > 0.0 { let u = lane_sum(x) }", "PH303"),
    "a lane's ticket": ("let i = atomic_add(I[ctx.lane], 1)\nif i > 0 { barrier() }", "PH301"),
    "a ticket under a warp condition": (
        "if ctx.warp == 0 { let i = atomic_add(I[0], 1)\nif i > 0 { barrier() } }",
        "PH301",
    ),
    "start of a slice": ("let t = A[ctx.warp :+ 4, 0 :+ 4]", "PH302"),
    "start of a stored slice": ("A[ctx.lane :+ 4, 0 :+ 4] = 0.0", "PH302"),
    "scalar in a tile": ("let t = A[0 :+ 4, 0 :+ 4] * V[ctx.lane]", "PH302"),
    "fill": ("V[n:] = V[ctx.lane]", "PH302"),
    "scalar into a tile": ("var t: tile<f32>[4] = 0.0\nt += lane_sum(x)", "PH302"),
    "generated from a lane's value": ("let t = A[0 :+ 4, 0 :+ 4] + generate(f, 4, 4, ctx.lane)", "PH302"),
}
FN = "fn f(i, j, k) -> f32 { return f32(i + j * k) }"


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT.keys())
def test_right(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(("text", "code"), WRONG.values(), ids=WRONG.keys())
def test_wrong(text: str, code: str) -> None:
    assert codes(text, FN) == [code]


def test_the_error_names_value_origin_and_statement() -> None:
    text = """\
kernel k(A: tensor<f32>[M, N], n: i32) {
  let i = ctx.block.x * 32 + ctx.lane
  if i < n {
    A[0 :+ 4, 0 :+ 4] = 0.0
  }
}
"""
    (found,) = findings(text).errors
    assert found.span.text == "A[0 :+ 4, 0 :+ 4] = 0.0"
    assert [(label.span.text, label.text) for label in found.labels] == [
        ("i < n", "`i` differs between the lanes of a warp"),
        ("ctx.lane", "`ctx.lane` differs between the lanes of a warp"),
    ]


def test_nested_loops_take_little_time() -> None:
    """The walk repeats for the whole kernel, not for each loop in its loop."""
    depth = 40
    text = "".join(f"for i{d} in range(0, n) {{\n" for d in range(depth)) + "V[0] += 1.0\n" + "}\n" * depth
    assert codes(text) == []

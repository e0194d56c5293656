"""Tiles that are sliced, pointed at and run over: how wide shared memory is accessed, and what is said of it."""

from __future__ import annotations

import re

import pytest

from phobos.artifact import Artifact
from phobos.compiler import Unit
from phobos.source import Source
from phobos.target import target

SHARED = re.compile(r"\b((?:ld|st)\.shared[\w.]*)")


def compiled(body: str, signature: str = "X: tensor<f32>[64, 32], Y: tensor<f32>[64, 32], n: i32") -> Artifact:
    """A kernel that fills a tile `t` with X, then does what the body says."""
    text = f"@launch(64) kernel k({signature}) {{\n  var t = X[:, :]\n  {body}\n}}\n"
    return Unit(Source("test.ph", text), verify=True).compile("k", target("sm_90"))


def accesses(body: str) -> set[str]:
    """The kinds of shared accesses that come after the tile is filled."""
    ptx = compiled(body).ptx
    found = SHARED.findall(ptx)
    assert found[0] == "st.shared.v4.b32"
    return {a for a in found if a.startswith("ld.")}


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("t[0, 0] = 1.0\n  Y[:, :] = t", "ld.shared.v4.b32"),
        ("Y[0 :+ 32, :] = t[32 :+ 32, :]", "ld.shared.v4.b32"),
        ("Y[0 :+ 8, 0 :+ 8] = t[n :+ 8, ctx.block.x * 4 :+ 8]", "ld.shared.v4.b32"),
        ("Y[0 :+ 8, 0 :+ 8] = t[n :+ 8, ctx.block.x * 2 :+ 8]", "ld.shared.v2.b32"),
        ("Y[0 :+ 8, 0 :+ 8] = t[n :+ 8, n :+ 8]", "ld.shared.b32"),
        ("store(Y[ctx.thread, 0 :+ 8], elem(t[ctx.thread, 8 :+ 8]))", "ld.shared.v4.b32"),
        ("store(Y[ctx.thread, 0 :+ 8], elem(t[ctx.thread, 8 :+ 8], align = 4))", "ld.shared.b32"),
        ("store(Y[ctx.thread, 0 :+ 4], elem(t[ctx.thread, n :+ 4], align = 8))", "ld.shared.v2.b32"),
        ("Y[ctx.thread, 0] = t[63 - ctx.thread, 1]", "ld.shared.b32"),
    ],
)
def test_accesses_are_as_wide_as_is_proved(body: str, wanted: str) -> None:
    """B095 B225: the same proof as for tensors; the base and the pitch of a buffer are known."""
    assert accesses(body) == {wanted}


def test_a_tile_that_is_only_used_whole_stays_in_registers() -> None:
    assert compiled("t = t * 2.0\n  Y[:, :] = t").plan.shared.buffers == ()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("Y[0 :+ 8, :] = t[8 :+ 8, :]", "line 3 reads a slice of it"),
        ("t[8 :+ 8, :] = 1.0\n  Y[:, :] = t", "line 3 assigns a slice of it"),
        ("Y[0, 0] = t[1, 2]", "line 3 reads a point of it"),
        ("t[1, 2] = 1.0", "line 3 assigns a point of it"),
        ("Y[0, 0] = sum(t[1, 0 :+ 4])", "line 3 reads a thread's run of it"),
        ("store(t[1, 0 :+ 4], 1.0)", "line 3 writes a thread's run of it"),
    ],
)
def test_the_plan_says_why_a_tile_lives_in_shared_memory(body: str, why: str) -> None:
    artifact = compiled(body)
    (buffer,) = artifact.plan.shared.buffers
    assert (buffer.label, buffer.shape, buffer.why) == ("t", (64, 32), why)
    assert {a.tensor for a in artifact.plan.accesses if a.space == "shared"} == {"t"}
    assert f"in shared memory because {why}" in artifact.report

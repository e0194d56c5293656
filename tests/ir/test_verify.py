"""The verifier finds each broken rule at the op that breaks it: `// error: text` on the op's line or in the header."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from phobos.diagnostics import InternalError
from phobos.ir.core import Block, Value
from phobos.ir.kernel import Attributes, Kernel
from phobos.ir.parser import parse
from phobos.ir.tile_ops import Const
from phobos.ir.types import INDEX
from phobos.ir.verify import check, verify
from phobos.source import NOWHERE

FILES = sorted((Path(__file__).parent / "verify").glob("*.tile"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_errors_are_found_where_they_are(path: Path) -> None:
    text = path.read_text()
    expected = [
        (number if not line.startswith("//") else None, said.strip())
        for number, line in enumerate(text.splitlines(), 1)
        for said in re.findall(r"// error: (.*?)(?=\s+// error|$)", line)
    ]
    assert expected
    found = []
    for message in verify(parse(text, path.name)):
        place = re.match(rf"{re.escape(path.name)}:(\d+):\d+: ", message)
        found.append((int(place[1]) if place else None, message))
    for where, said in expected:
        match = next((m for m in found if m[0] == where and said in m[1]), None)
        assert match, f"line {where}: {said}\nnot in\n" + "\n".join(m for _, m in found)
        found.remove(match)
    assert found == []


def test_an_unknown_form() -> None:
    assert verify(kernel("baked")) == ["unknown form 'baked'"]


def kernel(form: str, *names: str) -> Kernel:
    ops = tuple(Const(value=1, out=Value(n, INDEX)) for n in names)
    return Kernel(
        name="k",
        form=form,
        tensors=(),
        dims=(),
        scalars=(),
        body=Block((), (*ops, *ops[:1])),
        attributes=Attributes(),
        constants=(),
        span=NOWHERE,
    )


def test_check_names_the_pass_and_the_op() -> None:
    check(kernel("built"), "lower")
    with pytest.raises(InternalError, match=r"kernel k is wrong after fold: .*%a: index = const.*%a is defined twice$"):
        check(kernel("folded", "a"), "fold")


TILE = "tile<f32>[8, 16] @blocked(vector=[1, 4], lanes=[8, 4], warps=[1, 1], order=[1, 0])"
COPY = (
    "layout = @blocked(shape=[8, 16], vector=[1, 4], lanes=[8, 4], warps=[1, 1], order=[1, 0]),"
    ' guards = ["hi", "hi"], width = 4'
)


def lives(body: str, a_slots: int = 1, limit: int | None = None) -> list[str]:
    """What the verifier says of a body with the buffers %a and %b at the same offset; READ, WRITE, COPY are short."""
    slots = "" if a_slots == 1 else f" x {a_slots}"
    text = re.sub(r"WRITE (\w+)", r"write(%\1, %c0, %t)", body)
    text = re.sub(r"COPY (\w+)", rf"copy_async(%T, [%c0, %c0], [%M, %N], %\1, %c0) {{{COPY}}}", text)
    numbered = iter(range(99))
    text = re.sub(r"READ (\w+)", lambda m: f"%r{next(numbered)}: {TILE} = read(%{m[1]}, %c0)", text)
    header = (
        "kernel k(%T: tensor<f32>[M, N]; %M: index, %N: index; %x: f32, %p: bool)\n"
        'form "packed"\nattributes {launch = launch(threads = 32)}\n{\n'
    )
    source = f"""{header}
        %c0: index = const() {{value = 0}}
        %t: {TILE} = splat(%x)
        %a: buffer<f32>[8, 16]{slots} @swizzled(fast=1) = alloc() {{label = "a", offset_bytes = 0}}
        %b: buffer<f32>[8, 16] @swizzled(fast=1) = alloc() {{label = "b", offset_bytes = 256}}
        {text}
    }}"""
    return verify(parse(source), limit)


def loop(body: str, variable: str = "i") -> str:
    return f" for(%c0, %M, %c0, []) body(%{variable}: index) {{ {body} yield([]) }} "


@pytest.mark.parametrize(
    "body",
    [
        "WRITE a READ a WRITE b READ b",
        "WRITE a WRITE b READ b",  # what a holds is never read
        "READ a WRITE a READ a WRITE b READ b",
        loop("WRITE a READ a WRITE b READ b"),  # each trip writes before it reads
        loop("WRITE a READ a") + loop("WRITE b READ b", "j"),
        "if(%p) then { WRITE a READ a yield([]) } orelse { WRITE b READ b yield([]) }",
        "COPY a commit() wait() {pending = 0} READ a WRITE b READ b",
        "COPY a commit() wait() {pending = 0} WRITE b READ b",
        "COPY a commit() commit() wait() {pending = 1} READ a WRITE b READ b",
        loop("WRITE a READ a") + "WRITE b " + loop("READ b", "j"),
    ],
)
def test_lives_apart_may_share(body: str) -> None:
    assert lives(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "WRITE a WRITE b READ a READ b",
        "WRITE a " + loop("READ a WRITE b READ b"),  # a is needed by the next trip
        loop("READ a WRITE a WRITE b READ b"),  # carried from trip to trip
        "WRITE a if(%p) then { WRITE b READ b yield([]) } orelse { READ a yield([]) } READ a",
        "while([]) cond { READ a yield([%p]) } body { WRITE a WRITE b READ b yield([]) }",
        "COPY a commit() WRITE b READ b",  # still in flight
        "COPY a WRITE b READ b wait() {pending = 0}",
        "COPY a commit() wait() {pending = 1} READ a WRITE b READ b",
        "COPY a wait() {pending = 0} READ a WRITE b READ b",  # a group that was never committed is not waited for
        loop("COPY a commit() wait() {pending = 1}") + "WRITE b READ b",
    ],
)
def test_lives_that_overlap_may_not_share(body: str) -> None:
    assert [m.split(": ")[-1] for m in lives(body)] == ["shares bytes with a while both are in use"]


def test_a_write_of_one_slot_keeps_the_others() -> None:
    body = "WRITE a READ a " + loop("WRITE a READ a WRITE b READ b")
    assert lives(body) == []
    assert len(lives(body, a_slots=2)) == 1


def test_the_buffers_end_within_the_limit() -> None:
    body = "WRITE a READ a WRITE b READ b"
    assert lives(body, limit=768) == []
    assert lives(body, limit=767) == ["buffers end at byte 768, the limit is 767"]

"""Printing and parsing are inverse, on kernels that hold every op; wrong text says where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phobos.ir import cta_ops, tile_ops
from phobos.ir.core import OPS, Block, Value
from phobos.ir.kernel import Aligned, Attributes, Fact, GridAxis, Kernel, Launch
from phobos.ir.parser import IrSyntaxError, parse, parse_type
from phobos.ir.printer import print_block, print_kernel, print_op, type_text, value_text
from phobos.ir.types import BOOL, F32, INDEX, Buffer, Tile, Vec
from phobos.ir.verify import verify
from phobos.layout.register import Blocked
from phobos.layout.shared import Swizzled
from phobos.source import NOWHERE, Source, Span

FILES = sorted((Path(__file__).parent / "roundtrip").glob("*.tile"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_text_comes_back(path: Path) -> None:
    text = path.read_text()
    kernel = parse(text, path.name)
    assert print_kernel(kernel) == text
    assert verify(kernel) == []
    assert print_kernel(parse(print_kernel(kernel, spans=True))) == text


def test_files_hold_every_op() -> None:
    found = {type(op) for path in FILES for op in parse(path.read_text()).walk()}
    ours = {c for c in OPS.values() if c.__module__ in (tile_ops.__name__, cta_ops.__name__)}
    assert {c.name for c in ours - found} == set()


def test_spans_are_comments() -> None:
    source = Source("k.ph", "kernel k() {\n  let a = 1\n}")
    a = tile_ops.Const(value=1, out=Value("a", INDEX), span=Span(source, 15, 24))
    hidden = tile_ops.Const(value=2, out=Value("b", INDEX))
    text = print_block(Block((), (a, hidden)), spans=True)
    assert text == "%a: index = const() {value = 1}  // 2:3\n%b: index = const() {value = 2}"


def test_equal_names_are_told_apart() -> None:
    names = ["acc", "acc", "acc.1", "acc", "acc.1", "a b", "a_b", ""]
    ops = tuple(tile_ops.Const(value=1, out=Value(n, INDEX)) for n in names)
    printed = [line.split(":")[0] for line in print_block(Block((), ops)).splitlines()]
    assert printed == ["%acc", "%acc.1", "%acc.2", "%acc.3", "%acc.4", "%a_b", "%a_b.1", "%_"]


def test_a_use_does_not_take_the_name_of_a_definition() -> None:
    first, second = Value("x", INDEX), Value("x", INDEX)
    ops = (
        tile_ops.Binary(kind="add", a=second, b=second, out=Value("sum", INDEX)),
        tile_ops.Const(value=1, out=first),
        tile_ops.Const(value=1, out=second),
    )
    kernel = make(ops)
    assert print_kernel(kernel).splitlines()[3:6] == [
        '  %sum: index = binary(%x.1, %x.1) {kind = "add"}',
        "  %x: index = const() {value = 1}",
        "  %x.1: index = const() {value = 1}",
    ]


def make(ops: tuple[tile_ops.Op, ...], **more: object) -> Kernel:
    fields = {"tensors": (), "dims": (), "scalars": (), "attributes": Attributes(), "constants": ()} | more
    return Kernel(name="k", form="built", body=Block((), ops), span=NOWHERE, **fields)


def test_the_header_comes_back() -> None:
    attributes = Attributes(
        launch=Launch(96, 2, None, True),
        aligned=(Aligned("M", 64, NOWHERE), Aligned("K", 8, NOWHERE)),
        pipeline=3,
        tensorcore="wmma",
        dynshared=True,
        persistent=True,
        registers=40,
        swizzle=4,
        precise=True,
    )
    kernel = make(
        (),
        attributes=attributes,
        constants=(("TILE_M", 64), ("B", -1)),
        grid=(GridAxis("M", 64), GridAxis(4, 1), GridAxis(unknown="subscripts disagree")),
        denied=frozenset({Fact("index_32", ""), Fact("no_alias", "A")}),
        used=frozenset({Fact("grid", "x")}),
        dims=(Value("M", INDEX),),
        scalars=(Value("alpha", F32), Value("flag", BOOL)),
    )
    again = parse(print_kernel(kernel))
    for name in ("constants", "grid", "denied", "used", "form", "name"):
        assert getattr(again, name) == getattr(kernel, name), name
    assert [a.dim for a in again.attributes.aligned] == ["M", "K"]
    assert [a.divisor for a in again.attributes.aligned] == [64, 8]
    for name in ("launch", "pipeline", "tensorcore", "dynshared", "persistent", "registers", "swizzle", "precise"):
        assert getattr(again.attributes, name) == getattr(attributes, name), name
    assert [str(s.type) for s in again.scalars] == ["f32", "bool"]


@pytest.mark.parametrize(
    "layout",
    [
        Swizzled((8, 16), 1),
        Swizzled((8, 16), 0, chunk=2, multiply=3, shift=1, mask=3),
        Swizzled((8, 16), 1, chunk=4),
    ],
    ids=str,
)
def test_shared_layouts_come_back(layout: Swizzled) -> None:
    for slots in (1, 3):
        t = Buffer(F32, (8, 16), layout, slots)
        assert parse_type(type_text(t)) == t
        assert parse_type(str(t)).shape == t.shape


def test_register_layouts_come_back() -> None:
    layout = Blocked((8, 16), (1, 4), (8, 4), (2, 1), (1, 0))
    for t in (Tile(F32, (8, 16), layout), Tile(F32, (1, 16), layout.collapsed((1, 16))), Tile(F32, ()), Vec(BOOL, 4)):
        assert parse_type(type_text(t)) == t
        assert parse_type(str(t)) == t
    assert "shape" not in type_text(Tile(F32, (8, 16), layout))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda v: st.lists(v, max_size=3).map(tuple),
    max_leaves=6,
)


@given(values)
def test_attribute_values_come_back(value: object) -> None:
    kernel = make((tile_ops.Const(value=value, out=Value("a", INDEX)),))
    (op,) = parse(print_kernel(kernel)).body.ops
    assert isinstance(op, tile_ops.Const)
    assert repr(op.value) == repr(value)


def test_a_type_as_an_attribute_comes_back() -> None:
    assert value_text(Tile(F32, (4,))) == "tile<f32>[4]"
    kernel = make((tile_ops.Const(value=Tile(F32, (4,)), out=Value("a", INDEX)),))
    assert parse(print_kernel(kernel)).body.ops[0].attributes() == {"value": Tile(F32, (4,))}


def test_objects_are_not_attributes() -> None:
    with pytest.raises(TypeError, match="an attribute cannot hold a object"):
        value_text(object())


def test_print_op_leaves_regions_out() -> None:
    loop = next(
        op
        for op in parse((FILES[0].parent / "control_guarded.tile").read_text()).walk()
        if isinstance(op, tile_ops.For | tile_ops.While)
    )
    assert "\n" not in print_op(loop)


HEAD = 'kernel k(; ; %s: f32)\n  form "built"\n{\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  %a: index = constant() {value = 1}\n}", "<tile>:4:15: unknown op constant"),
        ("  %a: index = const() {number = 1}\n}", "<tile>:4:15: const has no attribute number"),
        ("  %a: index = const()\n}", "<tile>:4:15: const: .*missing.*value"),
        ("  const() {value = 1}\n}", "<tile>:4:3: const has 1 results, found 0"),
        ("  [%a: index] = const() {value = 1}\n}", "<tile>:4:17: out of const is one value"),
        ('  %a: f32 = unary(%s, %s) {kind = "exp"}\n}', "<tile>:4:13: unary has 1 operands, found 2"),
        ('  %a: f32 = unary([%s]) {kind = "exp"}\n}', "<tile>:4:13: a of unary is one value"),
        ("  yield(%s)\n}", "<tile>:4:3: values of yield is a list"),
        ('  %a: f32 = unary(%t) {kind = "exp"}\n}', "<tile>:4:19: %t is never defined"),
        ("  %a: f31 = const() {value = 1}\n}", "<tile>:4:7: unknown type f31"),
        ("  %s: f64 = const() {value = 1}\n}", "<tile>:4:3: %s has two types"),
        ("  %a: tile<f32>[4] @diagonal(a=1) = splat(%s)\n}", "<tile>:4:21: unknown layout diagonal"),
        ("  %a: tile<f32>[4] @blocked(vector=[1]) = splat(%s)\n}", "not a Blocked"),
        ("  %a: tile<f32>[4] @swizzled(fast=0) = splat(%s)\n}", "a tile needs another kind of layout"),
        ("  commit() ?\n}", "<tile>:4:12: unexpected character '\\?'"),
        ("  commit()\n", "<tile>:5:1: expected a name, found end of text"),
        ("}\n}", "<tile>:5:1: expected the end, found }"),
    ],
)
def test_wrong_text_says_where(text: str, message: str) -> None:
    with pytest.raises(IrSyntaxError, match=message):
        parse(HEAD + text)

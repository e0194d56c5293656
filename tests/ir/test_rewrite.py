"""Cloning makes fresh values and follows regions; the rewriter rebases what comes after a change."""

from __future__ import annotations

from pathlib import Path

from phobos.ir.build import Builder
from phobos.ir.core import Block, Op, Value
from phobos.ir.kernel import Kernel
from phobos.ir.parser import parse
from phobos.ir.printer import print_block, print_kernel
from phobos.ir.rewrite import Rewriter, clone_block, clone_op, clone_ops, definitions, free_values, uses
from phobos.ir.tile_ops import Binary, Const, For, If, Load, ProgramId, Yield
from phobos.ir.types import INDEX
from phobos.ir.verify import verify

ROUNDTRIP = Path(__file__).parent / "roundtrip"


def kernel(name: str = "gemm_built") -> Kernel:
    return parse((ROUNDTRIP / f"{name}.tile").read_text())


def values(block: Block) -> set[Value]:
    return {*block.params, *(v for op in block.walk() for v in op.results())} | {
        p for op in block.walk() for b in op.regions() for p in b.params
    }


def test_a_fresh_clone_shares_no_value() -> None:
    body = kernel().body
    mapping: dict[Value, Value] = {}
    clone = clone_block(body, mapping)
    assert not values(body) & values(clone)
    assert print_block(clone) == print_block(body)
    assert {mapping[v] for v in values(body)} == values(clone)
    assert free_values(clone) == free_values(body)


def test_a_clone_in_place_keeps_its_values() -> None:
    body = kernel().body
    loop = next(op for op in body.ops if isinstance(op, For))
    new = Value("zero", loop.inits[0].type)
    clone = clone_op(loop, {loop.inits[0]: new}, fresh=False)
    assert clone.inits == (new,)
    assert clone.results() == loop.results()
    assert [p for b in clone.regions() for p in b.params] == list(loop.body.params)


def test_a_mapping_reaches_into_regions() -> None:
    k = kernel("control_guarded")
    body = k.body
    limit, new = k.scalars[1], Value("bound", k.scalars[1].type)
    ok = next(op for op in body.ops if op.name == "compare")
    clones = clone_ops(body.ops, {limit: new})
    assert limit not in {v for op in Block((), clones).walk() for v in op.operands()}
    assert ok.results()[0] not in {v for op in Block((), clones).walk() for v in op.operands()}


def test_an_idle_visit_changes_nothing() -> None:
    for name in ("gemm_built", "control_guarded", "gemm_staged"):
        k = kernel(name)
        assert print_kernel(Rewriter(lambda op, r: None).kernel(k)) == print_kernel(k)
        assert print_kernel(Rewriter(lambda op, r: None, inner_first=True).kernel(k)) == print_kernel(k)


def test_a_replaced_value_is_read_by_later_and_nested_ops() -> None:
    """Fold `binary mul` of two things into a constant: its uses in the loop follow."""
    k = kernel()

    def visit(op: Op, rewriter: Rewriter) -> Op | None:
        if isinstance(op, Binary) and op.out.type == INDEX:
            new = Const(value=32, out=op.out.like(name="folded"), span=op.span)
            rewriter.replace(op.out, new.out)
            return new
        return None

    out = Rewriter(visit).kernel(k)
    assert verify(out) == []
    loads = [op for op in out.walk() if isinstance(op, Load)]
    assert [o.name for load in loads for o in load.offsets] == ["folded", "k", "k", "folded"]


def test_dropping_and_inserting() -> None:
    k = kernel()
    seen: list[str] = []

    def visit(op: Op, rewriter: Rewriter) -> tuple[Op, ...] | None:
        seen.append(op.name)
        if isinstance(op, ProgramId) and op.axis == 1:
            rewriter.replace(op.out, first[0].out)
            return ()
        if isinstance(op, ProgramId):
            first.append(op)
        if isinstance(op, For):
            extra = Const(value=7, out=Value("extra", INDEX))
            return (extra, op)  # the very op: its region is rewritten all the same
        return None

    first: list[ProgramId] = []
    out = Rewriter(visit).kernel(k)
    assert verify(out) == []
    names = [op.name for op in out.body.ops]
    assert names.count("program_id") == 1
    assert names[names.index("for") - 1] == "const"
    assert seen.count("dot") == 1


def test_rewriting_regions_first() -> None:
    order: list[str] = []

    def visit(op: Op, rewriter: Rewriter) -> None:
        order.append(op.name)

    Rewriter(visit, inner_first=True).kernel(kernel())
    assert order.index("dot") < order.index("for")
    order.clear()
    Rewriter(visit).kernel(kernel())
    assert order.index("for") < order.index("dot")


def test_a_visit_may_rewrite_a_region_itself() -> None:
    seen: list[str] = []

    def visit(op: Op, rewriter: Rewriter) -> Op | None:
        seen.append(op.name)
        if isinstance(op, For):
            params = tuple(p.like(name=f"{p.name}_new") for p in op.body.params)
            return op.replace(body=rewriter.block(op.body, params), stages=0)
        return None

    out = Rewriter(visit).kernel(kernel())
    assert verify(out) == []
    assert seen.count("dot") == 1
    assert "body(%k_new: index, %acc.2_new: " in print_kernel(out)


def test_replacements_follow_one_another() -> None:
    a, b, c = (Value(n, INDEX) for n in "abc")
    rewriter = Rewriter(lambda op, r: None)
    rewriter.replace(a, b)
    rewriter.replace(b, c)
    rewriter.replace(c, c)
    assert rewriter.values((a, b, c)) == (c, c, c)


def test_uses_count_each_operand() -> None:
    body = kernel().body
    found = uses(body)
    m = definitions(body)
    zero = next(v for v in m if v.name == "c0")
    c16 = next(v for v in m if v.name == "c16")
    assert [op.name for op in found[zero]] == ["for"]
    assert len(found[c16]) == 2
    square = Binary(kind="mul", a=zero, b=zero, out=Value("s", INDEX))
    assert uses(Block((), (square,))) == {zero: [square, square]}


def test_definitions_are_nested_and_have_no_params() -> None:
    body = kernel().body
    loop = next(op for op in body.ops if isinstance(op, For))
    found = definitions(body)
    assert found[loop.outs[0]] is loop
    assert {v.name for v, op in found.items() if isinstance(op, Load)} == {"a", "b"}
    assert not set(loop.body.params) & set(found)


def test_free_values_of_a_loop() -> None:
    loop = next(op for op in kernel().body.ops if isinstance(op, For))
    assert [v.name for v in free_values(loop.body)] == ["A", "m", "M", "K", "B", "n", "N"]
    assert [v.name for v in free_values(kernel("shuffle_synced").body)] == ["A"]


def test_builder_folds_index_arithmetic() -> None:
    n = Value("n", INDEX)
    b = Builder(constants={(k := Value("k", INDEX)): 6})

    def number(v: Value) -> int | None:
        return b.constant(v)

    assert [
        number(b.add(k, 2)),
        number(b.sub(2, k)),
        number(b.mul(k, k)),
        number(b.min(k, 7)),
        number(b.max(k, 7)),
    ] == [
        8,
        -4,
        36,
        6,
        7,
    ]
    assert [number(b.div(-7, 2)), number(b.div(7, -2)), number(b.rem(-7, 2)), number(b.rem(7, -2))] == [-3, -3, -1, 1]
    for same in (
        b.add(n, 0),
        b.add(0, n),
        b.sub(n, 0),
        b.mul(n, 1),
        b.mul(1, n),
        b.div(n, 1),
        b.min(n, n),
        b.max(n, n),
    ):
        assert same is n
    assert [number(b.mul(n, 0)), number(b.sub(n, n)), number(b.rem(n, 1))] == [0, 0, 0]
    before = len(b.ops)
    assert number(b.div(n, 0)) is None
    assert [op.name for op in b.ops[before:]] == ["const", "binary"]


def test_builder_makes_a_sound_loop() -> None:
    k = kernel("control_guarded")
    b = Builder(span=k.span)
    zero, one = b.const(0), b.const(1)
    carried = Value("sum", INDEX)
    with b.block((Value("i", INDEX), carried)) as body:
        near = b.compare("lt", body.params[0], 3)
        with b.block() as then:
            b.yields(b.add(carried, body.params[0]))
        with b.block() as orelse:
            b.yields(b.select(near, carried, 0))
        out = b.branch(near, then.block, orelse.block, (Value("next", INDEX),))
        b.yields(*out.outs)
    loop = b.emit(For(start=zero, stop=zero, step=one, inits=(zero,), body=body.block, outs=(Value("sum", INDEX),)))
    ops = b.take()
    assert b.ops == []
    assert verify(k.replace(body=Block((), ops))) == []
    assert [op.name for op in loop.body.ops] == ["const", "compare", "if", "yield"]
    assert isinstance(loop.body.ops[2], If)
    assert isinstance(loop.body.ops[2].then.ops[-1], Yield)
    assert {op.span for op in Block((), ops).walk()} == {k.span}

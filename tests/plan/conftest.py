"""A kernel of form "synced" written by hand: a pipelined, split GEMM whose every decision is known."""

from __future__ import annotations

import pytest

from phobos.diagnostics import Diagnostic, Severity
from phobos.ir.build import Builder
from phobos.ir.core import Block, Value
from phobos.ir.cta_ops import Alloc, Commit, CopyAsync, DotFma, Sync, Wait, Write
from phobos.ir.kernel import Aligned, Attributes, Fact, GridAxis, Kernel, Launch
from phobos.ir.tile_ops import For, Load, ProgramId, Splat, Store
from phobos.ir.types import F32, INDEX, Buffer, Tensor, Tile
from phobos.layout.register import Blocked
from phobos.layout.shared import Swizzled
from phobos.source import Source, Span

TEXT = """\
@autotune(TM in [32], TN in [64], TK in [8])
@aligned(M = TM)
kernel gemm(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[TM, TN] = 0.0
  for kt in range(0, K, TK) {
    acc += dot(A[ctx.block.x * TM :+ TM, kt :+ TK],
               B[kt :+ TK, ctx.block.y * TN :+ TN])
  }
  C[ctx.block.x * TM :+ TM, ctx.block.y * TN :+ TN] = acc
}
"""


@pytest.fixture(scope="session")
def gemm() -> Kernel:
    source = Source("gemm.ph", TEXT)

    def span(text: str) -> Span:
        start = TEXT.index(text)
        return Span(source, start, start + len(text))

    def through(first: str, last: str) -> Span:
        return span(first).to(span(last))

    accumulators = Blocked((32, 64), (2, 4), (8, 4), (2, 4), (1, 0))
    rows_a = Blocked((32, 8), (1, 4), (16, 2), (2, 4), (1, 0))
    rows_b = Blocked((8, 64), (1, 4), (2, 16), (4, 2), (1, 0))
    in_a, in_b = Swizzled((32, 8), fast=0), Swizzled((8, 64), fast=1)
    m, n, k = (Value(name, INDEX) for name in "MNK")
    a, b, c = (
        Value(name, Tensor(F32, dims)) for name, dims in (("A", ("M", "K")), ("B", ("K", "N")), ("C", ("M", "N")))
    )

    make = Builder(span("kernel"))
    pm = make.emit(ProgramId(axis=0, out=Value("pm", INDEX))).out
    pn = make.emit(ProgramId(axis=1, out=Value("pn", INDEX))).out
    row, col = make.mul(pm, 32), make.mul(pn, 64)
    at_a, at_b = span("A[ctx.block.x * TM :+ TM, kt :+ TK]"), span("B[kt :+ TK, ctx.block.y * TN :+ TN]")
    with make.at(at_a):
        buffer_a = make.emit(Alloc(label="a", offset_bytes=0, out=Value("a", Buffer(F32, (32, 8), in_a, 2)))).out
    with make.at(at_b):
        buffer_b = make.emit(Alloc(label="b", offset_bytes=2048, out=Value("b", Buffer(F32, (8, 64), in_b, 2)))).out
    zero = make.const(0.0, F32)
    acc_type = Tile(F32, (32, 64), accumulators)
    acc = make.emit(Splat(a=zero, out=Value("acc", acc_type))).out
    slot = make.const(0)

    def loop(part: str, start: Value, stop: Value, acc: Value) -> Value:
        kt, carried = Value("kt", INDEX), Value("acc", acc_type)
        whole = part == "whole"
        ragged = "" if whole else "hi"
        with make.at(through("for kt", "ctx.block.y * TN :+ TN])\n  }")), make.block((kt, carried)) as body:
            with make.at(at_a):
                loaded = make.emit(
                    Load(
                        tensor=a,
                        offsets=(row, kt),
                        extents=(m, k),
                        guards=("", ragged),
                        why=("M is a multiple of 32", "split" if whole else "the last K % 8"),
                        width=4,
                        width_why="16 bytes, the widest",
                        invariant=True,
                        out=Value("a", Tile(F32, (32, 8), rows_a)),
                    )
                ).out
                make.emit(Write(buffer=buffer_a, slot=slot, value=loaded))
            with make.at(at_b):
                make.emit(
                    CopyAsync(
                        tensor=b,
                        offsets=(kt, col),
                        extents=(k, n),
                        buffer=buffer_b,
                        slot=slot,
                        layout=rows_b,
                        guards=(ragged, "hi"),
                        width=4,
                    )
                )
                make.emit(Commit())
                make.emit(Wait(pending=0))
                make.emit(Sync(scope="cta", why="write of a before dot"))
            with make.at(through("dot(A", "ctx.block.y * TN :+ TN])")):
                out = Value("acc", acc_type)
                make.emit(
                    DotFma(a=buffer_a, a_slot=slot, b=buffer_b, b_slot=slot, acc=carried, a_width=2, b_width=4, out=out)
                )
            make.emit(Sync(scope="none", why="the next slot is another one"))
            make.yields(out)
        step = make.const(8)
        made = For(
            start=start,
            stop=stop,
            step=step,
            inits=(acc,),
            stages=2 if whole else 0,
            part=part,
            body=body.block,
            outs=(Value("acc", acc_type),),
            span=span("for kt in range(0, K, TK)"),
        )
        return make.emit(made).outs[0]

    whole = make.sub(k, make.rem(k, 8))
    acc = loop("whole", slot, whole, acc)
    acc = loop("remainder", whole, k, acc)
    with make.at(span("C[ctx.block.x * TM :+ TM, ctx.block.y * TN :+ TN]")):
        make.emit(
            Store(tensor=c, offsets=(row, col), extents=(m, n), value=acc, guards=("", "hi"), width=4, width_why="")
        )
    return Kernel(
        name="gemm",
        form="synced",
        tensors=(a, b, c),
        dims=(m, n, k),
        scalars=(),
        body=Block((), make.take()),
        attributes=Attributes(
            launch=Launch(256, 2, 128, True), aligned=(Aligned("M", 32, span("@aligned(M = TM)")),), registers=96
        ),
        constants=(("TM", 32), ("TN", 64), ("TK", 8)),
        span=span("kernel gemm"),
        grid=(GridAxis("M", 32), GridAxis("N", 64), GridAxis()),
        used=frozenset({Fact("multiple_of_4", "K"), Fact("aligned_16", "A"), Fact("index_32", "")}),
        denied=frozenset({Fact("no_alias", "B")}),
        remarks=(
            Diagnostic(Severity.REMARK, "PR303", "loop over K split", span("for kt"), "here", notes=("K is dynamic",)),
        ),
    )

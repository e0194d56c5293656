"""dp4a: a sum over runs of bytes, or of products of bytes, becomes `dot_run`, four products an instruction.

Requires: form "built". Ensures: a `sum_run` in i32 whose elements are sums and differences of bytes, of products of two
bytes, and of such times one number, is made of `dot_run`s; i32 wraps, so the order of a sum does not matter and every
result is exact. Sums of anything else stay as they are. Runs of fewer than four bytes gain nothing and stay too.
"""

from __future__ import annotations

from ..ir.build import Builder
from ..ir.core import Op, Value
from ..ir.kernel import Kernel
from ..ir.rewrite import Rewriter, definitions
from ..ir.thread_ops import DotRun, SumRun
from ..ir.tile_ops import Binary, Cast, Splat, Unary
from ..ir.types import I8, I32, U8, Vec
from .options import Options

WORD = 4


def run(kernel: Kernel, options: Options) -> Kernel:
    made = definitions(kernel.body)

    def visit(op: Op, rewriter: Rewriter) -> tuple[Op, ...] | None:
        if not isinstance(op, SumRun) or op.out.type != I32 or not isinstance(op.a.type, Vec) or op.a.type.n < WORD:
            return None
        build = Builder(op.span)
        total = _sum(build, op.a, made)
        if total is None:
            return None
        rewriter.replace(op.out, total)
        return build.take()

    return kernel.replace(body=Rewriter(visit).block(kernel.body))


def _sum(build: Builder, v: Value, made: dict[Value, Op]) -> Value | None:
    """The sum of a run's elements from `dot_run`s alone, or None where that cannot be."""
    op = made.get(v)
    if (bytes_ := _bytes(v, made)) is not None:
        assert isinstance(bytes_.type, Vec)
        one = build.splat(build.const(1, bytes_.type.elem, "c1"), bytes_.type, "ones")
        return _dot(build, bytes_, one)
    if isinstance(op, Unary) and op.kind == "neg":
        total = _sum(build, op.a, made)
        return None if total is None else build.unary("neg", total)
    if not isinstance(op, Binary):
        return None
    if op.kind in ("add", "sub"):
        left = _sum(build, op.a, made)
        right = None if left is None else _sum(build, op.b, made)
        return None if left is None or right is None else build.binary(op.kind, left, right)
    if op.kind != "mul":
        return None
    a, b = _bytes(op.a, made), _bytes(op.b, made)
    if a is not None and b is not None:
        return _dot(build, a, b)
    for run_, factor in ((op.a, made.get(op.b)), (op.b, made.get(op.a))):
        if isinstance(factor, Splat) and (total := _sum(build, run_, made)) is not None:
            return build.binary("mul", total, factor.a)
    return None


def _bytes(v: Value, made: dict[Value, Op]) -> Value | None:
    """The run of bytes that a run of i32 was converted from."""
    op = made.get(v)
    fits = isinstance(op, Cast) and isinstance(op.a.type, Vec) and op.a.type.elem in (I8, U8)
    return op.a if isinstance(op, Cast) and fits else None


def _dot(build: Builder, a: Value, b: Value) -> Value:
    return build.emit(DotRun(a=a, b=b, out=Value("dot", I32))).out

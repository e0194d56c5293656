"""Per-thread ops: what single threads do beside the CTA's tiles. They stand in every form and are not moved to buffers.

A scalar or a `vec` may differ from thread to thread once a `thread_index` has gone into it; `if`, `for` and `while` on
such a condition diverge. Elementwise ops work on vecs as on tiles: each thread's elements for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from .core import Effect, Op, Value, attribute, op, operand, result
from .memory import check_point, check_run
from .types import BF16, F16, F32, I8, I32, I64, INDEX, U8, Scalar, Tensor, Vec

THREAD_INDICES = ("thread", "warp", "lane")
ATOMICS: dict[str, tuple[Scalar, ...]] = {
    "add": (I32, I64, F32, F16, BF16),
    "max": (I32, I64, F32, F16, BF16),
    "min": (I32, I64, F32, F16, BF16),
    "cas": (I32, I64),
}
"""Kinds of `atomic`, and the types of element that each one works on."""


@op("thread_index")
class ThreadIndex(Op):
    """The thread's place in its CTA: kind "thread", "warp" or "lane". Index; differs between threads or warps."""

    kind: str = attribute()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if self.kind not in THREAD_INDICES:
            yield f"unknown kind {self.kind}"
        if self.out.type != INDEX:
            yield f"the result is {self.out.type}"


@op("barrier", effects=Effect.ORDER)
class Barrier(Op):
    """A barrier that the kernel asks for (`barrier()`): orders the accesses of all the CTA's threads around it."""


@op("load_run", effects=Effect.READ_GLOBAL, memory="tensor")
class LoadRun(Op):
    """Read this thread's own run: `out.n` elements along `axis` from `offsets`, unmasked.

    extents as in `load`. align: bytes that the source says the run's address is a multiple of (`align = 4`), 0 when it
    says nothing; it replaces what is proved, up or down. width: elements per memory access, 0 before `stage`;
    width_why says which fact proved it or which one was missing. invariant as in `load`, scope as in `load_point`.
    """

    tensor: Value = operand()
    offsets: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    axis: int = attribute()
    align: int = attribute(default=0)
    scope: str = attribute(default="thread")
    width: int = attribute(default=0)
    width_why: str = attribute(default="")
    invariant: bool = attribute(default=False)
    out: Value = result()

    def verify(self) -> Iterator[str]:
        yield from check_run(self.tensor, self.offsets, self.extents, self.axis, self.out.type, self.scope)


@op("store_run", effects=Effect.WRITE_GLOBAL, memory="tensor")
class StoreRun(Op):
    """Write this thread's own run. Fields as in `load_run`; with scope "cta" or "warp" one thread of those does it."""

    tensor: Value = operand()
    offsets: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    value: Value = operand()
    axis: int = attribute()
    align: int = attribute(default=0)
    scope: str = attribute(default="thread")
    width: int = attribute(default=0)
    width_why: str = attribute(default="")

    def verify(self) -> Iterator[str]:
        yield from check_run(self.tensor, self.offsets, self.extents, self.axis, self.value.type, self.scope)


@op("atomic", effects=Effect.READ_GLOBAL | Effect.WRITE_GLOBAL)
class Atomic(Op):
    """Change one element in one step that no other atomic comes into, and give what it was before. Unmasked.

    kind: "add", "max" and "min" combine it with `values`, (v), as the `binary` of that name does; "cas" takes (expect,
    new) and puts `new` where it was `expect`, bit for bit. scope: "cta" once, by the first thread; "warp" once in each
    warp, whose lanes all have the result; "thread" by each active thread, also where they do the same. From `staged` on
    only the first thread has the result of scope "cta", and gives it to the others through shared memory.
    It orders nothing else in memory: that is for `barrier`, as after a `store_point`.
    """

    kind: str = attribute()
    tensor: Value = operand()
    offsets: tuple[Value, ...] = operand()
    extents: tuple[Value, ...] = operand()
    values: tuple[Value, ...] = operand()
    scope: str = attribute(default="cta")
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if not isinstance(self.tensor.type, Tensor):
            yield f"memory is a {self.tensor.type}, not a tensor"
            return
        yield from check_point(self.tensor, self.offsets, self.extents, self.out.type, self.scope)
        if self.kind not in ATOMICS:
            yield f"unknown kind {self.kind}"
        elif self.out.type not in ATOMICS[self.kind]:
            yield f"{self.kind} on {self.out.type}"
        if len(self.values) != (2 if self.kind == "cas" else 1):
            yield f"{self.kind} of {len(self.values)} values"
        yield from (f"{v} is {v.type}, not {self.out.type}" for v in self.values if v.type != self.out.type)


@op("element")
class Element(Op):
    """Element `index` of a vec."""

    index: int = attribute()
    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        t = self.a.type
        if not isinstance(t, Vec) or not 0 <= self.index < t.n or self.out.type != t.elem:
            yield f"element {self.index} of {t} into {self.out.type}"


@op("sum_run")
class SumRun(Op):
    """The sum of a vec's elements, first to last, each step rounded to the result's type.

    The elements are converted to it first.
    """

    a: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        if not isinstance(self.a.type, Vec) or not isinstance(self.out.type, Scalar):
            yield f"sums {self.a.type} into {self.out.type}"


@op("dot_run")
class DotRun(Op):
    """The sum of the products of two runs of i8 or u8 elements, in i32, which wraps: four of them by each dp4a."""

    a: Value = operand()
    b: Value = operand()
    out: Value = result()

    def verify(self) -> Iterator[str]:
        runs = [t for t in (self.a.type, self.b.type) if isinstance(t, Vec) and t.elem in (I8, U8)]
        if len(runs) < 2 or runs[0].n != runs[1].n or self.out.type != I32:
            yield f"multiplies {self.a.type} and {self.b.type} into {self.out.type}"

"""Small synced kernels, made by hand: what the tests of code generation compile, link and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from phobos.ir.build import Builder
from phobos.ir.core import Block, Value
from phobos.ir.kernel import Attributes, Kernel, Launch
from phobos.ir.tile_ops import BINARY, COMPARE, UNARY, Load, ProgramId, Store
from phobos.ir.types import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    INDEX,
    SCALARS,
    U8,
    Scalar,
    Tensor,
    Tile,
)
from phobos.layout.register import Blocked
from phobos.source import Source, Span

FLOATS = (F16, BF16, F32, F64)
INTS = (I8, U8, I32, I64)
ON_FLOATS = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "sin", "cos", "floor", "ceil", "round")
APPROXIMATE = ("exp", "exp2", "log", "log2", "tanh", "sin", "cos", "pow")
SPAN = Span(Source("made.ph", "made by a test\n"), 0, 4)


def blocked(n: int, warps: int, vector: int = 1) -> Blocked:
    """Lanes, then warps, side by side along one axis."""
    return Blocked((n,), (vector,), (32,), (warps,), (0,))


def mapped(
    name: str,
    inputs: list[Scalar],
    output: Scalar,
    make: Callable[..., Value],
    n: int = 128,
    threads: int = 64,
    vector: int = 1,
    guard: str = "hi",
    attributes: Attributes | None = None,
) -> Kernel:
    """out[i] = make(builder, inputs[i]..) over tiles of n elements, one for each block."""
    layout = blocked(n, threads // 32, vector)
    tensors = [Value(f"X{i}", Tensor(t, ("N",))) for i, t in enumerate(inputs)]
    out, extent = Value("Y", Tensor(output, ("N",))), Value("N", INDEX)
    b = Builder(SPAN)
    block = b.emit(ProgramId(axis=0, out=Value("block", INDEX))).out
    start = b.mul(block, n, "start")
    loaded = []
    for i, tensor in enumerate(tensors):
        value = Value(f"x{i}", Tile(inputs[i], (n,), layout))
        load = Load(
            tensor=tensor, offsets=(start,), extents=(extent,), guards=(guard,), width=vector, invariant=True, out=value
        )
        loaded.append(b.emit(load).out)
    value = make(b, *loaded)
    b.emit(Store(tensor=out, offsets=(start,), extents=(extent,), value=value, guards=(guard,), width=vector))
    return kernel(name, (*tensors, out), (extent,), (), b, threads, attributes)


def kernel(
    name: str,
    tensors: tuple[Value, ...],
    dims: tuple[Value, ...],
    scalars: tuple[Value, ...],
    b: Builder,
    threads: int,
    attributes: Attributes | None = None,
) -> Kernel:
    """A synced kernel of what a builder has collected."""
    given = attributes or Attributes(launch=Launch(threads))
    return Kernel(name, "synced", tensors, dims, scalars, Block((), b.take()), given, (), SPAN)


def operations(elem: Scalar) -> Iterator[tuple[str, int, Scalar, Callable[..., Value]]]:
    """Every elementwise operation on a type: its name, how many operands, the result's type, and how to make it."""
    for kind in UNARY:
        legal = elem == BOOL if kind == "not" else elem in INTS if kind == "inv" else elem != BOOL
        if legal and (kind not in ON_FLOATS or elem.is_float):
            yield kind, 1, elem, lambda b, x, kind=kind: b.unary(kind, x)
    for kind in BINARY:
        bits = kind in ("and", "or", "xor", "shl", "shr")
        legal = elem in INTS if bits else elem != BOOL
        if legal or (elem == BOOL and kind in ("and", "or", "xor")):
            yield kind, 2, elem, lambda b, x, y, kind=kind: b.binary(kind, x, y)
    for kind in COMPARE:
        if elem != BOOL or kind in ("eq", "ne"):
            yield kind, 2, BOOL, lambda b, x, y, kind=kind: b.compare(kind, x, y)
    if elem != BOOL:
        yield "fma", 3, elem, lambda b, x, y, z: b.fma(x, y, z)
    for to in SCALARS.values():
        if to not in (elem, BOOL, INDEX):
            yield f"to_{to}", 1, to, lambda b, x, to=to: b.cast(x, Tile(to, x.type.shape, x.type.layout))


def refused(kind: str, elem: Scalar) -> str:
    """The code of the error that an operation must give; empty for one that compiles."""
    return "PH401" if kind == "rem" and elem.is_float else ""

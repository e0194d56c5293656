"""The meaning of tile ops, run for one CTA; `threads` adds what single threads do and control, `shared` the CTA ops.

A `Machine` holds the values of the SSA names; `MEANING` maps an op class to the function that gives its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ..ir.core import Block, Effect, Op, Value
from ..ir.tile_ops import (
    Binary,
    Broadcast,
    Cast,
    Compare,
    Const,
    Convert,
    Dot,
    Fma,
    For,
    GridSize,
    If,
    Iota,
    Load,
    ProgramId,
    Require,
    Reshape,
    Select,
    Splat,
    Store,
    Unary,
    While,
    Yield,
    element,
    shape_of,
)
from ..ir.types import Buffer, Scalar, Tile, Vec
from . import elementwise
from .memory import Access, InterpError
from .numbers import Array, cast, constant, fma

OpT = TypeVar("OpT", bound=Op)
Meaning = Callable[["Machine", Any], Sequence[Array]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
"""One truth value for each thread of the CTA."""
MEANING: dict[type[Op], Meaning] = {}


def means(cls: type[OpT]) -> Callable[[Callable[[Machine, OpT], Sequence[Array]]], Meaning]:
    """Register what an op class means: its results, in order."""

    def register(meaning: Callable[[Machine, OpT], Sequence[Array]]) -> Meaning:
        MEANING[cls] = meaning
        return meaning

    return register


@dataclass(eq=False)
class Machine:
    """One CTA: its place in the grid, the tensors, and the values so far.

    A scalar or vec that is the same in every thread is one value, of its type's shape; one that may differ has an axis
    over the CTA's threads before that. Only a `thread_index` brings such values in.
    """

    arrays: dict[Value, np.ndarray[Any, Any]]
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    index_bits: int
    values: dict[Value, Array] = field(default_factory=dict)
    shared: object = None
    """Shared memory, once a CTA op has touched it (`shared.SharedMemory`)."""
    thread_count: int = 256
    per_thread: bool = False
    """Whether a `thread_index` has run, so that values may differ between threads."""
    active: Mask | None = None
    """The threads that run; None where all of them must, that is outside control flow that differs between threads."""

    def __getitem__(self, value: Value) -> Array:
        return self.values[value]

    def run(self, block: Block, arguments: Sequence[Array] = ()) -> tuple[Array, ...]:
        """Run a block; what its `yield` hands over."""
        self.values.update(zip(block.params, arguments, strict=True))
        for op in block.ops:
            if isinstance(op, Yield):
                return tuple(self.values[v] for v in op.values)
            meaning = MEANING.get(type(op))
            if meaning is None:
                raise InterpError(op, f"the interpreter has no meaning for {op.name}")
            if self.per_thread:
                self._check_together(op)
            self.values.update(zip(op.results(), meaning(self, op), strict=True))
        return ()

    def index(self, number: int) -> Array:
        """A number as an index value."""
        return held_index(number, self.index_bits)

    def numbers(self, values: tuple[Value, ...]) -> tuple[int, ...]:
        return tuple(int(self.values[v]) for v in values)

    def access(self, op: Load | Store) -> Access:
        offsets, extents, ends = self.numbers(op.offsets), self.numbers(op.extents), self.numbers(op.ends)
        array, elem = self.arrays[op.tensor], element(op.tensor.type)
        return Access(op, op.tensor, elem, array, offsets, extents, op.guards, ends)

    # ---- threads --------------------------------------------------------------------------------------------

    def varies(self, value: Value) -> bool:
        """Whether a value may differ between threads."""
        return value in self.values and np.ndim(self.values[value]) > len(shape_of(value.type))

    def lanes(self) -> Mask:
        """The threads that run."""
        return np.ones(self.thread_count, bool) if self.active is None else self.active

    @contextmanager
    def masked(self, active: Mask) -> Iterator[None]:
        """Run only some threads."""
        outer, self.active = self.active, active
        try:
            yield
        finally:
            self.active = outer

    def _check_together(self, op: Op) -> None:
        """A tile is the whole CTA's: its ops, and barriers, need every thread and operands that are alike in all."""
        values = (*op.operands(), *op.results())
        held = Tile if op.memory else Tile | Buffer  # a point or run of a buffer is a single thread's
        tiles = any(isinstance(v.type, held) for v in values)
        waits = Effect.ORDER in op.effects and not isinstance(op, Require)
        if self.active is not None and (tiles or waits):
            raise InterpError(op, f"{op.name} under divergent control flow; it needs every thread of the CTA")
        if tiles and not isinstance(op, For | While | If):  # what those carry besides tiles may differ
            for v in op.operands():
                if self.varies(v):
                    raise InterpError(op, f"{v} differs between threads; {op.name} takes what is alike in all of them")


def held_index(number: int, bits: int) -> Array:
    return np.int32(number) if bits == 32 else np.int64(number)


# ---- scalars and elementwise ------------------------------------------------------------------------------------


@means(Const)
def _const(m: Machine, op: Const) -> Sequence[Array]:
    return (constant(op.value, element(op.out.type), m.index_bits),)


@means(ProgramId)
def _program_id(m: Machine, op: ProgramId) -> Sequence[Array]:
    return (m.index(m.block[op.axis]),)


@means(GridSize)
def _grid_size(m: Machine, op: GridSize) -> Sequence[Array]:
    return (m.index(m.grid[op.axis]),)


@means(Unary)
def _unary(m: Machine, op: Unary) -> Sequence[Array]:
    return (elementwise.unary(op.kind, np.asarray(m[op.a]), element(op.a.type)),)


@means(Binary)
def _binary(m: Machine, op: Binary) -> Sequence[Array]:
    return (elementwise.binary(op.kind, np.asarray(m[op.a]), np.asarray(m[op.b]), element(op.a.type)),)


@means(Compare)
def _compare(m: Machine, op: Compare) -> Sequence[Array]:
    return (elementwise.compare(op.kind, m[op.a], m[op.b]),)


@means(Select)
def _select(m: Machine, op: Select) -> Sequence[Array]:
    return (np.where(m[op.cond], m[op.a], m[op.b]),)


@means(Fma)
def _fma(m: Machine, op: Fma) -> Sequence[Array]:
    return (fma(m[op.a], m[op.b], m[op.c], element(op.out.type)),)


@means(Cast)
def _cast(m: Machine, op: Cast) -> Sequence[Array]:
    return (cast(m[op.a], element(op.a.type), element(op.out.type), m.index_bits),)


# ---- shapes -----------------------------------------------------------------------------------------------------


@means(Splat)
def _splat(m: Machine, op: Splat) -> Sequence[Array]:
    if isinstance(op.out.type, Vec):  # of a scalar for each thread, a vec for each
        return (np.repeat(np.asarray(m[op.a])[..., None], op.out.type.n, axis=-1),)
    return (np.full(shape_of(op.out.type), m[op.a]),)


@means(Broadcast)
def _broadcast(m: Machine, op: Broadcast) -> Sequence[Array]:
    return (np.broadcast_to(m[op.a], shape_of(op.out.type)),)


@means(Reshape)
def _reshape(m: Machine, op: Reshape) -> Sequence[Array]:
    return (np.reshape(m[op.a], shape_of(op.out.type)),)


@means(Iota)
def _iota(m: Machine, op: Iota) -> Sequence[Array]:
    shape = shape_of(op.out.type)
    along = np.arange(shape[op.axis], dtype=np.int32)
    return (np.broadcast_to(along.reshape([-1 if a == op.axis else 1 for a in range(len(shape))]), shape),)


@means(Convert)
def _convert(m: Machine, op: Convert) -> Sequence[Array]:
    return (m[op.a],)


# ---- memory -----------------------------------------------------------------------------------------------------


@means(Load)
def _load(m: Machine, op: Load) -> Sequence[Array]:
    return (m.access(op).load(shape_of(op.out.type)),)


@means(Store)
def _store(m: Machine, op: Store) -> Sequence[Array]:
    m.access(op).store(m[op.value])
    return ()


# ---- contraction ------------------------------------------------------------------------------------------------


Operand = tuple[Array, Scalar]
"""A tile and the element type that it has."""


@means(Dot)
def _dot(m: Machine, op: Dot) -> Sequence[Array]:
    a, b = (m[op.a], element(op.a.type)), (m[op.b], element(op.b.type))
    return (contraction(m, a, b, op.trans_b, m[op.acc], element(op.acc.type)),)


def contraction(m: Machine, left: Operand, right: Operand, trans_b: bool, acc: Array, elem: Scalar) -> Array:
    """acc + a b, k ascending, one rounding a step."""
    a, b = (cast(tile, of, elem, m.index_bits) for tile, of in (left, right))
    if trans_b:
        b = b.T
    if left[1].name == right[1].name == "f16" and elem.name == "f32":
        # A product of two f16 numbers has 22 bits and an exponent that f32 has: exact, so the sum rounds alone.
        for k in range(a.shape[1]):
            acc = acc + a[:, k, None] * b[None, k, :]
        return acc
    for k in range(a.shape[1]):
        acc = fma(a[:, k, None], b[None, k, :], acc, elem)
    return acc

"""A kernel in the tile IR, with its attributes, the facts it may assume and those a proof used.

The *assumption class* of a kernel (`docs/abi.md`) is `Kernel.used`: a launch must keep each of these facts. A launch
that breaks one needs the variant compiled with that fact in `Kernel.denied`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..diagnostics import Diagnostic
from ..source import Span
from .core import Block, Op, Value


@dataclass(frozen=True, slots=True)
class Aligned:
    """`@aligned(dim = divisor)`."""

    dim: str
    divisor: int
    span: Span


@dataclass(frozen=True, slots=True)
class Launch:
    """`@launch(threads, min_blocks, max_regs)`; explicit is False when the kernel has no such attribute."""

    threads: int = 256
    min_blocks: int | None = None
    max_regs: int | None = None
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class Attributes:
    """The kernel's attributes, evaluated for one choice of constants. pipeline: stages, 0 when not asked.

    tensorcore: "", "plain", "sync", "wmma", "tf32", "f16acc".
    """

    launch: Launch = Launch()
    aligned: tuple[Aligned, ...] = ()
    pipeline: int = 0
    pipeline_span: Span | None = None
    tensorcore: str = ""
    dynshared: bool = False
    persistent: bool = False
    registers: int | None = None
    swizzle: int | None = None
    precise: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """Something a launch can keep or break.

    kind "multiple_of_4" (subject: a dim): the extent is a multiple of 4. "aligned_16" (a tensor): its base address is a
    multiple of 16 bytes. "no_alias" (a tensor): it overlaps no other tensor that the kernel writes. "dense" (a tensor):
    row-major without gaps. "pitch_16", "pitch_8" (a tensor that is not dense): each outer stride is a multiple of 16 or
    8 bytes. "index_32" (""): every offset in elements fits 31 bits. "grid" (axis "x", "y" or "z"): the launch has no
    more blocks on the axis than inferred. "stated_align" (a tensor): its runs lie where `align` says (`Stated`).
    """

    kind: str
    subject: str

    def __str__(self) -> str:
        return f"{self.kind}({self.subject})" if self.subject else self.kind


@dataclass(frozen=True, slots=True)
class Stated:
    """Accesses of `bytes` bytes to a thread's run of which the source says `align = align`.

    axes: for each axis of the tensor what is known of the subscript, (constant, divisor of the rest, 0 when nothing is
    left). The launcher compares it with the address and the strides that it is given.
    """

    tensor: str
    bytes: int
    align: int
    axes: tuple[tuple[int, int], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class GridAxis:
    """Blocks along one axis: ceil(extent / tile).

    extent is a dim's name or a number. unknown: why it cannot be inferred.
    """

    extent: int | str = 1
    tile: int = 1
    unknown: str = ""


@dataclass(frozen=True, eq=False)
class Kernel:
    """One kernel at one form of the pipeline ("built", "folded", .. "synced").

    Parameters in ABI order: tensors, dims, strides, scalars. order: the grid's axes (0 x, 1 y, 2 z) from the one along
    which blocks that start one after another differ first; the hardware's own is x first. strides: for each tensor the
    outer strides in elements, () for a dense one; no entry at all where all are dense.
    """

    name: str
    form: str
    tensors: tuple[Value, ...]
    dims: tuple[Value, ...]
    scalars: tuple[Value, ...]
    body: Block
    attributes: Attributes
    constants: tuple[tuple[str, int], ...]
    span: Span
    grid: tuple[GridAxis, GridAxis, GridAxis] = (GridAxis(), GridAxis(), GridAxis())
    order: tuple[int, ...] = (0, 1, 2)
    denied: frozenset[Fact] = frozenset()
    used: frozenset[Fact] = frozenset()
    remarks: tuple[Diagnostic, ...] = ()
    strides: tuple[tuple[Value, ...], ...] = ()
    stated: tuple[Stated, ...] = ()

    @property
    def parameters(self) -> tuple[Value, ...]:
        """All of them, in ABI order."""
        return (*self.tensors, *self.dims, *(v for each in self.strides for v in each), *self.scalars)

    def strides_of(self, memory: Value) -> tuple[Value, ...]:
        """The outer strides of a tensor that are parameters; () for a dense one and for a buffer."""
        return next((s for t, s in zip(self.tensors, self.strides, strict=False) if t is memory), ())

    @property
    def threads(self) -> int:
        return self.attributes.launch.threads

    @property
    def warps(self) -> int:
        return self.threads // 32

    def dim(self, name: str) -> Value:
        """The run-time extent called `name`."""
        for v in self.dims:
            if v.name == name:
                return v
        raise KeyError(name)

    def replace(self, **changes: Any) -> Kernel:
        return dataclasses.replace(self, **changes)

    def walk(self) -> list[Op]:
        return list(self.body.walk())


def grid_of(kernel: Kernel, dims: Mapping[str, int]) -> tuple[int, int, int]:
    """The inferred grid for some run-time extents; ValueError with the reason when an axis is unknown."""
    x, y, z = (_blocks(axis, name, dims) for axis, name in zip(kernel.grid, "xyz", strict=True))
    return x, y, z


def _blocks(axis: GridAxis, name: str, dims: Mapping[str, int]) -> int:
    if axis.unknown:
        raise ValueError(f"the grid's {name} axis cannot be inferred: {axis.unknown}")
    extent = axis.extent if isinstance(axis.extent, int) else dims.get(axis.extent)
    if extent is None:
        raise ValueError(f"the grid's {name} axis needs the extent {axis.extent}")
    return -(-extent // axis.tile)

"""Value types: immutable, compared by value, printed as they are parsed."""

from __future__ import annotations

from dataclasses import dataclass

from ..layout.base import RegisterLayout, SharedLayout


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types."""


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """A scalar type. kind: "float", "int", "uint", "bool" or "index" (32 or 64 bits, chosen when code is made)."""

    name: str
    kind: str
    bits: int

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_int(self) -> bool:
        """Signed, unsigned or index."""
        return self.kind in ("int", "uint", "index")

    @property
    def size_bytes(self) -> int:
        """Bytes of one element in memory: a bool takes one, an index, which only shared memory holds, eight."""
        return max(self.bits // 8, 1)


F16 = Scalar("f16", "float", 16)
BF16 = Scalar("bf16", "float", 16)
F32 = Scalar("f32", "float", 32)
F64 = Scalar("f64", "float", 64)
I8 = Scalar("i8", "int", 8)
U8 = Scalar("u8", "uint", 8)
I32 = Scalar("i32", "int", 32)
I64 = Scalar("i64", "int", 64)
BOOL = Scalar("bool", "bool", 1)
INDEX = Scalar("index", "index", 64)
SCALARS: dict[str, Scalar] = {s.name: s for s in (F16, BF16, F32, F64, I8, U8, I32, I64, BOOL, INDEX)}

Dim = int | str


@dataclass(frozen=True, slots=True)
class Tile(Type):
    """A CTA-wide tile. `layout` says which thread's register holds which element; None before `place`."""

    elem: Scalar
    shape: tuple[int, ...]
    layout: RegisterLayout | None = None

    def __str__(self) -> str:
        at = f" @{self.layout}" if self.layout is not None else ""
        return f"tile<{self.elem}>[{', '.join(map(str, self.shape))}]{at}"


@dataclass(frozen=True, slots=True)
class Tensor(Type):
    """A tensor in global memory, row-major; a dim is a constant or the name of a run-time extent."""

    elem: Scalar
    dims: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"tensor<{self.elem}>[{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True, slots=True)
class Vec(Type):
    """A thread's own run of `n` elements."""

    elem: Scalar
    n: int

    def __str__(self) -> str:
        return f"vec<{self.elem}, {self.n}>"


@dataclass(frozen=True, slots=True)
class Buffer(Type):
    """Shared memory for `slots` tiles of one shape; slot s starts at s * slot_bytes."""

    elem: Scalar
    shape: tuple[int, ...]
    layout: SharedLayout
    slots: int = 1

    def __str__(self) -> str:
        n = f" x {self.slots}" if self.slots != 1 else ""
        return f"buffer<{self.elem}>[{', '.join(map(str, self.shape))}]{n} @{self.layout}"

    @property
    def slot_bytes(self) -> int:
        return self.layout.size_elems() * self.elem.size_bytes

    @property
    def size_bytes(self) -> int:
        return self.slots * self.slot_bytes


def matched_axes(shape: tuple[int, ...], into: tuple[int, ...]) -> tuple[int | None, ...]:
    """For each axis of `into` the axis of `shape` that it is; None for a unit axis of its own.

    The two differ in axes of extent 1. ValueError when they differ in more.
    """
    kept = [a for a, n in enumerate(shape) if n != 1]
    if [shape[a] for a in kept] != [n for n in into if n != 1]:
        raise ValueError(f"{list(shape)} and {list(into)} differ in more than unit axes")
    found = iter(kept)
    return tuple(None if n == 1 else next(found) for n in into)

"""`Swizzled`: a tile in shared memory, one axis contiguous, 16-byte chunks XORed by the row so that banks spread.

For a tile stored with axis `fast` contiguous, row r (the flattened other axes) holds its chunk c at chunk
c ^ (((r * multiply) ^ (r >> shift)) & mask). A mask of 0 is plain rows. The mask is one less than a power of two that
divides the chunks of a row, so a row keeps its bytes and no padding is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from .base import SharedLayout


@dataclass(frozen=True)
class Swizzled(SharedLayout):
    """See the module text. `fast` is the contiguous axis, `chunk` the elements of one XORed unit."""

    fast: int
    chunk: int = 1
    multiply: int = 1
    shift: int = 31
    mask: int = 0

    def __post_init__(self) -> None:
        assert 0 <= self.fast < len(self.shape)
        assert self.mask & (self.mask + 1) == 0
        if self.mask:
            assert self.shape[self.fast] % (self.chunk * (self.mask + 1)) == 0, (self.shape, self.chunk, self.mask)

    def __str__(self) -> str:
        if not self.mask:
            return f"rows(fast={self.fast})"
        names = ("fast", "chunk", "multiply", "shift", "mask")
        return f"swizzled({', '.join(f'{name}={getattr(self, name)}' for name in names)})"

    def size_elems(self) -> int:
        return prod(self.shape)

    @property
    def pitch(self) -> int:
        """Elements of one row."""
        return self.shape[self.fast]

    def row(self, coords: tuple[Any, ...]) -> Any:
        """The flattened index over all axes but the contiguous one."""
        r: Any = 0
        for axis, (c, s) in enumerate(zip(coords, self.shape, strict=True)):
            if axis != self.fast:
                r = r * s + c
        return r

    def swizzle(self, row: Any) -> Any:
        """What a row's chunk numbers are XORed with."""
        term = row * self.multiply
        if self.shift < 31:
            term = term ^ (row // (1 << self.shift))
        return term % (self.mask + 1)

    def offset(self, coords: tuple[Any, ...]) -> Any:
        row, col = self.row(coords), coords[self.fast]
        if self.mask:
            col = ((col // self.chunk) ^ self.swizzle(row)) * self.chunk + col % self.chunk
        return row * self.pitch + col

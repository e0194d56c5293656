"""What a layout is: a function from hardware places to tile elements, or from tile elements to bytes.

A register layout maps (register, lane, warp) to element coordinates; a shared layout maps element coordinates to
an offset in elements. Formulas use only `+ * // % ^`, so they run over ints, NumPy arrays and LLVM values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RegisterLayout(ABC):
    """Which element each register of each thread holds.

    The coordinate of a register is `thread_base(lane, warp) + register_offset(register)`, axis by axis; a
    coordinate at or beyond the shape is a surplus slot that holds nothing.
    """

    shape: tuple[int, ...]

    @property
    @abstractmethod
    def registers(self) -> int:
        """Registers (elements) a thread holds, surplus slots included."""

    @abstractmethod
    def thread_base(self, lane: Any, warp: Any) -> tuple[Any, ...]:
        """Coordinates of register 0 of a thread."""

    @abstractmethod
    def register_offset(self, register: int) -> tuple[int, ...]:
        """What a register adds to the thread's base, axis by axis."""

    def coords(self, register: int, lane: Any, warp: Any) -> tuple[Any, ...]:
        """Coordinates of the element that a register holds."""
        base = self.thread_base(lane, warp)
        return tuple(b + o for b, o in zip(base, self.register_offset(register), strict=True))


@dataclass(frozen=True)
class SharedLayout(ABC):
    """Where each element of a tile lies in a shared buffer."""

    shape: tuple[int, ...]

    @abstractmethod
    def size_elems(self) -> int:
        """Elements of one slot, padding included."""

    @abstractmethod
    def offset(self, coords: tuple[Any, ...]) -> Any:
        """Offset in elements of the element at `coords`, from the slot's start."""

"""The register file: a row per register, a column per lane, one slab per width.

A row is seen through views: as signed, unsigned or float of its width, or as its low part when an instruction reads
fewer bits than the register has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import PtxError
from .syntax import Entry, Reg
from .table import Source
from .types import SIGNED, TYPES, UNSIGNED, Type

Array = NDArray[Any]
PREDICATE = 1


class RegisterFile:
    """Storage for the registers of an entry over `lanes` lanes."""

    def __init__(self, entry: Entry, lanes: int) -> None:
        self.lanes = lanes
        counts: dict[int, int] = {}
        self._place: dict[str, tuple[int, int]] = {}
        for register in entry.registers.values():
            bits = TYPES[register.type].bits
            self._place[register.name] = (bits, counts.get(bits, 0))
            counts[bits] = counts.get(bits, 0) + 1
        self.slabs: dict[int, Array] = {
            bits: np.zeros((count, lanes), np.bool_ if bits == PREDICATE else UNSIGNED[bits])
            for bits, count in counts.items()
        }

    def place(self, register: Reg) -> tuple[int, int]:
        """Width and row of a register."""
        return self._place[register.name]

    def row(self, register: Reg) -> Array:
        bits, at = self._place[register.name]
        row: Array = self.slabs[bits][at]
        return row

    def _fitting(self, register: Reg, type_: Type, line: int) -> tuple[int, Array]:
        """Width and row of a register that can hold a type."""
        bits, at = self._place[register.name]
        if (type_.kind == "pred") != (bits == PREDICATE):
            raise PtxError(line, f"register {register.name} is not a .{type_.name}")
        if type_.kind != "pred" and type_.bits > bits:
            raise PtxError(line, f"register {register.name} is narrower than .{type_.name}")
        row: Array = self.slabs[bits][at]
        return bits, row

    def source(self, register: Reg, type_: Type, line: int) -> Array:
        """A register's row as a type; its low part when the register is wider."""
        bits, row = self._fitting(register, type_, line)
        if type_.kind == "pred":
            return row
        view: Array = row.view(type_.dtype)
        return view if type_.bits == bits else view[:: bits // type_.bits]

    def target(self, register: Reg, type_: Type, line: int) -> Array:
        """A register's row to be assigned values of a type: a wider register is sign- or zero-extended into."""
        bits, row = self._fitting(register, type_, line)
        if type_.kind == "pred":
            return row
        if type_.bits == bits:
            return row.view(type_.dtype)
        return row.view(SIGNED[bits] if type_.signed else UNSIGNED[bits])

    def batch_source(self, register: Reg, type_: Type) -> Source | None:
        """A register as a batchable operand; none when it is seen through its low part."""
        bits, at = self._place[register.name]
        return Source(bits, at, type_.dtype) if bits == type_.bits else None

    def clear(self) -> None:
        for slab in self.slabs.values():
            slab[...] = 0

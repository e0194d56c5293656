"""PTX's fundamental types: width, how a NumPy array holds them, and how an immediate becomes one.

bf16 and the packed types are kept as the unsigned integers of their width.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .syntax import Imm

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Type:
    """One type: bits, kind (`u`, `s`, `b`, `f`, `bf`, `pack`, `pred`) and the dtype of its arrays."""

    name: str
    bits: int
    kind: str
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def signed(self) -> bool:
        return self.kind == "s"


def _types() -> dict[str, Type]:
    types = {"pred": Type("pred", 1, "pred", np.dtype(np.bool_))}
    for bits in (8, 16, 32, 64):
        for kind, base in (("u", "u"), ("s", "i"), ("b", "u")):
            types[f"{kind}{bits}"] = Type(f"{kind}{bits}", bits, kind, np.dtype(f"{base}{bits // 8}"))
    for bits in (16, 32, 64):
        types[f"f{bits}"] = Type(f"f{bits}", bits, "f", np.dtype(f"f{bits // 8}"))
    types["bf16"] = Type("bf16", 16, "bf", np.dtype(np.uint16))
    types["tf32"] = Type("tf32", 32, "pack", np.dtype(np.uint32))
    for name, bits in (
        ("f16x2", 32), ("bf16x2", 32), ("f32x2", 64), ("u16x2", 32), ("s16x2", 32),
        ("e4m3x2", 16), ("e5m2x2", 16), ("e2m1x2", 8), ("e4m3x4", 32), ("e5m2x4", 32),
    ):  # fmt: skip
        types[name] = Type(name, bits, "pack", np.dtype(f"u{bits // 8}"))
    return types


TYPES = _types()
UNSIGNED: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}
SIGNED: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}


def immediate(imm: Imm, type_: Type) -> Array:
    """A constant as a read-only array of no dimensions, of a type's dtype."""
    if type_.kind == "pred":
        return np.array(bool(imm.value))
    if imm.kind == "int" and type_.kind != "f":
        bits = int(imm.value) & ((1 << type_.bits) - 1)
        return np.array(bits, UNSIGNED[type_.bits]).view(type_.dtype)
    if imm.kind == "int":
        # A hexadecimal or small integer where a float is expected is its bits (f16 constants are written so).
        return np.array(int(imm.value) & ((1 << type_.bits) - 1), UNSIGNED[type_.bits]).view(type_.dtype)
    value = _float(imm)
    if type_.kind == "f":
        if imm.kind == "f32" and type_.bits == 32:
            return np.array(int(imm.value), np.uint32).view(np.float32)
        return np.array(value, type_.dtype)
    if imm.kind == "f64" or (imm.kind == "float" and type_.bits == 64):
        return np.array(int.from_bytes(struct.pack("<d", value), "little"), np.uint64).view(type_.dtype)
    bits = int(imm.value) if imm.kind == "f32" else int.from_bytes(struct.pack("<f", value), "little")
    return np.array(bits & ((1 << type_.bits) - 1), UNSIGNED[type_.bits]).view(type_.dtype)


def _float(imm: Imm) -> float:
    if imm.kind == "f32":
        return float(struct.unpack("<f", int(imm.value).to_bytes(4, "little"))[0])
    if imm.kind == "f64":
        return float(struct.unpack("<d", int(imm.value).to_bytes(8, "little"))[0])
    return float(imm.value)

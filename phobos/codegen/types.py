"""LLVM types and constants for the IR's scalars, with the bfloat type that llvmlite lacks.

Takes scalar types of the tile IR and the width of an index; gives llvmlite types. Registers hold bool as i1, memory
as i8. llvmlite has no type information: `LLVM` is its value, `LLVMType` its type, and neither leaves this package.
"""

from __future__ import annotations

import math
import struct
from typing import Any, TypeAlias

from llvmlite import ir
from llvmlite.ir import types as llvm_types

from ..ir.types import BF16, BOOL, F16, F32, F64, INDEX, Scalar

LLVM: TypeAlias = Any
LLVMType: TypeAlias = Any

GLOBAL, SHARED = 1, 3
"""Address spaces."""

I1, I8, I16, I32, I64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
VOID = ir.VoidType()


class BFloatType(llvm_types._BaseFloatType):  # type: ignore[misc]
    """`bfloat`: constants are spelled 0xR and four digits."""

    null = "0.0"
    intrinsic_name = "bf16"

    def __str__(self) -> str:
        return "bfloat"

    def format_constant(self, value: float) -> str:
        return f"0xR{bf16_bits(value):04X}"


BFloatType._create_instance()
HALF, BFLOAT, FLOAT, DOUBLE = ir.HalfType(), BFloatType(), ir.FloatType(), ir.DoubleType()
FLOATS: dict[Scalar, LLVMType] = {F16: HALF, BF16: BFLOAT, F32: FLOAT, F64: DOUBLE}


def bf16_bits(value: float) -> int:
    """The 16 bits of a number rounded to bf16, ties to even."""
    if math.isnan(value):
        return 0x7FC0
    bits: int = struct.unpack("<I", struct.pack("<f", _within(value, "<f")))[0]
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def _within(value: float, code: str) -> float:
    """The value, or an infinity where it is past the largest number of the format."""
    try:
        struct.pack(code, value)
    except OverflowError:
        return math.copysign(math.inf, value)
    return value


def word(bits: int) -> LLVMType:
    """An integer of so many bits."""
    return ir.IntType(bits)


def pointer(space: int) -> LLVMType:
    """An opaque pointer."""
    return ir.PointerType(None, space)


def register_type(scalar: Scalar, index_bits: int) -> LLVMType:
    """What a register holds."""
    if scalar == INDEX:
        return ir.IntType(index_bits)
    return FLOATS.get(scalar) or ir.IntType(scalar.bits)


def memory_type(scalar: Scalar) -> LLVMType:
    """What an element is in memory, or as a parameter; an index has 64 bits there, whatever its width in a register."""
    return I8 if scalar == BOOL else register_type(scalar, INDEX.bits)


def constant(type: LLVMType, value: int | float | bool) -> LLVM:
    """A constant; a float past the type's range is an infinity, an integer wraps."""
    if isinstance(type, ir.IntType):
        bits = type.width
        wrapped = int(value) & ((1 << bits) - 1)
        return ir.Constant(type, wrapped - (1 << bits) if bits > 1 and wrapped >> (bits - 1) else wrapped)
    number = float(value)
    if isinstance(type, ir.HalfType):
        number = _within(number, "<e")
    elif isinstance(type, ir.FloatType):
        number = _within(number, "<f")
    return ir.Constant(type, number)


def zero(type: LLVMType) -> LLVM:
    """The zero of a scalar or vector type."""
    return ir.Constant(type, None if isinstance(type, ir.VectorType) else 0)


def integer(value: LLVM) -> int | None:
    """The number that an LLVM integer is known to be."""
    if isinstance(value, ir.Constant) and isinstance(value.type, ir.IntType) and isinstance(value.constant, int):
        return int(value.constant)
    return None

"""Reads a DLPack capsule (dmlc/dlpack, dlpack.h) without consuming it: its owner frees the tensor with the capsule."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

ON_DEVICE = (2, 13)
"""kDLCUDA, kDLCUDAManaged."""
ON_HOST = (1, 3)
"""kDLCPU, kDLCUDAHost."""

# (code, bits): kDLInt 0, kDLUInt 1, kDLFloat 2, kDLBfloat 4, kDLBool 6.
ELEMS = {
    (0, 8): "i8", (0, 32): "i32", (0, 64): "i64", (1, 8): "u8", (2, 16): "f16", (2, 32): "f32", (2, 64): "f64",
    (4, 16): "bf16", (6, 8): "bool", (1, 16): "u16", (0, 16): "i16",
}  # fmt: skip


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


@dataclass(frozen=True)
class Tensor:
    """What the capsule says. elem: None for a type without a name here; strides in elements, empty for row-major."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    elem: str | None
    type_text: str


def read(capsule: Any) -> Tensor:
    """The tensor in an unversioned capsule."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    # DLManagedTensor begins with its DLTensor.
    tensor = ctypes.cast(get(capsule, b"dltensor"), ctypes.POINTER(_Tensor)).contents
    kind = (int(tensor.dtype.code), int(tensor.dtype.bits))
    elem = ELEMS.get(kind) if tensor.dtype.lanes == 1 else None
    return Tensor(
        int(tensor.data or 0) + int(tensor.byte_offset),
        tuple(tensor.shape[i] for i in range(tensor.ndim)),
        tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else (),
        elem,
        f"code {kind[0]}, {kind[1]} bits, {tensor.dtype.lanes} lanes",
    )

"""Arrays of other libraries, seen as a pointer, a shape and strides.

`adapt` takes what a caller passes for a tensor: torch tensors, CuPy and JAX arrays and anything else with
`__cuda_array_interface__` or DLPack, and NumPy arrays. Nothing is copied and no library is imported: a torch tensor can
only come from a process where torch is loaded. An `Array` keeps its owner alive.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import dlpack

# Names of element types in the libraries -> Phobos types. "u16" and "u32" stand for bits that have no name of their
# own there: bfloat16 in NumPy travels as uint16.
TYPESTR = {
    "f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "u1": "u8", "i4": "i32", "i8": "i64", "b1": "bool", "u2": "u16",
    "i2": "i16", "u4": "u32", "u8": "u64",
}  # fmt: skip
TORCH = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "uint8": "u8",
    "int32": "i32", "int64": "i64", "bool": "bool", "int16": "i16", "uint16": "u16",
}  # fmt: skip
SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i32": 4, "i64": 8, "bool": 1, "u16": 2, "i16": 2}
SIZES |= {"u32": 4, "u64": 8}


class NotAnArrayError(TypeError):
    """The object is no array that a kernel can take; the text says what it is."""


@dataclass(frozen=True)
class Array:
    """An array by address. strides are in elements; on_device is False for host memory.

    stream: the exporter's stream, which orders its pending work (CUDA array interface, version 3); None: no wait.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    elem: str
    library: str
    owner: Any
    readonly: bool = False
    on_device: bool = True
    stream: int | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for n in self.shape:
            count *= n
        return count

    @property
    def is_dense(self) -> bool:
        """Row-major without gaps. An axis of extent 1 matches any stride, and so does every axis of an empty array."""
        if self.size == 0:
            return True
        wanted = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1:
                if stride != wanted:
                    return False
                wanted *= extent
        return True

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides of the axes that have more than one index, 0 for the others: none of those is ever taken."""
        return tuple(s if n > 1 and self.size else 0 for n, s in zip(self.shape, self.strides, strict=True))

    @property
    def reach(self) -> int:
        """How many elements there are from the first to the last in memory, the gaps between rows included."""
        return 1 + sum((n - 1) * abs(s) for n, s in zip(self.shape, self.steps, strict=True)) if self.size else 0

    @property
    def elements_apart(self) -> bool:
        """Whether every element has memory of its own for sure: each axis steps over all that the finer ones reach."""
        reached = 0
        for stride, extent in sorted((abs(s), n) for n, s in zip(self.shape, self.steps, strict=True) if n > 1):
            if stride <= reached:
                return self.size == 0
            reached += stride * (extent - 1)
        return True

    @property
    def bytes(self) -> tuple[int, int]:
        """The addresses from the first element to behind the last, for any strides; an empty range for empty arrays."""
        if self.size == 0:
            return self.pointer, self.pointer
        spans = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        size = SIZES[self.elem]
        low = self.pointer + size * sum(s for s in spans if s < 0)
        return low, self.pointer + size * (1 + sum(s for s in spans if s > 0))

    def overlaps(self, other: Array) -> bool:
        """Whether an element of the one may share memory with one of the other: not where the address ranges are apart,
        nor where they are interleaved like columns of one matrix."""
        (a, b), (c, d) = self.bytes, other.bytes
        if self.on_device != other.on_device or max(a, c) >= min(b, d):
            return False
        mine, theirs = self._rows(), other._rows()
        pitch = math.gcd(*mine[1], *theirs[1])
        if not pitch:
            return True
        ahead = (c - a) % pitch  # rows lie at a + i * pitch and c + j * pitch, whatever i and j are
        return ahead < mine[0] or ahead + theirs[0] > pitch

    def _rows(self) -> tuple[int, list[int]]:
        """The bytes of a stretch without gaps along the inner axes, and the distances in bytes of such stretches."""
        size = SIZES[self.elem]
        run, left = 1, [(s, n) for n, s in zip(self.shape, self.steps, strict=True) if n > 1]
        while left and left[-1][0] == run:
            run *= left.pop()[1]
        return run * size, [abs(s) * size for s, _ in left]

    def __str__(self) -> str:
        return f"{self.library} array of {self.elem}, shape {self.shape}"


def adapt(value: Any, stream: int | None = None) -> Array:
    """The array behind a value. stream: where the caller will use it, for libraries that order by it (DLPack)."""
    if isinstance(value, np.ndarray):
        return _numpy(value)
    if is_torch(value):
        return _torch(value)
    try:
        if hasattr(value, "__cuda_array_interface__"):
            return _interface(value)
        if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
            return _dlpack(value, stream)
    except NotAnArrayError:
        raise
    except Exception as error:  # whatever another library's exporter raises, or what it says wrongly
        raise NotAnArrayError(
            f"{type(value).__name__}, which cannot be exported: {type(error).__name__}: {error}"
        ) from error
    raise NotAnArrayError(f"{type(value).__name__}, which has no __cuda_array_interface__ and no __dlpack__")


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def is_torch(value: Any) -> bool:
    """A torch tensor, told by its methods: bfloat16 ones have no CUDA array interface."""
    return "torch" in sys.modules and all(hasattr(value, a) for a in ("data_ptr", "stride", "is_cuda"))


def is_cupy(value: Any) -> bool:
    return "cupy" in sys.modules and _library(value) == "cupy"


def _torch(value: Any) -> Array:
    elem = TORCH.get(str(value.dtype).removeprefix("torch."))
    if elem is None:
        raise NotAnArrayError(f"torch tensor of {value.dtype}")
    if value.device.type not in ("cuda", "cpu"):
        raise NotAnArrayError(f"torch tensor on {value.device}")
    return Array(
        int(value.data_ptr()),
        tuple(int(n) for n in value.shape),
        tuple(int(n) for n in value.stride()),
        elem,
        "torch",
        value,
        on_device=bool(value.is_cuda),
    )


def _numpy(value: np.ndarray[Any, Any]) -> Array:
    elem = "bf16" if value.dtype.name == "bfloat16" else _elem(value.dtype.str)
    strides = _in_elements(value.strides, value.dtype.itemsize)
    return Array(
        int(value.ctypes.data),
        value.shape,
        strides,
        elem,
        "numpy",
        value,
        readonly=not value.flags.writeable,
        on_device=False,
    )


def _interface(value: Any) -> Array:
    face = value.__cuda_array_interface__
    if face.get("mask") is not None:
        raise NotAnArrayError(f"masked {_library(value)} array")
    shape = tuple(int(n) for n in face["shape"])
    named = getattr(getattr(value, "dtype", None), "name", "")
    elem = "bf16" if named == "bfloat16" else _elem(face["typestr"])
    strides = face.get("strides")
    pointer, readonly = face["data"]
    return Array(
        int(pointer or 0),
        shape,
        _row_major(shape) if strides is None else _in_elements(tuple(strides), SIZES[elem]),
        elem,
        _library(value),
        value,
        readonly=bool(readonly),
        stream=face.get("stream"),
    )


def _dlpack(value: Any, stream: int | None) -> Array:
    kind, _ = value.__dlpack_device__()
    on_device = int(kind) in dlpack.ON_DEVICE
    if not on_device and int(kind) not in dlpack.ON_HOST:
        raise NotAnArrayError(f"{_library(value)} array on DLPack device {int(kind)}")
    # DLPack's numbers: 1 is the legacy default stream, which the driver calls 0.
    capsule = value.__dlpack__(stream=stream or 1) if on_device else value.__dlpack__()
    tensor = dlpack.read(capsule)
    if tensor.elem is None:
        raise NotAnArrayError(f"{_library(value)} array of DLPack type {tensor.type_text}")
    strides = tensor.strides or _row_major(tensor.shape)
    return Array(
        tensor.pointer, tensor.shape, strides, tensor.elem, _library(value), (value, capsule), on_device=on_device
    )


def _elem(typestr: str) -> str:
    """The element type of an array-interface type string such as "<f4"."""
    elem = TYPESTR.get(typestr[1:])
    if elem is None or typestr[0] == ">":
        raise NotAnArrayError(f"array of {typestr}")
    return elem


def _in_elements(strides: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Byte strides counted in elements; one that is no whole number of elements fits nothing."""
    if any(s % size for s in strides):
        raise NotAnArrayError(f"array with strides of {strides} bytes, no whole number of {size}-byte elements")
    return tuple(s // size for s in strides)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)

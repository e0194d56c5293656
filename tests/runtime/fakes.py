"""Arrays and a driver that are not there: the launcher's checks need no GPU.

`FakeDriver` stands for `phobos.runtime.device`: its device memory is host memory, and a launch calls a Python function,
which reads its parameters as the kernel's ABI says.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from phobos.artifact import Artifact
from phobos.runtime import device

POINTER = 0x7F0000000000


@dataclass
class Interface:
    """Something with a CUDA array interface."""

    shape: tuple[int, ...]
    typestr: str = "<f4"
    pointer: int = POINTER
    strides: tuple[int, ...] | None = None
    readonly: bool = False
    stream: int | None = None
    mask: object = None

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.typestr,
            "data": (self.pointer, self.readonly),
            "strides": self.strides,
            "stream": self.stream,
            "mask": self.mask,
            "version": 3,
        }


@dataclass(frozen=True)
class FakeDevice:
    type: str
    index: int | None = None


@dataclass
class FakeTorch:
    """What `arrays` uses of a torch tensor."""

    shape: tuple[int, ...]
    dtype: str = "torch.float32"
    pointer: int = POINTER
    strides: tuple[int, ...] = ()
    device: FakeDevice = FakeDevice("cuda", 0)

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    def data_ptr(self) -> int:
        return self.pointer

    def stride(self) -> tuple[int, ...]:
        if self.strides:
            return self.strides
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * extent)
        return tuple(strides[: len(self.shape)])


@dataclass
class FakeDriver:
    """The driver of a machine with one GPU."""

    capability: tuple[int, int] = (8, 0)
    home: int | None = 0
    current: int | None = 0
    kernel: Callable[..., None] | None = None
    artifacts: dict[int, Artifact] = field(default_factory=dict)
    loads: list[tuple[str, int]] = field(default_factory=list)
    launches: list[tuple[tuple[int, int, int], int, int, int]] = field(default_factory=list)
    orders: list[tuple[int, int]] = field(default_factory=list)
    allocated: dict[int, Any] = field(default_factory=dict)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
        replacements: dict[str, Any] = {
            "why_no_gpu": lambda: "",
            "has_gpu": lambda: True,
            "compute_capability": lambda _: self.capability,
            "device_of": lambda _: self.home,
            "current_device": lambda: self.current,
            "enter": self._enter,
            "context_id": lambda: 7,
            "load_function": self._load,
            "allocate": self._allocate,
            "free": lambda pointer: self.allocated.pop(pointer),
            "copy_in": lambda to, source, size, _: ctypes.memmove(to, source, size),
            "copy_out": lambda to, source, size, _: ctypes.memmove(to, source, size),
            "synchronize": lambda _: None,
            "order": lambda first, then: self.orders.append((first, then)),
            "launch": self._launch,
        }
        for name, value in replacements.items():
            monkeypatch.setattr(device, name, value)
        return self

    def _enter(self, number: int) -> None:
        if self.current is None:
            self.current = number

    def _allocate(self, size: int) -> int:
        raw = ctypes.create_string_buffer(size + 256)
        pointer = (ctypes.addressof(raw) + 255) & ~255  # cuMemAlloc aligns to 256
        self.allocated[pointer] = raw
        return pointer

    def _load(self, cubin: bytes, name: str, dynamic_shared: int) -> tuple[int, int]:
        self.loads.append((name, dynamic_shared))
        return 1, 100 + len(self.loads)

    def _launch(
        self, function: int, grid: tuple[int, int, int], threads: int, shared: int, stream: int, params: int
    ) -> None:
        self.launches.append((grid, threads, shared, stream))
        if self.kernel is not None:
            self.kernel(params)


def read_params(params: int, *types: Any) -> list[Any]:
    """The values behind cuLaunchKernel's array of pointers."""
    pointers = ctypes.cast(params, ctypes.POINTER(ctypes.c_void_p))
    return [ctypes.cast(pointers[i], ctypes.POINTER(t)).contents.value for i, t in enumerate(types)]

"""Adapting arrays: what each library's array says about itself, and which layouts are dense."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

from phobos.runtime.arrays import Array, NotAnArrayError, adapt

from .fakes import FakeDevice, FakeTorch, Interface


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))


@pytest.mark.parametrize(
    ("dtype", "elem"),
    [
        ("f2", "f16"),
        ("f4", "f32"),
        ("f8", "f64"),
        ("i1", "i8"),
        ("u1", "u8"),
        ("i4", "i32"),
        ("i8", "i64"),
        ("?", "bool"),
    ],
)
def test_numpy(dtype: str, elem: str) -> None:
    data = np.zeros((3, 4), dtype)
    array = adapt(data)
    assert (array.pointer, array.shape, array.strides) == (data.ctypes.data, (3, 4), (4, 1))
    assert (array.elem, array.on_device, array.readonly, array.library) == (elem, False, False, "numpy")


def test_numpy_bits_and_read_only() -> None:
    data = np.zeros(4, np.uint16)
    data.flags.writeable = False
    assert (adapt(data).elem, adapt(data).readonly) == ("u16", True)


@pytest.mark.parametrize("bad", [np.zeros(2, ">f4"), np.zeros(2, np.complex64), np.zeros(2, "M8[s]"), np.array(["a"])])
def test_numpy_types_that_no_kernel_takes(bad: Any) -> None:
    with pytest.raises(NotAnArrayError):
        adapt(bad)


def test_a_field_of_a_structure_has_strides_that_fit_no_element() -> None:
    data = np.zeros(4, [("a", "f4"), ("b", "i1")])["a"]
    with pytest.raises(NotAnArrayError, match="no whole number of 4-byte elements"):
        adapt(data)


def test_cuda_array_interface() -> None:
    array = adapt(Interface((3, 4), "<f2", 0x1000, (16, 2), readonly=True, stream=5))
    assert (array.pointer, array.shape, array.strides) == (0x1000, (3, 4), (8, 1))
    assert (array.elem, array.on_device, array.readonly, array.stream) == ("f16", True, True, 5)
    assert adapt(Interface((3, 4))).strides == (4, 1)


def test_a_masked_array_is_refused() -> None:
    with pytest.raises(NotAnArrayError, match="masked"):
        adapt(Interface((3,), mask=object()))


def test_torch(torch: None) -> None:
    array = adapt(FakeTorch((3, 4), "torch.bfloat16", 0x2000))
    assert (array.pointer, array.shape, array.strides, array.elem) == (0x2000, (3, 4), (4, 1), "bf16")
    assert array.on_device
    assert not adapt(FakeTorch((3, 4), device=FakeDevice("cpu"))).on_device


def test_torch_types_and_devices_that_no_kernel_takes(torch: None) -> None:
    with pytest.raises(NotAnArrayError, match=r"torch\.complex64"):
        adapt(FakeTorch((3,), "torch.complex64"))
    with pytest.raises(NotAnArrayError, match="mps"):
        adapt(FakeTorch((3,), device=FakeDevice("mps")))


class Capsule:
    """Exports a NumPy array by DLPack and by nothing else."""

    def __init__(self, data: np.ndarray[Any, Any]) -> None:
        self.data = data

    def __dlpack__(self, **_: Any) -> Any:
        return self.data.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.data.__dlpack_device__()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i4", "i8", "?"])
def test_dlpack(dtype: str) -> None:
    data = np.zeros((6, 4), dtype)
    array, same = adapt(Capsule(data[::2])), adapt(data[::2])
    assert (array.pointer, array.shape, array.strides) == (same.pointer, same.shape, same.strides)
    assert (array.elem, array.on_device) == (same.elem, False)


def test_dlpack_of_a_type_without_a_name() -> None:
    with pytest.raises(NotAnArrayError, match="code 5, 64 bits"):
        adapt(Capsule(np.zeros(3, np.complex64)))


@pytest.mark.parametrize("value", [[1.0, 2.0], 3.0, None, "A"])
def test_other_objects(value: object) -> None:
    with pytest.raises(NotAnArrayError, match=type(value).__name__):
        adapt(value)


def array(shape: tuple[int, ...], strides: tuple[int, ...], pointer: int = 0, on_device: bool = True) -> Array:
    return Array(pointer, shape, strides, "f32", "test", None, on_device=on_device)


@pytest.mark.parametrize(
    ("shape", "strides", "dense"),
    [
        ((3, 4), (4, 1), True),
        ((3, 4), (8, 1), False),
        ((3, 4), (1, 3), False),
        ((3, 4), (4, 2), False),
        ((1, 4), (999, 1), True),
        ((4, 1), (1, 999), True),
        ((3, 1, 4), (4, 0, 1), True),
        ((3, 4), (0, 1), False),
        ((3,), (-1,), False),
        ((0, 4), (17, 3), True),
        ((), (), True),
    ],
)
def test_dense(shape: tuple[int, ...], strides: tuple[int, ...], dense: bool) -> None:
    assert array(shape, strides).is_dense is dense


def test_the_bytes_of_an_array() -> None:
    assert array((3, 4), (4, 1), 100).bytes == (100, 148)
    assert array((3, 4), (8, 1), 100).bytes == (100, 100 + 4 * 20)
    assert array((3,), (-1,), 100).bytes == (92, 104)
    assert array((0, 4), (4, 1), 100).bytes == (100, 100)


def test_overlap_is_of_bytes_in_the_same_memory() -> None:
    a = array((4,), (1,), 100)
    assert a.overlaps(array((4,), (1,), 112))
    assert not a.overlaps(array((4,), (1,), 116))
    assert not a.overlaps(array((4,), (1,), 84))
    assert not a.overlaps(array((4,), (1,), 100, on_device=False))
    assert not a.overlaps(array((0,), (1,), 104))


@pytest.mark.parametrize("interface", [{"shape": "x"}, {"shape": (4,), "typestr": "<f4", "data": None, "version": 3}])
def test_an_interface_that_says_nonsense(interface: dict[str, Any]) -> None:
    class Bad:
        __cuda_array_interface__ = interface

    with pytest.raises(NotAnArrayError, match="Bad, which cannot be exported"):
        adapt(Bad())


def test_an_exporter_that_raises() -> None:
    class Bad:
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            raise RuntimeError("no device")

    with pytest.raises(NotAnArrayError, match="RuntimeError: no device"):
        adapt(Bad())

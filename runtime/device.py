"""The CUDA driver through cuda-python: contexts, streams, events, modules and memory, with errors that say what to do.

Everything untyped of cuda-python stops here: the functions take and give ints (handles are addresses) and bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from phobos.errors import CudaError, LaunchError
from phobos.target import Target, of_compute_capability

ADVICE = {
    "CUDA_ERROR_NO_DEVICE": "no GPU is visible; CUDA_VISIBLE_DEVICES may hide it",
    "CUDA_ERROR_INVALID_IMAGE": "the cubin is for another chip; compile for this one",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the cubin is for another chip; compile for this one",
    "CUDA_ERROR_OUT_OF_MEMORY": "free device memory, other processes' included",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "the block needs more registers than there are; lower @launch's threads",
    "CUDA_ERROR_LAUNCH_FAILED": "a kernel trapped or faulted earlier; a broken @aligned promise traps with check=False",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "an earlier kernel left its tensors; run it under compute-sanitizer",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": "an earlier kernel trapped; a broken @aligned promise does with check=False",
    "CUDA_ERROR_MISALIGNED_ADDRESS": "an earlier kernel's wide access met a pointer less aligned than promised",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "the driver and its libraries differ in version; reboot or reinstall it",
}


@cache
def _driver() -> Any:
    import cuda.bindings.driver as driver

    return driver


def _call(name: str, *args: Any) -> Any:
    """Call the driver; its values without the status, one value bare."""
    status, *values = getattr(_driver(), name)(*args)
    if int(status) != 0:
        raise _error(name, status)
    return values[0] if len(values) == 1 else tuple(values)


def _error(call: str, status: Any) -> CudaError:
    driver = _driver()
    _, text = driver.cuGetErrorString(status)
    name = getattr(status, "name", str(status))
    return CudaError(call, name, text.decode() if text else "no description", ADVICE.get(name, ""))


# ---- is there a GPU? ----------------------------------------------------------------------------------------


@cache
def why_no_gpu() -> str:
    """Why nothing can be launched here; "" when it can."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver: libcuda.so.1 is not found"
    try:
        _call("cuInit", 0)
        count = int(_call("cuDeviceGetCount"))
    except ImportError as error:
        return f"cuda-python does not load: {error}"
    except CudaError as error:
        return str(error)
    return "" if count else "the driver finds no GPU"


def has_gpu() -> bool:
    return not why_no_gpu()


# ---- devices and contexts -----------------------------------------------------------------------------------


@cache
def compute_capability(device: int) -> tuple[int, int]:
    """The compute capability of a device, such as (9, 0)."""
    attribute = _driver().CUdevice_attribute
    handle = _call("cuDeviceGet", device)
    major = _call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle)
    minor = _call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle)
    return int(major), int(minor)


def device_target(device: int) -> Target:
    """What to compile for on a device."""
    capability = compute_capability(device)
    found = of_compute_capability(*capability)
    if found is None:
        raise LaunchError(f"Phobos does not know compute capability {capability[0]}.{capability[1]}, of GPU {device}")
    return found


def current_device() -> int | None:
    """The device of the calling thread's current context; None when it has none."""
    context = _call("cuCtxGetCurrent")
    return None if int(context) == 0 else int(_call("cuCtxGetDevice"))


def enter(device: int) -> None:
    """Make the primary context of a device current where the calling thread has no context."""
    if current_device() is None:
        _call("cuCtxSetCurrent", _primary(device))


@cache
def _primary(device: int) -> Any:
    """The primary context of a device, the one that torch, CuPy and the CUDA runtime use; retained for good."""
    return _call("cuDevicePrimaryCtxRetain", _call("cuDeviceGet", device))


def context_id() -> int:
    """A number that no other context of this process has had."""
    return int(_call("cuCtxGetId", _call("cuCtxGetCurrent")))


def device_of(pointer: int) -> int | None:
    """The device whose memory a pointer is in; None for memory that the driver does not know."""
    attribute = _driver().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    status, ordinal = _driver().cuPointerGetAttribute(attribute, pointer)
    return None if int(status) != 0 else int(ordinal)


# ---- modules and launches -----------------------------------------------------------------------------------


def load_function(cubin: bytes, name: str, dynamic_shared: int) -> tuple[int, int]:
    """(module, function) of a cubin in the current context, allowed to use that much dynamic shared memory."""
    module = _call("cuModuleLoadData", cubin)
    function = _call("cuModuleGetFunction", module, name.encode())
    if dynamic_shared:
        attribute = _driver().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _call("cuFuncSetAttribute", function, attribute, dynamic_shared)
    return int(module), int(function)


def launch(function: int, grid: tuple[int, int, int], threads: int, shared: int, stream: int, params: int) -> None:
    """cuLaunchKernel. params: the address of an array of pointers to the parameters' values."""
    status = _driver().cuLaunchKernel(function, *grid, threads, 1, 1, shared, stream, params, 0)[0]
    if int(status) != 0:
        raise _error("cuLaunchKernel", status)


def resident_blocks(function: int, threads: int, shared: int, device: int) -> int:
    """Blocks of a kernel that are on the whole GPU at once."""
    driver = _driver()
    per_sm = int(_call("cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.CUfunction(function), threads, shared))
    count = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    return per_sm * int(_call("cuDeviceGetAttribute", count, _call("cuDeviceGet", device)))


# ---- memory, streams, events --------------------------------------------------------------------------------


def allocate(size: int) -> int:
    return int(_call("cuMemAlloc", max(size, 1)))


def free(pointer: int) -> None:
    _call("cuMemFree", pointer)


def copy_in(device: int, host: int, size: int, stream: int) -> None:
    """Host address to device address, in stream order."""
    if size:
        _call("cuMemcpyHtoDAsync", device, host, size, stream)


def copy_out(host: int, device: int, size: int, stream: int) -> None:
    """Device address to host address, in stream order."""
    if size:
        _call("cuMemcpyDtoHAsync", host, device, size, stream)


def synchronize(stream: int) -> None:
    _call("cuStreamSynchronize", stream)


def order(first: int, then: int) -> None:
    """What is in stream `then` from now on waits for what is in stream `first` now."""
    if first == then:
        return
    event = _call("cuEventCreate", _driver().CUevent_flags.CU_EVENT_DISABLE_TIMING.value)
    try:
        _call("cuEventRecord", event, first)
        _call("cuStreamWaitEvent", then, event, 0)
    finally:
        _call("cuEventDestroy", event)


@contextmanager
def stopwatch(stream: int) -> Iterator[list[float]]:
    """Time what the block puts into a stream: the list holds its milliseconds afterwards. Waits for the stream."""
    flags = _driver().CUevent_flags.CU_EVENT_DEFAULT.value
    start, end = _call("cuEventCreate", flags), _call("cuEventCreate", flags)
    spent: list[float] = []
    try:
        _call("cuEventRecord", start, stream)
        yield spent
        _call("cuEventRecord", end, stream)
        _call("cuEventSynchronize", end)
        spent.append(float(_call("cuEventElapsedTime", start, end)))
    finally:
        _call("cuEventDestroy", start)
        _call("cuEventDestroy", end)

"""Launches a kernel: check the arguments, pick the variant that they allow, load it, pass the parameters, go.

`call` is what calling a kernel does. `Prepared` is a launch that is ready to go any number of times, for timing. With
no GPU, `call` runs the simulator on host arrays and says so once.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from phobos.artifact import Artifact
from phobos.errors import ArgumentError, LaunchError
from phobos.ir.types import Scalar
from phobos.sim.errors import SimFault
from phobos.target import runs_on

from . import device, facts, grid, stream
from .bind import Bound, Number, bf16_bits, bind, check_aligned
from .simulated import simulate
from .staging import Staging
from .variant import Launchable, allowed


def call(
    kernel: Launchable,
    args: tuple[Any, ...],
    grid: int | Sequence[int] | None = None,
    stream: Any = None,
    check: bool = True,
) -> None:
    """Launch a kernel on the caller's current stream, or on `stream`, and return before it is done.

    Host arrays are copied in and, those that the kernel writes, out again, which waits. check=False leaves the promises
    of `@aligned` to the kernel, which traps when one is broken.
    """
    if not device.has_gpu():
        _say_once(device.why_no_gpu())
        try:
            simulate(kernel, args, grid, check)
        except SimFault as fault:
            raise LaunchError(f"{kernel.name}: {fault}") from None
        return
    with Prepared(kernel, args, grid, stream, check) as prepared:
        prepared.run()


class Prepared:
    """A launch with everything decided. As a context manager it frees the device copies of host arrays."""

    def __init__(
        self,
        kernel: Launchable,
        args: tuple[Any, ...],
        grid: int | Sequence[int] | None = None,
        stream: Any = None,
        check: bool = True,
    ) -> None:
        self.stream = _stream(stream, args)
        bound = bind(kernel.name, kernel.signature, args, self.stream)
        here = _enter_device(bound)
        if check:
            check_aligned(kernel.name, kernel.meaning.attributes.aligned, bound, kernel.signature)
        self._staging = Staging(bound) if bound.has_host_arrays else None
        try:
            self._decide(kernel, self._staging.bound if self._staging else bound, grid, here, check)
        except BaseException:
            self.close()
            raise

    def _decide(
        self, kernel: Launchable, bound: Bound, asked: int | Sequence[int] | None, here: int, check: bool
    ) -> None:
        self.bound = bound
        first = kernel.variant()
        if asked is None and first.kernel.attributes.persistent:
            function = _function(first)
            asked = device.resident_blocks(function, first.threads, first.dynamic_shared_bytes, here)
        self.grid = grid.chosen(asked, first.grid, bound.dims)
        facts.refuse_larger_grid(first, bound, self.grid)
        if check:
            facts.refuse_overstated(first, bound)
        self.artifact = allowed(kernel, first, bound, self.grid)
        target, capability = self.artifact.target, device.compute_capability(here)
        if not runs_on(target, *capability):
            raise LaunchError(
                f"{kernel.name} is compiled for {target}, and GPU {here} has compute capability "
                f"{capability[0]}.{capability[1]}; compile it with target='{device.device_target(here)}'"
            )
        self._function = _function(self.artifact)
        self._params, self._keep = pack(self.artifact, bound)

    def launch(self) -> None:
        """Put the kernel alone into the stream."""
        if 0 in self.grid:
            return
        made = self.artifact
        device.launch(self._function, self.grid, made.threads, made.dynamic_shared_bytes, self.stream, self._params)

    def run(self) -> None:
        """Launch, in order with the streams that the arrays come from, and with the copies of host arrays."""
        foreign = {a.stream for a in self.bound.arrays.values() if a.stream is not None} - {self.stream}
        for other in foreign:
            device.order(other, self.stream)
        if self._staging is None:
            self.launch()
        else:
            self._staging.copy_in(self.stream)
            self.launch()
            self._staging.copy_out(self.stream)
            device.synchronize(self.stream)
            self._staging.spread()
        for other in foreign:
            device.order(self.stream, other)

    def close(self) -> None:
        if self._staging is not None:
            self._staging.free()

    def __enter__(self) -> Prepared:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stream(asked: Any, args: tuple[Any, ...]) -> int:
    return stream.current(args) if asked is None else stream.handle(asked)


def _enter_device(bound: Bound) -> int:
    """The current device, on which all device arrays must be; the first array's where the thread has none."""
    homes = {name: device.device_of(a.pointer) for name, a in bound.arrays.items() if a.on_device and a.size}
    device.enter(next((home for home in homes.values() if home is not None), 0))
    here = device.current_device() or 0
    for name, home in homes.items():
        if home is None:
            raise ArgumentError(name, f"memory of GPU {here}", "an address that the CUDA driver does not know")
        if home != here:
            raise ArgumentError(name, f"a tensor on GPU {here}, the current device", f"one on GPU {home}")
    return here


# ---- loading ------------------------------------------------------------------------------------------------

# The functions of an artifact, by context; an artifact that is forgotten leaves its modules loaded.
_functions: WeakKeyDictionary[Artifact, dict[int, int]] = WeakKeyDictionary()
_loading = threading.Lock()


def _function(artifact: Artifact) -> int:
    """The artifact's kernel in the current context, loaded once."""
    context = device.context_id()
    with _loading:
        loaded = _functions.setdefault(artifact, {})
        if context not in loaded:
            _, loaded[context] = device.load_function(artifact.cubin, artifact.name, artifact.dynamic_shared_bytes)
        return loaded[context]


# ---- parameters ---------------------------------------------------------------------------------------------

_INTEGERS: dict[str, Any] = {
    "i8": ctypes.c_int8,
    "u8": ctypes.c_uint8,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "bool": ctypes.c_uint8,
}


def pack(artifact: Artifact, bound: Bound) -> tuple[int, object]:
    """The parameters in ABI order (`docs/abi.md`): the address of an array of pointers to them, and its owner."""
    extent = ctypes.c_int32 if artifact.index_bits == 32 else ctypes.c_int64
    signature = artifact.signature
    values: list[Any] = [ctypes.c_uint64(bound.arrays[p.name].pointer) for p in signature.tensors]
    values += [extent(bound.dims[dim]) for dim in signature.dims]
    values += [extent(bound.arrays[tensor].steps[axis]) for tensor, axis in artifact.strides]
    values += [_c_scalar(p.type, bound.scalars[p.name]) for p in signature.scalars]
    pointers = (ctypes.c_void_p * max(len(values), 1))(*[ctypes.addressof(v) for v in values])
    return ctypes.addressof(pointers), (pointers, values)


def _c_scalar(kind: Scalar, value: Number) -> Any:
    match kind.name:
        case "f16":
            return ctypes.c_uint16(int(np.float16(value).view(np.uint16)))
        case "bf16":
            return ctypes.c_uint16(bf16_bits(value))
        case "f32":
            return ctypes.c_float(value)
        case "f64":
            return ctypes.c_double(value)
        case _:
            return _INTEGERS[kind.name](int(value))


# ---- without a GPU ------------------------------------------------------------------------------------------


@cache
def _say_once(reason: str) -> None:
    print(f"phobos: {reason}; kernels run in the simulator of the emitted PTX, which is slow", file=sys.stderr)

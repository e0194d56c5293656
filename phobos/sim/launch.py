"""A launch made ready: arguments in parameter space, arrays in the arena, variables at addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import Checks
from .errors import Finding
from .program import Program
from .state import State
from .storage import ALIGN, Allocation, GlobalMemory, Tensor
from .syntax import Param
from .types import TYPES

Array = NDArray[Any]


GAP = 0xFF
"""What bytes between the rows of strided arrays hold: NaN where they are read as floats."""


@dataclass(frozen=True, eq=False)
class Placed:
    """An array's place: the byte of its first element in an allocation."""

    array: Array
    allocation: Allocation
    start: int

    def image(self, memory: Array) -> Array:
        """The array's elements in the bytes of the allocation, as bare bits."""
        return np.ndarray(self.array.shape, _bits(self.array).dtype, memory, self.start, self.array.strides)


def _bits(array: Array) -> Array:
    return array.view(f"u{array.itemsize}")


@dataclass
class Launch:
    """All that a machine's state is made from."""

    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    memory: GlobalMemory
    params: bytes
    symbols: dict[str, int]
    shared_size: int
    local_size: int
    arrays: list[Placed]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    def state(self, slots: int, checks: Checks, count: bool, collect: bool) -> State:
        """A state for waves of this many CTAs."""
        return State(
            self.program, self.memory, self.params, self.symbols, self.grid, self.block, slots, self.shared_size,
            self.local_size, checks, count, collect,
        )  # fmt: skip

    def write_back(self) -> None:
        """Bring what the kernel wrote into the caller's arrays."""
        for placed in self.arrays:
            if placed.array.flags.writeable:
                _bits(placed.array)[...] = placed.image(self.memory.bytes_of(placed.allocation))

    def strays(self) -> list[Finding]:
        """Writes between the rows of strided arrays: to bytes of an allocation that belong to no array."""
        found = []
        for allocation in self.memory.allocations:
            here = [p for p in self.arrays if p.allocation is allocation]
            if all(p.array.flags.c_contiguous for p in here):
                continue
            gaps = np.full(allocation.size, True)
            for p in here:
                owned = np.zeros(allocation.size, np.uint8)
                p.image(owned)[...] = (1 << 8 * p.array.itemsize) - 1
                gaps &= owned == 0
            hit = np.flatnonzero(gaps & (self.memory.bytes_of(allocation) != GAP))
            if len(hit):
                address = allocation.address + int(hit[0])
                what = f"write to a byte that belongs to no tensor, {self.memory.describe(address)}"
                found.append(Finding("out of bounds", what, self.program.entry.name, "", 0, "st", address=address))
        return found


def prepare(
    program: Program,
    args: Sequence[Any],
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    dynamic_shared: int,
    names: Sequence[str] | None,
    shareable: bool,
) -> Launch:
    """Check the arguments and lay everything out."""
    entry = program.entry
    if len(args) != len(entry.params):
        raise TypeError(f"{entry.name} takes {len(entry.params)} arguments, not {len(args)}")
    _check_block(program, block)
    memory = GlobalMemory()
    called = list(names) if names is not None else [param.name for param in entry.params]
    pointers, arrays = _place(memory, args, called)
    params = bytearray(max((p.offset + p.size for p in entry.params), default=0))
    symbols: dict[str, int] = {}
    for at, (param, value) in enumerate(zip(entry.params, args, strict=True)):
        raw = pointers[at].to_bytes(8, "little") if at in pointers else _packed(param, value, called[at])
        if len(raw) != param.size:
            raise TypeError(f"argument {called[at]} has {len(raw)} bytes; the parameter takes {param.size}")
        params[param.offset : param.offset + param.size] = raw
        symbols[param.name] = param.offset
    shared, local, dynamic = 0, 0, []
    for variable in (*program.module.variables.values(), *entry.variables.values()):
        if variable.space == "shared" and variable.extern and variable.size == 0:
            dynamic.append(variable)
        elif variable.space == "shared":
            shared = -(-shared // variable.align) * variable.align
            symbols[variable.name] = shared
            shared += variable.size
        elif variable.space == "local":
            local = -(-local // variable.align) * variable.align
            symbols[variable.name] = local
            local += variable.size
        else:
            data = variable.initial if variable.initial is not None else bytes(variable.size)
            tensor = Tensor(variable.name, 0, len(data), TYPES[variable.type].bytes, (len(data),))
            symbols[variable.name] = memory.add(data, (tensor,), writable=variable.space == "global").address
    if dynamic:
        align = max(variable.align for variable in dynamic)
        shared = -(-shared // align) * align
        for variable in dynamic:
            symbols[variable.name] = shared
    memory.build(shareable)
    return Launch(program, grid, block, memory, bytes(params), symbols, shared + dynamic_shared, local, arrays)


def _check_block(program: Program, block: tuple[int, int, int]) -> None:
    entry = program.entry
    threads = block[0] * block[1] * block[2]
    if not 1 <= threads <= 1024:
        raise ValueError(f"a block of {threads} threads; 1 to 1024 are possible")
    required = entry.directives.get("reqntid")
    if required is not None and (*required, 1, 1)[:3] != block:
        raise ValueError(f"{entry.name} requires blocks of {required} threads, not {block}")
    limit = entry.directives.get("maxntid")
    if limit is not None and threads > int(np.prod(limit)):
        raise ValueError(f"{entry.name} takes at most {int(np.prod(limit))} threads in a block, not {threads}")


def _place(memory: GlobalMemory, args: Sequence[Any], names: list[str]) -> tuple[dict[int, int], list[Placed]]:
    """Put the arrays into global memory as they lie in the host's, strides included; those whose address ranges overlap
    share an allocation, so that they alias as they do here."""
    spans = []
    pointers: dict[int, int] = {}
    for at, value in enumerate(args):
        if isinstance(value, np.ndarray):
            start, stop = _range(value)
            spans.append((start, stop, at, value))
        elif value is None:
            pointers[at] = 0
    spans.sort(key=lambda span: (span[0], span[1]))
    groups: list[list[Any]] = []
    end = -1
    for span in spans:
        if groups and span[0] < end:
            groups[-1].append(span)
            end = max(end, span[1])
        else:
            groups.append([span])
            end = span[1]
    arrays: list[Placed] = []
    # Allocations follow the order of the arguments, not that of the host's addresses.
    for group in sorted(groups, key=lambda group: min(span[2] for span in group)):
        low, high = group[0][0], max(span[1] for span in group)
        tensors = [
            Tensor(names[at], start - low, stop - low, v.itemsize, v.shape, () if v.flags.c_contiguous else v.strides)
            for start, stop, at, v in group
        ]
        data = np.full(high - low, GAP, np.uint8)
        allocation = memory.add(data, tuple(sorted(tensors, key=lambda t: t.start)), _skew(group[0][3]))
        for _start, _stop, at, value in group:
            here = Placed(value, allocation, _address(value) - low)
            here.image(data)[...] = _bits(value)
            arrays.append(here)
            pointers[at] = allocation.address + here.start
    return pointers, arrays


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _range(array: Array) -> tuple[int, int]:
    """The addresses from an array's first byte to behind its last."""
    low = high = _address(array)
    if array.size:
        reaches = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
        low += sum(r for r in reaches if r < 0)
        high += sum(r for r in reaches if r > 0) + array.itemsize
    return low, high


def _skew(value: Array) -> int:
    """How far a view starts into the array that it is a view of: its alignment on a device would be that."""
    owner: Any = value
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return (_address(value) - _address(owner)) % ALIGN


def _packed(param: Param, value: Any, name: str) -> bytes:
    """A scalar argument as its bytes."""
    if isinstance(value, bytes):
        return value
    type_ = TYPES[param.type]
    if param.is_array:
        if isinstance(value, np.generic):
            return value.tobytes()
        raise TypeError(f"argument {name} goes into {param.size} bytes: pass a NumPy scalar of its type, or bytes")
    if isinstance(value, np.generic) and value.dtype.itemsize == type_.bytes and value.dtype.kind != "f":
        return value.tobytes()
    if type_.kind == "f":
        return np.array(value, type_.dtype).tobytes()
    if isinstance(value, np.floating) and value.dtype.itemsize == type_.bytes:
        return value.tobytes()
    if isinstance(value, float | np.floating):
        raise TypeError(f"argument {name} is a float; the parameter is .{param.type}")
    number = int(value)
    low, high = -(1 << (type_.bits - 1)), (1 << type_.bits) - 1
    if not low <= number <= high:
        raise ValueError(f"argument {name} = {number} does not fit into .{param.type}")
    return (number & high).to_bytes(type_.bytes, "little")

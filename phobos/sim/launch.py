"""A launch made ready: arguments in parameter space, arrays in the arena, variables at addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import Checks
from .program import Program
from .state import State
from .storage import ALIGN, Allocation, GlobalMemory, Tensor
from .syntax import Param
from .types import TYPES

Array = NDArray[Any]


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
    arrays: list[tuple[Array, Array, Allocation, int]]

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
        for array, flat, allocation, start in self.arrays:
            if not array.flags.writeable:
                continue
            raw = self.memory.bytes_of(allocation)[start : start + array.nbytes]
            if flat is array:
                array.reshape(-1).view(np.uint8)[:] = raw
            else:
                array[...] = raw.view(array.dtype).reshape(array.shape)


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


def _place(
    memory: GlobalMemory, args: Sequence[Any], names: list[str]
) -> tuple[dict[int, int], list[tuple[Array, Array, Allocation, int]]]:
    """Put the arrays into global memory; those that overlap share an allocation, so that they alias as they do here."""
    spans = []
    pointers: dict[int, int] = {}
    for at, value in enumerate(args):
        if isinstance(value, np.ndarray):
            flat = value if value.flags.c_contiguous else np.ascontiguousarray(value)
            start = int(flat.__array_interface__["data"][0])
            spans.append((start, start + flat.nbytes, at, value, flat))
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
    placed: dict[int, tuple[Allocation, int]] = {}
    # Allocations follow the order of the arguments, not that of the host's addresses.
    for group in sorted(groups, key=lambda group: min(span[2] for span in group)):
        low, high = group[0][0], max(span[1] for span in group)
        data = np.empty(high - low, np.uint8)
        tensors = []
        for start, stop, at, value, flat in group:
            data[start - low : stop - low] = flat.reshape(-1).view(np.uint8)
            tensors.append(Tensor(names[at], start - low, stop - low, value.itemsize, value.shape))
        tensors.sort(key=lambda tensor: tensor.start)
        allocation = memory.add(data, tuple(tensors), _skew(group[0][4], group[0][3]))
        for start, _stop, at, _value, _flat in group:
            placed[at] = (allocation, start - low)
            pointers[at] = allocation.address + start - low
    arrays = [(value, flat, *placed[at]) for _start, _stop, at, value, flat in spans]
    return pointers, arrays


def _skew(flat: Array, value: Array) -> int:
    """How far a view starts into the array that it is a view of: its alignment on a device would be that."""
    if flat is not value:
        return 0
    owner: Any = flat
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    here, there = (int(each.__array_interface__["data"][0]) for each in (flat, owner))
    return (here - there) % ALIGN


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

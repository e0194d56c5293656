"""Runs a kernel on NumPy arrays, one CTA after another: the language's meaning, in every form.

Takes a kernel, arrays by tensor name, scalars by name and a grid; writes into the arrays. What the caller hands in is
checked, and every access is checked against its array.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from ..ir.core import Value
from ..ir.kernel import Kernel
from ..ir.tile_ops import element
from ..ir.types import Scalar, Tensor
from . import reduction, shape, shared, threads
from .machine import MEANING, Machine
from .numbers import Array, constant, held, stored

assert all(op in MEANING for op in (*shared.CTA_OPS, *threads.THREAD_OPS, *reduction.REDUCE_OPS, *shape.SHAPE_OPS))


def run(
    kernel: Kernel,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    scalars: Mapping[str, int | float | bool],
    grid: tuple[int, int, int],
    index_bits: int = 32,
) -> None:
    """Run every CTA of the grid, x fastest. bf16 arrays are np.uint16; two names may share an array.

    Dims are taken from the arrays' shapes. Raises ValueError for arguments that do not fit the kernel, InterpError for
    what the kernel may not do (an access outside a tensor), TrapError for a broken promise.
    """
    if index_bits not in (32, 64):
        raise ValueError(f"index_bits is 32 or 64, not {index_bits}")
    tensors = {v: _array(v, arrays) for v in kernel.tensors}
    extents = dims_of(kernel, arrays)
    values: dict[Value, Array] = {d: constant(extents[d.name], element(d.type), index_bits) for d in kernel.dims}
    strides = [pair for v in kernel.tensors for pair in _strides(kernel, v, tensors)]
    values |= {s: constant(n, element(s.type), index_bits) for s, n in strides}
    values |= {s: _scalar(s, scalars, index_bits) for s in kernel.scalars}
    _no_others("array", arrays, [v.name for v in kernel.tensors])
    _no_others("scalar", scalars, [v.name for v in kernel.scalars])
    with np.errstate(all="ignore"):
        for z, y, x in product(*(range(n) for n in reversed(grid))):
            machine = Machine(dict(tensors), (x, y, z), grid, index_bits, dict(values), thread_count=kernel.threads)
            machine.run(kernel.body)


def _strides(kernel: Kernel, v: Value, arrays: Mapping[Value, np.ndarray[Any, Any]]) -> list[tuple[Value, int]]:
    """The run-time strides of a tensor with its array's, in elements. Accesses go by coordinates all the same."""
    given, array = kernel.strides_of(v), arrays[v]
    return [(s, n // array.itemsize) for s, n in zip(given, array.strides, strict=False)]


def dims_of(kernel: Kernel, arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, int]:
    """The run-time extents that arrays give the kernel's dims; ValueError when they disagree."""
    found: dict[str, tuple[int, str]] = {}
    for v in kernel.tensors:
        assert isinstance(v.type, Tensor)
        for axis, (dim, n) in enumerate(zip(v.type.dims, arrays[v.name].shape, strict=True)):
            here = f"axis {axis} of {v.name}"
            known, where = (dim, "its type") if isinstance(dim, int) else found.setdefault(dim, (n, here))
            if n != known:
                raise ValueError(f"{here} is {n}, {dim} is {known} by {where}")
    missing = [d.name for d in kernel.dims if d.name not in found]
    if missing:
        raise ValueError(f"no tensor has the dim {missing[0]}")
    return {name: n for name, (n, _) in found.items()}


def _array(v: Value, arrays: Mapping[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    if v.name not in arrays:
        raise ValueError(f"no array for the tensor {v.name}")
    array = arrays[v.name]
    assert isinstance(v.type, Tensor)
    if array.dtype != stored(v.type.elem):
        raise ValueError(f"{v.name} holds {array.dtype}, {v.type} wants {stored(v.type.elem)}")
    if array.ndim != len(v.type.dims):
        raise ValueError(f"{v.name} has {array.ndim} axes, {v.type} has {len(v.type.dims)}")
    return array


def _scalar(v: Value, scalars: Mapping[str, int | float | bool], index_bits: int) -> Array:
    if v.name not in scalars:
        raise ValueError(f"no value for the scalar {v.name}")
    number = scalars[v.name]
    assert isinstance(v.type, Scalar)
    if v.type.is_int:
        limits = np.iinfo(held(v.type, index_bits))
        if int(number) != number or not limits.min <= number <= limits.max:
            raise ValueError(f"{v.name} = {number} does not fit {v.type}")
    return constant(number, v.type, index_bits)


def _no_others(what: str, given: Mapping[str, object], names: list[str]) -> None:
    extra = sorted(set(given) - set(names))
    if extra:
        raise ValueError(f"the kernel has no {what} {extra[0]}")

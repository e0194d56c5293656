"""Checks a call's arguments against a kernel's signature and gives them as the ABI wants them.

Every refusal is an `ArgumentError` that names the parameter, what was expected and what came.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phobos.artifact import ScalarParam, Signature, TensorParam
from phobos.errors import AlignedPromiseError, ArgumentError
from phobos.ir.kernel import Aligned
from phobos.ir.types import Scalar

from .arrays import Array, NotAnArrayError, adapt, is_torch

Number = int | float | bool
FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}

# What an array of another element type may stand for: the bits are the same. NumPy has no bfloat16.
STANDS_FOR = {"bf16": ("u16",)}


@dataclass(frozen=True)
class Bound:
    """Arguments that fit a signature: arrays and scalars by parameter, extents by dim."""

    arrays: dict[str, Array]
    dims: dict[str, int]
    scalars: dict[str, Number]
    written: frozenset[str]

    @property
    def has_host_arrays(self) -> bool:
        return any(not a.on_device for a in self.arrays.values())

    def overlaps_written(self, name: str) -> bool:
        """Whether a tensor shares memory with another one that the kernel writes."""
        mine = self.arrays[name]
        return any(mine.overlaps(self.arrays[other]) for other in self.written if other != name)


def bind(kernel: str, signature: Signature, args: tuple[Any, ...], stream: int | None = None) -> Bound:
    """The arguments of a call, in the order of the kernel's parameters."""
    if len(args) != len(signature.params):
        names = ", ".join(p.name for p in signature.params)
        raise ArgumentError(kernel, f"{len(signature.params)} arguments ({names})", str(len(args)))
    arrays: dict[str, Array] = {}
    scalars: dict[str, Number] = {}
    for param, value in zip(signature.params, args, strict=True):
        if isinstance(param, TensorParam):
            arrays[param.name] = _tensor(param, value, stream)
        else:
            scalars[param.name] = _scalar(param, value)
    written = frozenset(p.name for p in signature.tensors if p.written)
    return Bound(arrays, _dims(signature, arrays), scalars, written)


# ---- tensors ------------------------------------------------------------------------------------------------


def _tensor(param: TensorParam, value: Any, stream: int | None) -> Array:
    try:
        array = adapt(value, stream)
    except NotAnArrayError as error:
        raise ArgumentError(param.name, f"a {param}", str(error)) from None
    wanted = param.elem.name
    if array.elem != wanted and array.elem not in STANDS_FOR.get(wanted, ()):
        raise ArgumentError(param.name, f"a {param}", f"a {array}", _conversion(wanted, array))
    if len(array.shape) != len(param.dims):
        axes = f"{len(param.dims)} ax{'is' if len(param.dims) == 1 else 'es'}"
        raise ArgumentError(param.name, f"a {param}, with {axes}", f"a {array}")
    if param.written and array.readonly:
        raise ArgumentError(param.name, "a tensor that can be written", f"a read-only {array}")
    _check_strides(param, array)
    return array


def _check_strides(param: TensorParam, array: Array) -> None:
    """Rows without gaps, at any distances that are not negative; elements of their own where the kernel writes.

    Axes of extent 1 may say anything, and so may all axes of an empty array.
    """
    copy = {"torch": "x.contiguous()", "numpy": "numpy.ascontiguousarray(x)", "cupy": "cupy.ascontiguousarray(x)"}
    help = f"pass a contiguous copy, such as {copy.get(array.library, 'x.copy()')}"
    if param.written:
        help = "pass a contiguous tensor and copy the result from it"
    came = f"shape {array.shape} with strides {array.strides}"
    for axis, step in enumerate(array.steps):
        last = axis == len(array.steps) - 1
        if last and step != 1 and array.shape[axis] > 1 and array.size:
            expected = f"stride 1 on axis {axis}, the innermost"
            raise ArgumentError(param.name, expected, f"stride {step} in {came}", help)
        if step < 0:
            expected = f"a stride of axis {axis} that is not negative"
            raise ArgumentError(param.name, expected, f"stride {step} in {came}", help)
    if param.written and not array.elements_apart:
        axis = next((a for a, (n, s) in enumerate(zip(array.shape, array.steps, strict=True)) if n > 1 and s == 0), -1)
        where = f"stride 0 on axis {axis}, in {came}" if axis >= 0 else came
        expected = "elements that share no memory, since the kernel writes them"
        raise ArgumentError(param.name, expected, where, help)


def _conversion(wanted: str, array: Array) -> str:
    """How to convert in the array's own library."""
    name = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "u8": "uint8"}
    name |= {"i32": "int32", "i64": "int64", "bool": "bool"}
    if array.library == "torch":
        return f"convert it with .to(torch.{name[wanted]})"
    if wanted == "bf16":
        return "give its bits as uint16"
    return f"convert it with .astype('{name[wanted]}')"


def _dims(signature: Signature, arrays: Mapping[str, Array]) -> dict[str, int]:
    """Every dim's extent; all tensors that use it must agree, and constant extents must be as declared."""
    found: dict[str, tuple[int, str]] = {}
    for param in signature.tensors:
        shape = arrays[param.name].shape
        for axis, (dim, extent) in enumerate(zip(param.dims, shape, strict=True)):
            if isinstance(dim, int):
                if extent != dim:
                    raise ArgumentError(param.name, f"extent {dim} on axis {axis} of {param}", f"shape {shape}")
                continue
            known, owner = found.setdefault(dim, (extent, param.name))
            if extent != known:
                of = f"{dim} = {known}, the extent that {owner} has"
                if owner == param.name:
                    of = f"{dim} = {known} on every axis called {dim}"
                raise ArgumentError(param.name, f"a {param} with {of}", f"{dim} = {extent} in shape {shape}")
    return {dim: found[dim][0] for dim in signature.dims}


# ---- scalars ------------------------------------------------------------------------------------------------


def _scalar(param: ScalarParam, value: Any) -> Number:
    kind = param.type
    if isinstance(value, np.generic):
        plain: Any = value.item()
        value = plain
    if is_torch(value) or hasattr(value, "__cuda_array_interface__") or isinstance(value, np.ndarray):
        came = f"an array of type {type(value).__name__}"
        raise ArgumentError(param.name, f"a number for {kind}", came, "pass a Python number, such as x.item()")
    if kind.kind == "bool":
        if isinstance(value, bool):
            return value
        raise ArgumentError(param.name, "True or False", _shown(value))
    if kind.is_float:
        if isinstance(value, int | float):
            return _float(param, value)
        raise ArgumentError(param.name, f"a number for {kind}", _shown(value))
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(param.name, f"an integer for {kind}", _shown(value)) from None
    low, high = int_range(kind)
    if not low <= number <= high:
        raise ArgumentError(param.name, f"an integer that fits {kind}, from {low} to {high}", str(number))
    return number


def _float(param: ScalarParam, given: int | float) -> float:
    try:
        value = float(given)
    except OverflowError:
        value = math.inf if given > 0 else -math.inf
    if abs(given) != math.inf and math.isinf(rounded(param.type, value)):
        meant = "pass float('inf') if it is meant"
        raise ArgumentError(param.name, f"a number that fits {param.type}", repr(given), meant)
    return value


def rounded(kind: Scalar, value: float) -> float:
    """A float scalar rounded to its type."""
    with np.errstate(over="ignore"):
        if kind.name == "bf16":
            return float((np.uint32(bf16_bits(value)) << np.uint32(16)).view(np.float32))
        return float(FLOATS[kind.name](value))


def bf16_bits(value: float) -> int:
    """The bfloat16 next to a number, ties to even, as its bits."""
    with np.errstate(over="ignore"):
        bits = int(np.float32(value).view(np.uint32))
    if math.isnan(value):
        return (bits >> 16) | 0x40
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def int_range(kind: Scalar) -> tuple[int, int]:
    if kind.kind == "uint":
        return 0, (1 << kind.bits) - 1
    return -(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1


def _shown(value: Any) -> str:
    return f"{value!r} of type {type(value).__name__}"


# ---- promises -----------------------------------------------------------------------------------------------


def check_aligned(kernel: str, promises: tuple[Aligned, ...], bound: Bound, signature: Signature) -> None:
    """Raise for the first extent that is not the whole number of tiles that `@aligned` promises."""
    for promise in promises:
        extent = bound.dims.get(promise.dim)
        if extent is not None and extent % promise.divisor:
            owners = [p.name for p in signature.tensors if promise.dim in p.dims]
            those = f"{', '.join(owners[:-1])} and {owners[-1]} have" if owners[1:] else f"{owners[0]} has"
            raise AlignedPromiseError(
                f"{kernel}: @aligned({promise.dim} = {promise.divisor}) promises that {promise.dim} is a multiple of "
                f"{promise.divisor}, and {those} {promise.dim} = {extent}; the kernel would trap"
            )

"""Launches a kernel on the simulator: the emitted PTX, on host arrays, with every check that a launch has.

What `call` does where there is no GPU, and what `KernelHandle.simulate` does anywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phobos.artifact import Artifact
from phobos.errors import ArgumentError
from phobos.ir.types import Scalar

from . import facts, grid
from .arrays import Array, is_torch
from .bind import Bound, Number, bf16_bits, bind, check_aligned
from .variant import Launchable, allowed

if TYPE_CHECKING:
    from phobos.sim import Checks, SimResult


def simulate(
    kernel: Launchable,
    args: Sequence[Any],
    asked: int | Sequence[int] | None = None,
    check: bool = True,
    checks: Checks | None = None,
    collect: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SimResult:
    """Run the kernel's PTX on host arrays, which are written in place.

    The variant that the arguments allow is the one that a launch would take. checks: what to look for while it runs,
    everything by default. collect: give the findings in the result instead of raising the first as `SimFault`.
    progress: called with the CTAs done and the CTAs in all.
    """
    from phobos.sim import Checks, SimResult
    from phobos.sim import simulate as run
    from phobos.sim.counters import Counters

    bound = host_bound(kernel, args)
    if check:
        check_aligned(kernel.name, kernel.meaning.attributes.aligned, bound, kernel.signature)
    first = kernel.variant()
    blocks = grid.chosen(asked, first.grid, bound.dims)
    facts.refuse_larger_grid(first, bound, blocks)
    if check:
        facts.refuse_overstated(first, bound)
    made = allowed(kernel, first, bound, blocks)
    if 0 in blocks:
        return SimResult(Counters())
    names, values = parameters(made, bound)
    return run(
        made.ptx,
        made.name,
        values,
        blocks,
        (made.threads,),
        made.dynamic_shared_bytes,
        checks or Checks(),
        names=names,
        collect=collect,
        progress=progress,
    )


def host_bound(kernel: Launchable, args: Sequence[Any]) -> Bound:
    """The arguments, checked, all of them in the host's memory."""
    bound = bind(kernel.name, kernel.signature, tuple(args))
    for name, array in bound.arrays.items():
        if array.on_device:
            raise ArgumentError(name, "a NumPy array, since the kernel does not run on a GPU here", f"a {array}")
    return bound


def parameters(made: Artifact, bound: Bound) -> tuple[list[str], list[Any]]:
    """Names and values in ABI order (`docs/abi.md`)."""
    signature = made.signature
    extent = np.int32 if made.index_bits == 32 else np.int64
    named: list[tuple[str, Any]] = [(p.name, as_numpy(bound.arrays[p.name], p.elem)) for p in signature.tensors]
    named += [(dim, extent(bound.dims[dim])) for dim in signature.dims]
    named += [(f"stride {axis} of {t}", extent(bound.arrays[t].steps[axis])) for t, axis in made.strides]
    named += [(p.name, _scalar(p.type, bound.scalars[p.name])) for p in signature.scalars]
    return [name for name, _ in named], [value for _, value in named]


def _scalar(kind: Scalar, value: Number) -> Any:
    """A number with the bits that the parameter has."""
    if kind.name == "bf16":
        return np.uint16(bf16_bits(value))
    types = {"bool": np.uint8, "f16": np.float16, "f32": np.float32, "f64": np.float64}
    ints = {"i8": np.int8, "u8": np.uint8, "i32": np.int32, "i64": np.int64}
    made: Any = {**types, **ints}[kind.name]
    return made(value)


def as_numpy(array: Array, elem: Scalar) -> np.ndarray[Any, Any]:
    """The host array as NumPy sees it, sharing its memory; bfloat16 as uint16."""
    bits = np.uint16 if elem.name == "bf16" else None
    found: np.ndarray[Any, Any]
    if isinstance(array.owner, np.ndarray):
        found = array.owner
    elif is_torch(array.owner):
        plain = array.owner.detach()
        found = plain.view(sys.modules["torch"].int16).numpy() if bits else plain.numpy()
    else:
        found = np.from_dlpack(array.owner[0])
    return found.view(bits) if bits else found

"""The blocks of a launch: what the kernel's subscripts imply for these extents, or what the caller asks for."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence

from phobos.errors import ArgumentError
from phobos.ir.kernel import GridAxis

AXES = ("x", "y", "z")
LIMITS = (2**31 - 1, 65535, 65535)
Grid = tuple[int, int, int]


def inferred(axes: Sequence[GridAxis], dims: Mapping[str, int]) -> tuple[int | None, ...]:
    """Blocks per axis, ceil(extent / tile); None where the kernel does not say."""
    found: list[int | None] = []
    for axis in axes:
        extent = dims[axis.extent] if isinstance(axis.extent, str) else axis.extent
        found.append(None if axis.unknown else -(-extent // axis.tile))
    return tuple(found)


def chosen(asked: int | Sequence[int] | None, axes: Sequence[GridAxis], dims: Mapping[str, int]) -> Grid:
    """The grid of a launch. asked: the caller's `grid=`, blocks along x or along x, y and z."""
    if asked is not None:
        grid = _asked(asked)
    else:
        implied = inferred(axes, dims)
        unknown = [f"{AXES[i]}: {axes[i].unknown}" for i, n in enumerate(implied) if n is None]
        if unknown:
            raise ArgumentError("grid", "grid=(x, y, z), since it cannot be inferred", "none", "; ".join(unknown))
        grid = (implied[0] or 0, implied[1] or 0, implied[2] or 0)
    for axis, blocks, limit in zip(AXES, grid, LIMITS, strict=True):
        if blocks > limit:
            raise ArgumentError("grid", f"at most {limit} blocks along {axis}", str(blocks), "use larger tiles")
    return grid


def _asked(asked: int | Sequence[int]) -> Grid:
    try:
        blocks = [operator.index(n) for n in (asked if isinstance(asked, Sequence) else (asked,))]
    except TypeError:
        blocks = []
    if not 1 <= len(blocks) <= 3 or min(blocks) < 0:
        raise ArgumentError("grid", "an integer or up to three, none negative", repr(asked))
    x, y, z = (*blocks, 1, 1)[:3]
    return x, y, z

"""Loads and stores on the caller's arrays, with guards; an access that no guard masks must lie in the tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.core import Op, Value
from ..ir.printer import print_op
from ..ir.types import Scalar
from .numbers import Array, held, to_held, to_stored

Ints = np.ndarray[Any, np.dtype[np.int64]]


class InterpError(Exception):
    """What the kernel may not do: says the op and its place."""

    def __init__(self, op: Op, message: str) -> None:
        super().__init__(f"{op.span}: {message}\n  in {print_op(op)}")
        self.op = op


class TrapError(InterpError):
    """A `require` whose condition is false: the launch broke a promise."""


@dataclass(frozen=True, eq=False, slots=True)
class Access:
    """One access of an op to a tensor, with every number known.

    extents are what the op was given; they must be the array's. ends: where "hi" masks from.
    """

    op: Op
    tensor: Value
    elem: Scalar
    array: np.ndarray[Any, Any]
    offsets: tuple[int, ...]
    extents: tuple[int, ...]
    guards: tuple[str, ...]
    ends: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_extents(self.op, self.tensor, self.array, self.extents)

    def _fail(self, message: str) -> None:
        raise InterpError(self.op, message)

    def _axes(self, shape: tuple[int, ...]) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """For each axis the coordinates that the access touches and their places in the tile."""
        axes = []
        for offset, end, guard, length in zip(self.offsets, self.ends or self.extents, self.guards, shape, strict=True):
            at = offset + np.arange(length)
            kept = np.ones(length, bool)
            if guard in ("hi", "both"):
                kept &= at < end
            if guard in ("lo", "both"):
                kept &= at >= 0
            axes.append((at[kept], np.flatnonzero(kept)))
        if all(len(at) for at, _ in axes):  # else the guards of one axis mask the whole access
            for axis, (at, _) in enumerate(axes):
                self._check(axis, at)
        return axes

    def _check(self, axis: int, at: np.ndarray[Any, Any]) -> None:
        extent = self.array.shape[axis]
        outside = at[(at < 0) | (at >= extent)]
        if len(outside):
            where = f"axis {axis} of {self.tensor}"
            guard = self.guards[axis] or "none"
            self._fail(f"index {outside[0]} of {where} is outside its extent {extent} (guard there: {guard})")

    def load(self, shape: tuple[int, ...]) -> Array:
        """A tile of a shape; masked elements are 0."""
        axes = self._axes(shape)
        out = np.zeros(shape, held(self.elem))
        if out.size and all(len(at) for at, _ in axes):
            found = self.array[np.ix_(*(at for at, _ in axes))]
            out[np.ix_(*(place for _, place in axes))] = to_held(found, self.elem)
        return out

    def store(self, values: Array) -> None:
        """Write a tile; masked elements are skipped."""
        axes = self._axes(values.shape)
        if all(len(at) for at, _ in axes):
            kept = values[np.ix_(*(place for _, place in axes))]
            self.array[np.ix_(*(at for at, _ in axes))] = to_stored(kept, self.elem)


@dataclass(frozen=True, eq=False, slots=True)
class ThreadAccess:
    """One access of single threads to a tensor, with no guards: a row of elements for each thread that makes it.

    threads: their numbers in the CTA, ascending. at: for each axis the coordinates, [rows, elements of a row].
    """

    op: Op
    tensor: Value
    elem: Scalar
    array: np.ndarray[Any, Any]
    threads: Ints
    at: tuple[Ints, ...]

    def __post_init__(self) -> None:
        outside = np.array([(at < 0) | (at >= n) for at, n in zip(self.at, self.array.shape, strict=True)])
        if not outside.any():
            return
        row, axis, place = np.argwhere(outside.transpose(1, 0, 2))[0]
        raise InterpError(
            self.op,
            f"index {self.at[axis][row, place]} of axis {axis} of {self.tensor} is outside its extent "
            f"{self.array.shape[axis]} in thread {self.threads[row]} (guard there: none)",
        )

    def load(self) -> Array:
        """The rows."""
        return to_held(self.array[self.at], self.elem)

    def store(self, rows: Array) -> None:
        """Write the rows, one after another, so that of two that write an element the later thread's stays."""
        flat = tuple(np.ascontiguousarray(at).reshape(-1) for at in self.at)  # NumPy may reorder more than one axis
        self.array[flat] = to_stored(np.ascontiguousarray(rows).reshape(-1), self.elem)

    def change(self, renew: Callable[..., Array], values: Sequence[Array]) -> Array:
        """Give each thread's element a new value, those of one element one thread after another: what each one found.

        values: for each of the operands of `renew` after the element itself, one for each thread.
        """
        places = tuple(at[:, 0] for at in self.at)
        flat = np.ravel_multi_index(places, self.array.shape)
        found = np.zeros(len(flat), held(self.elem))
        left = np.arange(len(flat))
        while len(left):
            _, first = np.unique(flat[left], return_index=True)
            now = left[first]
            where = tuple(at[now] for at in places)
            found[now] = to_held(self.array[where], self.elem)
            self.array[where] = to_stored(renew(found[now], *(v[now] for v in values)), self.elem)
            left = np.delete(left, first)
        return found


def check_extents(op: Op, tensor: Value, array: np.ndarray[Any, Any], extents: tuple[int, ...]) -> None:
    """What an op was given must be the array's."""
    for axis, (given, actual) in enumerate(zip(extents, array.shape, strict=True)):
        if given != actual:
            raise InterpError(op, f"extent of axis {axis} of {tensor} is {actual}, the op takes {given}")

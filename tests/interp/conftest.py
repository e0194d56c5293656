"""Fixtures: run one op on arrays, through a kernel that loads, applies it and stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from phobos.interp import run
from phobos.interp.numbers import stored
from phobos.ir.parser import parse
from phobos.ir.types import SCALARS
from phobos.ir.verify import verify

Array = np.ndarray[Any, Any]
Evaluate = Callable[..., Array]


def shape_text(array: Array) -> str:
    return f"[{', '.join(map(str, array.shape))}]"


@pytest.fixture
def evaluate() -> Evaluate:
    """evaluate('binary(%a, %b) {kind = "add"}', "f32", a=(..., "f32"), b=(..., "f32")): the op's result.

    Inputs are tiles of any rank with their element types; out is an element type, shape the result's (an input's when
    not given). bf16 goes in and comes out as bit patterns.
    """

    def evaluate(op: str, out: str, shape: tuple[int, ...] | None = None, **inputs: tuple[Any, str]) -> Array:
        arrays = {name: np.asarray(value, stored(SCALARS[elem])) for name, (value, elem) in inputs.items()}
        result = np.zeros(shape or next(iter(arrays.values())).shape, stored(SCALARS[out]))
        tensors = [f"%T{n}: tensor<{inputs[n][1]}>{shape_text(a)}" for n, a in arrays.items()]
        tensors.append(f"%OUT: tensor<{out}>{shape_text(result)}")
        lines = []
        sizes = sorted({n for a in (*arrays.values(), result) for n in (*a.shape, 0)})
        lines += [f"%n{n}: index = const() {{value = {n}}}" for n in sizes]

        def access(tensor: str, array: Array, value: str = "") -> str:
            zeros, extents = (", ".join(names) for names in (["%n0"] * array.ndim, [f"%n{n}" for n in array.shape]))
            guards = ", ".join(['""'] * array.ndim)
            return f"(%{tensor}, [{zeros}], [{extents}]{value}) {{guards = [{guards}]}}"

        for n, a in arrays.items():
            lines.append(f"%{n}: tile<{inputs[n][1]}>{shape_text(a)} = load{access('T' + n, a)}")
        lines.append(f"%out: tile<{out}>{shape_text(result)} = {op}")
        lines.append("store" + access("OUT", result, ", %out"))
        body = "\n".join(lines)
        kernel = parse(f'kernel k({", ".join(tensors)}; ; )\nform "folded"\n{{\n{body}\n}}')
        assert verify(kernel) == []
        run(kernel, {f"T{n}": a for n, a in arrays.items()} | {"OUT": result}, {}, (1, 1, 1))
        return result

    return evaluate

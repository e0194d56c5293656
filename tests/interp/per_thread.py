"""Kernels of per-thread code as text, for the interpreter's tests: numbers and thread indices are there by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from phobos.interp import run
from phobos.ir.kernel import Kernel
from phobos.ir.parser import parse
from phobos.ir.verify import verify

Array = np.ndarray[Any, Any]
THREADS = 64
T = np.arange(THREADS)
NUMBERS = "\n".join(f"%n{n}: index = const() {{value = {n}}}" for n in (0, 1, 2, 3, 4, 32))
NAMES = "\n".join(f'%{kind}: index = thread_index() {{kind = "{kind}"}}' for kind in ("thread", "warp", "lane"))
OUT = "%O: tensor<i32>[P]"
XO = "%X: tensor<f32>[M], %O: tensor<f32>[P]"
MP = "%M: index, %P: index"
PUT = 'store_point(%O, [%thread], [%P], %out) {scope = "thread"}'


def kernel(body: str, tensors: str = OUT, dims: str = "%P: index", scalars: str = "", threads: int = THREADS) -> Kernel:
    """A kernel after the constants and thread indices that have names."""
    head = (
        f'kernel k({tensors}; {dims}; {scalars})\nform "guarded"\nattributes {{launch = launch(threads = {threads})}}'
    )
    made = parse(f"{head}\n{{\n{NUMBERS}\n{NAMES}\n{body}\n}}", "k.tile")
    assert verify(made) == []
    return made


def i32(name: str, value: str) -> str:
    """An index as an i32."""
    return f"%{name}: i32 = cast(%{value})"


def outcome(body: str, **scalars: int) -> list[int]:
    """What `PUT` leaves, one number a thread; -1 where it does not happen. Scalars are index."""
    out = np.full(THREADS, -1, np.int32)
    run(kernel(body, scalars=", ".join(f"%{s}: index" for s in scalars)), {"O": out}, scalars, (1, 1, 1))
    return list(map(int, out))


def under(text: str, cond: str = '%low: bool = compare(%lane, %n4) {kind = "lt"}') -> str:
    """Something that only the lanes below 4 do."""
    return f"{cond}\nif(%low) then {{\n{text}\nyield([])\n}} orelse {{ yield([]) }}\n"

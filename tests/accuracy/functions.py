"""The functions of 6.1, what each is exactly, and the bounds that `docs/spec.md` promises for it.

`run` compiles all functions of one type into one kernel and runs it, in the simulator or on the GPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import phobos
from tests.accuracy.reference import FORMATS, WIDE, Array, errors, stored, unit, wide

SPEC = (Path(__file__).parents[2] / "docs" / "spec.md").read_text()
TWO_PI, HUNDRED_PI = WIDE(2) * WIDE(np.pi), WIDE(100) * WIDE(np.pi)

EXACT: dict[str, Callable[..., Array]] = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "tanh": np.tanh, "sin": np.sin, "cos": np.cos,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "abs": np.abs, "floor": np.floor, "ceil": np.ceil,
    "round": np.rint, "pow": np.power,
}  # fmt: skip
PLAIN = ("abs", "floor", "ceil", "round")
UNARY = [name for name in EXACT if name != "pow"]


def _logarithm(relative: float) -> Callable[..., Array]:
    def bound(want: Array, x: Array) -> Array:
        return np.where((x > 0.5) & (x < 2), 2.0**-22, relative * np.abs(want))

    return bound


def _waves(want: Array, x: Array) -> Array:
    size = np.abs(x)
    return np.where(size <= TWO_PI, 2.0**-20, np.where(size <= HUNDRED_PI, 2.0**-14, np.inf))


def _power(want: Array, x: Array, y: Array) -> Array:
    """The error of the logarithm is multiplied by y in the exponent: of the result it is a factor."""
    exponent = np.abs(y) * np.maximum(1, np.abs(np.log2(np.abs(x)))) * 2.0**-22
    return ((1 + 2.0**-22) * np.exp2(exponent) - 1) * np.abs(want)


DEFAULT: dict[str, tuple[str, Callable[..., Array]]] = {
    "exp": (r"(1 + \|x\|) 2^-22 relative", lambda want, x: (1 + np.abs(x)) * 2.0**-22 * want),
    "exp2": (r"2^-22 relative", lambda want, x: 2.0**-22 * want),
    "log": (r"2^-22 for x in (1/2, 2), else 2^-21 relative", _logarithm(2.0**-21)),
    "log2": (r"2^-22 for x in (1/2, 2), else 2^-22 relative", _logarithm(2.0**-22)),
    "tanh": (r"2^-10.9 relative", lambda want, x: 2.0**-10.9 * np.abs(want)),
    "sin": (r"2^-20 for \|x\| <= 2 pi, 2^-14 to 100 pi", _waves),
    "cos": (r"2^-20 for \|x\| <= 2 pi, 2^-14 to 100 pi", _waves),
    "rsqrt": (r"2^-22 relative", lambda want, x: 2.0**-22 * want),
    "pow": (
        r"2^-22 relative, and a factor of 2^(\|y\| max(1, \|log2 x\|) 2^-22)",
        _power,
    ),
}
"""Of f32: the words of the specification and the bound itself, beside which a subnormal result may be rounded."""


def spec_row(name: str) -> list[str]:
    """The cells of a function's row in the table of 6.1."""
    found = re.search(rf"^\| [^|]*`{name}`[^|]*\|(.*)\|$", SPEC.partition("### 6.1")[2], re.MULTILINE)
    assert found, f"no row for {name}"
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", found[1])]


def accurate_ulps(name: str) -> float:
    """What the specification says of the accurate function, in units of the last place."""
    cell = spec_row(name)[1]
    return 0.5 if cell == "correctly rounded" else float(cell.removesuffix(" ulp"))


@dataclass(frozen=True)
class Case:
    """One type, accurate or not, in the simulator of a chip's code; on the GPU where no chip is named."""

    elem: str
    precise: bool
    chip: str | None = "sm_80"

    def __str__(self) -> str:
        return f"{self.elem}{'-precise' if self.precise else ''}{'-' + self.chip if self.chip else ''}"


def allowed(name: str, case: Case, want: Array, args: Sequence[Array]) -> Array:
    """How far from the exact result an element may be."""
    elem, u = case.elem, unit(want, case.elem)
    if name in PLAIN:
        return 0 * u
    if name == "sqrt":
        return u * (0.5 + 2.0**-10 * (elem == "f64"))
    if case.precise or elem == "f64":
        own = accurate_ulps(name) * unit(want, elem if elem == "f64" else "f32")
        # 2**-10: what the extended reference may lack; a rounding decided by less than that is not judged.
        return own + u * (0.5 if elem in ("f16", "bf16") else 2.0**-10)
    bound = 2.0**-21 if name == "tanh" and case.chip == "sm_70" else DEFAULT[name][1](want, *args)
    bound = np.where(np.isnan(bound), 0, bound)  # infinite arguments of a result that is 0
    # An f32 result is rounded, by the hardware at the latest.
    return bound + (unit(want, "f32") * 2.0 ** -(0 if elem == "f32" else 1) + (u / 2 if elem != "f32" else 0))


def kernel(elem: str, precise: bool, names: Sequence[str], arity: int) -> str:
    """A kernel that applies every function to whole tensors."""
    inputs = ["X", "Y"][:arity]
    params = [*inputs, *(f"R_{name}" for name in names)]
    loads = "".join(f"  let {x.lower()} = {x}[i :+ 128]\n" for x in inputs)
    body = "".join(f"  R_{n}[i :+ 128] = {n}({', '.join(x.lower() for x in inputs)})\n" for n in names)
    attributes = "@precise\n@launch(128)\n" if precise else "@launch(128)\n"
    signature = ", ".join(f"{p}: tensor<{elem}>[N]" for p in params)
    return f"{attributes}kernel f({signature}) {{\n  let i = ctx.block.x * 128\n{loads}{body}}}\n"


def run(case: Case, names: Sequence[str], args: Sequence[Array]) -> dict[str, Array]:
    """The results of each function, from the simulator where a chip is named, else from the GPU."""
    handle: Any = phobos.compile(kernel(case.elem, case.precise, names, len(args)), target=case.chip).f
    count = -(-len(args[0]) // 128) * 128
    padded = [np.resize(a, count) for a in args]
    results = {name: np.zeros(count, stored(case.elem)) for name in names}
    if case.chip:
        handle.simulate([*padded, *results.values()])
    else:
        handle(*padded, *results.values())
    return {name: r[: len(args[0])] for name, r in results.items()}


def judge(case: Case, names: Sequence[str], args: Sequence[Array]) -> list[str]:
    """Each function's worst results beyond its bound, in words."""
    found = []
    numbers = [wide(a, case.elem) for a in args]
    for name, got in run(case, names, args).items():
        want = EXACT[name](*numbers)
        for i in errors(got, want, case.elem, allowed(name, case, want, numbers))[:3]:
            at = ", ".join(str(n[i]) for n in numbers)
            off = abs(wide(got, case.elem)[i] - want[i]) / unit(want, case.elem)[i]
            found.append(f"{name}({at}) is {wide(got, case.elem)[i]}, not {want[i]}: {float(off):.3} ulp")
    return found


def every_pattern() -> Array:
    """Every 16-bit pattern."""
    return np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)


def samples(elem: str, count: int, seed: int) -> Array:
    """Of all sizes, of sizes near 1, near multiples of pi/2, near 1 itself, and numbers where something changes."""
    rng = np.random.default_rng(seed)
    dtype, f = stored(elem), FORMATS[elem]
    word = np.dtype(f"u{np.dtype(dtype).itemsize}")
    some = count // 5
    near_one = 1 + rng.standard_normal(some) * 2.0 ** rng.uniform(-f.precision, 0, some)
    reach = (f.most + f.precision) * 0.75
    parts = [
        rng.integers(0, np.iinfo(word).max, some, word, endpoint=True).view(dtype),
        rng.uniform(-reach, reach, some),
        rng.standard_normal(some),
        near_one,
        np.pi / 2 * rng.integers(-(10**6), 10**6, some),
        edges(elem),
    ]
    return np.concatenate([p.astype(dtype) for p in parts])


def edges(elem: str) -> Array:
    """Zeros, infinities, NaN, the ends of the ranges of numbers, of exp, exp2, sin's parts and of whole numbers."""
    f = FORMATS[elem]
    tiny, least, end = (np.ldexp(1.0, n) for n in (f.least - f.precision + 1, f.least, f.most))
    huge = end * (2 - np.ldexp(1.0, 1 - f.precision))
    low, high = np.log(tiny / 2), np.log(huge)
    whole = np.ldexp(1.0, f.precision)
    base = [0.0, tiny, least, least - tiny, huge, end, np.inf, np.nan, 1.0, 0.5, 2.0, 3.0, 1.5, 2.5, 1 / 3, np.pi / 4,
            np.pi / 2, np.pi, 2 * np.pi, np.sqrt(2), np.sqrt(0.5), low, high, f.most, f.most + 1, f.least,
            f.least - f.precision + 1, f.least - f.precision, whole, whole - 1, whole / 2 + 0.5, whole * 2]  # fmt: skip
    exact = np.array([*base, *(-x for x in base)]).astype(stored(elem))
    return np.concatenate(
        [exact, np.nextafter(exact, exact.dtype.type(0)), np.nextafter(exact, exact.dtype.type(np.inf))]
    )

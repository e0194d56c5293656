"""What exact results are, and how far from them a result may lie: NumPy's extended precision, rounded by hand.

Extended numbers have 64 bits or more, so an f64 function is judged to 2**-11 of its last place. Where they are no wider
than f64 (not on x86 and Linux) these tests cannot judge and fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
WIDE = np.longdouble
assert np.finfo(WIDE).nmant >= 63, "NumPy's longdouble is no wider than f64 here"


@dataclass(frozen=True)
class Format:
    """A float type: bits of its significand, the exponents of its least and greatest normal numbers."""

    stored: type[np.generic]
    precision: int
    least: int
    most: int


FORMATS = {
    "f16": Format(np.float16, 11, -14, 15),
    "bf16": Format(np.uint16, 8, -126, 127),
    "f32": Format(np.float32, 24, -126, 127),
    "f64": Format(np.float64, 53, -1022, 1023),
}
INTEGERS = {"i8": np.int8, "u8": np.uint8, "i32": np.int32, "i64": np.int64}


def stored(elem: str) -> type[np.generic]:
    """The NumPy type of an array that a kernel takes."""
    return FORMATS[elem].stored if elem in FORMATS else INTEGERS.get(elem, np.bool_)


def wide(array: Array, elem: str) -> Array:
    """A kernel's elements as extended numbers, exactly."""
    if elem == "bf16":
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(WIDE)
    return array.astype(WIDE)


def unit(x: Array, elem: str) -> Array:
    """The unit in the last place of the format at numbers of this size, in the subnormal range too."""
    f = FORMATS[elem]
    _, exponent = np.frexp(np.where(np.isfinite(x), x, 0))
    return np.ldexp(WIDE(1), np.clip(exponent - 1, f.least, f.most) - (f.precision - 1))


def rounded(x: Array, elem: str) -> Array:
    """To the format's nearest number, ties to even, as extended numbers."""
    f, u = FORMATS[elem], unit(x, elem)
    near = np.rint(x / u) * u
    beyond = np.abs(near) >= np.ldexp(WIDE(1), f.most + 1)
    return np.where(np.isfinite(x), np.where(beyond, np.copysign(WIDE(np.inf), x), near), x)


def errors(got: Array, want: Array, elem: str, allowed: Array | float) -> Array:
    """The indices of results whose distance from the exact one is more than is allowed.

    A result may be infinite where the exact one lies so near to the format's end; a NaN must be one, an infinity too;
    a zero keeps the exact result's sign.
    """
    x = wide(got, elem)
    end = np.ldexp(WIDE(2), FORMATS[elem].most)
    as_far = np.where(np.isinf(x), np.copysign(end, x), x)
    target = np.where(np.abs(want) > end, np.copysign(end, want), want)
    wrong = ~(np.abs(as_far - target) <= allowed) | np.isnan(x)
    wrong |= (want == 0) & (np.signbit(x) != np.signbit(want))
    same = (np.isnan(x) & np.isnan(want)) | (np.isinf(want) & (x == want))
    return np.flatnonzero(np.where(np.isfinite(want), wrong, ~same))

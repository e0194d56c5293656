"""Every conversion between number types (2.10), against integer and extended arithmetic (N05, N10, N11).

Sources of 8 and 16 bits are exhaustive; of the others, samples of all sizes and what lies beside each place where a
conversion changes: ties, ends of ranges, the largest whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import phobos
from tests.accuracy.functions import edges, every_pattern, samples
from tests.accuracy.reference import FORMATS, INTEGERS, Array, rounded, stored, wide

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
TYPES = [*FORMATS, *INTEGERS]


def source(elem: str) -> Array:
    """The numbers to convert."""
    if elem in ("f16", "bf16"):
        return every_pattern().view(stored(elem))
    if elem in ("i8", "u8"):
        return np.arange(256).astype(np.uint8).view(stored(elem))
    if elem in INTEGERS:
        return _integers(elem)
    # The last bits that each narrower format keeps, and a tie between them, for numbers of all sizes.
    random = samples(elem, 5_000, seed=1)
    ties = [rounded(random.astype(np.longdouble), to) for to in FORMATS if to != elem]
    halves = [random.astype(stored(elem)), *(t.astype(stored(elem)) for t in ties)]
    between = [(t + np.nextafter(t.astype(stored(elem)), np.inf)) / 2 for t in halves]
    limits = [float(np.iinfo(i).max) for i in INTEGERS.values()] + [float(np.iinfo(i).min) for i in INTEGERS.values()]
    around = np.concatenate([np.array(limits) + d for d in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2.5)])
    all_of_them = np.concatenate([*halves, *between, around, edges(elem), _ties(elem)]).astype(stored(elem))
    return np.concatenate([all_of_them, np.nextafter(all_of_them, stored(elem)(np.inf))])


def _ties(elem: str) -> Array:
    """Numbers midway between two of f16, and of bf16."""
    found = []
    for narrow in ("f16", "bf16"):
        x = wide(every_pattern()[: 1 << 15].view(stored(narrow)), narrow)
        found.append((x[:-1] + x[1:]) / 2)
    positive = np.concatenate(found)[::7]
    return np.concatenate([positive, -positive]).astype(stored(elem))


def _integers(elem: str) -> Array:
    """Powers of two and their neighbours, ties of each float format, random ones of all sizes."""
    rng, bits = np.random.default_rng(2), np.iinfo(INTEGERS[elem]).bits
    made = [0, *(s * ((1 << b) + d) for b in range(bits) for d in range(-3, 4) for s in (1, -1))]
    for f in FORMATS.values():
        for b in range(f.precision, bits - 1):
            tie = (1 << b) | (1 << (b - f.precision))
            step = 1 << (b - f.precision + 1)
            made += [s * (t + d) for t in (tie, tie + step) for d in (-1, 0, 1) for s in (1, -1)]
    made += [int(x) >> int(rng.integers(0, bits)) for x in rng.integers(-(2**63), 2**63 - 1, 3000)]
    mask = (1 << bits) - 1
    return np.array([m & mask for m in made], np.uint64).astype(f"u{bits // 8}").view(INTEGERS[elem])


def expected(x: Array, elem: str, to: str) -> Array:
    """What the conversion must give, as extended numbers or, for an integer, in its type."""
    if to in FORMATS:
        return rounded(wide(x, elem), to)
    if elem in INTEGERS:
        return x.astype(INTEGERS[to])  # wraps
    limits, whole = np.iinfo(INTEGERS[to]), np.trunc(wide(x, elem))
    clipped = np.clip(np.where(np.isnan(whole), 0, whole), np.longdouble(limits.min), np.longdouble(limits.max))
    return clipped.astype(INTEGERS[to])


def converted(elem: str, x: Array, chip: str | None) -> dict[str, Array]:
    """The source in every type, by one kernel."""
    params = ", ".join(f"R_{to}: tensor<{to}>[N]" for to in TYPES)
    body = "".join(f"  R_{to}[i :+ 128] = {to}(x)\n" for to in TYPES)
    text = f"@launch(128)\nkernel f(X: tensor<{elem}>[N], {params}) {{\n  let i = ctx.block.x * 128\n"
    handle: Any = phobos.compile(f"{text}  let x = X[i :+ 128]\n{body}}}\n", target=chip).f
    count = -(-len(x) // 128) * 128
    results = {to: np.zeros(count, stored(to)) for to in TYPES}
    arguments = [np.resize(x, count), *results.values()]
    if chip:
        handle.simulate(arguments)
    else:
        handle(*arguments)
    return {to: r[: len(x)] for to, r in results.items()}


def wrong(elem: str, chip: str | None) -> list[str]:
    """The first conversions of each kind that are not as expected, in words."""
    x, found = source(elem), []
    for to, got in converted(elem, x, chip).items():
        want, have = expected(x, elem, to), wide(got, to) if to in FORMATS else got
        same = (have == want) & (np.signbit(have) == np.signbit(want)) | (np.isnan(have) & np.isnan(want))
        first = np.flatnonzero(~same)
        found += [f"{to}({elem} {wide(x, elem)[i]}) is {have[i]}, not {want[i]}; {len(first)}" for i in first[:2]]
    return found


@pytest.mark.parametrize(
    ("elem", "chip"),
    [(elem, chip) for chip in ("sm_75", "sm_80", "sm_90a") for elem in TYPES if chip != "sm_80" or elem[0] in "bi"],
)
def test_conversions(elem: str, chip: str) -> None:
    assert wrong(elem, chip) == []


def test_bool_is_0_or_1_and_becomes_a_number_where_it_is_written() -> None:
    x = np.array([True, False, True, True] * 32)
    assert all(np.array_equal(wide(r, to), x.astype(float)) for to, r in converted("bool", x, "sm_80").items())


def test_the_interpreter_converts_alike() -> None:
    """What the other judges go by."""
    from phobos.interp import numbers
    from phobos.ir.types import SCALARS

    for elem in TYPES:
        x = source(elem)
        for to in TYPES:
            made = numbers.cast(numbers.to_held(x, SCALARS[elem]), SCALARS[elem], SCALARS[to])
            have, want = made.astype(np.longdouble), np.asarray(expected(x, elem, to)).astype(np.longdouble)
            assert np.all((have == want) | (np.isnan(have) & np.isnan(want))), (elem, to)

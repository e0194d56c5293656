"""Every function within the bound that the specification has for it (B130, N02): the emitted PTX, in the simulator.

The simulator's approximate instructions are better than the hardware's, so what is judged of the default on f32 is
the formula around them; `test_gpu.py` judges the hardware.
"""

from __future__ import annotations

import numpy as np
import pytest

from phobos.codegen import exact
from tests.accuracy import functions
from tests.accuracy.functions import DEFAULT, UNARY, Case, edges, every_pattern, judge, samples, spec_row
from tests.accuracy.reference import FORMATS, stored

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("precise", [False, True], ids=["default", "precise"])
@pytest.mark.parametrize("elem", ["f16", "bf16"])
def test_every_16_bit_number(elem: str, precise: bool) -> None:
    assert judge(Case(elem, precise), UNARY, [every_pattern().view(stored(elem))]) == []


CASES = [Case("f32", False), Case("f32", True), Case("f64", False), Case("f32", False, "sm_70")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_samples(case: Case) -> None:
    assert judge(case, UNARY, [samples(case.elem, 30_000, seed=1)]) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_more_samples(case: Case) -> None:
    for seed in range(2, 8):
        assert judge(case, UNARY, [samples(case.elem, 200_000, seed)]) == []


@pytest.mark.slow
def test_every_f32_significand_has_its_reciprocal_root() -> None:
    """rsqrt under @precise is correctly rounded: exhaustive over two binades, which is all there is to it."""
    for start in range(0, 1 << 24, 1 << 20):
        x = (np.arange(start, start + (1 << 20), dtype=np.uint32) + np.uint32(0x3F800000)).view(np.float32)
        got = functions.run(Case("f32", True), ["rsqrt"], [x])["rsqrt"]
        want = 1 / np.sqrt(x.astype(np.longdouble))
        assert np.array_equal(got, want.astype(np.float32))


def powers(elem: str, count: int, seed: int) -> list[np.ndarray]:
    """Bases and exponents: of all kinds, those whose power is of moderate size, and every pair of edges."""
    dtype = stored(elem)
    rng = np.random.default_rng(seed)
    a, b = samples(elem, count, seed), rng.permutation(samples(elem, count, seed + 1))
    moderate = np.exp(rng.uniform(-20, 20, count)), rng.uniform(-30, 30, count)
    whole = rng.uniform(-20, 20, count), rng.integers(-20, 20, count)
    x, y = np.meshgrid(edges(elem)[::2], edges(elem)[::2])
    pairs = [(a, b), (np.abs(a), b / dtype(3)), moderate, whole, (x.ravel(), y.ravel())]
    return [np.concatenate([np.asarray(p[i]).astype(dtype) for p in pairs]) for i in (0, 1)]


@pytest.mark.parametrize("case", [Case("f16", False), Case("f16", True), *CASES[:3]], ids=str)
def test_pow(case: Case) -> None:
    assert judge(case, ["pow"], powers(case.elem, 15_000, seed=1)) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES[:3], ids=str)
def test_more_of_pow(case: Case) -> None:
    for seed in range(2, 6):
        assert judge(case, ["pow"], powers(case.elem, 100_000, seed)) == []


def test_the_specification_has_these_bounds() -> None:
    for name, (words, _) in DEFAULT.items():
        assert spec_row(name)[0] == words


def test_no_approximation_stands_in_for_an_accurate_function_and_nothing_is_flushed() -> None:
    import phobos

    for elem in FORMATS:
        for precise in (False, True):
            text = functions.kernel(elem, precise, UNARY, 1)
            ptx = phobos.compile(text, target="sm_80").f.ptx
            assert ".ftz" not in ptx.replace("rcp.approx.ftz.f64", "")
            if precise or elem == "f64":
                assert ".approx" not in ptx
                assert precise is False or elem == "f64" or ".f64" not in ptx


def test_constants_are_what_they_are_called() -> None:
    """The series agree with Python's own constants, and with other series of the same numbers, to 1200 bits."""
    assert float(exact.ln2(400)) == np.log(2.0)
    assert float(exact.pi(400)) == np.pi
    bits, guard = 1200, 1300
    # ln 2 = 1 - 1/2 + 1/3 .. is slow; sum 1 / (k 2**k) is not. pi by Euler: 20 atan(1/7) + 8 atan(3/79).
    ln2 = sum((1 << guard) // (k << k) for k in range(1, guard))
    assert abs(ln2 - exact.ln2(guard) * (1 << guard)) < 1 << (guard - bits)

    def atan(p: int, q: int) -> int:
        power, total, k = (p << guard) // q, 0, 1
        while power:
            total += power // k * (1 if k % 4 == 1 else -1)
            power, k = power * p * p // (q * q), k + 2
        return total

    assert abs(20 * atan(1, 7) + 8 * atan(3, 79) - exact.pi(guard) * (1 << guard)) < 1 << (guard - bits)


@pytest.mark.parametrize("elem", ["f16", "bf16", "f32", "f64"])
def test_scalars_and_runs_are_computed_as_tiles_are(elem: str) -> None:
    """Bit for bit."""
    names = [*UNARY, "pow", "min", "max"]
    calls = [f"{n}({'{x}' if n in UNARY else '{x}, {x}'})" for n in names]
    outputs = ", ".join(f"{kind}{i}: tensor<{elem}>[N]" for kind in "TSV" for i in range(len(names)))
    tile = "".join(f"  T{i}[b :+ 128] = {c.format(x='t')}\n" for i, c in enumerate(calls))
    scalar = "".join(f"  S{i}[b + ctx.thread] = {c.format(x='s')}\n" for i, c in enumerate(calls))
    run = "".join(f"  store(V{i}[b + 4 * ctx.thread :+ 4], {c.format(x='v')})\n" for i, c in enumerate(calls))
    text = (
        f"@launch(128)\nkernel f(X: tensor<{elem}>[N], {outputs}) {{\n  let b = ctx.block.x * 128\n"
        f"  let t = X[b :+ 128]\n{tile}  let s = X[b + ctx.thread]\n{scalar}"
        f"  if ctx.thread < 32 {{\n  let v = elem(X[b + 4 * ctx.thread :+ 4])\n{run}  }}\n}}\n"
    )
    import phobos

    x = samples(elem, 2_000, seed=9)[-256:] if elem != "bf16" else every_pattern()[::256].copy()
    results = {(kind, i): np.zeros(256, stored(elem)) for kind in "TSV" for i in range(len(names))}
    phobos.compile(text, target="sm_80").f.simulate([x, *results.values()])
    for i, name in enumerate(names):
        for kind in "SV":
            assert results[kind, i].tobytes() == results["T", i].tobytes(), (name, kind)

"""cvt: integers, floats, narrow floats and packed forms, with values from the ISA's rules and the formats' tables."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.sim.harness import apply, same
from tests.sim.rounding import rounded

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("instruction", "source", "values", "result", "want"),
    [
        ("cvt.s32.s8 $x, $a;", "s32", [0x80, 0x17F], "s32", [-128, 127]),
        ("cvt.u32.u16 $x, $a;", "u16", [0xFFFF], "u32", [0xFFFF]),
        ("cvt.s64.s32 $x, $a;", "s32", [-5], "s64", [-5]),
        ("cvt.u64.u32 $x, $a;", "u32", [0xFFFF_FFFF], "u64", [0xFFFF_FFFF]),
        ("cvt.u16.u32 $x, $a;", "u32", [0x12345], "u16", [0x2345]),
        ("cvt.s8.s32 $x, $a;", "s32", [0x1F0], "s32", [-16]),
        ("cvt.u8.u32 $x, $a;", "u32", [0x1F0], "u32", [0xF0]),
        ("cvt.sat.s8.s32 $x, $a;", "s32", [300, -300, 5], "s32", [127, -128, 5]),
        ("cvt.sat.u8.s32 $x, $a;", "s32", [300, -300, 5], "u32", [255, 0, 5]),
        ("cvt.sat.s32.u32 $x, $a;", "u32", [0xFFFF_FFFF], "s32", [2**31 - 1]),
        ("cvt.rzi.s32.f32 $x, $a;", "f32", [1.9, -1.9, 3e9, -3e9, NAN], "s32", [1, -1, 2**31 - 1, -(2**31), 0]),
        ("cvt.rni.s32.f32 $x, $a;", "f32", [0.5, 1.5, 2.5, -0.5], "s32", [0, 2, 2, 0]),
        ("cvt.rmi.s32.f32 $x, $a;", "f32", [-0.5], "s32", [-1]),
        ("cvt.rpi.u32.f32 $x, $a;", "f32", [0.5, -3.0, 1e10], "u32", [1, 0, 0xFFFF_FFFF]),
        ("cvt.rzi.s16.f32 $x, $a;", "f32", [40000.0, -40000.0], "s16", [32767, -32768]),
        ("cvt.rzi.u8.f32 $x, $a;", "f32", [300.0, 5.7], "u32", [255, 5]),
        ("cvt.rzi.s64.f32 $x, $a;", "f32", [1e19, NAN, -2.5], "s64", [2**63 - 1, -(2**63), -2]),
        ("cvt.rzi.u64.f64 $x, $a;", "f64", [1e20, 1e19], "u64", [2**64 - 1, 10**19]),
        ("cvt.rzi.s32.f64 $x, $a;", "f64", [NAN, 1e10], "s32", [-(2**31), 2**31 - 1]),
        ("cvt.rzi.ftz.s32.f32 $x, $a;", "f32", [1e-40], "s32", [0]),
        ("cvt.rpi.ftz.s32.f32 $x, $a;", "f32", [1e-40], "s32", [0]),
        ("cvt.rzi.s32.f16 $x, $a;", "f16", [-2.5], "s32", [-2]),
        ("cvt.rzi.s32.bf16 $x, $a;", "bf16", [0xC020], "s32", [-2]),
        ("cvt.rn.f32.s32 $x, $a;", "s32", [16777217, -16777219], "f32", [16777216.0, -16777220.0]),
        ("cvt.rz.f32.s32 $x, $a;", "s32", [16777219], "f32", [16777218.0]),
        ("cvt.rp.f32.u32 $x, $a;", "u32", [0xFFFF_FFFF], "f32", [2.0**32]),
        ("cvt.rn.f32.u64 $x, $a;", "u64", [2**63 + 2**39 + 1], "f32", [2.0**63 + 2.0**40]),
        ("cvt.rm.f32.s64 $x, $a;", "s64", [-(2**40) - 1], "f32", [-(2.0**40) - 2.0**17]),
        ("cvt.rn.f64.s64 $x, $a;", "s64", [2**53 + 1], "f64", [2.0**53]),
        ("cvt.rn.f16.s32 $x, $a;", "s32", [2049, 70000], "f16", [2048, INF]),
        ("cvt.rn.bf16.s32 $x, $a;", "s32", [257], "bf16", [0x4380]),
        ("cvt.f32.f16 $x, $a;", "f16", [1.5, NAN, 6e-8], "f32", [1.5, NAN, 2.0**-24]),
        ("cvt.f32.bf16 $x, $a;", "bf16", [0x3FC0, 0xFF80], "f32", [1.5, -INF]),
        ("cvt.f64.f32 $x, $a;", "f32", [0.1], "f64", [float(np.float32(0.1))]),
        ("cvt.rn.f16.f32 $x, $a;", "f32", [65519.0, 65520.0, 1 + 2**-11, 2.0**-25], "f16", [65504, INF, 1.0, 0.0]),
        ("cvt.rz.f16.f32 $x, $a;", "f32", [65520.0, -(1 + 2**-11)], "f16", [65504, -1.0]),
        ("cvt.rp.f16.f32 $x, $a;", "f32", [1 + 2**-20, 2.0**-26], "f16", [1 + 2**-10, 2.0**-24]),
        ("cvt.rn.satfinite.f16.f32 $x, $a;", "f32", [1e6, -INF], "f16", [65504, -65504]),
        ("cvt.rn.relu.f16.f32 $x, $a;", "f32", [-3.0, 3.0], "f16", [0.0, 3.0]),
        ("cvt.rn.bf16.f32 $x, $a;", "f32", [1.00390625, 1.01171875, NAN, 3.4e38], "bf16",
         [0x3F80, 0x3F82, 0x7FFF, 0x7F80]),
        ("cvt.rz.bf16.f32 $x, $a;", "f32", [1.01171875], "bf16", [0x3F81]),
        ("cvt.rn.f32.f64 $x, $a;", "f64", [1 + 2**-24 + 2**-50, 1e300], "f32", [1 + 2**-23, INF]),
        ("cvt.rz.f32.f64 $x, $a;", "f64", [1e300, -1e-60], "f32", [float(np.finfo(np.float32).max), -0.0]),
        ("cvt.rm.f32.f64 $x, $a;", "f64", [1e-60, -1e-60], "f32", [0.0, -(2.0**-149)]),
        ("cvt.rni.f32.f32 $x, $a;", "f32", [2.5, -0.4], "f32", [2.0, -0.0]),
        ("cvt.rmi.f32.f32 $x, $a;", "f32", [2.5, -0.4], "f32", [2.0, -1.0]),
        ("cvt.rpi.f64.f64 $x, $a;", "f64", [2.5, -0.4], "f64", [3.0, -0.0]),
        ("cvt.sat.f32.f32 $x, $a;", "f32", [2.5, -0.4, NAN], "f32", [1.0, 0.0, 0.0]),
        ("cvt.ftz.f32.f32 $x, $a;", "f32", [1e-40, -1e-40], "f32", [0.0, -0.0]),
        ("cvt.rna.tf32.f32 $x, $a;", "f32", [1 + 2**-11], "u32", [0x3F80_2000]),
        ("cvt.rn.tf32.f32 $x, $a;", "f32", [1 + 2**-11], "u32", [0x3F80_0000]),
    ],
    ids=lambda value: value if isinstance(value, str) and ";" in value else None,
)  # fmt: skip
def test_conversion(instruction: str, source: str, values: list[Any], result: str, want: list[Any]) -> None:
    same(apply(instruction, [(source, values)], result), want)


def test_pairs_put_their_first_operand_into_the_upper_half() -> None:
    got = apply("cvt.rn.f16x2.f32 $x, $a, $b;", [("f32", [1.0]), ("f32", [-2.0])], "u32")
    same(got, [0x3C00_C000])
    same(apply("cvt.rn.bf16x2.f32 $x, $a, $b;", [("f32", [1.0]), ("f32", [-2.0])], "u32"), [0x3F80_C000])
    same(apply("cvt.rn.relu.bf16x2.f32 $x, $a, $b;", [("f32", [1.0]), ("f32", [-2.0])], "u32"), [0x3F80_0000])
    same(apply("cvt.pack.sat.u8.s32.b32 $x, $a, $b, $c;", [("s32", [300]), ("s32", [-1]), ("b32", [0x1234])], "u32"),
         [0x1234_FF00])  # fmt: skip
    same(apply("cvt.pack.sat.s16.s32 $x, $a, $b;", [("s32", [70000]), ("s32", [-70000])], "u32"), [0x7FFF_8000])


def eight_bits(code: int, exponent_bits: int, bias: int, top_is_number: bool) -> float:
    """The value of an 8-bit float, from the formats' definition."""
    mantissa_bits = 7 - exponent_bits
    exponent, mantissa = (code >> mantissa_bits) & ((1 << exponent_bits) - 1), code & ((1 << mantissa_bits) - 1)
    sign = -1.0 if code & 0x80 else 1.0
    if exponent == (1 << exponent_bits) - 1 and not top_is_number:
        return sign * INF if mantissa == 0 else NAN
    if top_is_number and code & 0x7F == 0x7F:
        return NAN
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)


@pytest.mark.parametrize(("kind", "exponent_bits", "bias", "top"), [("e4m3", 4, 7, True), ("e5m2", 5, 15, False)])
def test_8_bit_floats(kind: str, exponent_bits: int, bias: int, top: bool) -> None:
    codes = np.arange(256)
    values = np.array([eight_bits(code, exponent_bits, bias, top) for code in range(256)])
    got = apply(f"cvt.rn.f16x2.{kind}x2 $x, $a;", [("u16", codes | 0x3800)], "u32")
    low = (got & 0xFFFF).astype(np.uint16).view(np.float16)
    same(low, values)
    # Every finite value goes back to its own code; what lies between goes to the nearer one, ties to even.
    finite = codes[np.isfinite(values)]
    numbers = values[finite].astype(np.float32)
    got = apply(f"cvt.rn.satfinite.{kind}x2.f32 $x, $a, $b;", [("f32", numbers), ("f32", numbers)], "u16")
    same(got, finite | finite << 8)
    largest = max(values[finite])
    odd = [largest * 4, -INF, NAN, float(values[1]) / 2, float(values[1]) * 0.75, 1.5 * float(values[1])]
    got = apply(f"cvt.rn.satfinite.{kind}x2.f32 $x, $a, $b;", [("f32", [0.0] * 6), ("f32", odd)], "u16")
    top_code = int(codes[:128][values[:128] == largest][0])
    same(got, [top_code, 0x80 | top_code, 0x7F, 0, 1, 2])
    halves = np.array([1.0, -2.0], np.float16).view(np.uint32)
    one, two = (int(codes[values == v][0]) for v in (1.0, -2.0))
    same(apply(f"cvt.rn.satfinite.{kind}x2.f16x2 $x, $a;", [("b32", halves)], "u16"), [one | two << 8])


def test_f16_and_bf16_round_like_rationals() -> None:
    rng = np.random.default_rng(3)
    values = (rng.standard_normal(200) * 2.0 ** rng.integers(-28, 15, 200)).astype(np.float32)
    for mode in ("rn", "rz", "rm", "rp"):
        got = apply(f"cvt.{mode}.f16.f32 $x, $a;", [("f32", values)], "f16")
        assert got.astype(np.float64).tolist() == [rounded(Fraction(float(v)), "f16", mode) for v in values]
    for mode in ("rn", "rz"):
        got = apply(f"cvt.{mode}.bf16.f32 $x, $a;", [("f32", values)], "bf16")
        wide = (got.astype(np.uint32) << 16).view(np.float32)
        assert wide.astype(np.float64).tolist() == [rounded(Fraction(float(v)), "bf16", mode) for v in values]

"""cvt in all the forms that the compiler and its neighbours use, and cvt.pack.

Integers take the low bits, or the nearest value with `.sat`. A float becomes an integer in the rounding named, clamped
to the range; NaN becomes 0, or the integer of only a top bit where f64 or a 64-bit integer takes part. Floats round
once. Packed forms put their first operand into the upper part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import numerics as n
from .state import State
from .syntax import Instruction
from .table import Step, instruction, unknown
from .types import TYPES, UNSIGNED, Type

Array = NDArray[Any]
INTEGER_MODES = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
FLOAT_MODES = ("rn", "rz", "rm", "rp", "rna")
OPTIONS = ("ftz", "sat", "satfinite", "relu")
U16, U32 = TYPES["u16"], TYPES["u32"]


@instruction("cvt")
def cvt(state: State, i: Instruction) -> Step:
    if i.modifiers[0] == "pack":
        return _pack(state, i)
    *options, to_name, from_name = i.modifiers
    for option in options:
        if option not in (*INTEGER_MODES, *FLOAT_MODES, *OPTIONS):
            raise unknown(i, f"modifier '.{option}'")
    if to_name not in TYPES or from_name not in TYPES:
        raise unknown(i, "type")
    to, source = TYPES[to_name], TYPES[from_name]
    if "pack" in (to.kind, source.kind):
        return _packed(state, i, tuple(options), to, source)
    fn = _scalar(i, frozenset(options), to, source)
    return state.pure(i, fn, to, ((i.operands[1], source),))


def _scalar(i: Instruction, options: frozenset[str], to: Type, source: Type) -> Callable[[Array], Array]:
    source_float, to_float = source.kind in ("f", "bf"), to.kind in ("f", "bf")
    if not source_float and not to_float:
        return _int_to_int("sat" in options, to)
    mode = next((m for m in (*INTEGER_MODES, *FLOAT_MODES) if m in options), "rn")
    if not to_float:
        return _float_to_int(mode, "ftz" in options, to, source)
    if not source_float:
        return _int_to_float(mode, to)
    return _float_to_float(options, mode, to, source)


def _int_to_int(sat: bool, to: Type) -> Callable[[Array], Array]:
    dtype = to.dtype
    if not sat:
        return lambda x: x.astype(dtype)
    info = np.iinfo(dtype)

    def clamp(x: Array) -> Array:
        own = np.iinfo(x.dtype)
        return np.clip(x, max(info.min, own.min), min(info.max, own.max)).astype(dtype)

    return clamp


def _float_to_int(mode: str, ftz: bool, to: Type, source: Type) -> Callable[[Array], Array]:
    info = np.iinfo(to.dtype)
    round_ = INTEGER_MODES[mode]
    wide_nan = source.bits == 64 or to.bits == 64
    nan = (info.min if to.signed else 1 << (to.bits - 1)) if wide_nan else 0
    top = float(info.max)  # 2^63 or 2^64 where the largest integer is no f64

    def convert(x: Array) -> Array:
        value = n.bf16_to_f32(x) if source.kind == "bf" else x
        if ftz and value.dtype == np.float32:
            value = n.flush32(value)
        r = round_(value.astype(np.float64))
        inside = np.clip(np.where(np.isnan(r), 0.0, r), float(info.min), np.nextafter(top, 0) if to.bits == 64 else top)
        out = inside.astype(to.dtype)
        out = np.where(r >= top, to.dtype.type(info.max), out)
        return np.where(np.isnan(r), to.dtype.type(nan), out)

    return convert


def _int_to_float(mode: str, to: Type) -> Callable[[Array], Array]:
    def convert(x: Array) -> Array:
        if to.bits == 64 and mode == "rn":
            return x.astype(np.float64)
        if to.name == "f32" and mode == "rn":
            return x.astype(np.float32)  # the processor rounds once, from 64-bit integers too
        if x.dtype.itemsize == 8:
            s = x.astype(np.float64)
            e = np.array([int(a) - int(b) for a, b in zip(x.ravel(), s.ravel(), strict=True)], np.float64)
            e = e.reshape(s.shape)
            if to.bits == 64:
                r: Array = n._directed(s, e, mode)
                return r
        else:
            s, e = x.astype(np.float64), np.zeros(x.shape)
        if to.name == "f32":
            return n.round32(s, e, mode)
        return _narrowed(s, e, to, mode)

    return convert


def _narrowed(s: Array, e: Array, to: Type, mode: str) -> Array:
    """f64 with an error to f16 or bf16."""
    if to.kind == "bf":
        return n.f32_to_bf16(n.odd32(s, e), mode)
    r = n.to_f16(s, e)
    if mode == "rn":
        return r
    d = np.where(np.isfinite(s), s - r.astype(np.float64), 0.0)
    return n._directed(r, np.where(d == 0, e, d), mode)


def _float_to_float(options: frozenset[str], mode: str, to: Type, source: Type) -> Callable[[Array], Array]:
    ftz, sat, relu, satfinite = (each in options for each in ("ftz", "sat", "relu", "satfinite"))

    def convert(x: Array) -> Array:
        value = n.bf16_to_f32(x) if source.kind == "bf" else x
        if ftz and value.dtype == np.float32:
            value = n.flush32(value)
        if mode in INTEGER_MODES:
            value = INTEGER_MODES[mode](value)
        if sat:
            value = n.saturate(value)
        if relu:
            value = np.where(value < 0, value.dtype.type(0), value)
        r: Array
        if to.name == "f64":
            r = value.astype(np.float64)
            return np.where(np.isnan(r), n.NAN64, r)
        if to.name == "f32":
            r = n.canonical(value) if value.dtype == np.float32 and mode not in FLOAT_MODES else value
            if value.dtype == np.float64:
                r = n.round32(value, np.float64(0), mode if mode in FLOAT_MODES else "rn")
            r = r.astype(np.float32)
            return n.flush32(r) if ftz else r
        exact = value.astype(np.float64)
        r = _narrowed(exact, np.zeros_like(exact), to, mode if mode in FLOAT_MODES else "rn")
        return _finite(r, to) if satfinite else r

    return convert


def _finite(r: Array, to: Type) -> Array:
    """Infinities as the largest finite value, of f16 or of bf16 patterns."""
    if to.kind == "bf":
        return np.where(r & np.uint16(0x7FFF) == 0x7F80, r - np.uint16(1), r)
    return np.where(np.isinf(r), np.copysign(np.float16(65504), r), r)


def _packed(state: State, i: Instruction, options: tuple[str, ...], to: Type, source: Type) -> Step:
    if "rs" in options:
        raise unknown(i)
    if to.name == "tf32" and source.name == "f32":
        return _tf32(state, i, options)
    operands = i.operands[1:]
    if to.name in ("f16x2", "bf16x2") and source.name == "f32" and len(operands) == 2:
        one = TYPES[to.name.removesuffix("x2")]
        narrow = _scalar(i, frozenset(options), one, source)
        return state.pure(
            i, lambda a, b: _joined(narrow(a), narrow(b), 16), U32, ((operands[0], source), (operands[1], source))
        )
    kind = to.name[:4]
    if to.name in ("e4m3x2", "e5m2x2"):
        relu = "relu" in options

        def encode(x: Array) -> Array:
            return n.encode_fp8(np.where(x < 0, 0.0, x) if relu else x, kind)

        if source.name == "f32" and len(operands) == 2:
            return state.pure(
                i,
                lambda a, b: _joined(encode(a.astype(np.float64)), encode(b.astype(np.float64)), 8),
                U16,
                ((operands[0], source), (operands[1], source)),
            )
        if source.name == "f16x2":

            def from_halves(x: Array) -> Array:
                low = (x & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16).astype(np.float64)
                high = (x >> np.uint32(16)).astype(np.uint16).view(np.float16).astype(np.float64)
                return _joined(encode(high), encode(low), 8)

            return state.pure(i, from_halves, U16, ((operands[0], U32),))
    if to.name == "f16x2" and source.name in ("e4m3x2", "e5m2x2"):
        relu = "relu" in options

        def decode(x: Array) -> Array:
            parts = []
            for byte in (x >> np.uint16(8), x & np.uint16(0xFF)):
                value = n.decode_fp8(byte, source.name[:4])
                value = np.where(value < 0, 0.0, value) if relu else value
                parts.append(n.to_f16(value, np.zeros_like(value)))
            return _joined(parts[0], parts[1], 16)

        return state.pure(i, decode, U32, ((operands[0], U16),))
    raise unknown(i)


def _joined(high: Array, low: Array, bits: int) -> Array:
    part, whole = UNSIGNED[bits], UNSIGNED[2 * bits]
    upper: Array = np.asarray(high).view(part).astype(whole) << whole.type(bits)
    lower: Array = np.asarray(low).view(part).astype(whole)
    return upper | lower


def _tf32(state: State, i: Instruction, options: tuple[str, ...]) -> Step:
    """tf32 has the exponent of f32 and 10 bits of mantissa; the rest of the register is zero."""
    mode = next((m for m in ("rna", "rn", "rz") if m in options), None)
    if mode is None:
        raise unknown(i)
    relu = "relu" in options

    def convert(x: Array) -> Array:
        bits = x.view(np.uint32)
        if mode == "rna":
            up = bits + np.uint32(0x1000)
        elif mode == "rn":
            up = bits + np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))
        else:
            up = bits
        r = up & ~np.uint32(0x1FFF)
        r = np.where(np.isinf(x), bits, np.where(np.isnan(x), np.uint32(0x7FFF_FFFF), r))
        if relu:
            r = np.where((x < 0), np.uint32(0), r)
        if "satfinite" in options:
            r = np.where(r & np.uint32(0x7FFF_FFFF) == 0x7F80_0000, (r & np.uint32(0x8000_0000)) | 0x7F7F_E000, r)
        return r.astype(np.uint32)

    return state.pure(i, convert, U32, ((i.operands[1], TYPES["f32"]),))


def _pack(state: State, i: Instruction) -> Step:
    """cvt.pack.sat: two integers saturated and put together, over the low part of a third when they are bytes."""
    names = [m for m in i.modifiers if m in TYPES]
    if "sat" not in i.modifiers or names[1:2] != ["s32"] or len(names) not in (2, 3):
        raise unknown(i)
    to = TYPES[names[0]]
    clamp = _int_to_int(True, to)
    s32 = TYPES["s32"]
    mask, bits = np.uint32((1 << to.bits) - 1), np.uint32(to.bits)

    def two(a: Array, b: Array) -> Array:
        return ((clamp(a).astype(np.uint32) & mask) << bits) | (clamp(b).astype(np.uint32) & mask)

    a, b = i.operands[1:3]
    if len(names) == 2:
        return state.pure(i, two, U32, ((a, s32), (b, s32)))
    return state.pure(
        i, lambda x, y, z: two(x, y) | (z << (bits * np.uint32(2))), U32, ((a, s32), (b, s32), (i.operands[3], U32))
    )

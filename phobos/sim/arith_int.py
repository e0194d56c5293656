"""Integer arithmetic: the ISA's chapter "Integer Arithmetic Instructions". Floats of the same opcodes go their way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arith_float, half
from .state import State
from .syntax import Instruction
from .table import Step, instruction, unknown
from .types import SIGNED, TYPES, UNSIGNED, Type

Array = NDArray[Any]
HALVES = ("f16", "f16x2", "bf16", "bf16x2")
U32 = TYPES["u32"]


def last_type(i: Instruction) -> Type:
    """The type that ends an instruction word."""
    if not i.modifiers or i.modifiers[-1] not in TYPES:
        raise unknown(i, "type")
    return TYPES[i.modifiers[-1]]


def raw(type_: Type) -> Type:
    """The unsigned type of the same width: two's complement sums and products are the same."""
    return TYPES[f"u{type_.bits}"]


def only(i: Instruction, *known: str) -> None:
    """Refuse modifiers that are not among the known ones."""
    for modifier in i.modifiers[:-1]:
        if modifier not in known:
            raise unknown(i, f"modifier '.{modifier}'")


def _floats(i: Instruction) -> Callable[[State, Instruction], Step] | None:
    name = i.modifiers[-1] if i.modifiers else ""
    if name in ("f32", "f64", "f32x2"):
        return arith_float.build
    if name in HALVES:
        if "f32" in i.modifiers:
            return arith_float.build
        return half.build
    return None


def _pairs(fn: Callable[..., Array], dtype: Any) -> Callable[..., Array]:
    """A function of 16-bit values applied to both halves of 32-bit words."""

    def apply(*words: Array) -> Array:
        low = fn(*((w & np.uint32(0xFFFF)).astype(np.uint16).view(dtype) for w in words))
        high = fn(*((w >> np.uint32(16)).astype(np.uint16).view(dtype) for w in words))
        return low.view(np.uint16).astype(np.uint32) | (high.view(np.uint16).astype(np.uint32) << np.uint32(16))

    return apply


@instruction("add", "sub")
def add(state: State, i: Instruction) -> Step:
    floats = _floats(i)
    if floats is not None:
        return floats(state, i)
    only(i, "sat", "cc")
    type_ = last_type(i)
    ufunc = np.add if i.opcode == "add" else np.subtract
    a, b = i.operands[1:3]
    if type_.kind == "pack":
        return state.pure(i, _pairs(ufunc, np.uint16), U32, ((a, U32), (b, U32)))
    if "cc" in i.modifiers:
        return _carry(state, i, False)
    if "sat" in i.modifiers:

        def saturated(x: Array, y: Array) -> Array:
            wide = ufunc(x.astype(np.int64), y.astype(np.int64))
            return np.clip(wide, -(1 << 31), (1 << 31) - 1)

        return state.pure(i, saturated, TYPES["s32"], ((a, TYPES["s32"]), (b, TYPES["s32"])))
    u = raw(type_)
    return state.pure(i, ufunc, u, ((a, u), (b, u)))


@instruction("addc", "subc")
def addc(state: State, i: Instruction) -> Step:
    return _carry(state, i, True)


def _carry(state: State, i: Instruction, uses: bool) -> Step:
    """add, sub, addc and subc with the carry flag CC.CF, which is a row of its own."""
    u = raw(last_type(i))
    carry: Array = state.scratch.setdefault("carry", np.zeros(state.lanes, np.bool_))
    a, b = state.source(i, i.operands[1], u), state.source(i, i.operands[2], u)
    out = state.target(i, i.operands[0], u)
    subtract, sets = i.opcode.startswith("sub"), "cc" in i.modifiers

    def masked(mask: Array) -> None:
        c = carry.astype(u.dtype) if uses else np.zeros(state.lanes, u.dtype)
        if subtract:
            r = a - b - c
            flag = (a < b) | ((a == b) & (c != 0))
        else:
            r = a + b + c
            flag = (r < a) | ((r == a) & (c != 0))
        np.copyto(out, r, where=mask)
        if sets:
            np.copyto(carry, flag, where=mask)

    everyone = np.ones(state.lanes, np.bool_)
    return Step(lambda: masked(everyone), masked)


def _mul_hi(type_: Type) -> Callable[..., Array]:
    if type_.bits < 64:
        wide = (SIGNED if type_.signed else UNSIGNED)[type_.bits * 2]
        shift = type_.bits

        def hi(x: Array, y: Array) -> Any:
            return (x.astype(wide) * y.astype(wide) >> wide.type(shift)).astype(type_.dtype)

        return hi

    def hi64(x: Array, y: Array) -> Any:
        a, b = x.view(np.uint64), y.view(np.uint64)
        m, s = np.uint64(0xFFFF_FFFF), np.uint64(32)
        low = (a & m) * (b & m)
        one = (a >> s) * (b & m) + (low >> s)
        two = (a & m) * (b >> s) + (one & m)
        r = (a >> s) * (b >> s) + (one >> s) + (two >> s)
        if type_.signed:
            r = r - np.where(x < 0, b, np.uint64(0)) - np.where(y < 0, a, np.uint64(0))
        return r.view(type_.dtype)

    return hi64


@instruction("mul")
def mul(state: State, i: Instruction) -> Step:
    floats = _floats(i)
    if floats is not None:
        return floats(state, i)
    only(i, "lo", "hi", "wide")
    type_ = last_type(i)
    a, b = i.operands[1:3]
    if "wide" in i.modifiers:
        out = TYPES[f"{type_.kind}{type_.bits * 2}"]
        return state.pure(i, _wide(out), out, ((a, type_), (b, type_)))
    if "hi" in i.modifiers:
        return state.pure(i, _mul_hi(type_), type_, ((a, type_), (b, type_)))
    u = raw(type_)
    return state.pure(i, np.multiply, u, ((a, u), (b, u)))


def _wide(out: Type) -> Callable[..., Array]:
    dtype = out.dtype

    def wide(x: Array, y: Array) -> Any:
        return x.astype(dtype) * y.astype(dtype)

    return wide


@instruction("mad")
def mad(state: State, i: Instruction) -> Step:
    type_ = last_type(i)
    if type_.kind in ("f", "bf"):
        return arith_float.build(state, i)
    only(i, "lo", "hi", "wide", "sat")
    a, b, c = i.operands[1:4]
    if "wide" in i.modifiers:
        out = TYPES[f"{type_.kind}{type_.bits * 2}"]
        product = _wide(out)
        return state.pure(i, lambda x, y, z: product(x, y) + z, out, ((a, type_), (b, type_), (c, out)))
    if "hi" in i.modifiers:
        hi = _mul_hi(type_)
        if "sat" in i.modifiers:
            return state.pure(
                i,
                lambda x, y, z: np.clip(hi(x, y).astype(np.int64) + z, -(1 << 31), (1 << 31) - 1),
                type_,
                ((a, type_), (b, type_), (c, type_)),
            )
        return state.pure(i, lambda x, y, z: hi(x, y) + z, type_, ((a, type_), (b, type_), (c, type_)))
    u = raw(type_)
    return state.pure(i, _mad, u, ((a, u), (b, u), (c, u)))


def _mad(x: Array, y: Array, z: Array) -> Array:
    return x * y + z


@instruction("mul24", "mad24")
def mul24(state: State, i: Instruction) -> Step:
    only(i, "lo", "hi")
    type_ = last_type(i)
    signed = type_.signed
    shift = 16 if "hi" in i.modifiers else 0

    def cut(x: Array) -> Array:
        wide = x.astype(np.int64)
        return ((wide & 0xFFFFFF) ^ 0x800000) - 0x800000 if signed else wide & 0xFFFFFF

    def product(x: Array, y: Array, *z: Array) -> Array:
        r = cut(x) * cut(y) >> shift
        return ((r + z[0].astype(np.int64)) if z else r) & 0xFFFF_FFFF

    return state.pure(i, product, U32, tuple((operand, type_) for operand in i.operands[1:]))


@instruction("sad")
def sad(state: State, i: Instruction) -> Step:
    type_ = last_type(i)
    u = raw(type_)

    def distance(x: Array, y: Array, z: Array) -> Any:
        apart = np.where(x < y, y.view(u.dtype) - x.view(u.dtype), x.view(u.dtype) - y.view(u.dtype))
        return apart + z

    a, b, c = i.operands[1:4]
    return state.pure(i, distance, u, ((a, type_), (b, type_), (c, u)))


def _quotient(x: Array, y: Array) -> Array:
    """Division towards zero; by zero, all ones, which is what the hardware gives."""
    safe = np.where(y == 0, y.dtype.type(1), y)
    q = x // safe
    if x.dtype.kind == "i":
        q = q + ((x - q * safe != 0) & ((x < 0) != (safe < 0)))
    return np.where(y == 0, y.dtype.type(-1) if x.dtype.kind == "i" else ~y.dtype.type(0), q)


def _remainder(x: Array, y: Array) -> Array:
    return np.where(y == 0, x, x - _quotient(x, y) * y)


@instruction("div")
def div(state: State, i: Instruction) -> Step:
    type_ = last_type(i)
    if type_.kind == "f":
        return arith_float.build(state, i)
    only(i)
    return state.pure(i, _quotient, type_, tuple((operand, type_) for operand in i.operands[1:3]))


@instruction("rem")
def rem(state: State, i: Instruction) -> Step:
    only(i)
    type_ = last_type(i)
    return state.pure(i, _remainder, type_, tuple((operand, type_) for operand in i.operands[1:3]))


@instruction("neg", "abs")
def neg(state: State, i: Instruction) -> Step:
    type_ = last_type(i)
    if type_.kind in ("f", "bf") or type_.name in HALVES:
        return half.sign(state, i)
    only(i)
    return state.pure(i, np.negative if i.opcode == "neg" else np.abs, type_, ((i.operands[1], type_),))


@instruction("min", "max")
def extreme(state: State, i: Instruction) -> Step:
    type_ = last_type(i)
    if type_.kind == "f" and type_.bits > 16:
        return arith_float.extreme(state, i)
    if type_.name in HALVES:
        return half.extreme(state, i)
    only(i, "relu")
    ufunc = np.minimum if i.opcode == "min" else np.maximum
    relu = "relu" in i.modifiers

    def pick(x: Array, y: Array) -> Array:
        r = ufunc(x, y)
        return np.maximum(r, r.dtype.type(0)) if relu else r

    operands = tuple((operand, U32 if type_.kind == "pack" else type_) for operand in i.operands[1:3])
    if type_.kind == "pack":
        return state.pure(i, _pairs(pick, np.int16 if type_.name[0] == "s" else np.uint16), U32, operands)
    return state.pure(i, pick if relu else ufunc, type_, operands)


def _popc(x: Array) -> Array:
    return np.bitwise_count(x)


def _clz(x: Array) -> Array:
    """Leading zeros, by the exponent of an exact float of each 32-bit part."""
    if x.dtype.itemsize == 8:
        high, low = (x >> np.uint64(32)).astype(np.uint32), x.astype(np.uint32)
        return np.where(high != 0, _clz(high), 32 + _clz(low))
    return 32 - np.frexp(x.astype(np.float64))[1]


def _brev(x: Array) -> Array:
    bits = x.dtype.itemsize * 8
    t = x.dtype.type
    step = 1
    while step < bits:
        mask = t(sum(((1 << step) - 1) << at for at in range(0, bits, 2 * step)))
        x = ((x >> t(step)) & mask) | ((x & mask) << t(step))
        step *= 2
    return x


@instruction("popc", "clz", "brev")
def bits(state: State, i: Instruction) -> Step:
    only(i)
    type_ = last_type(i)
    if i.opcode == "brev":
        return state.pure(i, _brev, type_, ((i.operands[1], type_),))
    return state.pure(i, _popc if i.opcode == "popc" else _clz, U32, ((i.operands[1], type_),))


@instruction("bfind")
def bfind(state: State, i: Instruction) -> Step:
    only(i, "shiftamt")
    type_ = last_type(i)
    u, width, shift = raw(type_), type_.bits, "shiftamt" in i.modifiers

    def find(x: Array) -> Array:
        plain = np.where(x < 0, ~x, x).view(u.dtype) if type_.signed else x
        zeros = _clz(plain)
        return np.where(plain == 0, 0xFFFF_FFFF, zeros if shift else width - 1 - zeros)

    return state.pure(i, find, U32, ((i.operands[1], type_),))


@instruction("bfe")
def bfe(state: State, i: Instruction) -> Step:
    only(i)
    type_ = last_type(i)
    u, width = raw(type_), type_.bits

    def extract(x: Array, position: Array, length: Array) -> Any:
        p, n = (position & np.uint32(0xFF)).astype(u.dtype), (length & np.uint32(0xFF)).astype(u.dtype)
        t = u.dtype.type
        field = np.right_shift(x, p) & ~np.left_shift(~t(0), n)
        if not type_.signed:
            return field
        # The sign is the field's top bit, or the value's when the field reaches past it.
        top = np.minimum(p.astype(np.int64) + n.astype(np.int64) - 1, width - 1)
        sign = np.right_shift(x, np.maximum(top, 0).astype(u.dtype)) & t(1)
        have = np.minimum(n.astype(np.int64), np.maximum(width - p.astype(np.int64), 0)).astype(u.dtype)
        filled = field | np.where(sign != 0, np.left_shift(~t(0), have), t(0))
        return np.where(n == 0, t(0), filled)

    a, b, c = i.operands[1:4]
    return state.pure(i, extract, u, ((a, u), (b, U32), (c, U32)))


@instruction("bfi")
def bfi(state: State, i: Instruction) -> Step:
    only(i)
    u = raw(last_type(i))

    def insert(x: Array, y: Array, position: Array, length: Array) -> Any:
        p, n = (position & np.uint32(0xFF)).astype(u.dtype), (length & np.uint32(0xFF)).astype(u.dtype)
        mask = np.left_shift(~np.left_shift(~u.dtype.type(0), n), p)
        return (y & ~mask) | (np.left_shift(x, p) & mask)

    a, b, c, d = i.operands[1:5]
    return state.pure(i, insert, u, ((a, u), (b, u), (c, U32), (d, U32)))


@instruction("szext")
def szext(state: State, i: Instruction) -> Step:
    only(i, "wrap", "clamp")
    signed, wrap = last_type(i).signed, "wrap" in i.modifiers

    def extend(x: Array, length: Array) -> Array:
        n = (length & np.uint32(31)) if wrap else np.minimum(length, np.uint32(32))
        n = n.astype(np.int64)
        field = x.astype(np.int64) & ((np.int64(1) << n) - 1)
        if signed:
            sign = np.where(n > 0, (field >> np.maximum(n - 1, 0)) & 1, 0)
            field = field - (sign << n)
        return field & 0xFFFF_FFFF

    return state.pure(i, extend, U32, ((i.operands[1], U32), (i.operands[2], U32)))


@instruction("bmsk")
def bmsk(state: State, i: Instruction) -> Step:
    only(i, "wrap", "clamp")
    wrap = "wrap" in i.modifiers

    def mask(position: Array, length: Array) -> Array:
        p, n = ((x & np.uint32(31)) if wrap else np.minimum(x, np.uint32(32)) for x in (position, length))
        one = np.uint64(1)
        return (((one << n.astype(np.uint64)) - one) << p.astype(np.uint64)) & np.uint64(0xFFFF_FFFF)

    return state.pure(i, mask, U32, ((i.operands[1], U32), (i.operands[2], U32)))


@instruction("dp4a", "dp2a")
def dot_product(state: State, i: Instruction) -> Step:
    modifiers = list(i.modifiers)
    part = 0
    if i.opcode == "dp2a":
        part = 2 if modifiers.pop(0) == "hi" else 0
    if len(modifiers) != 2:
        raise unknown(i)
    a_signed, b_signed = (modifier == "s32" for modifier in modifiers)

    def piece(x: Array, at: int, size: int, signed: bool) -> Array:
        v = (x.astype(np.int64) >> (at * size)) & ((1 << size) - 1)
        return np.where(v >> (size - 1) != 0, v - (1 << size), v) if signed else v

    def dot4(x: Array, y: Array, z: Array) -> Array:
        total = z.astype(np.int64)
        for at in range(4):
            total = total + piece(x, at, 8, a_signed) * piece(y, at, 8, b_signed)
        return total & 0xFFFF_FFFF

    def dot2(x: Array, y: Array, z: Array) -> Array:
        total = z.astype(np.int64)
        for at in range(2):
            total = total + piece(x, at, 16, a_signed) * piece(y, at + part, 8, b_signed)
        return total & 0xFFFF_FFFF

    operands = tuple((operand, U32) for operand in i.operands[1:4])
    return state.pure(i, dot4 if i.opcode == "dp4a" else dot2, U32, operands)

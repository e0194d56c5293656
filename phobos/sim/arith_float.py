"""f32 and f64 arithmetic: the ISA's chapter "Floating-Point Instructions", and f32 with f16 or bf16 operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import numerics as n
from .approx import divide_approx
from .state import State
from .syntax import Instruction
from .table import Step, instruction, unknown
from .types import TYPES, Type

Array = NDArray[Any]
MODES = ("rn", "rz", "rm", "rp")
F32, F64 = TYPES["f32"], TYPES["f64"]


def mode_of(i: Instruction) -> str:
    """The rounding mode that an instruction names, to nearest even without one."""
    return next((m for m in i.modifiers if m in MODES), "rn")


def _check(i: Instruction, *known: str) -> None:
    for modifier in i.modifiers:
        if modifier not in (*known, *MODES, "f32", "f64"):
            raise unknown(i, f"modifier '.{modifier}'")


def build(state: State, i: Instruction) -> Step:
    """add, sub, mul, fma, mad and div of f32 and f64."""
    name = i.modifiers[-1]
    op = "fma" if i.opcode == "mad" else i.opcode
    if name in ("f16", "bf16"):
        return _mixed(state, i, op, TYPES[name])
    if name == "f32x2":
        return _pair(state, i, op)
    _check(i, "ftz", "sat", "approx", "full")
    type_ = TYPES[name]
    fn = _f32(i, op) if name == "f32" else _f64(op, mode_of(i))
    return state.pure(i, fn, type_, tuple((operand, type_) for operand in i.operands[1:]))


def _f32(i: Instruction, op: str) -> Callable[..., Array]:
    mode, ftz, sat = mode_of(i), "ftz" in i.modifiers, "sat" in i.modifiers
    fn: Callable[..., Array]
    if op == "div" and ("approx" in i.modifiers or "full" in i.modifiers):
        fn = divide_approx("full" in i.modifiers)
    elif mode == "rn":
        fn = _NEAREST32[op]
    else:
        fn = _directed32(op, mode)
    return _modified(fn, ftz, sat) if ftz or sat else fn


def _modified(fn: Callable[..., Array], ftz: bool, sat: bool) -> Callable[..., Array]:
    def apply(*operands: Array) -> Array:
        r = fn(*(n.flush32(x) for x in operands)) if ftz else fn(*operands)
        if ftz:
            r = n.flush32(r)
        return n.saturate(r) if sat else r

    return apply


_NEAREST32: dict[str, Callable[..., Array]] = {
    "add": lambda a, b: n.canonical(a + b),
    "sub": lambda a, b: n.canonical(a - b),
    "mul": lambda a, b: n.canonical(a * b),
    "div": lambda a, b: n.canonical(a / b),
    "fma": n.fma32,
    "sqrt": lambda a: n.canonical(np.sqrt(a)),
    "rcp": lambda a: n.canonical(np.float32(1) / a),
}


def _directed32(op: str, mode: str) -> Callable[..., Array]:
    def wide(fn: Callable[..., Array]) -> Callable[..., Array]:
        # Quotients and roots of f32 are never so near to an f32 that f64 could not tell them apart.
        return lambda *x: n.round32(fn(*(each.astype(np.float64) for each in x)), np.float64(0), mode)

    table: dict[str, Callable[..., Array]] = {
        "add": lambda a, b: n.add32(a, b, mode),
        "sub": lambda a, b: n.add32(a, -b, mode),
        "mul": lambda a, b: n.mul32(a, b, mode),
        "fma": lambda a, b, c: n.fma32_mode(a, b, c, mode),
        "div": wide(np.divide),
        "sqrt": wide(np.sqrt),
        "rcp": wide(lambda a: 1.0 / a),
    }
    return table[op]


def _f64(op: str, mode: str) -> Callable[..., Array]:
    nearest: dict[str, Callable[..., Array]] = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "fma": n.fma64, "sqrt": np.sqrt,
        "rcp": lambda a: 1.0 / a,
    }  # fmt: skip
    if mode == "rn":
        return nearest[op]

    def directed(*operands: Array) -> Array:
        r = np.atleast_1d(np.asarray(nearest[op](*operands)))
        if op == "sub":
            return n.directed64("add", (operands[0], -operands[1]), r, mode)
        if op == "rcp":
            return n.directed64("div", (np.ones_like(operands[0]), operands[0]), r, mode)
        return n.directed64(op, operands, r, mode)

    return directed


def _mixed(state: State, i: Instruction, op: str, narrow: Type) -> Step:
    """add, sub and fma of f32 with f16 or bf16 operands (`fma.rn.f32.f16`): all but the last are narrow."""
    if "f32" not in i.modifiers or op not in ("add", "sub", "fma"):
        raise unknown(i)
    base = _f32(i, op)

    def widen(x: Array) -> Array:
        return n.bf16_to_f32(x) if narrow.kind == "bf" else x.astype(np.float32)

    def fn(*operands: Array) -> Array:
        return base(*(widen(x) for x in operands[:-1]), operands[-1])

    types = (*(narrow,) * (len(i.operands) - 2), F32)
    return state.pure(i, fn, F32, tuple(zip(i.operands[1:], types, strict=True)))


def _pair(state: State, i: Instruction, op: str) -> Step:
    """Two f32 in a 64-bit register."""
    base = _f32(i, op)
    type_ = TYPES["b64"]

    def fn(*operands: Array) -> Array:
        low = base(*((x & np.uint64(0xFFFF_FFFF)).astype(np.uint32).view(np.float32) for x in operands))
        high = base(*((x >> np.uint64(32)).astype(np.uint32).view(np.float32) for x in operands))
        return low.view(np.uint32).astype(np.uint64) | (high.view(np.uint32).astype(np.uint64) << np.uint64(32))

    return state.pure(i, fn, type_, tuple((operand, type_) for operand in i.operands[1:]))


@instruction("fma")
def fma(state: State, i: Instruction) -> Step:
    from . import half

    if i.modifiers[-1] in half.NAMES and "f32" not in i.modifiers:
        return half.build(state, i)
    return build(state, i)


@instruction("sqrt", "rcp")
def root(state: State, i: Instruction) -> Any:
    from . import approx

    if "approx" in i.modifiers:
        return approx.build(state, i)
    _check(i, "ftz")
    name = i.modifiers[-1]
    fn = _f32(i, i.opcode) if name == "f32" else _f64(i.opcode, mode_of(i))
    return state.pure(i, fn, TYPES[name], ((i.operands[1], TYPES[name]),))


def extreme(state: State, i: Instruction) -> Step:
    """min and max of f32 and f64: NaN loses, unless `.NaN`; -0 is less than +0."""
    _check(i, "ftz", "NaN", "xorsign", "abs")
    type_ = TYPES[i.modifiers[-1]]
    fn = extreme_function(i.opcode, i.modifiers, n.NAN32 if type_.bits == 32 else n.NAN64)
    if "ftz" in i.modifiers:
        return state.pure(i, _flushing(fn), type_, tuple((operand, type_) for operand in i.operands[1:]))
    return state.pure(i, fn, type_, tuple((operand, type_) for operand in i.operands[1:]))


def _flushing(plain: Callable[..., Array]) -> Callable[..., Array]:
    """The function of operands whose subnormals are taken as zeros (`.ftz`)."""

    def flushed(*operands: Array) -> Array:
        return plain(*(n.flush32(each) for each in operands))

    return flushed


def extreme_function(opcode: str, modifiers: tuple[str, ...], nan: Any) -> Callable[..., Array]:
    """min or max with the ISA's rules for NaN, signed zeros and `.xorsign.abs`."""
    least, keeps_nan, xorsign = opcode == "min", "NaN" in modifiers, "xorsign" in modifiers

    def two(a: Array, b: Array) -> Array:
        x, y = (np.abs(a), np.abs(b)) if xorsign else (a, b)
        nearer = x < y if least else x > y
        first = nearer | ((x == y) & (np.signbit(x) == least))
        a_nan, b_nan = np.isnan(a), np.isnan(b)
        r = np.where(first | b_nan, x, y)
        r = np.where(a_nan | b_nan if keeps_nan else a_nan & b_nan, nan, r)
        if xorsign:
            r = np.where(np.signbit(a) != np.signbit(b), -np.abs(r), np.abs(r))
        return r

    def any_number(*operands: Array) -> Array:
        r = operands[0]
        for each in operands[1:]:
            r = two(r, each)
        return r

    return any_number


@instruction("testp")
def testp(state: State, i: Instruction) -> Step:
    what, name = i.modifiers
    tests: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite, "infinite": np.isinf, "notanumber": np.isnan, "number": lambda a: ~np.isnan(a),
        "normal": lambda a: np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny),
        "subnormal": lambda a: (a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny),
    }  # fmt: skip
    if what not in tests:
        raise unknown(i)
    return state.pure(i, tests[what], TYPES["pred"], ((i.operands[1], TYPES[name]),))


@instruction("copysign")
def copysign(state: State, i: Instruction) -> Step:
    type_ = TYPES[i.modifiers[-1]]
    # The sign of the first operand goes onto the second.
    return state.pure(i, lambda a, b: np.copysign(b, a), type_, tuple((o, type_) for o in i.operands[1:3]))

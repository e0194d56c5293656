"""Comparison, selection, logic and shifts, and permutation of bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import numerics as n
from .arith_int import U32, last_type, only, raw
from .state import State
from .syntax import Imm, Instruction, Operand, Pair, Sink
from .table import Step, instruction, unknown
from .types import TYPES, Type

Array = NDArray[Any]
PRED = TYPES["pred"]

ORDERED: dict[str, Any] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip
NEGATED = {"neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt", "equ": "ne"}


def comparison(i: Instruction, operator: str, type_: Type) -> Callable[[Array, Array], Array]:
    """A comparison operator. The ordered ones are false for NaN, those in `u` true."""
    floats = type_.kind in ("f", "bf")
    if not floats:
        if operator not in ORDERED:
            raise unknown(i, "comparison")
        found: Callable[[Array, Array], Array] = ORDERED[operator]
        return found
    if operator == "num":
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if operator == "nan":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if operator == "ne":
        return lambda a, b: (a < b) | (a > b)
    if operator == "equ":
        return lambda a, b: ~((a < b) | (a > b))
    if operator in NEGATED:
        opposite = ORDERED[NEGATED[operator]]
        return lambda a, b: ~opposite(a, b)
    if operator not in ORDERED or operator in ("lo", "ls", "hi", "hs"):
        raise unknown(i, "comparison")
    return ORDERED[operator]  # type: ignore[no-any-return]


def _operand_filter(type_: Type, ftz: bool) -> Callable[[Array], Array] | None:
    if type_.kind == "bf":
        return n.bf16_to_f32
    return n.flush32 if ftz and type_.name == "f32" else None


def _compare(i: Instruction, operator: str, type_: Type) -> Callable[[Array, Array], Array]:
    compare = comparison(i, operator, type_)
    prepare = _operand_filter(type_, "ftz" in i.modifiers)
    if prepare is None:
        return compare
    return lambda a, b: compare(prepare(a), prepare(b))


COMBINE: dict[str, Any] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


@instruction("setp")
def setp(state: State, i: Instruction) -> Step:
    operator, type_ = i.modifiers[0], last_type(i)
    if type_.kind == "pack":
        return _setp_pair(state, i)
    combine = next((m for m in i.modifiers[1:-1] if m in COMBINE), None)
    compare = _compare(i, operator, type_)
    target = i.operands[0]
    a, b = i.operands[1:3]
    if combine is None and not isinstance(target, Pair):
        return state.pure(i, compare, PRED, ((a, type_), (b, type_)))
    x, y = state.source(i, a, type_), state.source(i, b, type_)
    third = state.predicate(i, i.operands[3]) if combine is not None else None
    return _two_predicates(state, i, lambda: _both(compare(x, y), combine, third), target)


def _both(t: Array, combine: str | None, third: Callable[[], Array] | None) -> tuple[Array, Array]:
    """The result and, for the second destination, the same with the comparison negated."""
    if combine is None or third is None:
        return t, ~t
    c = third()
    return COMBINE[combine](t, c), COMBINE[combine](~t, c)


def _two_predicates(state: State, i: Instruction, both: Callable[[], tuple[Array, Array]], target: Operand) -> Step:
    first, second = (target.first, target.second) if isinstance(target, Pair) else (target, Sink())
    p, q = state.target(i, first, PRED), state.target(i, second, PRED)

    def full() -> None:
        r, s = both()
        p[:] = r
        q[:] = s

    def masked(mask: Array) -> None:
        r, s = both()
        np.copyto(p, r, where=mask)
        np.copyto(q, s, where=mask)

    return Step(full, masked)


def _setp_pair(state: State, i: Instruction) -> Step:
    """setp of f16x2 or bf16x2: a predicate for the low and one for the high halves."""
    from . import half

    name = i.modifiers[-1]
    compare = comparison(i, i.modifiers[0], TYPES["f64"])
    combine = next((m for m in i.modifiers[1:-1] if m in COMBINE), None)
    third = state.predicate(i, i.operands[3]) if combine is not None else None
    x, y = state.source(i, i.operands[1], U32), state.source(i, i.operands[2], U32)

    def both() -> tuple[Array, Array]:
        parts = []
        for shift in (0, 16):
            a, b = (half.widen(((w >> np.uint32(shift)) & np.uint32(0xFFFF)).astype(np.uint16), name) for w in (x, y))
            t = compare(a, b)
            parts.append(t if combine is None or third is None else COMBINE[combine](t, third()))
        return parts[0], parts[1]

    return _two_predicates(state, i, both, i.operands[0])


@instruction("set")
def set_(state: State, i: Instruction) -> Step:
    operator, out, type_ = i.modifiers[0], TYPES[i.modifiers[-2]], last_type(i)
    combine = next((m for m in i.modifiers[1:-2] if m in COMBINE), None)
    compare = _compare(i, operator, type_)
    third = state.predicate(i, i.operands[3]) if combine is not None else None
    yes: Any = np.float32(1) if out.name == "f32" else out.dtype.type(-1 if out.signed else (1 << out.bits) - 1)
    if out.name == "bf16":
        yes = np.uint16(0x3F80)
    elif out.name == "f16":
        yes = np.float16(1)

    def choose(a: Array, b: Array) -> Any:
        t, _ = _both(compare(a, b), combine, third)
        return np.where(t, yes, out.dtype.type(0))

    step = state.pure(i, choose, out, ((i.operands[1], type_), (i.operands[2], type_)))
    return Step(step.full, step.masked) if third is not None else step


@instruction("selp")
def selp(state: State, i: Instruction) -> Step:
    type_ = last_type(i)
    a, b, c = i.operands[1:4]
    return state.pure(i, _select, type_, ((a, type_), (b, type_), (c, PRED)))


def _select(a: Array, b: Array, c: Array) -> Array:
    return np.where(c, a, b)


@instruction("slct")
def slct(state: State, i: Instruction) -> Step:
    type_, third = TYPES[i.modifiers[-2]], TYPES[i.modifiers[-1]]
    a, b, c = i.operands[1:4]
    flush = "ftz" in i.modifiers

    def choose(x: Array, y: Array, z: Array) -> Array:
        # -0 is not less than 0, and NaN chooses the second.
        return np.where((n.flush32(z) if flush else z) >= 0, x, y)

    return state.pure(i, choose, type_, ((a, type_), (b, type_), (c, third)))


@instruction("and", "or", "xor")
def bitwise(state: State, i: Instruction) -> Step:
    only(i)
    type_ = last_type(i)
    a, b = i.operands[1:3]
    if type_.kind == "pred":
        return state.pure(i, COMBINE[i.opcode], type_, ((a, type_), (b, type_)))
    ufunc = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[i.opcode]
    return state.pure(i, ufunc, type_, ((a, type_), (b, type_)))


@instruction("not", "cnot")
def complement(state: State, i: Instruction) -> Step:
    only(i)
    type_ = last_type(i)
    if i.opcode == "cnot":
        return state.pure(i, lambda x: x == 0, type_, ((i.operands[1], type_),))
    ufunc = np.logical_not if type_.kind == "pred" else np.invert
    return state.pure(i, ufunc, type_, ((i.operands[1], type_),))


@instruction("lop3")
def lop3(state: State, i: Instruction) -> Step:
    if i.modifiers != ("b32",):
        raise unknown(i)
    table = i.operands[4]
    if not isinstance(table, Imm):
        raise unknown(i, "operand")
    lut = int(table.value)

    def fn(a: Array, b: Array, c: Array) -> Array:
        r = np.zeros_like(a + b + c)
        for at in range(8):
            if lut >> at & 1:
                r |= (a if at & 4 else ~a) & (b if at & 2 else ~b) & (c if at & 1 else ~c)
        return r

    return state.pure(i, fn, U32, tuple((operand, U32) for operand in i.operands[1:4]))


@instruction("shl", "shr")
def shift(state: State, i: Instruction) -> Step:
    """Amounts beyond the width act as the width: NumPy shifts do the same for amounts that are not negative."""
    only(i)
    type_ = last_type(i)
    a, amount = i.operands[1:3]
    if i.opcode == "shl":
        type_ = raw(type_)
    ufunc = np.left_shift if i.opcode == "shl" else np.right_shift
    if isinstance(amount, Imm):
        return state.pure(i, ufunc, type_, ((a, type_), (Imm(min(int(amount.value), type_.bits), "int"), type_)))
    dtype, bits = type_.dtype, np.uint32(type_.bits)
    return state.pure(i, lambda x, s: ufunc(x, np.minimum(s, bits).astype(dtype)), type_, ((a, type_), (amount, U32)))


@instruction("shf")
def funnel(state: State, i: Instruction) -> Step:
    """A 64-bit value `b:a` shifted; left gives the upper word, right the lower one."""
    left, clamp = i.modifiers[0] == "l", "clamp" in i.modifiers
    if i.modifiers[0] not in ("l", "r") or i.modifiers[1] not in ("wrap", "clamp"):
        raise unknown(i)

    def fn(a: Array, b: Array, c: Array) -> Array:
        s = (np.minimum(c, np.uint32(32)) if clamp else c & np.uint32(31)).astype(np.uint64)
        whole = (b.astype(np.uint64) << np.uint64(32)) | a.astype(np.uint64)
        r = (whole << s) >> np.uint64(32) if left else whole >> s
        return r & np.uint64(0xFFFF_FFFF)

    return state.pure(i, fn, U32, tuple((operand, U32) for operand in i.operands[1:4]))


PRMT_MODES = {
    "f4e": [0x3210, 0x4321, 0x5432, 0x6543], "b4e": [0x5670, 0x6701, 0x7012, 0x0123],
    "rc8": [0x0000, 0x1111, 0x2222, 0x3333], "rc16": [0x1010, 0x3232, 0x1010, 0x3232],
    "ecl": [0x3210, 0x3211, 0x3222, 0x3333], "ecr": [0x0000, 0x1110, 0x2210, 0x3210],
}  # fmt: skip


@instruction("prmt")
def prmt(state: State, i: Instruction) -> Step:
    modes = i.modifiers[1:]
    if i.modifiers[0] != "b32" or any(mode not in PRMT_MODES for mode in modes):
        raise unknown(i)
    a, b, c = i.operands[1:4]
    if isinstance(c, Imm) and not modes:
        selector = int(c.value) & 0xFFFF
        return state.pure(i, _fixed_permutation(selector), U32, ((a, U32), (b, U32)))
    table = np.array(PRMT_MODES[modes[0]], np.uint64) if modes else None

    def fn(x: Array, y: Array, z: Array) -> Array:
        whole = (y.astype(np.uint64) << np.uint64(32)) | x.astype(np.uint64)
        selectors = z.astype(np.uint64) if table is None else table[z & np.uint32(3)]
        r = np.zeros_like(whole + selectors)
        for at in range(4):
            s = (selectors >> np.uint64(4 * at)) & np.uint64(0xF)
            byte = (whole >> ((s & np.uint64(7)) * np.uint64(8))) & np.uint64(0xFF)
            sign = (byte >> np.uint64(7)) * np.uint64(0xFF)
            r |= np.where(s & np.uint64(8) != 0, sign, byte) << np.uint64(8 * at)
        return r

    return state.pure(i, fn, U32, ((a, U32), (b, U32), (c, U32)))


def _fixed_permutation(selector: int) -> Callable[[Array, Array], Array]:
    picks = [(selector >> (4 * at)) & 0xF for at in range(4)]

    def fn(x: Array, y: Array) -> Array:
        r: Any = np.uint32(0)
        for at, pick in enumerate(picks):
            byte = ((y if pick & 4 else x) >> np.uint32(8 * (pick & 3))) & np.uint32(0xFF)
            if pick & 8:
                byte = (byte >> np.uint32(7)) * np.uint32(0xFF)
            r = r | (byte << np.uint32(8 * at) if at else byte)
        return r + np.zeros_like(y) if np.ndim(r) == 0 else r  # type: ignore[no-any-return]

    return fn

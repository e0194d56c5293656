"""Elementwise arithmetic on one element: what `docs/spec.md` says of each operation, in LLVM instructions.

Nothing is fused and no fast-math flag is set, but `afn` on the calls that ask for an approximation by that name. f16
adds, subtracts, multiplies and fuses natively, which rounds once; its other operations, and all of bf16, compute in
f32 and round once. LLVM has no accurate exp, log, sin, cos, tanh or pow for this back end and ends the process when
asked: on f64 and under @precise they come from `accurate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..diagnostics import CompileError, Diagnostic, InternalError, Severity
from ..ir.types import BF16, BOOL, F16, F32, F64, I32, I64, Scalar
from . import accurate
from .function import Function
from .real import Real
from .types import I1, LLVM, LLVMType, constant, integer

LOG2_E = math.log2(math.e)
LN_2 = math.log(2.0)
NATIVE_F16 = ("add", "sub", "mul")
ORDER = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def unary(f: Function, kind: str, elem: Scalar, a: LLVM) -> LLVM:
    """One of UNARY on one element."""
    if kind == "not":
        return f.b.xor(a, constant(I1, 1))
    if kind == "inv":
        return f.b.xor(a, constant(a.type, -1))
    if not elem.is_float:
        return _unary_int(f, kind, elem, a)
    if elem in (F16, BF16):
        return cast(f, unary(f, kind, F32, cast(f, a, elem, F32)), F32, elem)
    if kind in accurate.UNARY and _accurate(f, elem):
        return accurate.unary(f, kind, elem, a)
    return UNARY_FLOAT[kind](f, a)


def _unary_int(f: Function, kind: str, elem: Scalar, a: LLVM) -> LLVM:
    zero = constant(a.type, 0)
    if kind == "neg":
        return f.b.sub(zero, a)
    if kind == "abs":
        return a if elem.kind == "uint" else f.b.select(f.b.icmp_signed("<", a, zero), f.b.sub(zero, a), a)
    if kind in ("floor", "ceil", "round"):
        return a
    raise InternalError(f"codegen: {kind} on {elem}")


def _accurate(f: Function, elem: Scalar) -> bool:
    """Whether an f32 or f64 function must be accurate; else the hardware approximates it."""
    return elem == F64 or f.kernel.attributes.precise


def _intrinsic(name: str) -> Callable[[Function, LLVM], LLVM]:
    """An intrinsic that is overloaded on f32 and f64."""
    return lambda f, a: f.intrinsic(f"llvm.{name}.{_suffix(a.type)}", a.type, (a,))


def _approximate(name: str) -> Callable[[Function, LLVM], LLVM]:
    """A function that LLVM lowers to the hardware's approximation, and only that, under `afn`."""
    return lambda f, a: f.intrinsic(f"llvm.{name}.f32", a.type, (a,), flags=("afn",))


def _suffix(type: LLVMType) -> str:
    return str(type.intrinsic_name)


def _exp2(f: Function, a: LLVM) -> LLVM:
    return f.intrinsic("llvm.nvvm.ex2.approx.f32", a.type, (a,))


def _log2(f: Function, a: LLVM) -> LLVM:
    return f.intrinsic("llvm.nvvm.lg2.approx.f", a.type, (a,))


def _exp(f: Function, a: LLVM) -> LLVM:
    return _exp2(f, f.b.fmul(a, constant(a.type, LOG2_E)))


def _log(f: Function, a: LLVM) -> LLVM:
    return f.b.fmul(_log2(f, a), constant(a.type, LN_2))


def _rsqrt(f: Function, a: LLVM) -> LLVM:
    return f.intrinsic("llvm.nvvm.rsqrt.approx.f", a.type, (a,))


def _tanh(f: Function, a: LLVM) -> LLVM:
    if f.target.tanh_approx:
        return _approximate("tanh")(f, a)
    # 1 - 2 / (exp(2|a|) + 1) with the sign of a: right at infinities and zeros.
    r = Real(f, F32)
    power = _exp2(f, r.mul(r.abs(a), 2 * LOG2_E))
    return r.signed_like(r.sub(1, r.div(2, r.add(power, 1))), a)


UNARY_FLOAT: dict[str, Callable[[Function, LLVM], LLVM]] = {
    "neg": lambda f, a: f.b.fneg(a),
    "abs": _intrinsic("fabs"),
    "floor": _intrinsic("floor"),
    "ceil": _intrinsic("ceil"),
    "round": _intrinsic("roundeven"),
    "sqrt": _intrinsic("sqrt"),
    "rsqrt": _rsqrt,
    "exp": _exp,
    "exp2": _exp2,
    "log": _log,
    "log2": _log2,
    "tanh": _tanh,
    "sin": _approximate("sin"),
    "cos": _approximate("cos"),
}


def binary(f: Function, kind: str, elem: Scalar, a: LLVM, b: LLVM) -> LLVM:
    """One of BINARY on one element."""
    if kind in ("and", "or", "xor"):
        return {"and": f.b.and_, "or": f.b.or_, "xor": f.b.xor}[kind](a, b)
    if not elem.is_float:
        return _binary_int(f, kind, elem, a, b)
    if elem == BF16 or (elem == F16 and kind not in NATIVE_F16):
        wide = binary(f, kind, F32, cast(f, a, elem, F32), cast(f, b, elem, F32))
        return cast(f, wide, F32, elem)
    if kind in ("add", "sub", "mul", "div"):
        return {"add": f.b.fadd, "sub": f.b.fsub, "mul": f.b.fmul, "div": f.b.fdiv}[kind](a, b)
    if kind in ("min", "max"):
        return f.intrinsic(f"llvm.{kind}num.{_suffix(a.type)}", a.type, (a, b))
    if kind == "pow":
        return accurate.pow(Real(f, elem), a, b) if _accurate(f, elem) else _pow(f, a, b)
    if kind == "rem":
        diagnostic = Diagnostic(Severity.ERROR, "PH401", f"not supported yet: % on {elem}", f.span)
        raise CompileError((diagnostic,))
    raise InternalError(f"codegen: {kind} on {elem}")


def _pow(f: Function, a: LLVM, b: LLVM) -> LLVM:
    """ex2(b * lg2|a|), with the special values of the accurate one."""
    r = Real(f, F32)
    return accurate.pow_special(r, a, b, _exp2(f, f.b.fmul(_log2(f, r.abs(a)), b)))


def _binary_int(f: Function, kind: str, elem: Scalar, a: LLVM, b: LLVM) -> LLVM:
    signed = elem.kind != "uint"
    if kind in ("add", "sub", "mul"):
        return {"add": f.b.add, "sub": f.b.sub, "mul": f.b.mul}[kind](a, b)
    if kind in ("div", "rem"):
        return _divide(f, kind, signed, a, b)
    if kind in ("shl", "shr"):
        count = f.b.and_(b, constant(b.type, b.type.width - 1)) if integer(b) is None else b
        known = integer(b)
        if known is not None:
            count = constant(b.type, known % b.type.width)
        if kind == "shl":
            return f.b.shl(a, count)
        return f.b.ashr(a, count) if signed else f.b.lshr(a, count)
    if kind in ("min", "max"):
        compare = f.b.icmp_signed if signed else f.b.icmp_unsigned
        return f.b.select(compare("<" if kind == "min" else ">", a, b), a, b)
    if kind == "pow":
        return _pow_int(f, signed, a, b)
    raise InternalError(f"codegen: {kind} on {elem}")


def _divide(f: Function, kind: str, signed: bool, a: LLVM, b: LLVM) -> LLVM:
    """Toward zero. x / 0 and MIN / -1 are undefined in LLVM, so it never sees them.

    The language leaves x / 0 open; here it is 0 and x % 0 is x, as in the interpreter. MIN / -1 wraps.
    """
    zero, one, minus = (constant(b.type, x) for x in (0, 1, -1))
    divide = {("div", True): f.b.sdiv, ("div", False): f.b.udiv, ("rem", True): f.b.srem, ("rem", False): f.b.urem}
    known = integer(b)
    if known is not None and known != 0 and not (signed and known == -1):
        return divide[kind, signed](a, b)
    is_zero = f.b.icmp_unsigned("==", b, zero)
    is_minus = f.b.icmp_unsigned("==", b, minus) if signed else None
    unsafe = is_zero if is_minus is None else f.b.or_(is_zero, is_minus)
    result = divide[kind, signed](a, f.b.select(unsafe, one, b))
    if kind == "rem":
        return f.b.select(is_zero, a, result)
    if is_minus is not None:
        result = f.b.select(is_minus, f.b.sub(zero, a), result)
    return f.b.select(is_zero, zero, result)


def _pow_int(f: Function, signed: bool, a: LLVM, b: LLVM) -> LLVM:
    """Square and multiply. A negative power is 1 / a^|b| toward zero: 0 but for 1 and -1."""
    zero, one, minus = (constant(a.type, x) for x in (0, 1, -1))
    count = b
    if signed:
        count = f.b.select(f.b.icmp_signed("<", b, zero), f.b.sub(zero, b), b)
    head, body, done = f.block("pow"), f.block("pow.body"), f.block("pow.end")
    before = f.b.block
    f.b.branch(head)
    f.b.position_at_end(head)
    left, factor, product = (f.b.phi(a.type) for _ in range(3))
    for phi, start in ((left, count), (factor, a), (product, one)):
        phi.add_incoming(start, before)
    f.b.cbranch(f.b.icmp_unsigned("==", left, zero), done, body)
    f.b.position_at_end(body)
    is_odd = f.b.trunc(left, I1)
    for phi, following in (
        (product, f.b.select(is_odd, f.b.mul(product, factor), product)),
        (factor, f.b.mul(factor, factor)),
        (left, f.b.lshr(left, one)),
    ):
        phi.add_incoming(following, body)
    f.b.branch(head)
    f.b.position_at_end(done)
    if not signed:
        return product
    unit = f.b.or_(f.b.icmp_unsigned("==", a, one), f.b.icmp_unsigned("==", a, minus))
    small = f.b.and_(f.b.icmp_signed("<", b, zero), f.b.not_(unit))
    return f.b.select(small, zero, product)


def compare(f: Function, kind: str, elem: Scalar, a: LLVM, b: LLVM) -> LLVM:
    """One of COMPARE; on floats false with a NaN, but for `ne`."""
    symbol = ORDER[kind]
    if elem in (F16, BF16):
        a, b = cast(f, a, elem, F32), cast(f, b, elem, F32)
    if elem.is_float:
        return (f.b.fcmp_unordered if kind == "ne" else f.b.fcmp_ordered)(symbol, a, b)
    signed = elem.kind in ("int", "index")
    return (f.b.icmp_signed if signed else f.b.icmp_unsigned)(symbol, a, b)


def fma(f: Function, elem: Scalar, a: LLVM, b: LLVM, c: LLVM) -> LLVM:
    """a * b + c, rounded once on floats."""
    if not elem.is_float:
        return f.b.add(f.b.mul(a, b), c)
    if elem == BF16 and not f.target.bf16:
        # Rounds twice, which differs from the chips with a bf16 fma where the f32 sum lies on a tie.
        wide = fma(f, F32, *(cast(f, x, elem, F32) for x in (a, b, c)))
        return cast(f, wide, F32, elem)
    return f.intrinsic(f"llvm.fma.{_suffix(a.type)}", a.type, (a, b, c))


def cast(f: Function, a: LLVM, source: Scalar, target: Scalar) -> LLVM:
    """Element conversion, as the op `cast` says."""
    if source == target:
        return a
    to = f.type(target)
    if target == BOOL:
        return compare(f, "ne", source, a, constant(a.type, 0))
    if source == BOOL:
        return cast(f, f.b.zext(a, f.type(I32)), I32, target)
    if source.is_float:
        return _float_to_float(f, a, source, target) if target.is_float else _float_to_int(f, a, source, target)
    if target.is_float:
        return _int_to_float(f, a, source, target)
    if a.type.width == to.width:
        return a
    if a.type.width > to.width:
        return f.b.trunc(a, to)
    return f.b.zext(a, to) if source.kind == "uint" else f.b.sext(a, to)


def _float_to_float(f: Function, a: LLVM, source: Scalar, target: Scalar) -> LLVM:
    if source.bits == target.bits:
        return f.b.fptrunc(f.b.fpext(a, f.type(F32)), f.type(target))
    return (f.b.fptrunc if source.bits > target.bits else f.b.fpext)(a, f.type(target))


def _float_to_int(f: Function, a: LLVM, source: Scalar, target: Scalar) -> LLVM:
    if source in (F16, BF16):
        a = f.b.fpext(a, f.type(F32))
    to = f.type(target)
    which = "fptoui" if target.kind == "uint" else "fptosi"
    return f.intrinsic(f"llvm.{which}.sat.i{to.width}.{_suffix(a.type)}", to, (a,))


def _int_to_float(f: Function, a: LLVM, source: Scalar, target: Scalar) -> LLVM:
    make = f.b.uitofp if source.kind == "uint" else f.b.sitofp
    if target != BF16:
        return make(a, f.type(target))
    single = make(a, f.type(F32))
    if f.bits(source) > 8:
        single = _to_odd(f, single, a)
    return f.b.fptrunc(single, f.type(BF16))


def _to_odd(f: Function, near: LLVM, exact: LLVM) -> LLVM:
    """The f32 nearest to a signed integer, made the one *to odd*, which another rounding cannot mislead.

    That is the integer cut toward zero to f32, with an odd last bit where anything was cut. (LLVM converts integers to
    bf16 by way of f32, and so rounds twice, whatever wider type the module goes through.)
    """
    back = _float_to_int(f, near, F32, I32 if exact.type.width == 32 else I64)
    bits = f.b.bitcast(near, f.type(I32))
    larger = f.b.select(
        f.b.icmp_signed("<", exact, constant(exact.type, 0)),
        f.b.icmp_signed("<", back, exact),
        f.b.icmp_signed(">", back, exact),
    )
    cut = f.b.sub(bits, f.b.zext(larger, bits.type))
    inexact = f.b.zext(f.b.icmp_signed("!=", back, exact), bits.type)
    return f.b.bitcast(f.b.or_(cut, inexact), f.type(F32))

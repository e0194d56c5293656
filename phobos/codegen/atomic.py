"""Atomics on global memory: one instruction where the chip has it, else a loop around compare-and-swap.

All are relaxed, in the scope of the device: they order nothing but each other on one element. The chips add f32 and
f16, and from sm_90 on bf16; no chip takes a float's maximum or minimum. A loop swaps bit patterns, so it ends where the
element is a NaN too, and a maximum or minimum that changes nothing does not write.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ..ir.thread_ops import Atomic
from ..ir.tile_ops import element
from ..ir.types import BF16, Scalar
from . import scalar
from .function import Function
from .memory import done_once, packed, point, unpacked
from .shape import shuffle
from .types import I16, I32, LLVM, constant, memory_type, word

RELAXED = 'syncscope("device") monotonic'
"""llvmlite has no argument for the scope of an atomic; the ordering is printed as it stands."""


def atomic(f: Function, op: Atomic) -> None:
    """The result of scope "cta" is the first thread's alone (`stage` has it read by the others)."""
    elem = element(op.tensor.type)
    pointer = point(f, op.tensor, op.offsets, op.extents)
    values = [packed(f, [f.scalar(v)], elem) for v in op.values]

    def act() -> list[LLVM]:
        return [_changed(f, op.kind, elem, pointer, values)]

    nothing = constant(memory_type(elem), 0)
    (old,) = done_once(f, op.scope, act, f"atomic.{op.kind}", [nothing])
    if op.scope == "warp":
        old = shuffle(f, "idx", old, constant(I32, 0))
    f.bind(op.out, unpacked(f, old, elem, 1))


def _changed(f: Function, kind: str, elem: Scalar, pointer: LLVM, values: Sequence[LLVM]) -> LLVM:
    """Change the element; what it was before."""
    if kind == "cas":
        return _swapped(f, pointer, *values)
    if elem.is_int:
        return f.b.atomic_rmw(kind, pointer, values[0], RELAXED)
    if kind == "add" and (elem != BF16 or f.target.bf16_arithmetic):
        return f.b.atomic_rmw("fadd", pointer, values[0], RELAXED)
    return _by_swaps(f, kind, elem, pointer, values[0])


def _swapped(f: Function, pointer: LLVM, expect: LLVM, new: LLVM) -> LLVM:
    """Put `new` where `expect` is; what was found.

    Of 16 bits LLVM makes a swap of the word around them, which it reads first as if nobody else wrote it.
    """
    if expect.type != I16:
        return f.b.extract_value(f.b.cmpxchg(pointer, expect, new, RELAXED, "monotonic"), 0)
    text = "atom.relaxed.gpu.global.cas.b16 $0, [$1], $2, $3;"
    kind = ir.FunctionType(I16, [pointer.type, I16, I16])
    return f.b.asm(kind, text, "=h,l,h,h,~{memory}", [pointer, expect, new], side_effect=True)


def _by_swaps(f: Function, kind: str, elem: Scalar, pointer: LLVM, value: LLVM) -> LLVM:
    """Read, combine and swap until nobody came between."""
    b, bits, type_ = f.b, word(elem.bits), memory_type(elem)
    head, swap, done = (f.block(f"atomic.{part}") for part in ("combine", "swap", "done"))
    first = b.load_atomic(pointer, RELAXED, elem.size_bytes, typ=bits)
    before = b.block
    b.branch(head)
    b.position_at_end(head)
    old = b.phi(bits)
    old.add_incoming(first, before)
    combined = b.bitcast(scalar.binary(f, kind, elem, b.bitcast(old, type_), value), bits)
    b.cbranch(b.icmp_unsigned("==", combined, old), done, swap)
    b.position_at_end(swap)
    found = _swapped(f, pointer, old, combined)
    old.add_incoming(found, swap)
    b.cbranch(b.icmp_unsigned("==", found, old), done, head)
    b.position_at_end(done)
    return b.bitcast(old, type_)

"""Tensors, and buffers that are accessed like them: tiles and points, vector accesses, masks as branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from ..ir.core import Value
from ..ir.tile_ops import Load, LoadPoint, Store, StorePoint, element
from ..ir.types import BOOL, INDEX, Scalar
from .access import Key, Run, Window, element_at, runs
from .function import Function
from .types import I8, I32, I64, LLVM, VOID, LLVMType, constant, integer, memory_type, zero


def load(f: Function, op: Load) -> None:
    """Runs that share a predicate share a branch; masked ones are 0."""
    layout, elem = f.layout(op.out), element(op.tensor.type)
    window = Window(f, op.tensor, op.offsets, op.extents, layout, op.guards, op.limits)
    width = max(op.width, 1)
    registers: list[LLVM] = [None] * layout.registers
    access = access_type(elem, width)
    for key, group in _grouped(window, runs(layout, width, len(layout.shape) - 1), owner=False):
        predicate = window.predicate(key)
        pointers = [window.pointer(run.offset) for run in group]

        def read(pointers: list[LLVM] = pointers) -> list[LLVM]:
            return [load_access(f, p, elem, width, op.invariant) for p in pointers]

        values = f.guarded(predicate, read, [zero(access)] * len(group), f"load.{op.out.name}")
        for run, value in zip(group, values, strict=True):
            for register, part in zip(run.registers, unpacked(f, value, elem, width), strict=True):
                registers[register] = part
    f.bind(op.out, registers)


def store(f: Function, op: Store) -> None:
    """As `load`; of threads that hold the same element the first one stores."""
    layout, elem = f.layout(op.value), element(op.tensor.type)
    window = Window(f, op.tensor, op.offsets, op.extents, layout, op.guards, op.limits)
    width = max(op.width, 1)
    registers = f.registers(op.value)
    for key, group in _grouped(window, runs(layout, width, len(layout.shape) - 1), owner=True):
        predicate = window.predicate(key)
        values = [packed(f, [registers[r] for r in run.registers], elem) for run in group]
        pointers = [window.pointer(run.offset) for run in group]

        def write(values: list[LLVM] = values, pointers: list[LLVM] = pointers) -> list[LLVM]:
            for value, p in zip(values, pointers, strict=True):
                f.b.store(value, p, align=width * elem.size_bytes)
            return []

        f.guarded(predicate, write, (), f"store.{op.value.name}")


def _grouped(window: Window, all_runs: Sequence[Run], owner: bool) -> list[tuple[Key, list[Run]]]:
    """Runs by the tests they must pass, in order of the first of each."""
    groups: dict[Key, list[Run]] = {}
    for run in all_runs:
        groups.setdefault(window.key(run.offset, owner), []).append(run)
    return list(groups.items())


def load_point(f: Function, op: LoadPoint) -> None:
    """One element, read by every thread."""
    elem = element(op.tensor.type)
    value = load_access(f, point(f, op.tensor, op.offsets, op.extents), elem, 1, op.invariant)
    f.bind(op.out, unpacked(f, value, elem, 1))


def store_point(f: Function, op: StorePoint) -> None:
    """One element, written by as many threads as the op's scope says."""
    elem = element(op.tensor.type)
    pointer = point(f, op.tensor, op.offsets, op.extents)
    value = packed(f, [f.scalar(op.value)], elem)

    def write() -> list[LLVM]:
        f.b.store(value, pointer, align=elem.size_bytes)
        return []

    done_once(f, op.scope, write, "store.point")


def done_once(
    f: Function, scope: str, act: Callable[[], Sequence[LLVM]], name: str, otherwise: Sequence[LLVM] = ()
) -> list[LLVM]:
    """Run `act` in one thread of the CTA, in one of each warp, or in every thread that is here; it gives what `act`
    gives there, `otherwise` in other threads.

    What a warp does once is one step for all of its lanes: they have read what they read before, and see it behind.
    """
    chosen: LLVM | None = None
    if scope != "thread":
        chosen = f.is_first_thread() if scope == "cta" else f.is_first_lane()
    if scope == "warp":
        sync_warp(f)
    given = f.guarded(chosen, act, otherwise, name)
    if scope == "warp":
        sync_warp(f)
    return given


def sync_warp(f: Function) -> None:
    """A barrier for the warp, which all of its lanes reach."""
    f.intrinsic("llvm.nvvm.bar.warp.sync", VOID, (I32(-1),))


def point(f: Function, tensor: Value, offsets: Sequence[Value], extents: Sequence[Value]) -> LLVM:
    """The address of an element."""
    strides = f.kernel.strides_of(tensor)
    pitches = [f.scalar(v) for v in strides or extents]
    at = element_at(f, [f.scalar(v) for v in offsets], pitches, strided=bool(strides))
    return f.byte_offset(f.memory(tensor), f.mul(f.resize(at, f.distance(tensor)), element(tensor.type).size_bytes))


# ---- elements in memory -------------------------------------------------------------------------------------


def access_type(elem: Scalar, width: int) -> LLVMType:
    """The LLVM type of one access."""
    return memory_type(elem) if width == 1 else ir.VectorType(memory_type(elem), width)


def load_access(f: Function, pointer: LLVM, elem: Scalar, width: int, invariant: bool = False) -> LLVM:
    """Read `width` elements at once; they lie at a multiple of their size."""
    value = f.b.load(pointer, align=width * elem.size_bytes, typ=access_type(elem, width))
    if invariant:
        value.set_metadata("invariant.load", f.module.add_metadata([]))
    return value


def unpacked(f: Function, value: LLVM, elem: Scalar, width: int) -> list[LLVM]:
    """The elements of an access as registers hold them."""
    parts = [value] if width == 1 else [f.b.extract_element(value, I32(i)) for i in range(width)]
    if elem == BOOL:
        return [f.b.icmp_unsigned("!=", p, constant(I8, 0)) for p in parts]
    return [f.resize(p, f.index) for p in parts] if elem == INDEX else parts


def packed(f: Function, parts: Sequence[LLVM], elem: Scalar) -> LLVM:
    """Registers as one access's value."""
    stored = list(parts)
    if elem == BOOL:
        stored = [constant(I8, known) if (known := integer(p)) is not None else f.b.zext(p, I8) for p in parts]
    elif elem == INDEX:
        stored = [f.resize(p, I64) for p in parts]
    if len(stored) == 1:
        return stored[0]
    value: LLVM = ir.Constant(ir.VectorType(stored[0].type, len(stored)), ir.Undefined)
    for i, part in enumerate(stored):
        value = f.b.insert_element(value, part, I32(i))
    return value


def from_parameter(f: Function, value: LLVM, elem: Scalar) -> LLVM:
    """A scalar parameter as a register."""
    return f.entry.icmp_unsigned("!=", value, constant(I8, 0)) if elem == BOOL else value

"""A kernel of form "synced" to the text of an LLVM module: the table from op class to emitter, and the entry point.

Nothing is decided here: layouts, widths, guards, buffers and barriers are read off the ops.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from llvmlite import ir

from ..diagnostics import InternalError
from ..ir.core import Op
from ..ir.cta_ops import Alloc, Commit, CopyAsync, DotFma, Read, Sync, Wait, Write
from ..ir.kernel import Kernel
from ..ir.reduce_ops import Reduce, ReduceArg
from ..ir.shape_ops import Gather, Scan, Transpose
from ..ir.thread_ops import Atomic, Barrier, DotRun, Element, LoadRun, StoreRun, SumRun, ThreadIndex
from ..ir.tile_ops import (
    Binary,
    Broadcast,
    Cast,
    Compare,
    Const,
    Convert,
    Fma,
    For,
    GridSize,
    If,
    Iota,
    Load,
    LoadPoint,
    ProgramId,
    Require,
    Reshape,
    Select,
    Splat,
    Store,
    StorePoint,
    Unary,
    While,
)
from ..ir.types import Scalar
from ..source import Source
from ..target import Target
from . import atomic, contraction, control, elementwise, memory, reduction, shape, shared, thread
from .function import Emitter, Function
from .ptx import TRIPLE
from .types import GLOBAL, I8, SHARED, VOID, LLVMType, memory_type, pointer

HANDLERS: Mapping[type[Op], Any] = {
    Const: elementwise.const,
    ProgramId: elementwise.program_id,
    GridSize: elementwise.grid_size,
    Unary: elementwise.unary,
    Binary: elementwise.binary,
    Compare: elementwise.compare,
    Select: elementwise.select,
    Fma: elementwise.fma,
    Cast: elementwise.cast,
    Splat: elementwise.splat,
    Broadcast: elementwise.broadcast,
    Reshape: elementwise.reshape,
    Iota: elementwise.iota,
    Convert: shape.convert,
    Transpose: shape.transpose,
    Scan: shape.scan,
    Gather: shape.gather,
    Reduce: reduction.reduce,
    ReduceArg: reduction.reduce_arg,
    Load: memory.load,
    Store: memory.store,
    LoadPoint: memory.load_point,
    StorePoint: memory.store_point,
    ThreadIndex: thread.thread_index,
    LoadRun: thread.load_run,
    StoreRun: thread.store_run,
    Element: thread.element_of,
    SumRun: thread.sum_run,
    DotRun: thread.dot_run,
    Atomic: atomic.atomic,
    Barrier: thread.barrier,
    Require: control.require,
    For: control.for_,
    While: control.while_,
    If: control.if_,
    Alloc: shared.alloc,
    CopyAsync: shared.copy_async,
    Commit: shared.commit,
    Wait: shared.wait,
    Write: shared.write,
    Read: shared.read,
    DotFma: contraction.dot_fma,
    Sync: shared.sync,
}
"""What emits each op: a function of the `Function` under construction and the op."""

QUOTED = re.compile(r'([%@])"([\w.$]+)"')
"""llvmlite quotes every name; LLVM needs it for few."""


def emit(kernel: Kernel, target: Target, index_bits: int, source: Source) -> str:
    """The LLVM IR of a kernel, before LLVM's own passes, with a comment for each source line."""
    if kernel.form != "synced":
        raise InternalError(f"codegen reads form synced, not {kernel.form}")
    emitters: Mapping[type[Op], Emitter] = HANDLERS
    f = Function(kernel, target, index_bits, source, emitters)
    f.module.triple = TRIPLE
    _declare(f)
    f.emit_block(kernel.body)
    f.end()
    return QUOTED.sub(r"\1\2", str(f.module))


def _declare(f: Function) -> None:
    """The kernel function: parameters in ABI order, launch bounds, shared memory."""
    kernel = f.kernel
    integers = len(kernel.dims) + sum(map(len, kernel.strides))
    types: list[LLVMType] = [pointer(GLOBAL)] * len(kernel.tensors) + [f.index] * integers
    for v in kernel.scalars:
        assert isinstance(v.type, Scalar)
        types.append(f.index if v.type.kind == "index" else memory_type(v.type))
    function = ir.Function(f.module, ir.FunctionType(VOID, types), sanitized(kernel.name))
    function.calling_convention = "ptx_kernel"
    launch = kernel.attributes.launch
    _attribute(function, "nvvm.maxntid", launch.threads)
    if launch.min_blocks is not None:
        _attribute(function, "nvvm.minctasm", launch.min_blocks)
    caps = [n for n in (launch.max_regs, kernel.attributes.registers) if n is not None]
    if caps:
        _attribute(function, "nvvm.maxnreg", min(caps))
    f.begin(function)
    for v, argument in zip(kernel.parameters, function.args, strict=True):
        argument.name = sanitized(v.name)
        f.cells[v] = memory.from_parameter(f, argument, v.type) if isinstance(v.type, Scalar) else argument
    total, dynamic = shared.shared_bytes(kernel)
    if total:
        name = "smem" if function.name != "smem" else "smem_"
        array = ir.GlobalVariable(f.module, ir.ArrayType(I8, 0 if dynamic else total), name, addrspace=SHARED)
        array.linkage = "external" if dynamic else "internal"
        array.align = 128
        array.type = pointer(SHARED)
        f.shared = array


def _attribute(function: ir.Function, name: str, value: int) -> None:
    # llvmlite knows a list of attributes and refuses others; the set below it prints any text.
    set.add(function.attributes, f'"{name}"="{value}"')


def sanitized(name: str) -> str:
    """A name that LLVM and PTX take; LLVM ends the process on others."""
    clean = re.sub(r"[^A-Za-z0-9_$]", "_", name)
    return clean if re.match(r"[A-Za-z_]", clean) else f"_{clean}"

"""`Function`: the LLVM function under construction, and what the emitters of ops share.

Values of the tile IR map to cells: a scalar to one LLVM value, a tile to one value per register of its layout, a
thread's run to one per element, a buffer to its place in shared memory, a tensor to its pointer. What depends on the
thread alone goes to the entry block, which dominates everything, and is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from ..diagnostics import InternalError
from ..ir.core import Block, Op, Value
from ..ir.kernel import Kernel
from ..ir.tile_ops import Yield
from ..ir.types import INDEX, Buffer, Scalar, Tile, Vec
from ..layout.base import RegisterLayout
from ..source import NOWHERE, Source, Span
from ..target import Target
from .debug import Lines
from .index import Expr, llvm_i32
from .types import I8, I32, I64, LLVM, SHARED, LLVMType, constant, integer, register_type


@dataclass(frozen=True, slots=True)
class SharedBuffer:
    """A buffer at its place in the block's shared memory."""

    type: Buffer
    offset_bytes: int


Cell: TypeAlias = LLVM | tuple[LLVM, ...] | SharedBuffer
Emitter: TypeAlias = Callable[["Function", Op], None]
Table: TypeAlias = tuple[NDArray[np.int64], ...]
"""For each axis, the coordinate of register 0 of every thread."""


class Function:
    """See the module text. `handlers` is the table from op class to emitter."""

    def __init__(
        self, kernel: Kernel, target: Target, index_bits: int, source: Source, handlers: Mapping[type[Op], Emitter]
    ) -> None:
        self.kernel, self.target, self.source, self.handlers = kernel, target, source, handlers
        self.index_bits = index_bits
        self.index: LLVMType = ir.IntType(index_bits)
        self.module: LLVM = ir.Module(name=kernel.name)
        self.cells: dict[Value, Cell] = {}
        self.span: Span = NOWHERE
        self.shared: LLVM = None
        """The pointer to the block's shared memory."""
        self.memo: dict[object, object] = {}
        """What emitters keep in the entry block, by a key of their own."""
        self._commented: tuple[LLVM, int] | None = None
        self._bases: dict[RegisterLayout, tuple[Expr | int, ...]] = {}
        self._tables: dict[RegisterLayout, Table] = {}

    def begin(self, function: LLVM) -> None:
        """Open the entry block, which stays open, and the first block of the body."""
        self.function = function
        self.lines = Lines(self.module, function, self.kernel, self.source)
        self.entry: LLVM = ir.IRBuilder(function.append_basic_block("entry"))
        self.entry.debug_metadata = self.lines.location(self.kernel.span)
        self.b: LLVM = ir.IRBuilder(function.append_basic_block("body"))
        self._body = self.b.block

    def end(self) -> None:
        """Close both."""
        self.b.ret_void()
        self.entry.branch(self._body)

    # ---- ops and values -------------------------------------------------------------------------------------

    def emit_block(self, block: Block) -> list[Cell]:
        """Emit a block's ops here; gives the cells that its yield hands over."""
        for op in block.ops:
            if isinstance(op, Yield):
                return [self.cells[v] for v in op.values]
            self._locate(op.span)
            handler = self.handlers.get(type(op))
            if handler is None:
                raise InternalError(f"codegen: {op.name} cannot stand in form synced")
            handler(self, op)
        return []

    def _locate(self, span: Span) -> None:
        """Give the next instructions a source line, and a comment where the line changes."""
        self.span = span
        self.b.debug_metadata = self.lines.location(span)
        if span.source is self.source and span is not NOWHERE and self._commented != (self.b.block, span.line):
            self._commented = (self.b.block, span.line)
            self.comment(f"{self.source.name}:{span.line}: {self.source.line(span.line).strip()}")

    def comment(self, text: str) -> None:
        self.b.comment(text.replace("\n", " "))

    def scalar(self, value: Value) -> LLVM:
        """The LLVM value of a scalar or tensor."""
        return self.cells[value]

    def registers(self, value: Value) -> tuple[LLVM, ...]:
        """The registers of a tile or vec."""
        cell = self.cells[value]
        assert isinstance(cell, tuple)
        return cell

    def each(self, value: Value) -> tuple[LLVM, ...]:
        """The registers of a tile or vec, or a scalar as the only one."""
        cell = self.cells[value]
        return cell if isinstance(cell, tuple) else (cell,)

    def memory(self, value: Value) -> LLVM:
        """The address of a tensor's or buffer's first element."""
        cell = self.cells[value]
        return self.byte_offset(self.shared, cell.offset_bytes) if isinstance(cell, SharedBuffer) else cell

    def distance(self, memory: Value) -> LLVMType:
        """The type of distances in bytes within a tensor or buffer."""
        return I32 if isinstance(memory.type, Buffer) else I64

    def buffer(self, value: Value) -> SharedBuffer:
        cell = self.cells[value]
        assert isinstance(cell, SharedBuffer)
        return cell

    def bind(self, value: Value, values: Sequence[LLVM]) -> None:
        """Give a value its LLVM values, which take its name where they have none."""
        for i, v in enumerate(values):
            if isinstance(v, ir.Instruction) and v.name.startswith("."):
                v.name = f"{value.name}.{i}" if len(values) > 1 else value.name
        self.cells[value] = tuple(values) if isinstance(value.type, Tile | Vec) else values[0]

    def layout(self, value: Value) -> RegisterLayout:
        """A tile's layout."""
        t = value.type
        if not isinstance(t, Tile) or t.layout is None:
            raise InternalError(f"codegen: {value} is {t}, which has no layout")
        return t.layout

    def type(self, scalar: Scalar) -> LLVMType:
        """What a register of this type holds."""
        return register_type(scalar, self.index_bits)

    def bits(self, scalar: Scalar) -> int:
        return self.index_bits if scalar == INDEX else scalar.bits

    # ---- threads --------------------------------------------------------------------------------------------

    @cached_property
    def tid(self) -> Expr:
        value = self.intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", I32, (), self.entry, "tid")
        return Expr(self.entry, value, 0, self.kernel.threads - 1)

    @cached_property
    def lane(self) -> Expr | int:
        return _named(self.tid % 32, "lane")

    @cached_property
    def warp(self) -> Expr | int:
        return _named(self.tid // 32, "warp")

    def thread_base(self, layout: RegisterLayout) -> tuple[Expr | int, ...]:
        """Coordinates of a thread's register 0."""
        if layout not in self._bases:
            self._bases[layout] = tuple(layout.thread_base(self.lane, self.warp))
        return self._bases[layout]

    def table(self, layout: RegisterLayout) -> Table:
        """The same coordinates for every thread of the block, as numbers."""
        if layout not in self._tables:
            self._tables[layout] = table(layout, self.kernel.threads)
        return self._tables[layout]

    def wide(self, value: Expr | int) -> LLVM:
        """A coordinate in the width of an index."""
        if isinstance(value, int):
            return constant(self.index, value)
        if self.index_bits == 32:
            return value.value
        key = ("wide", value.value)
        if key not in self.memo:
            self.memo[key] = self.entry.zext(value.value, I64)
        return self.memo[key]

    # ---- instructions ---------------------------------------------------------------------------------------

    def intrinsic(
        self,
        name: str,
        result: LLVMType,
        args: Sequence[LLVM],
        builder: LLVM = None,
        label: str = "",
        flags: Sequence[str] = (),
    ) -> LLVM:
        """Call an LLVM intrinsic. flags: `afn` on the functions whose approximation is asked for by that name."""
        declared = self.module.globals.get(name)
        if declared is None:
            declared = ir.Function(self.module, ir.FunctionType(result, [a.type for a in args]), name)
        return (builder or self.b).call(declared, list(args), name=label, fastmath=flags)

    def add(self, a: LLVM, b: LLVM | int) -> LLVM:
        """Integer sum, folded where a term is known to be 0."""
        other = constant(a.type, b) if isinstance(b, int) else b
        x, y = integer(a), integer(other)
        if x is not None and y is not None:
            return constant(a.type, x + y)
        if x == 0:
            return other
        return a if y == 0 else self.b.add(a, other)

    def mul(self, a: LLVM, b: LLVM | int) -> LLVM:
        """Integer product, folded where a factor is known to be 0 or 1."""
        other = constant(a.type, b) if isinstance(b, int) else b
        x, y = integer(a), integer(other)
        if x is not None and y is not None:
            return constant(a.type, x * y)
        if x == 0 or y == 0:
            return constant(a.type, 0)
        if x == 1:
            return other
        return a if y == 1 else self.b.mul(a, other)

    def resize(self, value: LLVM, type: LLVMType) -> LLVM:
        """A signed integer in another width."""
        known = integer(value)
        if known is not None:
            return constant(type, known)
        if value.type.width == type.width:
            return value
        return self.b.sext(value, type) if value.type.width < type.width else self.b.trunc(value, type)

    def all_of(self, conditions: Sequence[LLVM]) -> LLVM | None:
        """The conjunction; None for none."""
        result = None
        for c in conditions:
            result = c if result is None else self.b.and_(result, c)
        return result

    def byte_offset(self, base: LLVM, offset: LLVM | int, builder: LLVM = None) -> LLVM:
        """A pointer some bytes on."""
        b = builder or self.b
        if isinstance(offset, int):
            if offset == 0:
                return base
            offset = constant(I64 if base.type.addrspace != SHARED else I32, offset)
        return b.gep(base, [offset], source_etype=I8)

    def shared_pointer(self, offset: Expr | int) -> LLVM:
        """A pointer into shared memory at a thread's byte offset; made in the entry block."""
        if isinstance(offset, int) and offset == 0:
            return self.shared
        return self.entry.gep(self.shared, [llvm_i32(offset)], source_etype=I8)

    def block(self, name: str) -> LLVM:
        """A new basic block behind the ones that exist."""
        return self.function.append_basic_block(name)

    def guarded(
        self, condition: LLVM | None, body: Callable[[], Sequence[LLVM]], otherwise: Sequence[LLVM], name: str
    ) -> list[LLVM]:
        """Run `body` where the condition holds (always for None); where not, its values are `otherwise`."""
        if condition is None:
            return list(body())
        inside, behind = self.block(name), self.block(f"{name}.end")
        before = self.b.block
        self.b.cbranch(condition, inside, behind)
        self.b.position_at_end(inside)
        values = body()
        last = self.b.block
        self.b.branch(behind)
        self.b.position_at_end(behind)
        merged = []
        for v, o in zip(values, otherwise, strict=True):
            phi = self.b.phi(v.type)
            phi.add_incoming(v, last)
            phi.add_incoming(o, before)
            merged.append(phi)
        return merged

    def is_first_thread(self) -> LLVM:
        return self.b.icmp_unsigned("==", self.tid.value, constant(I32, 0))

    def is_first_lane(self) -> LLVM:
        return self.b.icmp_unsigned("==", llvm_i32(self.lane), constant(I32, 0))


def _named(value: Expr | int, name: str) -> Expr | int:
    if isinstance(value, Expr) and isinstance(value.value, ir.Instruction):
        value.value.name = name
    return value


def table(layout: RegisterLayout, threads: int) -> Table:
    """Coordinates of register 0 of every thread."""
    tid = np.arange(threads, dtype=np.int64)
    base = layout.thread_base(tid % 32, tid // 32)
    return tuple(np.broadcast_to(np.asarray(c, dtype=np.int64), (threads,)) for c in base)

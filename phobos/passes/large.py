"""Large tiles: where each one is, and how a box of it comes into registers. What `spill` is built on.

Takes ops of form "guarded", emits ops on boxes. A tile of the old program is a register value (by default itself), kept
in a shared buffer, or deferred: computed where it is consumed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Diagnostic, Severity
from ..ir.build import Builder, Index
from ..ir.core import Effect, Op, Value
from ..ir.cta_ops import Alloc
from ..ir.kernel import Kernel
from ..ir.memory import is_shared
from ..ir.shape_ops import Gather
from ..ir.tile_ops import Cast, Const, Dot, For, Iota, Load, Store, While, shape_of
from ..ir.types import I32, Buffer, Scalar, Tile
from ..layout.shared import Swizzled
from .boxes import Box, Values, cut, elements, needed, over, step, whole
from .deferred import Uses

MOST_REGISTERS = 128
"""Registers of one tile that a thread may hold: half of what it has (decision 012)."""
BOX_REGISTERS = 32
DOT_REGISTERS = 64
"""Elements of a box that a thread holds; more where a contraction reads operands for each."""
SMALL_BYTES = 2 << 10
STAGING_BYTES = 24 << 10
"""What is left to columns and parts, and to the operands of contractions, when it is decided which tiles are kept."""


def large_shapes(kernel: Kernel) -> frozenset[tuple[int, ...]]:
    """Shapes of which a value takes more than MOST_REGISTERS of a thread."""
    values = (v for op in kernel.walk() for v in (*op.results(), *(p for b in op.regions() for p in b.params)))
    return frozenset(v.type.shape for v in values if isinstance(v.type, Tile) and registers(v, kernel) > MOST_REGISTERS)


def registers(v: Value, kernel: Kernel) -> int:
    assert isinstance(v.type, Tile)
    return -(-elements(v) // kernel.threads) * max(v.type.elem.size_bytes // 4, 1)


def element_of(v: Value) -> Scalar:
    assert isinstance(v.type, Tile)
    return v.type.elem


def walked(op: Op) -> Iterator[Op]:
    """The op and those in its regions."""
    yield op
    for block in op.regions():
        yield from block.walk()


def _writes(op: Op) -> Iterator[Value | None]:
    """The buffers that an op writes; None for any tensor, and for a barrier."""
    if op.effects & (Effect.WRITE_GLOBAL | Effect.ORDER):
        yield None
    if op.effects & Effect.WRITE_SHARED and op.memory:
        yield getattr(op, op.memory)


class Tiles:
    """The state of the rewriting: what each tile is now, and the ops so far."""

    def __init__(self, kernel: Kernel, large: frozenset[tuple[int, ...]], shared_bytes: int) -> None:
        self.kernel = kernel
        self.large = large
        known = {op.out: op.value for op in kernel.walk() if isinstance(op, Const) and isinstance(op.value, int)}
        self.b = Builder(kernel.span, known)
        self.registers: dict[Value, Value] = {}
        self.kept: dict[Value, Value] = {}
        self.deferred: dict[Value, Op] = {}
        self.remarks: list[Diagnostic] = []
        self.uses = Uses(kernel, self.is_large)
        ops = kernel.walk()
        held = sum(op.out.type.size_bytes for op in ops if isinstance(op, Alloc) and isinstance(op.out.type, Buffer))
        self.room = shared_bytes - held - (STAGING_BYTES if any(isinstance(op, Dot) for op in ops) else SMALL_BYTES)

    def is_large(self, v: Value) -> bool:
        return shape_of(v.type) in self.large and isinstance(v.type, Tile)

    def whole(self, v: Value) -> Value:
        """All of a tile, or what is no tile, in registers."""
        if v in self.deferred and self.uses.consumed_once(v) and not self.has_dot(v):
            box = whole(shape_of(v.type))
            self.prepare(v, box)
            return self.piece(v, box, {})
        if v in self.deferred:
            self.keep(v)
        if v in self.kept and v not in self.registers and self.is_large(v):
            return self.load(self.kept[v], v, whole(shape_of(v.type)))
        return self.registers.get(v, v)

    # ---- deferred values ----------------------------------------------------------------------------------------

    def defer(self, op: Op, v: Value, once: bool = True) -> None:
        """Compute a tile where it is consumed, or keep it now. once: whether to ask if it is consumed once."""
        self.deferred[v] = op
        if (once and self.uses.consumed_once(v)) or self.cheap(v, 4):
            return
        if isinstance(op, Cast) and op.a in self.deferred and element_of(op.a).size_bytes < element_of(v).size_bytes:
            self.defer(self.deferred[op.a], op.a, once=False)  # the narrower one is kept, the conversion repeated
            return
        size = elements(v) * element_of(v).size_bytes
        if size > self.room and self.again(v):
            self.remark("PR409", v, f"does not fit shared memory: computed again by each of {self.uses.count(v)} uses")
            return
        self.keep(v)

    def cheap(self, v: Value, most: int) -> bool:
        """Whether a few ops make the value, without memory or tiles of its size."""
        return self._nodes(v, most) <= most

    def _nodes(self, v: Value, most: int) -> int:
        op = self.deferred.get(v)
        if op is None:
            return most + 1 if self.is_large(v) else 0
        if isinstance(op, Load | Gather | Dot) or most < 0:
            return most + 1
        return 1 + sum(self._nodes(a, most - 1) for _, a, _ in needed(op, whole(shape_of(v.type))))

    def again(self, v: Value) -> bool:
        """Whether nothing but elementwise ops and accesses is in what would be computed again."""
        op = self.deferred.get(v)
        if isinstance(op, Dot):
            return False
        return op is None or all(self.again(a) for _, a, _ in needed(op, whole(shape_of(v.type))))

    def reads(self, v: Value, aligned: bool = True) -> Iterator[tuple[Value, bool, Load | None]]:
        """The memory that a value's boxes are computed from and that may be written; whether each is read at the
        box's own place only; the load, where it is one of the source's."""
        op = self.deferred.get(v)
        if op is None:
            if v in self.kept:
                yield self.kept[v], aligned, None
            return
        if isinstance(op, Load | Gather) and not self.uses.is_invariant(op.tensor):
            yield op.tensor, aligned and isinstance(op, Load), op if isinstance(op, Load) else None
        for name, a, box in needed(op, whole(shape_of(v.type))):
            same = box.sizes == shape_of(v.type) and (name == "acc" or not isinstance(op, Dot))
            yield from self.reads(a, aligned and same and op.name != "transpose")

    def settle(self, op: Op) -> None:
        """Keep what is deferred and reads memory that the op writes, before it does."""
        written = {w for o in walked(op) for w in _writes(o)}
        if not written:
            return
        for v in list(self.deferred):
            if v not in self.deferred or not self.uses.pending(v):
                continue
            if isinstance(op, Store) and v is op.value and self.in_place(op):
                continue
            if isinstance(op, For | While) and self.uses.only_in(v, {op}):
                continue  # written to the loop's own buffer before the loop
            if any(m in written or (None in written and not is_shared(m)) for m, _, _ in self.reads(v)):
                self.keep(v)

    def in_place(self, op: Store) -> bool:
        """Whether a store's value reads what it writes at the same places only, box by box."""
        if self.uses.count(op.value) > 1:
            return False
        for memory, aligned, load in self.reads(op.value):
            if is_shared(memory) != is_shared(op.tensor) or (is_shared(memory) and memory is not op.tensor):
                continue
            if memory is not op.tensor or not aligned or load is None or load.offsets != op.offsets:
                return False
        return True

    def settle_buffer(self, buffer: Value) -> None:
        """Keep what is deferred and reads a buffer that is about to be taken over."""
        for v in list(self.deferred):
            if v in self.deferred and self.uses.pending(v) and any(m is buffer for m, _, _ in self.reads(v)):
                self.keep(v)

    # ---- pieces -------------------------------------------------------------------------------------------------

    def sizes(self, v: Value) -> tuple[int, ...]:
        dot = self.has_dot(v)
        size = max(element_of(v).size_bytes // 4, 1)
        return cut(shape_of(v.type), self.kernel.threads * (DOT_REGISTERS if dot else BOX_REGISTERS) // size, dot)

    def has_dot(self, v: Value) -> bool:
        op = self.deferred.get(v)
        if op is None or isinstance(op, Dot):
            return op is not None
        return any(self.has_dot(a) for _, a, _ in needed(op, whole(shape_of(v.type))))

    def k_size(self, op: Dot, box: Box) -> int:
        k = shape_of(op.a.type)[1]
        if not (self.is_large(op.a) or self.is_large(op.b)):
            return k
        return min(k, max(1 << (self.kernel.threads * BOX_REGISTERS // max(box.sizes)).bit_length() - 1, 1))

    def prepare(self, v: Value, box: Box) -> None:
        """Keep the register values of which a part is needed, before the loop that needs it."""
        op = self.deferred.get(v)
        if op is not None:
            self.prepare_op(op, box)
        elif v not in self.kept and box.sizes != shape_of(v.type):
            buffer = self.alloc(v, "parts of it are needed")
            self.put(buffer, whole(shape_of(v.type)), self.registers.get(v, v))
            self.kept[v] = buffer

    def prepare_op(self, op: Op, box: Box) -> None:
        k = (0, self.k_size(op, box)) if isinstance(op, Dot) else None
        for _, a, part in needed(op, box, k):
            self.prepare(a, part)

    def piece(self, v: Value, box: Box, memo: dict[tuple[Value, Box], Value]) -> Value:
        """A box of a tile, computed or loaded here. memo: the boxes that are there already."""
        key = (v, box)
        if key not in memo:
            op = self.deferred.get(v)
            if op is not None:
                memo[key] = self.compute(op, v, box, memo)
            elif box.sizes == shape_of(v.type) and (v in self.registers or v not in self.kept):
                memo[key] = self.registers.get(v, v)
            else:
                memo[key] = self.load(self.kept[v], v, box)
        return memo[key]

    def compute(self, op: Op, v: Value, box: Box, memo: dict[tuple[Value, Box], Value]) -> Value:
        b = self.b
        out = Value(v.name, Tile(element_of(v), box.sizes))
        if isinstance(op, Dot):
            return self.dot(op, box, memo)
        if isinstance(op, Load):
            offsets = tuple(b.add(o, at) for o, at in zip(op.offsets, box.offsets, strict=True))
            return b.emit(op.replace(offsets=offsets, out=out)).out
        if isinstance(op, Iota):
            at = b.emit(op.replace(out=out)).out
            first = box.offsets[op.axis]
            if first == 0:
                return at
            return b.binary("add", at, b.splat(b.cast(b.index(first), I32), Tile(I32, box.sizes)), v.name)
        if isinstance(op, Gather):
            indices = tuple(self.piece(i, box, memo) if isinstance(i.type, Tile) else i for i in op.indices)
            return b.emit(op.replace(indices=indices, out=out)).out
        parts = {name: self.piece(a, part, memo) for name, a, part in needed(op, box)}
        return b.emit(op.replace(**parts, out=out)).results()[0]

    def dot(self, op: Dot, box: Box, memo: dict[tuple[Value, Box], Value]) -> Value:
        """A box of a contraction, k in parts where an operand is large."""

        def body(at: Index, size: int, carried: Values) -> Values:
            inner = dict(memo)
            parts = {n: self.piece(a, part, inner) for n, a, part in needed(op, box, (at, size)) if n != "acc"}
            return (self.b.emit(op.replace(**parts, acc=carried[0], out=op.out.like(carried[0].type))).out,)

        acc = self.piece(op.acc, box, memo)
        return step(self.b, shape_of(op.a.type)[1], self.k_size(op, box), (acc,), body)[0]

    # ---- memory -------------------------------------------------------------------------------------------------

    def alloc(self, v: Value, why: str = "") -> Value:
        t = v.type
        assert isinstance(t, Tile)
        made = Buffer(t.elem, t.shape, Swizzled(t.shape, len(t.shape) - 1))
        self.room -= made.size_bytes
        why = why or f"a thread would hold {registers(v, self.kernel)} registers of it"
        return self.b.emit(Alloc(label=v.name, why=why, out=Value(f"{v.name}_large", made))).out

    def put(self, buffer: Value, box: Box, value: Value) -> None:
        fields = self._access(buffer, box)
        self.b.emit(Store(tensor=buffer, value=value, **fields))  # type: ignore[arg-type]

    def load(self, buffer: Value, v: Value, box: Box) -> Value:
        out = Value(v.name, Tile(element_of(v), box.sizes))
        fields = self._access(buffer, box)
        return self.b.emit(Load(tensor=buffer, out=out, **fields)).out  # type: ignore[arg-type]

    def _access(self, buffer: Value, box: Box) -> dict[str, tuple[Value, ...] | tuple[str, ...]]:
        assert isinstance(buffer.type, Buffer)
        rank = len(box.sizes)
        return {
            "offsets": tuple(self.b.index(o) for o in box.offsets),
            "extents": tuple(self.b.const(n) for n in buffer.type.shape),
            "guards": ("",) * rank,
            "why": ("a box of the tile",) * rank,
        }

    def keep(self, v: Value) -> None:
        """Compute all of a deferred tile, or copy a kept one, into a buffer of its own."""
        buffer = self.alloc(v)
        self.fill(buffer, v)
        self.deferred.pop(v, None)
        self.kept[v] = buffer
        self.tell(v)

    def tell(self, v: Value) -> None:
        size = elements(v) * element_of(v).size_bytes
        held = registers(v, self.kernel)
        self.remark("PR408", v, f"is kept in shared memory, {size} bytes: a thread would hold {held} registers of it")

    def remark(self, code: str, v: Value, what: str) -> None:
        shape = ", ".join(map(str, shape_of(v.type)))
        self.remarks.append(Diagnostic(Severity.REMARK, code, f"{v.name} [{shape}] {what}", self.b.span))

    def fill(self, buffer: Value, v: Value) -> None:
        """Write all of a tile into a buffer, box by box."""
        shape = shape_of(v.type)
        if v not in self.deferred and v not in self.kept:
            self.put(buffer, whole(shape), self.registers.get(v, v))
            return
        sizes = self.sizes(v)
        self.prepare(v, Box((0,) * len(shape), sizes))
        over(self.b, shape, sizes, lambda box: self.put(buffer, box, self.piece(v, box, {})))

    def store(self, op: Store) -> None:
        v, shape = op.value, shape_of(op.value.type)
        if v not in self.deferred and v not in self.kept:
            self.b.emit(op.replace(value=self.registers.get(v, v)))
            return
        sizes = self.sizes(v)
        self.prepare(v, Box((0,) * len(shape), sizes))

        def visit(box: Box) -> None:
            value = self.piece(v, box, {})
            offsets = tuple(self.b.add(o, at) for o, at in zip(op.offsets, box.offsets, strict=True))
            self.b.emit(op.replace(offsets=offsets, value=value))

        over(self.b, shape, sizes, visit)

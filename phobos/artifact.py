"""What compiling one kernel gives: every text and number that a person, the launcher or a cache asks for.

An `Artifact` is one kernel for one choice of constants, target, index width and denied facts. PTX is there from the
start; the cubin, the Plan and the report are made when they are first asked for. It holds no handle of a GPU.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from .diagnostics import Diagnostic
from .ir.core import Effect
from .ir.kernel import Aligned, Fact, GridAxis, Kernel, Stated
from .ir.types import Dim, Scalar, Tensor
from .source import Source
from .target import Target

if TYPE_CHECKING:
    from .codegen.link import Linker, LinkResult
    from .plan import Plan


@dataclass(frozen=True, slots=True)
class TensorParam:
    """A tensor parameter: its element type, its extents, and whether the kernel writes it."""

    name: str
    elem: Scalar
    dims: tuple[Dim, ...]
    written: bool

    def __str__(self) -> str:
        return f"tensor<{self.elem}>[{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True, slots=True)
class ScalarParam:
    name: str
    type: Scalar


@dataclass(frozen=True, slots=True)
class Signature:
    """What a launch passes. `params` is the caller's order; the ABI order is tensors, dims, scalars."""

    params: tuple[TensorParam | ScalarParam, ...]
    dims: tuple[str, ...]

    @property
    def tensors(self) -> tuple[TensorParam, ...]:
        return tuple(p for p in self.params if isinstance(p, TensorParam))

    @property
    def scalars(self) -> tuple[ScalarParam, ...]:
        return tuple(p for p in self.params if isinstance(p, ScalarParam))


def signature(kernel: Kernel, order: tuple[str, ...]) -> Signature:
    """The signature of a kernel whose source names its parameters in `order`."""
    written = {
        value
        for op in kernel.walk()
        if op.effects & Effect.WRITE_GLOBAL
        for value in op.operands()
        if isinstance(value.type, Tensor)
    }
    params: dict[str, TensorParam | ScalarParam] = {}
    for value in kernel.tensors:
        assert isinstance(value.type, Tensor)
        params[value.name] = TensorParam(value.name, value.type.elem, value.type.dims, value in written)
    for value in kernel.scalars:
        assert isinstance(value.type, Scalar)
        params[value.name] = ScalarParam(value.name, value.type)
    return Signature(tuple(params[name] for name in order), tuple(v.name for v in kernel.dims))


@dataclass(frozen=True, eq=False)
class Artifact:
    """One compiled kernel. `times_ms` has each stage's milliseconds and gains those that run later."""

    source: Source
    target: Target
    index_bits: int
    kernel: Kernel
    signature: Signature
    llvm_ir: str
    llvm_ir_optimised: str
    ptx: str
    warnings: tuple[Diagnostic, ...] = ()
    """What the front end remarked; the passes' remarks are the kernel's."""
    times_ms: dict[str, float] = field(default_factory=dict)
    linker: Linker | None = None
    """None: the machine's own, chosen when the cubin is asked for."""

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def constants(self) -> dict[str, int]:
        return dict(self.kernel.constants)

    @property
    def used(self) -> frozenset[Fact]:
        """The assumption class: what a launch must keep."""
        return self.kernel.used

    @property
    def denied(self) -> frozenset[Fact]:
        """The facts that this variant was compiled without."""
        return self.kernel.denied

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """Warnings and remarks, sorted by place."""
        return tuple(sorted((*self.warnings, *self.kernel.remarks), key=lambda d: (d.span.start, d.span.end, d.code)))

    @property
    def threads(self) -> int:
        return self.kernel.threads

    @property
    def grid(self) -> tuple[GridAxis, GridAxis, GridAxis]:
        return self.kernel.grid

    @property
    def aligned(self) -> tuple[Aligned, ...]:
        """The promises of `@aligned` about run-time extents, which the kernel checks at its entry."""
        return tuple(a for a in self.kernel.attributes.aligned if a.dim in self.signature.dims)

    @property
    def strides(self) -> tuple[tuple[str, int], ...]:
        """Tensor and axis of each stride that is a parameter, in ABI order."""
        pairs = zip(self.kernel.tensors, self.kernel.strides, strict=False)
        return tuple((tensor.name, axis) for tensor, each in pairs for axis in range(len(each)))

    @property
    def stated(self) -> tuple[Stated, ...]:
        """What `align` says of runs, which the launcher compares with addresses and strides."""
        return self.kernel.stated

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block, static or dynamic."""
        return self._shared[0]

    @property
    def dynamic_shared_bytes(self) -> int:
        """What a launch must ask for: all of it or nothing."""
        total, dynamic = self._shared
        return total if dynamic else 0

    @cached_property
    def _shared(self) -> tuple[int, bool]:
        from .codegen import shared_bytes

        return shared_bytes(self.kernel)

    # ---- made on demand -------------------------------------------------------------------------------------

    @cached_property
    def link(self) -> LinkResult:
        """The cubin with the assembler's words about it."""
        from .codegen.link import default_linker

        start = time.perf_counter()
        linked = (self.linker or default_linker()).link(self.ptx, self.target, self.name)
        self.times_ms["link"] = 1e3 * (time.perf_counter() - start)
        return linked

    @property
    def cubin(self) -> bytes:
        return self.link.cubin

    @cached_property
    def plan(self) -> Plan:
        """The Plan, registers and spills and the front end's warnings included."""
        from .plan import Linked, describe

        said = self.link
        linked = Linked(
            said.linker,
            said.version,
            registers=said.registers,
            spill_store_bytes=said.spill_stores,
            spill_load_bytes=said.spill_loads,
            stack_bytes=said.stack_bytes,
            shared_bytes=said.shared_bytes,
        )
        start = time.perf_counter()
        kernel = self.kernel.replace(remarks=self.remarks)
        plan = describe(kernel, self.target, self.index_bits, linked)
        self.times_ms["describe"] = 1e3 * (time.perf_counter() - start)
        return plan

    @cached_property
    def report(self) -> str:
        from .plan import render

        return render(self.plan)

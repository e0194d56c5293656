"""The driver: a source in, one `Artifact` per kernel and choice out.

A `Unit` parses its source once and checks its kernels; `Unit.compile` runs the stages of `docs/architecture.md` for one
kernel, its constants, a target, an index width and the facts denied to it, and keeps what it made. The linker runs when
a cubin is asked for.
`PHOBOS_ISOLATE=1` runs LLVM in a child process, so that its crash is an `InternalError` here.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from . import log
from .artifact import Artifact, signature
from .codegen.ptx import PtxResult
from .diagnostics import CompileError, Diagnostic, InternalError, Severity, Sink
from .frontend import ast
from .frontend.check import check_declarations, check_kernel, constants_of
from .frontend.lower import lower
from .frontend.parser import parse
from .frontend.typed import TypedKernel
from .ir.kernel import Attributes, Fact, Kernel
from .passes import Options
from .passes import run as run_passes
from .source import Source
from .target import Target

INDEX_32 = Fact("index_32", "")
"""What every kernel of 32-bit indices relies on; its Plan says so, for launchers that are not this project's."""
TAKEN = ("PR402", "PR404", "PR405", "PR406")
"""Remarks of the series PR4xx that tell of a choice made, not of a fast path not taken."""
Observer = Callable[[str, Kernel], None]
"""Told each form of the tile IR by name, as `passes.run` does."""


Constants = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What one compilation of a kernel depends on besides its source."""

    kernel: str
    constants: Constants
    target: Target
    index_bits: int
    denied: frozenset[Fact] = frozenset()


class Unit:
    """One parsed source. Raises `CompileError` with all errors of the file when it does not parse."""

    def __init__(self, source: Source, verify: bool = False) -> None:
        """verify: check the tile IR after every pass."""
        self.source = source
        self.verify = verify
        self.log = log.logger("compiler")
        sink = Sink()
        start = time.perf_counter()
        self.program: ast.Program = parse(source, sink)
        self.parse_ms = 1e3 * (time.perf_counter() - start)
        if sink.errors:
            _check_whole_kernels(self.program, sink)
        sink.raise_errors()
        self.warnings: tuple[Diagnostic, ...] = sink.diagnostics
        self._kernels = {k.name: k for k in self.program.kernels}
        self._typed: dict[tuple[str, Constants], tuple[TypedKernel, tuple[Diagnostic, ...], float]] = {}
        self._artifacts: dict[Choice, Artifact] = {}
        self._lock = threading.RLock()

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels' names, in the source's order."""
        return tuple(self._kernels)

    def constants(self, kernel: str) -> dict[str, tuple[int, ...]]:
        """The constants that `@autotune` declares, each with its values, the default first."""
        sink = Sink()
        choices = constants_of(self._kernels[kernel], sink)
        sink.raise_errors()
        return {name: tuple(values) for name, values in choices.items()}

    def parameters(self, kernel: str) -> tuple[str, ...]:
        """The names of a kernel's parameters, in the source's order."""
        return tuple(p.name for p in self._kernels[kernel].params)

    def check(self, constants: Mapping[str, int] | None = None) -> tuple[Diagnostic, ...]:
        """Check every kernel with these constants, each taking those it declares, and give the warnings and remarks.

        Raises `CompileError` with the errors of all kernels, and the warnings beside them.
        """
        sink = Sink()
        check_declarations(self.program, sink)
        errors = list(sink.errors)
        found: list[Diagnostic] = [*self.warnings, *(d for d in sink.diagnostics if d not in errors)]
        for name in self.kernels:
            try:
                found += self._check(name, self._own(name, constants or {}))[1]
            except CompileError as error:
                errors += error.diagnostics
        if errors:
            unique = dict.fromkeys([*errors, *(d for d in found if d.severity is Severity.WARNING)])
            raise CompileError(tuple(sorted(unique, key=lambda d: (d.span.start, d.span.end, d.code))))
        return tuple(dict.fromkeys(found))

    def compile(
        self,
        kernel: str,
        target: Target,
        index_bits: int | None = None,
        constants: Mapping[str, int] | None = None,
        denied: frozenset[Fact] = frozenset(),
        observer: Observer | None = None,
    ) -> Artifact:
        """The artifact of a kernel, made once per choice (and again when an observer wants to see the forms)."""
        with self._lock:
            typed, found, check_ms = self._check(kernel, self._own(kernel, constants or {}))
            bits = index_width(typed.attributes, target, index_bits)
            choice = Choice(kernel, tuple(sorted(typed.constants.items())), target, bits, denied)
            if choice in self._artifacts and observer is None:
                return self._artifacts[choice]
            if index_bits is not None and bits != index_bits:
                self.log.info("%s: @tensorcore on %s uses %d-bit indices, not %d", kernel, target, bits, index_bits)
            times = {"parse": self.parse_ms, "check": check_ms}
            made = self._make(typed, choice, times, (*self.warnings, *found), observer)
            self._artifacts[choice] = made
            return made

    def built(self, kernel: str, constants: Mapping[str, int] | None = None) -> Kernel:
        """The tile IR in form "built", which the interpreter runs."""
        typed, _, _ = self._check(kernel, self._own(kernel, constants or {}))
        return lower(typed)

    # ---- stages ---------------------------------------------------------------------------------------------

    def _own(self, kernel: str, constants: Mapping[str, int]) -> dict[str, int]:
        """Those of the constants that the kernel declares."""
        declared = self.constants(kernel)
        return {name: value for name, value in constants.items() if name in declared}

    def _check(self, kernel: str, constants: dict[str, int]) -> tuple[TypedKernel, tuple[Diagnostic, ...], float]:
        """The typed tree of a kernel, what the checker remarked, and its milliseconds."""
        key = (kernel, tuple(sorted(constants.items())))
        if key not in self._typed:
            sink = Sink()
            start = time.perf_counter()
            typed = check_kernel(self.program, self._kernels[kernel], constants, sink)
            spent = 1e3 * (time.perf_counter() - start)
            sink.raise_errors()
            if typed is None:
                raise InternalError(f"check gave no tree and no error for kernel {kernel}")
            self._typed[key] = (typed, sink.diagnostics, spent)
        return self._typed[key]

    def _make(
        self,
        typed: TypedKernel,
        choice: Choice,
        times: dict[str, float],
        found: tuple[Diagnostic, ...],
        observer: Observer | None,
    ) -> Artifact:
        target, bits = choice.target, choice.index_bits
        with _timed(times, "lower"):
            kernel = lower(typed, choice.denied)
        with _timed(times, "passes"):
            options = Options(target=target, index_bits=bits, verify=self.verify)
            kernel = run_passes(kernel, options, observer=self._tracing(observer))
            if bits == 32:
                kernel = kernel.replace(used=kernel.used | {INDEX_32})
        llvm_ir, made = run_llvm(kernel, target, bits, self.source, times)
        artifact = Artifact(
            source=self.source,
            target=target,
            index_bits=bits,
            kernel=kernel,
            signature=signature(kernel, tuple(p.name for p in typed.params)),
            llvm_ir=llvm_ir,
            llvm_ir_optimised=made.optimised_ir,
            ptx=made.ptx,
            warnings=found,
            times_ms=times,
        )
        self._tell(artifact)
        return artifact

    # ---- logging --------------------------------------------------------------------------------------------

    def _tracing(self, observer: Observer | None) -> Observer | None:
        """The observer, and at level trace every form in the log."""
        if not self.log.isEnabledFor(log.TRACE):
            return observer
        from .ir.printer import print_kernel

        def observe(form: str, kernel: Kernel) -> None:
            self.log.log(log.TRACE, "form %s\n%s", form, print_kernel(kernel))
            if observer is not None:
                observer(form, kernel)

        return observe

    def _tell(self, artifact: Artifact) -> None:
        spent = " ".join(f"{stage} {ms:.1f}" for stage, ms in artifact.times_ms.items())
        constants = " ".join(f"{name}={value}" for name, value in artifact.constants.items())
        without = f" without {', '.join(map(str, sorted(artifact.denied)))}" if artifact.denied else ""
        self.log.info(
            "%s for %s at %d-bit indices%s%s: %s ms",
            artifact.name,
            artifact.target,
            artifact.index_bits,
            f" with {constants}" if constants else "",
            without,
            spent,
        )
        for remark in artifact.remarks:
            self.log.debug("%s: %s: %s", remark.span, remark.code, remark.message)
        if artifact.used:
            self.log.debug("%s relies on %s", artifact.name, ", ".join(map(str, sorted(artifact.used))))


def _check_whole_kernels(program: ast.Program, sink: Sink) -> None:
    """Add what the checker finds in the kernels that the parser could read, so that one run shows it too.

    An error outside the kernels may have cost a `fn`, and what then seems wrong need not be: nothing is added.
    """
    broken = {
        next((k for k in program.kernels if k.span.start <= error.span.start < k.span.end), None)
        for error in sink.errors
    }
    if None not in broken:
        for kernel in program.kernels:
            if kernel not in broken:
                check_kernel(program, kernel, {}, sink)


def index_width(attributes: Attributes, target: Target, asked: int | None) -> int:
    """The width of index values: what is asked for, else 32; always 64 for tensor cores by mma.sync from sm_80 on."""
    if attributes.tensorcore not in ("", "wmma") and target.sm >= 80:
        return 64
    return 32 if asked is None else asked


def run_llvm(
    kernel: Kernel, target: Target, index_bits: int, source: Source, times_ms: dict[str, float]
) -> tuple[str, PtxResult]:
    """LLVM IR and PTX of a kernel in form "synced", in a child process when PHOBOS_ISOLATE asks for one."""
    if os.environ.get("PHOBOS_ISOLATE", "") not in ("", "0"):
        from .codegen.isolate import compile_isolated

        with _timed(times_ms, "llvm"):
            return compile_isolated(kernel, target, index_bits, source)
    from .codegen import compile_ptx, emit

    with _timed(times_ms, "emit"):
        llvm_ir = emit(kernel, target, index_bits, source)
    with _timed(times_ms, "llvm"):
        return llvm_ir, compile_ptx(llvm_ir, target)


def strict(remarks: Iterable[Diagnostic]) -> None:
    """`--strict`: raise the remarks that tell of a fast path not taken (PR4xx) as errors."""
    missed = [d for d in remarks if d.code.startswith("PR4") and d.code not in TAKEN]
    if missed:
        raise CompileError(tuple(replace(d, severity=Severity.ERROR) for d in missed))


@contextmanager
def _timed(times: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        times[stage] = 1e3 * (time.perf_counter() - start)

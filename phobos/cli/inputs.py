"""A kernel on its way through the compiler: from a `.ph` file or the IR's text to whatever products are asked for.

Only as much runs as the products need: forms need no LLVM, PTX no linker.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from ..artifact import Artifact, signature
from ..compiler import Observer, Unit, index_width, run_llvm, strict
from ..diagnostics import Diagnostic
from ..ir.kernel import Kernel
from ..passes import Options as PassOptions
from ..passes import run as run_passes
from ..source import Source
from ..target import Target
from .options import FORMS, Command, UsageError
from .source import selected

LAST = "last"
"""The product that stands for whatever form the passes ended in."""


def form_text(kernel: Kernel) -> str:
    """A form as text that `.tile` files hold: each op with its place in the source."""
    from ..ir.printer import print_kernel

    return print_kernel(kernel, spans=True)


class Made:
    """What was made of one kernel for one target: products by kind, each computed when asked for."""

    def __init__(
        self,
        target: Target,
        index_bits: int,
        kernel: Kernel,
        forms: Mapping[str, Kernel],
        artifact: Artifact | None,
        times_ms: dict[str, float],
    ) -> None:
        self.target, self._index_bits, self._kernel, self._forms = target, index_bits, kernel, forms
        self._artifact = artifact
        self.times_ms = times_ms
        self.name = kernel.name

    @property
    def compiled(self) -> bool:
        """Whether there is code, not IR alone."""
        return self._artifact is not None

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        return self._artifact.remarks if self._artifact else self._kernel.remarks

    def product(self, kind: str) -> str | bytes:
        if kind in FORMS or kind == LAST:
            return self._form(kind)
        if kind in ("plan", "report"):
            return self._described(kind)
        assert self._artifact is not None
        match kind:
            case "llvm":
                return self._artifact.llvm_ir
            case "llvm-opt":
                return self._artifact.llvm_ir_optimised
            case "ptx":
                return self._artifact.ptx
            case _:
                return self._artifact.cubin

    def _form(self, form: str) -> str:
        kernel = self._kernel if form == LAST else self._forms.get(form)
        if kernel is None:
            there = ", ".join(self._forms) or "none"
            raise UsageError(f"{self.name} was not in form {form}; the forms there are: {there}")
        return form_text(kernel)

    def _described(self, kind: str) -> str:
        from ..plan import describe, render

        if self._artifact is not None:
            return self._artifact.plan.to_json() if kind == "plan" else self._artifact.report
        plan = describe(self._kernel, self.target, self._index_bits)
        return plan.to_json() if kind == "plan" else render(plan)


class Input:
    """A kernel to compile for one target after another."""

    def __init__(self, source: Source, options: Command) -> None:
        self.source, self.options = source, options
        self.forms: dict[str, Kernel] = {}
        """The forms that the latest `make` reached; there also when it failed."""

    def make(self, target: Target, emits: tuple[str, ...]) -> Made:
        """Run as much of the compiler as the products need."""
        forms: dict[str, Kernel] = {}
        self.forms = forms
        if self.options.stop_after or all(e in FORMS for e in emits):
            times: dict[str, float] = {}
            kernel, bits = self.passes(target, forms.__setitem__, times)
            made = Made(target, bits, kernel, forms, None, times)
        else:
            artifact = self.artifact(target, forms.__setitem__ if any(e in FORMS for e in emits) else None)
            made = Made(target, artifact.index_bits, artifact.kernel, forms, artifact, artifact.times_ms)
        if self.options.strict:
            strict(made.remarks)
        return made

    def artifact(self, target: Target, observer: Observer | None) -> Artifact:
        raise NotImplementedError

    def start(self) -> Kernel:
        """The kernel that the passes begin with."""
        raise NotImplementedError

    def passes(self, target: Target, observer: Observer | None, times_ms: dict[str, float]) -> tuple[Kernel, int]:
        """The kernel behind the passes, or behind the one to stop after, and the index width."""
        begin = time.perf_counter()
        kernel = self.start()
        bits = index_width(kernel.attributes, target, self.options.index_bits)
        started = time.perf_counter()
        options = PassOptions(target=target, index_bits=bits, verify=self.options.verify)
        kernel = run_passes(kernel, options, observer, self.options.stop_after)
        times_ms["lower"] = 1e3 * (started - begin)
        times_ms["passes"] = 1e3 * (time.perf_counter() - started)
        return kernel, bits


class PhInput(Input):
    """A kernel of a `.ph` file."""

    def __init__(self, unit: Unit, name: str, options: Command) -> None:
        super().__init__(unit.source, options)
        self._unit, self._name = unit, name
        self._constants = dict(options.constants)

    def artifact(self, target: Target, observer: Observer | None) -> Artifact:
        return self._unit.compile(self._name, target, self.options.index_bits, self._constants, observer=observer)

    def start(self) -> Kernel:
        return self._unit.built(self._name, self._constants)


class TileInput(Input):
    """A kernel in the IR's text."""

    def __init__(self, source: Source, options: Command) -> None:
        super().__init__(source, options)
        from ..ir.parser import IrSyntaxError, parse

        if options.constants:
            raise UsageError("--set: a .tile file has its constants already")
        try:
            self._kernel = parse(source.text, source.name)
        except IrSyntaxError as error:
            raise UsageError(f"{source.name}: {error}") from None
        selected((self._kernel.name,), options.kernels, source.name)

    def start(self) -> Kernel:
        return self._kernel

    def artifact(self, target: Target, observer: Observer | None) -> Artifact:
        times: dict[str, float] = {}
        kernel, bits = self.passes(target, observer, times)
        llvm_ir, made = run_llvm(kernel, target, bits, self.source, times)
        order = tuple(v.name for v in (*kernel.tensors, *kernel.scalars))
        return Artifact(
            source=self.source,
            target=target,
            index_bits=bits,
            kernel=kernel,
            signature=signature(kernel, order),
            llvm_ir=llvm_ir,
            llvm_ir_optimised=made.optimised_ir,
            ptx=made.ptx,
            times_ms=times,
        )

"""What a user of the library holds: `compile` gives a `Module`, its attributes are `KernelHandle`s, a call launches.

Sources are parsed and checked at once, so that all errors of a file come together; code is made when something asks for
it, once per choice of constants, target, index width and denied facts. The runtime is imported here and nowhere else,
when a GPU is first asked about.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .artifact import Artifact, Signature, signature
from .compiler import Unit, index_width
from .diagnostics import CompileError, Diagnostic, Severity
from .ir.kernel import Fact, Kernel
from .source import Source
from .target import DEFAULT, Target
from .target import target as target_named

if TYPE_CHECKING:
    from .plan import Plan
    from .sim import Checks, SimResult


def compile(
    src: str | Path, target: str | Target | None = None, index_bits: int | None = None, **constants: int
) -> Module:
    """The kernels of a source, for a target.

    src: a path, or text if it is a str that holds a newline or `{`. target: such as "sm_90a"; without it the GPU at
    hand, else sm_80. constants: values for `@autotune` names, the first value of each list by default.
    Raises `CompileError` with all errors of the source.
    """
    if index_bits not in (None, 32, 64):
        raise ValueError(f"index_bits is 32 or 64, not {index_bits!r}")
    if not isinstance(target, str | Target | None):
        raise TypeError(f"target is a name such as 'sm_90a', not {target!r}")
    unit = Unit(_source(src))
    check_names(unit, constants)
    unit.check(constants)
    chosen = target_named(target) if isinstance(target, str) else target
    return Module(unit, chosen or target_at_hand() or target_named(DEFAULT), index_bits, constants)


class Module:
    """A compiled source: one attribute per kernel, `kernels` has their names."""

    def __init__(self, unit: Unit, target: Target, index_bits: int | None, constants: Mapping[str, int]) -> None:
        self._unit, self.target = unit, target
        self._handles = {name: KernelHandle(unit, name, target, index_bits, constants) for name in unit.kernels}

    @property
    def kernels(self) -> tuple[str, ...]:
        return self._unit.kernels

    def __getattr__(self, name: str) -> KernelHandle:
        handle = self.__dict__.get("_handles", {}).get(name)
        if handle is None:
            there = ", ".join(self.__dict__.get("_handles", ())) or "none"
            raise AttributeError(f"{self._unit.source.name} has no kernel '{name}'; its kernels: {there}")
        found: KernelHandle = handle
        return found

    def __getitem__(self, name: str) -> KernelHandle:
        """The kernel called `name`, also where the module has an attribute of that name."""
        if name not in self._handles:
            raise KeyError(name)
        return self._handles[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.kernels})

    def __repr__(self) -> str:
        return f"<phobos.Module {self._unit.source.name} for {self.target}: {', '.join(self.kernels)}>"


class KernelHandle:
    """A kernel at one choice of constants. Its products are made when first asked for; calling it launches."""

    def __init__(
        self, unit: Unit, name: str, target: Target, index_bits: int | None, constants: Mapping[str, int]
    ) -> None:
        self._unit, self.name, self.target, self._index_bits = unit, name, target, index_bits
        declared = unit.constants(name)
        self.constants = {c: constants.get(c, values[0]) for c, values in declared.items()}
        self._variants: dict[tuple[frozenset[Fact], int | None], Artifact] = {}

    # ---- products -------------------------------------------------------------------------------------------

    @property
    def artifact(self) -> Artifact:
        """All there is about the kernel compiled with every fact assumed."""
        return self.variant()

    @property
    def llvm_ir(self) -> str:
        return self.artifact.llvm_ir

    @property
    def ptx(self) -> str:
        return self.artifact.ptx

    @property
    def cubin(self) -> bytes:
        return self.artifact.cubin

    @property
    def plan(self) -> Plan:
        return self.artifact.plan

    @property
    def report(self) -> str:
        return self.artifact.report

    def variant(self, denied: frozenset[Fact] = frozenset(), index_bits: int | None = None) -> Artifact:
        """The kernel compiled without some facts, and at another index width where one is given."""
        bits = index_bits or self._index_bits
        key = (denied, bits)
        if key not in self._variants:
            self._variants[key] = self._unit.compile(self.name, self.target, bits, self.constants, denied)
        return self._variants[key]

    def configured(self, **constants: int) -> KernelHandle:
        """The same kernel with other constants."""
        check_names(self._unit, constants, (self.name,))
        merged = {**self.constants, **constants}
        return KernelHandle(self._unit, self.name, self.target, self._index_bits, merged)

    @property
    def choices(self) -> dict[str, tuple[int, ...]]:
        """The values of each `@autotune` constant."""
        return self._unit.constants(self.name)

    # ---- launches -------------------------------------------------------------------------------------------

    def __call__(
        self, *args: Any, grid: int | Sequence[int] | None = None, stream: Any = None, check: bool = True
    ) -> None:
        """Launch on arrays and numbers, in the order of the kernel's parameters.

        grid: blocks along x, or x, y and z, where they cannot be inferred. stream: where to launch instead of the
        caller's current stream. check: raise before a launch that would break an `@aligned` promise.
        """
        _runtime("launch").call(self, args, grid, stream, check)

    def tune(self, *args: Any, grid: int | Sequence[int] | None = None, **constants: int) -> Any:
        """Time every choice of the `@autotune` constants on these arguments, fastest first in the table that it gives;
        `.best.kernel` is the fastest's handle. The tensors that the kernel writes hold no result afterwards.

        constants: those that keep one value, where others would be fast and wrong for these arguments.
        """
        check_names(self._unit, constants, (self.name,))
        return _runtime("tune").tune(self, args, grid, held=constants)

    def simulate(
        self,
        args: Sequence[Any],
        grid: int | Sequence[int] | None = None,
        checks: Checks | None = None,
        *,
        check: bool = True,
        collect: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> SimResult:
        """Run the emitted PTX in the simulator, on host arrays, which are written in place.

        checks: what to look for, everything by default; a finding raises `SimFault`, or stands in the result's
        `findings` with `collect`. The result has the counters too. grid and check are as in a launch.
        """
        result: SimResult = _runtime("simulated").simulate(self, args, grid, check, checks, collect, progress)
        return result

    @cached_property
    def meaning(self) -> Kernel:
        """The tile IR before anything is decided, with the grid inferred: what the interpreter runs."""
        from .passes import Options, run

        built = self._unit.built(self.name, self.constants)
        bits = index_width(built.attributes, self.target, self._index_bits)
        return run(built, Options(target=self.target, index_bits=bits), stop_after="facts")

    @cached_property
    def signature(self) -> Signature:
        """The parameters, in the source's order."""
        return signature(self.meaning, self._unit.parameters(self.name))

    def __repr__(self) -> str:
        constants = "".join(f" {c}={v}" for c, v in self.constants.items())
        return f"<phobos kernel {self.name} for {self.target}{constants}>"


def target_at_hand() -> Target | None:
    """The target of this machine's GPU: the current device's, else the first one's; None without a usable GPU."""
    device = _runtime("device")
    if not device.has_gpu():
        return None
    found: Target = device.device_target(device.current_device() or 0)
    return found


def _runtime(module: str) -> Any:
    """A module of phobos.runtime, imported when it is needed. Where phobos is only a folder on the path, its
    `__init__` has seen to it that runtime/ beside it goes by that name."""
    from importlib import import_module

    return import_module(f"phobos.runtime.{module}")


def _source(src: str | Path) -> Source:
    if isinstance(src, str) and ("\n" in src or "{" in src):
        return Source("<string>", src)
    if not isinstance(src, str | Path):
        raise TypeError(f"src is a path or the text of a program, not {type(src).__name__}")
    if not str(src):
        raise ValueError("src is empty: neither a path nor the text of a program")
    path = Path(src)
    return Source(str(path), path.read_text(encoding="utf-8"))


def check_names(unit: Unit, constants: Mapping[str, int], kernels: tuple[str, ...] = ()) -> None:
    """Raise PH503 for constants that no kernel declares, TypeError for values that are no integers."""
    for name, value in constants.items():
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"the constant {name} is an integer, not {value!r}")
    declared = {kernel: tuple(unit.constants(kernel)) for kernel in kernels or unit.kernels}
    names = dict.fromkeys(c for own in declared.values() for c in own)
    wrong = [c for c in constants if c not in names]
    if not wrong:
        return
    found = []
    for constant in wrong:
        near = difflib.get_close_matches(constant, names, n=1)
        notes = tuple(f"the constants of {k}: {', '.join(own) or 'none'}" for k, own in declared.items())
        help = (f"did you mean {near[0]}?",) if near else ()
        span = unit.program.kernels[0].name_span if unit.program.kernels else unit.program.span
        message = f"no kernel declares the constant {constant}"
        found.append(Diagnostic(Severity.ERROR, "PH503", message, span, notes=notes, help=help))
    raise CompileError(tuple(found))

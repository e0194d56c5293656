"""`build FILE`: compile kernels for targets, print the report, write what was asked for.

A `.ph` file goes through the whole compiler; a `.tile` file (a form that `--emit` printed) goes on from its form. When
a pass fails, the forms before it that were asked for are written all the same.
"""

from __future__ import annotations

from pathlib import Path

from ..api import check_names
from ..compiler import Unit
from ..diagnostics import CompileError, Diagnostic, Severity
from ..ir.kernel import Kernel
from ..source import Source
from ..target import Target
from .console import Console
from .inputs import LAST, Input, Made, PhInput, TileInput, form_text
from .options import FORMS, Command, UsageError
from .source import read, selected, targets

SUFFIX = {
    "report": "report.txt",
    "plan": "plan.json",
    "llvm": "ll",
    "llvm-opt": "opt.ll",
    "ptx": "ptx",
    "cubin": "cubin",
    LAST: "tile",
    **{form: f"{form}.tile" for form in FORMS},
}
FILES = ("report", "plan", "ptx", "cubin")
"""What `-o` writes without `--emit`."""
BEFORE_LLVM = (*FORMS, "report", "plan")
"""What is there when `--stop-after` has ended the passes; plan and report then lack what the linker says."""


def build(options: Command, console: Console) -> int:
    """Compile; the number of kernels and targets that failed."""
    emits = _emits(options)
    chosen = targets(options.targets)
    source = read(options.file)
    inputs = [TileInput(source, options)] if options.file.suffix == ".tile" else _inputs(source, options, console)
    writer = _Writer(emits, options.out, console, titles=len(emits) * len(chosen) * len(inputs) > 1)
    failures = 0
    said: set[Diagnostic] = set()
    for given in inputs:
        for target in chosen:
            try:
                made = given.make(target, emits)
            except CompileError as error:
                writer.forms(given.forms, target)
                console.diagnostics(d for d in error.diagnostics if d not in said)
                said.update(error.diagnostics)
                failures += 1
                continue
            except Exception:
                writer.forms(given.forms, target)
                raise
            shown = [d for d in made.remarks if d not in said and (options.remarks or d.severity is Severity.WARNING)]
            console.diagnostics(shown)
            said.update(shown)
            for kind in emits:
                writer.write(made.name, target, kind, made.product(kind))
            writer.summary(made)
            if options.time:
                console.times(f"{made.name} for {target}", made.times_ms)
    return failures


def _emits(options: Command) -> tuple[str, ...]:
    """What to write, in the order asked for, each once."""
    emits = tuple(dict.fromkeys(options.emits))
    if not emits and options.stop_after:
        return (LAST,)
    emits = emits or (FILES if options.out else ("report",))
    late = [e for e in emits if e not in BEFORE_LLVM]
    if options.stop_after and late:
        raise UsageError(f"--stop-after {options.stop_after} leaves no {late[0]} to emit")
    if "cubin" in emits and options.out is None:
        raise UsageError("a cubin is not text: say where to write it with -o DIR")
    return emits


class _Writer:
    """Writes products as files and names them, or prints them, each under a title where there are several."""

    def __init__(self, emits: tuple[str, ...], out: Path | None, console: Console, titles: bool) -> None:
        self._emits, self._out, self._console = emits, out, console
        self._titles = titles and out is None and any(e != "report" for e in emits)
        self._printed = False
        if out is not None:
            try:
                out.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"cannot make the folder {out}: {error.strerror or error}") from None

    def write(self, kernel: str, target: Target, kind: str, content: str | bytes) -> None:
        if self._out is None:
            assert isinstance(content, str)
            self._print(f"// ---- {kernel} {target} {kind}", kind, content)
            return
        path = self._out / f"{kernel}.{target}.{SUFFIX[kind]}"
        try:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
        self._console.note(f"wrote {path}")

    def summary(self, made: Made) -> None:
        """Beside files, the report for who sits at the terminal, where code was made."""
        if self._out is not None and made.compiled:
            self._print("", "report", str(made.product("report")))

    def _print(self, title: str, kind: str, content: str) -> None:
        if self._titles:
            self._console.line(title)
        elif self._printed:
            self._console.line()
        self._printed = True
        if kind == "report":
            self._console.report(content)
        else:
            self._console.text(content if content.endswith("\n") else f"{content}\n")

    def forms(self, reached: dict[str, Kernel], target: Target) -> None:
        """What was reached of the forms asked for, into files: a pass behind them failed."""
        if self._out is not None:
            for form, kernel in reached.items():
                if form in self._emits:
                    self.write(kernel.name, target, form, form_text(kernel))


def _inputs(source: Source, options: Command, console: Console) -> list[Input]:
    """The kernels asked for. The whole file is parsed and checked first, so that all its errors come at once."""
    unit = Unit(source, verify=options.verify)
    names = selected(unit.kernels, options.kernels, source.name)
    _known_constants(unit, names, options, console)
    unit.check(dict(options.constants))
    return [PhInput(unit, name, options) for name in names]


def _known_constants(unit: Unit, names: tuple[str, ...], options: Command, console: Console) -> None:
    """A constant that no kernel declares is an error; a value that its list lacks is worth a note."""
    check_names(unit, dict(options.constants), names)
    declared: dict[str, set[int]] = {}
    for name in names:
        for constant, values in unit.constants(name).items():
            declared.setdefault(constant, set()).update(values)
    for constant, value in options.constants:
        if value not in declared[constant]:
            listed = ", ".join(map(str, sorted(declared[constant])))
            console.note(f"{constant} = {value} is not among the values of @autotune: {listed}")

"""`run FILE`: try kernels out as their `// run:` lines say, on the GPU or through the interpreter, and judge them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import runline
from ..api import KernelHandle
from ..compiler import Unit, index_width
from ..diagnostics import CompileError
from ..errors import CudaError, LaunchError
from ..interp import InterpError, TrapError
from ..interp import run as interpret
from ..runline import Inputs, RunLine, RunLineError
from ..source import Source
from ..target import DEFAULT, Target, target
from .console import Console
from .options import Command, UsageError
from .source import at_hand, read, selected

Results = Mapping[str, Any]


class WrongError(Exception):
    """A kernel did not do what its line asks for; the text says how."""


def run(options: Command, console: Console) -> int:
    """Run the lines; the number of kernels that failed."""
    source = read(options.file)
    try:
        lines = runline.parse_run_lines(source.text, source.name)
    except RunLineError as error:
        raise UsageError(str(error)) from None
    unit = Unit(source)
    names = selected(unit.kernels, options.kernels, source.name)
    for line in lines:
        if line.kernel not in unit.kernels:
            raise UsageError(f"{line.span}: the file has no kernel {line.kernel}")
    unit.check()
    runner = _runner(unit, options, console)
    return sum(_run_kernel(name, lines, runner, source, options, console) for name in names)


def _run_kernel(
    name: str, lines: list[RunLine], runner: Runner, source: Source, options: Command, console: Console
) -> bool:
    """Run a kernel's lines and print its verdict; whether something was wrong."""
    own = [line for line in lines if line.kernel == name]
    if not own:
        console.line(f"{name} kernel: not run: no `// run: {name}` line")
        return False
    for line in own:
        try:
            _run_line(line, runner, options)
        except (WrongError, InterpError, TrapError, LaunchError, CudaError) as error:
            console.line(f"{name} kernel: failed: {error}")
            console.line(f"  {line.span.source.name}:{line.span.line}: // run: {line.span.text}")
            return True
        except CompileError as error:
            console.diagnostics(error.diagnostics)
            console.line(f"{name} kernel: failed: it does not compile")
            return True
    console.line(f"{name} kernel: passed")
    return False


def _run_line(line: RunLine, runner: Runner, options: Command) -> None:
    try:
        handle = runner.handle(line)
        kernel = handle.meaning
        inputs = runline.make_inputs(kernel, line)
        want = runline.expected(kernel, _reference(options, line), inputs)
        got = runner.run(handle, line, inputs)
    except RunLineError as error:
        raise UsageError(str(error)) from None
    verdict = runline.judge(kernel, runner.judged(line), want, inputs, got)
    if not verdict.ok:
        errors = ", ".join(f"{name} {error:.3g}" for name, error in verdict.errors.items())
        raise WrongError("; ".join(verdict.faults) + (f"; max error {errors}" if errors else ""))


def _reference(options: Command, line: RunLine) -> runline.Reference:
    try:
        return runline.load_reference(options.file, line.kernel)
    except (FileNotFoundError, AttributeError) as error:
        raise UsageError(f"{line.span}: {error}") from None


class Runner:
    """Runs kernels through the interpreter."""

    def __init__(self, unit: Unit, chip: Target, index_bits: int | None) -> None:
        self.unit, self.chip, self.index_bits = unit, chip, index_bits

    def handle(self, line: RunLine) -> KernelHandle:
        """The kernel at the line's constants."""
        constants = line.constants(self.unit.constants(line.kernel))
        return KernelHandle(self.unit, line.kernel, self.chip, self.index_bits, constants)

    def run(self, handle: KernelHandle, line: RunLine, inputs: Inputs) -> Results:
        """What the tensors hold after the run; the inputs stay as they are."""
        kernel = handle.meaning
        grid = runline.launch_grid(kernel, line, inputs.dims)
        arrays = {name: array.copy() for name, array in inputs.tensors.items()}
        interpret(kernel, arrays, inputs.scalars, grid, index_width(kernel.attributes, self.chip, self.index_bits))
        return arrays

    def judged(self, line: RunLine) -> RunLine:
        """The line by whose tolerance the results are judged."""
        return line


class GpuRunner(Runner):
    """Runs kernels on the GPU."""

    def judged(self, line: RunLine) -> RunLine:
        return line.on_hardware()

    def run(self, handle: KernelHandle, line: RunLine, inputs: Inputs) -> Results:
        arrays = {name: array.copy() for name, array in inputs.tensors.items()}
        values: Results = {**arrays, **inputs.scalars}
        handle(*(values[p.name] for p in handle.signature.params), grid=line.grid)
        return arrays


def _runner(unit: Unit, options: Command, console: Console) -> Runner:
    """The GPU where there is one, else the interpreter, which is said."""
    there = at_hand()
    chip = target(options.targets[0]) if options.targets else there or target(DEFAULT)
    if there is not None:
        return GpuRunner(unit, chip, options.index_bits)
    console.note("no GPU: the kernels run through the interpreter of the tile IR")
    return Runner(unit, chip, options.index_bits)

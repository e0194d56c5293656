"""`run FILE`: try kernels out as their `// run:` lines say, on the GPU or in the simulator, and judge them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from .. import runline
from ..api import KernelHandle
from ..compiler import Unit, index_width
from ..diagnostics import CompileError
from ..errors import CudaError, LaunchError
from ..runline import Inputs, RunLine, RunLineError
from ..source import Source
from ..target import DEFAULT, Target, target
from .console import Console
from .options import Command, UsageError
from .progress import progress_bar
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
        except (WrongError, LaunchError, CudaError) as error:
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


class Runner(ABC):
    """Runs kernels somewhere."""

    def __init__(self, unit: Unit, chip: Target, index_bits: int | None) -> None:
        self.unit, self.chip, self.index_bits = unit, chip, index_bits

    def handle(self, line: RunLine) -> KernelHandle:
        """The kernel at the line's constants."""
        constants = line.constants(self.unit.constants(line.kernel))
        return KernelHandle(self.unit, line.kernel, self.chip, self.index_bits, constants)

    def run(self, handle: KernelHandle, line: RunLine, inputs: Inputs) -> Results:
        """What the tensors hold after the run; the inputs stay as they are."""
        arrays = {name: array.copy() for name, array in inputs.tensors.items()}
        self.launch(handle, line, arrays, inputs)
        return arrays

    @abstractmethod
    def launch(self, handle: KernelHandle, line: RunLine, arrays: dict[str, Any], inputs: Inputs) -> None:
        """Run the kernel on arrays that it may write."""

    def judged(self, line: RunLine) -> RunLine:
        """The line by whose tolerance the results are judged."""
        return line.on_hardware()


class Interpreter(Runner):
    """Runs kernels through the interpreter of the tile IR, which approximates nothing."""

    def launch(self, handle: KernelHandle, line: RunLine, arrays: dict[str, Any], inputs: Inputs) -> None:
        from ..interp import InterpError, TrapError
        from ..interp import run as interpret

        kernel = handle.meaning
        grid = runline.launch_grid(kernel, line, inputs.dims)
        bits = index_width(kernel.attributes, self.chip, self.index_bits)
        try:
            interpret(kernel, arrays, inputs.scalars, grid, bits)
        except (InterpError, TrapError) as error:
            raise WrongError(str(error)) from None

    def judged(self, line: RunLine) -> RunLine:
        return line


class Simulator(Runner):
    """Runs the emitted PTX in the simulator, all checks on."""

    def launch(self, handle: KernelHandle, line: RunLine, arrays: dict[str, Any], inputs: Inputs) -> None:
        from ..sim import SimFault

        try:
            with progress_bar(f"{handle.name} {line.span.text}") as progress:
                handle.simulate(_arguments(handle, arrays, inputs), line.grid, progress=progress)
        except SimFault as fault:
            raise WrongError(str(fault)) from None


class Gpu(Runner):
    """Runs kernels on the GPU."""

    def launch(self, handle: KernelHandle, line: RunLine, arrays: dict[str, Any], inputs: Inputs) -> None:
        handle(*_arguments(handle, arrays, inputs), grid=line.grid)


def _arguments(handle: KernelHandle, arrays: dict[str, Any], inputs: Inputs) -> list[Any]:
    values: Results = {**arrays, **inputs.scalars}
    return [values[p.name] for p in handle.signature.params]


def _runner(unit: Unit, options: Command, console: Console) -> Runner:
    """Where `--on` says; without it the GPU where there is one, else the simulator, which is said."""
    there = at_hand()
    chip = target(options.targets[0]) if options.targets else there or target(DEFAULT)
    match options.on or ("gpu" if there is not None else "sim"):
        case "gpu":
            return Gpu(unit, chip, options.index_bits)
        case "interp":
            return Interpreter(unit, chip, options.index_bits)
        case _:
            if not options.on:
                console.note(f"no GPU: the kernels run in the simulator, as PTX for {chip}")
            return Simulator(unit, chip, options.index_bits)

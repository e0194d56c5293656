"""What a launch can raise. What a compilation can raise is in `diagnostics`: `CompileError` and `InternalError`."""

from __future__ import annotations


class LaunchError(Exception):
    """A launch that was refused before anything ran."""


class ArgumentError(LaunchError):
    """An argument does not fit: the parameter's name, what was expected and what came."""

    def __init__(self, parameter: str, expected: str, came: str, help: str = "") -> None:
        self.parameter, self.expected, self.came, self.help = parameter, expected, came, help
        super().__init__(f"{parameter}: expected {expected}, got {came}{f'; {help}' if help else ''}")


class AlignedPromiseError(LaunchError):
    """An extent is not the whole number of tiles that `@aligned` promises; the kernel would trap."""


class CudaError(RuntimeError):
    """The CUDA driver refused a call: its name for the error, its text, and what to do where that is known."""

    def __init__(self, call: str, name: str, text: str, advice: str = "") -> None:
        self.call, self.name, self.text, self.advice = call, name, text, advice
        super().__init__(f"{call} failed with {name}: {text}{f' ({advice})' if advice else ''}")

"""`check FILE`: parse, check and lower every kernel at its first constants, and say what was found."""

from __future__ import annotations

from ..compiler import Unit
from ..diagnostics import CompileError, Diagnostic, Severity
from .console import Console
from .options import Command
from .source import read


def check(options: Command, console: Console) -> int:
    """Print diagnostics; the number of errors."""
    unit = Unit(read(options.file))
    found = unit.check()
    errors: dict[Diagnostic, None] = {}
    for name in unit.kernels:
        try:
            unit.built(name)
        except CompileError as error:
            errors.update(dict.fromkeys(error.diagnostics))
    console.diagnostics(d for d in found if options.remarks or d.severity is not Severity.REMARK)
    console.diagnostics(errors)
    if not errors and options.diagnostics == "text":
        console.line(f"{options.file}: {', '.join(unit.kernels) or 'no kernel'}: no errors")
    return len(errors)

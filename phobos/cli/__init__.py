"""The command line: `main(argv)` runs one command and gives the exit code.

0 all went well; 1 the user's program has errors, or a kernel's result is wrong; 2 the command line is wrong (an unknown
option, a missing file); 3 a fault of the compiler. Products go to stdout, diagnostics and times to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .console import Console
from .options import Command, UsageError, parse

OK, ERRORS, USAGE, INTERNAL = 0, 1, 2, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. argv: the arguments behind the program's name, those of the process by default."""
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else USAGE
    console = Console(options.diagnostics)
    try:
        return _run(options, console)
    except BrokenPipeError:
        # The reader of stdout has gone (`| head`): nothing is wrong. Keep the interpreter from flushing into the void.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _run(options: Command, console: Console) -> int:
    from ..diagnostics import CompileError

    try:
        return ERRORS if _command(options, console) else OK
    except UsageError as error:
        console.usage(str(error))
        return USAGE
    except CompileError as error:
        console.diagnostics(error.diagnostics)
        return ERRORS
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:  # an error the user did not make: said as such, never as a bare traceback
        console.internal(error, options)
        return INTERNAL


def _command(options: Command, console: Console) -> int:
    """Run the command; how many things went wrong."""
    match options.command:
        case "build":
            from .build import build

            return build(options, console)
        case "check":
            from .check import check

            return check(options, console)
        case "run":
            from .run import run

            return run(options, console)
        case _:
            from .explain import explain

            return explain(options, console)

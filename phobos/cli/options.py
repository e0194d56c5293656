"""The command line's grammar: what can be asked for, read into one `Command`."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMS = ("built", "folded", "guarded", "placed", "staged", "packed", "synced")
PRODUCTS = ("report", "plan", "llvm", "llvm-opt", "ptx", "cubin")
EMITS = (*FORMS, *PRODUCTS)
PASSES = (
    "facts",
    "dp4a",
    "fold",
    "hoist",
    "guard",
    "tails",
    "order",
    "spill",
    "place",
    "split",
    "stage",
    "lift",
    "pipeline",
    "occupy",
    "pack",
    "sync",
)
"""Names of `passes.PIPELINE`, written out so that `--help` loads no pass; a test compares the two."""


class UsageError(Exception):
    """The command line asks for something that is not there; the text says what is."""


@dataclass(frozen=True)
class Command:
    """One command with its options; a command ignores those it does not have."""

    command: str
    file: Path = Path()
    code: str = ""
    kernels: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    index_bits: int | None = None
    constants: tuple[tuple[str, int], ...] = ()
    emits: tuple[str, ...] = ()
    out: Path | None = None
    stop_after: str = ""
    time: bool = False
    verify: bool = False
    strict: bool = False
    remarks: bool = False
    diagnostics: str = "text"
    on: str = ""


def parse(argv: Sequence[str]) -> Command:
    """The command in `argv`. Ends in SystemExit 2 with a message where it is not one, 0 after --help and --version."""
    given = vars(_parser().parse_args(argv))
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    return Command(**fields)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m phobos",
        description="Phobos: a tile kernel compiler for NVIDIA GPUs.",
        epilog="Exit codes: 0 done, 1 errors in the program, 2 a wrong command line, 3 a fault of the compiler.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"phobos {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _build(commands.add_parser("build", help="compile a file: report, IR, PTX, cubin", allow_abbrev=False))
    check = commands.add_parser("check", help="parse, check and lower a file's kernels", allow_abbrev=False)
    _file(check)
    _printing(check)
    run = commands.add_parser("run", help="run a file's `// run:` lines and judge the results", allow_abbrev=False)
    _file(run)
    _kernel(run)
    run.add_argument("--target", dest="targets", metavar="SM", type=_one_target, default=[], help="such as sm_90a")
    run.add_argument(
        "--on",
        choices=("gpu", "sim", "interp"),
        default="",
        help="where: the GPU, the simulator of the emitted PTX, or the interpreter of the tile IR; "
        "without it the GPU at hand, else the simulator",
    )
    _index_bits(run)
    _printing(run)
    explain = commands.add_parser("explain", help="explain a diagnostic's code", allow_abbrev=False)
    explain.add_argument("code", metavar="CODE", help="such as PH204")
    return parser


def _build(build: argparse.ArgumentParser) -> None:
    _file(build, "; a .tile file starts at its form")
    _kernel(build)
    add = build.add_argument
    add(
        "--target",
        dest="targets",
        metavar="SM[,SM]",
        action="extend",
        type=_words,
        default=[],
        help="such as sm_80 (default: the GPU at hand, else sm_80)",
    )
    _index_bits(build)
    add(
        "--set",
        dest="constants",
        metavar="NAME=VALUE",
        action="extend",
        type=_constants,
        default=[],
        help="an @autotune constant; repeat, or separate with commas",
    )
    add(
        "--emit",
        dest="emits",
        metavar="KIND[,KIND]",
        action="extend",
        type=_emits,
        default=[],
        help=f"what to write: {', '.join(EMITS)}",
    )
    add("-o", dest="out", metavar="DIR", type=Path, help="write files there (default of --emit: report,plan,ptx,cubin)")
    add("--stop-after", metavar="PASS", choices=PASSES, default="", help=f"run no pass behind it: {', '.join(PASSES)}")
    add("--time", action="store_true", help="print each stage's milliseconds")
    add("--verify", action="store_true", help="verify the IR after each pass")
    add("--strict", action="store_true", help="a fast path not taken is an error")
    _printing(build)


def _file(parser: argparse.ArgumentParser, more: str = "") -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help=f"a .ph file{more}")


def _kernel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kernel", dest="kernels", metavar="NAME", action="extend", type=_words, default=[], help="only this kernel"
    )


def _index_bits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--index-bits", type=int, choices=(32, 64), help="width of index values (default 32)")


def _printing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--diagnostics", choices=("text", "json"), default="text", help="json: one object per line")
    parser.add_argument("-R", dest="remarks", action="store_true", help="print remarks with their source lines")


# ---- arguments ----------------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise argparse.ArgumentTypeError(f"'{text}' has an empty name between commas")
    return words


def _one_target(text: str) -> list[str]:
    words = _words(text)
    if len(words) > 1:
        raise argparse.ArgumentTypeError(f"one target, not {len(words)}")
    return words


def _emits(text: str) -> list[str]:
    words = _words(text)
    for word in words:
        if word not in EMITS:
            near = difflib.get_close_matches(word, EMITS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(EMITS)}"
            raise argparse.ArgumentTypeError(f"nothing called '{word}' can be emitted; {hint}")
    return words


def _constants(text: str) -> list[tuple[str, int]]:
    return [_constant(word) for word in _words(text)]


def _constant(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    try:
        number = int(value, 0)
    except ValueError:
        number = None
    if not equals or not name.isidentifier() or number is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=INTEGER")
    return name, number


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("phobos-gpu")
    except metadata.PackageNotFoundError:
        return "(not installed)"

"""Source files: one idea each and short, with a docstring, and no error silenced without saying which."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_LINES = 500

# Files that may be longer, each with its own limit and the reason. Prefer splitting the file.
LONGER: dict[str, tuple[int, str]] = {}


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_files_are_short() -> None:
    lines = {name(p): len(p.read_text().splitlines()) for p in python_files("phobos", "runtime", "tests", "benchmarks")}
    limits = {file: LONGER.get(file, (MAX_LINES, ""))[0] for file in lines}
    assert {file: n for file, n in lines.items() if n > limits[file]} == {}
    stale = [file for file in LONGER if lines.get(file, 0) <= MAX_LINES]
    assert not stale, f"no longer longer, take them off the list: {stale}"


def test_every_module_has_a_docstring() -> None:
    without = [name(p) for p in python_files("phobos", "runtime", "tests", "benchmarks") if not docstring(p)]
    assert without == []


def docstring(path: Path) -> str | None:
    return ast.get_docstring(ast.parse(path.read_text()))


def test_silenced_errors_name_the_error() -> None:
    bare = re.compile(r"#\s*type:\s*ignore(?!\[)|#\s*noqa(?!:\s*[A-Z])")
    found = [
        f"{name(path)}:{number}"
        for path in python_files("phobos", "runtime", "benchmarks")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if bare.search(line)
    ]
    assert found == []

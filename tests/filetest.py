"""Tests that are files: an input, and beside or below it what must come out.

A file test holds its expectation below a line `// ----`; others keep it in a sibling file. Both are rewritten by
`pytest --bless`; reading the difference is then the test. Directives are comment lines `// key: value`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

SEPARATOR = "// ----\n"
_DIRECTIVE = re.compile(r"^// ([a-z][a-z-]*): *(.*?) *$", re.MULTILINE)


def cases(test_file: str, pattern: str = "*.ph") -> list[ParameterSet]:
    """The files beside a test module, as parameters named after them; there must be some."""
    paths = sorted(Path(test_file).parent.glob(pattern))
    assert paths, f"no {pattern} beside {test_file}"
    return [pytest.param(path, id=path.stem) for path in paths]


def split(path: Path) -> tuple[str, str]:
    """The input and the expectation of a file."""
    text = path.read_text(encoding="utf-8")
    input, found, expectation = text.partition(SEPARATOR)
    return input, expectation if found else ""


def directives(text: str) -> dict[str, list[str]]:
    """Values of the `// key: value` lines, by key."""
    values: dict[str, list[str]] = {}
    for key, value in _DIRECTIVE.findall(text):
        values.setdefault(key, []).append(value)
    return values


def expect(path: Path, actual: str, bless: bool) -> None:
    """The expectation below the separator is `actual`."""
    input, expectation = split(path)
    if bless:
        _write(path, input + SEPARATOR + _ended(actual))
    else:
        assert _ended(actual) == expectation


def expect_sibling(path: Path, suffix: str, actual: str, bless: bool) -> None:
    """The file of the same name with another suffix holds `actual`."""
    sibling = path.with_suffix(suffix)
    if bless:
        _write(sibling, _ended(actual))
    else:
        assert sibling.is_file(), f"{sibling.name} is missing: run pytest --bless and read it"
        assert _ended(actual) == sibling.read_text(encoding="utf-8")


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        print(f"blessed {path}")

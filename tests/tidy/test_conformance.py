"""The conformance list: every line has one row in `tests/conformance.md`, held by tests that name it, or waiting."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
ID = re.compile(r"\b[A-Z]\d{2,3}\b")
ROW = re.compile(r"^\| ([A-Z]\d{2,3}) \|(.*)\|(.*)\|$", re.MULTILINE)
WAITS = re.compile(r"(?:(?:issue [3-6]|later): [^;]+(?:; |$))+(?:.*)")


@dataclass(frozen=True)
class Row:
    line: str
    tests: tuple[str, ...]
    waits: str


def text() -> str:
    return (TESTS / "conformance.md").read_text()


def lines() -> list[str]:
    (found,) = re.findall(r"^```text\n(.*?)^```$", text(), re.MULTILINE | re.DOTALL)
    return ID.findall(found)


def rows() -> list[Row]:
    return [Row(m[1], tuple(re.findall(r"`([^`]+)`", m[2])), m[3].strip()) for m in ROW.finditer(text())]


def test_the_list_is_whole() -> None:
    """Numbers of lines by their letters: a line that is dropped from the list and the table is missed here."""
    kinds = Counter(line[0] + ("" if len(line) == 4 else "xx") for line in lines())
    assert kinds == {"B": 153, "Rxx": 14, "Sxx": 8, "Dxx": 14, "Pxx": 12, "Exx": 16, "Bxx": 4, "Nxx": 10, "Axx": 8}


def test_each_line_has_one_row() -> None:
    assert [row.line for row in rows()] == lines()
    assert len(set(lines())) == len(lines())


def test_each_row_is_held_or_waits() -> None:
    assert [row.line for row in rows() if not row.tests and not row.waits] == []
    assert [row.line for row in rows() if row.waits and not WAITS.fullmatch(row.waits)] == []


def test_each_test_exists_and_names_its_line() -> None:
    missing = []
    for row in rows():
        names = re.compile(rf"(?<![A-Za-z0-9]){row.line}(?![A-Za-z0-9])", re.IGNORECASE)
        for test in row.tests:
            path = TESTS / test
            if not path.is_file() or not names.search(path.read_text()):
                missing.append(f"{row.line}: {test}")
    assert missing == []


def test_no_kernel_names_a_line_that_is_not_listed() -> None:
    """A comment in front of a kernel that names a line must mean one of the list."""
    named = {
        line
        for path in (TESTS / "kernels").rglob("*.ph")
        for comment in re.findall(r"^// ((?:[A-Z]\d{2,3} ?)+):", path.read_text(), re.MULTILINE)
        for line in ID.findall(comment)
    }
    assert named
    assert named <= set(lines())

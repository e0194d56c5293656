"""The guide shows what the compiler says: its excerpts stand in the report of the command before them, and its programs
in the examples."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from phobos.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "guide" / f"{name}.md" for name in ("rows", "flash-attention")]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ASSEMBLER = re.compile(r"(?m)^  (registers|occupancy|linker) .*\n")
"""Lines that another linker, or another version of LLVM, may word differently."""
BUILD = "python -m phobos build "


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_excerpts_are_lines_of_the_report(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    report, seen, missing = "", 0, []
    for mark, text in FENCE.findall(page.read_text()):
        if mark == "sh" and text.startswith(BUILD):
            assert main(shlex.split(text.removeprefix("python -m phobos "))) == 0
            report = ASSEMBLER.sub("", capsys.readouterr().out)
        elif mark == "text":
            seen += 1
            missing += [text] if ASSEMBLER.sub("", text) not in report else []
    assert seen
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_programs_are_those_of_the_examples(page: Path) -> None:
    examples = [path.read_text() for path in (ROOT / "examples").glob("*.ph")]
    programs = [text for mark, text in FENCE.findall(page.read_text()) if mark == "phobos"]
    assert programs
    assert [program for program in programs if not any(program in text for text in examples)] == []

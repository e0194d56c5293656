"""docs/how-to/read-a-report.md shows the report that its kernel gives now; `--bless` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from phobos.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "read-a-report.md"
KERNEL = re.compile(r"```phobos\n(.*?)```", re.DOTALL)
REPORT = re.compile(r"```text\n(.*?)```", re.DOTALL)
ASSEMBLER = re.compile(r"(?m)^  (registers|occupancy|linker) .*\n")
"""Lines that another linker, or another version of LLVM, may word differently."""


def test_the_page_shows_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], bless: bool
) -> None:
    text = PAGE.read_text()
    kernel, shown = KERNEL.search(text), REPORT.search(text)
    assert kernel is not None
    assert shown is not None
    assert "`python -m phobos build gemm.ph --target sm_80`" in text
    (tmp_path / "gemm.ph").write_text(kernel[1])
    monkeypatch.chdir(tmp_path)
    assert main(["build", "gemm.ph", "--target", "sm_80"]) == 0
    printed = capsys.readouterr().out
    if bless:
        PAGE.write_text(text[: shown.start(1)] + printed + text[shown.end(1) :])
    else:
        assert ASSEMBLER.sub("", shown[1]) == ASSEMBLER.sub("", printed)

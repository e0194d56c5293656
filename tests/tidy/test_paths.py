"""Committed text is about the project: no machine's folders, no package registry's host, no working session."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THIS = Path(__file__).relative_to(ROOT).as_posix()
SUFFIXES = {
    ".py",
    ".md",
    ".ph",
    ".tile",
    ".err",
    ".cfg",
    ".toml",
    ".yaml",
    ".yml",
    ".json",
    ".txt",
    ".tsv",
    ".csv",
    ".html",
    ".js",
    ".css",
    "",
}

FORBIDDEN = {
    # A folder of one machine: an absolute path below a home, a work or a temporary folder.
    "machine path": re.compile(r"(?<![\w.$}~/-])/(?:work|root|home|tmp|opt|Users)/\w"),
    "registry host": re.compile(r"\b(?:files\.pythonhosted|pypi|registry\.npmjs)\.(?:org|io)\b"),
    # pytest has sessions of its own: `scope="session"` and its hooks' `session` argument are meant there.
    "working session": re.compile(r"(?<![\"'_.(])\bsessions?\b(?![\"':)._])", re.IGNORECASE),
}


def committed_text() -> list[Path]:
    """Files that git tracks or would add."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = [ROOT / entry for entry in listing.split("\0") if entry]
    return [p for p in paths if p.is_file() and p.suffix in SUFFIXES and p.relative_to(ROOT).as_posix() != THIS]


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_committed_text_is_about_the_project(kind: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so what is committed is not known")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in committed_text()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if FORBIDDEN[kind].search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("kind", "line", "hit"),
    [
        ("machine path", "see /work/main/phobos", True),
        ("machine path", 'open("/tmp/x.ptx")', True),
        ("machine path", "examples/home/x and $out/tmp/x", False),
        ("machine path", "#!/usr/bin/env bash", False),
        ("registry host", "from https://pypi.org/simple", True),
        ("working session", "found in an earlier session", True),
        ("working session", '@pytest.fixture(scope="session")', False),
        ("working session", "def pytest_sessionfinish(session: pytest.Session) -> None:", False),
    ],
)
def test_patterns(kind: str, line: str, hit: bool) -> None:
    assert bool(FORBIDDEN[kind].search(line)) is hit

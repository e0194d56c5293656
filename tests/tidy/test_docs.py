"""Documentation: links resolve, `phobos` programs are right, `phobos-error` programs fail with their page's code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from phobos.compiler import Unit
from phobos.diagnostics import CompileError
from phobos.frontend.lower_support import NOT_YET
from phobos.passes import PIPELINE
from phobos.source import Source
from phobos.target import target

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "phobos" / "diagnostics" / "pages"
TEXTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "changelog.d").glob("*.md")),
    *sorted(PAGES.glob("*.md")),
]
FENCE = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Example:
    """A fenced program: its file, the line of its fence, its text."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


def examples(mark: str) -> list[Example]:
    """Every fence of the documentation with this mark."""
    found = []
    for path in TEXTS:
        text = path.read_text()
        found += [
            Example(path, text.count("\n", 0, fence.start()) + 1, fence[2])
            for fence in FENCE.finditer(text)
            if fence[1] == mark
        ]
    return found


def codes(example: Example, compile: bool) -> list[str]:
    """Codes of the errors that a program gives when it is checked and, if asked, compiled for sm_80."""
    try:
        unit = Unit(Source(str(example), example.text))
        unit.check()
        for kernel in unit.kernels if compile else ():
            unit.compile(kernel, target("sm_80"))
    except CompileError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


@pytest.mark.parametrize("example", examples("phobos"), ids=str)
def test_program_checks_clean(example: Example) -> None:
    assert codes(example, compile=False) == []


@pytest.mark.parametrize("example", examples("phobos-error"), ids=str)
def test_failing_program_gives_the_code_of_its_page(example: Example) -> None:
    assert set(codes(example, compile=True)) == {example.path.stem}


def test_the_specification_has_programs() -> None:
    assert any(example.path.name == "spec.md" for example in examples("phobos"))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_resolve(path: Path) -> None:
    # Programs have brackets too, so fences are left out.
    text = FENCE.sub("", path.read_text())
    broken = []
    for link in LINK.findall(text):
        file, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", file):
            continue
        there = path.parent / file if file else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(link)
    assert broken == []


def anchors(path: Path) -> set[str]:
    """Anchors of a page's headings, as they are made from the heading's text."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_files_that_documents_name_exist() -> None:
    """A path in backquotes below a folder of the repository is a file or a folder there."""
    path = re.compile(r"`((?:phobos|runtime|docs|tests|examples|benchmarks)/[\w./-]*)`")
    missing = [
        f"{text.relative_to(ROOT)}: {name}"
        for text in TEXTS
        if "decisions" not in text.parts
        for name in path.findall(text.read_text())
        if not (ROOT / name).exists()
    ]
    assert missing == []


def test_the_specification_lists_what_cannot_be_compiled_yet() -> None:
    """Section 10 of the specification names every row of the compiler's own list, by its key in a comment."""
    section = (ROOT / "docs" / "spec.md").read_text().partition("\n## 10.")[2]
    assert set(re.findall(r"<!-- (\w+) -->", section)) == set(NOT_YET)


def test_the_page_on_passes_has_the_pipeline() -> None:
    rows = re.findall(r"^\| (\w+) \| (\w+), (\w+) \|", (ROOT / "docs" / "passes.md").read_text(), re.MULTILINE)
    assert rows == [(step.name, step.takes, step.gives) for step in PIPELINE]

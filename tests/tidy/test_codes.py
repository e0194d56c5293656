"""Each diagnostic code has a page, a test that provokes it, and a place in the compiler that raises it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from phobos.diagnostics import CODES
from phobos.diagnostics.explain import UnknownCodeError, explain

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "phobos" / "diagnostics" / "pages"
UI = ROOT / "tests" / "ui"
REGISTRIES = ("codes.py", "codes_syntax.py", "codes_types.py", "codes_backend.py")

LATER = "raised by a stage after the checker"
TARGET = "depends on the target, not on the source"
# Codes that no source file provokes when it is parsed and checked at its default constants. Another test does.
NOT_FROM_SOURCE = {
    "PH401": LATER,
    "PH402": LATER,
    "PH501": LATER,
    "PH502": LATER,
    "PH503": LATER,
    "PH601": TARGET,
    "PH603": TARGET,
    "PH901": "a fault of the compiler",
    "PR202": "depends on the constants that a caller sets",
    "PR303": LATER,
    "PR304": LATER,
    "PR305": LATER,
    "PR401": LATER,
    "PR402": LATER,
    "PR403": LATER,
    "PR404": LATER,
    "PR405": LATER,
    "PR406": LATER,
    "PR407": LATER,
    "PR408": LATER,
    "PR409": LATER,
    "PR501": LATER,
    "PR502": LATER,
    "PR503": LATER,
}


def found_in(paths: Iterable[Path], pattern: str) -> set[str]:
    return {code for path in paths for code in re.findall(pattern, path.read_text(encoding="utf-8"))}


def raised() -> set[str]:
    """The codes that stand as a string of their own in the sources, the registries aside."""
    files = [path for folder in ("phobos", "runtime") for path in (ROOT / folder).rglob("*.py")]
    return found_in((path for path in files if path.name not in REGISTRIES), r'"(P[HR]\d{3})"')


def test_codes_are_well_formed() -> None:
    for code, title in CODES.items():
        assert re.fullmatch(r"P[HR][1-9]\d{2}", code)
        assert not title.endswith(".")


def test_each_code_has_a_page_and_each_page_a_code() -> None:
    pages = {path.stem for path in PAGES.glob("*.md")}
    assert sorted(set(CODES) - pages) == [], "codes without a page"
    assert sorted(pages - set(CODES) - {"README"}) == [], "pages without a code"


def test_each_page_begins_with_its_code_and_title() -> None:
    wrong = []
    for path in sorted(PAGES.glob("P*.md")):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        if first != f"# {path.stem}: {CODES.get(path.stem)}":
            wrong.append(f"{path.name}: {first}")
    assert wrong == []


def test_each_code_has_a_ui_test_or_a_reason() -> None:
    provoked = found_in(UI.glob("*.err"), r"(?m)^(?:error|warning|remark)\[(P[HR]\d{3})\]")
    assert sorted(set(CODES) - provoked - set(NOT_FROM_SOURCE)) == [], "codes without a test in tests/ui"
    assert sorted(set(NOT_FROM_SOURCE) - set(CODES)) == [], "reasons for codes that are gone"
    elsewhere = [
        p for p in (ROOT / "tests").rglob("*.*") if p.suffix in (".py", ".ph", ".tile") and p.name != "test_codes.py"
    ]
    assert sorted(set(NOT_FROM_SOURCE) - found_in(elsewhere, r"\bP[HR]\d{3}\b")) == [], "codes that no test names"
    named = {path.name.split("_", 1)[0] for path in UI.glob("P*.ph")}
    assert sorted(named - set(CODES)) == [], "tests of codes that are gone"


def test_each_code_is_raised_somewhere() -> None:
    assert sorted(set(CODES) - raised()) == []


def test_each_code_that_is_raised_is_registered() -> None:
    assert sorted(raised() - set(CODES)) == []


@pytest.mark.parametrize("code", CODES)
def test_explain(code: str) -> None:
    assert explain(code).startswith(f"# {code}: ")
    assert explain(code.lower()) == explain(code)


def test_explain_of_an_unknown_code_offers_near_ones() -> None:
    with pytest.raises(UnknownCodeError, match=r"'PH10'; did you mean PH10"):
        explain("PH10")
    with pytest.raises(UnknownCodeError, match="a code looks like"):
        explain("banana")

"""Any form that was printed can be read and goes on to the same end: passes that give the form they take run again.

`split`, `pipeline`, `occupy` and `hoist` take and give one form, so a text in that form may be from before them or from
behind them, and running them on what they made must change nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from phobos.compiler import Unit
from phobos.diagnostics import CompileError
from phobos.ir.parser import parse
from phobos.ir.printer import print_kernel
from phobos.passes import FORMS, Options, run
from phobos.source import Source
from phobos.target import target

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "tests" / "kernels"
FILES = [*sorted((ROOT / "examples").glob("*.ph")), KERNELS / "loops.ph", KERNELS / "contractions" / "dots.ph"]
FILES += [KERNELS / "matmul.ph", KERNELS / "contractions" / "pipelines.ph"]


def shape(text: str) -> str:
    """The kernel without names, places in the source and reasons, which quote them."""
    text = re.sub(r'(, )?\b(why|width_why|label) = (\[[^]]*\]|"[^"]*")', "", text)
    return re.sub(r"%[\w.]+", "%", re.sub(r"//.*", "", text))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_form_goes_on_to_the_same_end(path: Path) -> None:
    unit = Unit(Source(path.name, path.read_text()))
    options, compared = Options(target("sm_80")), 0
    for name in unit.kernels:
        found = {}
        try:
            last = run(unit.built(name), options, found.__setitem__)
        except CompileError:
            continue  # a kernel that is refused at its first constants
        want = shape(print_kernel(last))
        for form in FORMS:
            again = run(parse(print_kernel(found[form], spans=True), f"{form}.tile"), options)
            assert shape(print_kernel(again)) == want, f"{name} from {form}"
            compared += 1
    assert compared

"""One pass on one small kernel per file: the form that comes out and the remarks, below the separator.

Directives: `// pass: guard`, `// target: sm_75` (default sm_80).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from phobos.diagnostics import CompileError
from phobos.ir.parser import parse
from phobos.ir.printer import print_kernel
from phobos.ir.verify import verify
from phobos.passes import PIPELINE, Options
from phobos.target import target
from tests.filetest import cases, directives, expect, split


@pytest.mark.parametrize("path", cases(__file__, "*.tile"))
def test_pass(path: Path, bless: bool) -> None:
    text, _ = split(path)
    asked = directives(text)
    kernel = parse(text, path.name)
    options = Options(target(asked.get("target", ["sm_80"])[0]))
    (step,) = [p for p in PIPELINE if p.name == asked["pass"][0]]
    assert kernel.form == step.takes
    assert verify(kernel) == []
    try:
        out = step.run(kernel, options).replace(form=step.gives)
    except CompileError as error:
        expect(path, "".join(f"{d.code}: {d.message}\n" for d in error.diagnostics), bless)
        return
    assert verify(out) == []
    remarks = "".join(f"// {r.code}: {r.message}\n" for r in out.remarks)
    expect(path, print_kernel(out) + "\n" + remarks, bless)

"""Every `// run:` line of the examples and of the kernels beside this file, run by the interpreter on each form.

All forms of one kernel, for sm_80 (cp.async) and sm_75 (registers), must agree with the formula in `ref.py`, so a pass
that changes the meaning of a kernel is found at the first form that is wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from phobos import interp, passes
from phobos.diagnostics import Sink
from phobos.frontend.check import check_kernel, constants_of
from phobos.frontend.lower import lower
from phobos.frontend.parser import parse
from phobos.ir.kernel import Fact, Kernel
from phobos.runline import RunLine, expected, judge, launch_grid, load_reference, make_inputs, parse_run_lines
from phobos.source import Source
from phobos.target import target

HERE = Path(__file__).parent
FOLDERS = (
    HERE.parents[1] / "examples",
    HERE,
    *(path for path in sorted(HERE.iterdir()) if (path / "ref.py").is_file()),
)
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.ph"))]
CHIPS = ("sm_80", "sm_75")


def runs() -> list[object]:
    """(file, line) for every run line, named after the kernel and the line's place."""
    return [
        pytest.param(path, line, id=f"{path.stem}-{line.kernel}-{line.span.line}")
        for path in FILES
        for line in parse_run_lines(path.read_text(), path.name)
    ]


def built(path: Path, line: RunLine) -> Kernel:
    """The kernel of a line, lowered, without the facts that the line's extents do not keep."""
    source, sink = Source(path.name, path.read_text()), Sink()
    program = parse(source, sink)
    sink.raise_errors()
    (kernel,) = (k for k in program.kernels if k.name == line.kernel)
    typed = check_kernel(program, kernel, line.constants(constants_of(kernel, sink)), sink)
    sink.raise_errors()
    assert typed is not None
    odd = [name for name in typed.dims if int(line.values.get(name, 0)) % 4]
    return lower(typed, frozenset(Fact("multiple_of_4", name) for name in odd))


def forms(kernel: Kernel, chip: str, index_bits: int) -> dict[str, Kernel]:
    """The kernel in every form that the interpreter runs, each one verified."""
    found: dict[str, Kernel] = {}
    options = passes.Options(target=target(chip), index_bits=index_bits, verify=True)
    passes.run(kernel, options, observer=found.__setitem__)
    return found


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("path", "line"), runs())
def test_kernel(path: Path, line: RunLine, chip: str) -> None:
    kernel = built(path, line)
    inputs = make_inputs(kernel, line)
    want = expected(kernel, load_reference(path, line.kernel), inputs)
    found = forms(kernel, chip, index_bits=32)
    grid = launch_grid(found["folded"], line, inputs.dims)
    for form, made in found.items():
        if chip != CHIPS[0] and form in ("built", "folded", "guarded", "placed"):
            continue  # these forms are the same for every chip
        results = {name: array.copy() for name, array in inputs.tensors.items()}
        interp.run(made, results, inputs.scalars, grid)
        verdict = judge(kernel, line, want, inputs, results)
        assert verdict.ok, f"form {form}: {'; '.join(verdict.faults)}"


def test_every_file_has_run_lines_and_every_kernel_has_one() -> None:
    without = []
    for path in FILES:
        sink = Sink()
        names = {k.name for k in parse(Source(path.name, path.read_text()), sink).kernels}
        without += sorted(names - {line.kernel for line in parse_run_lines(path.read_text())})
    assert without == []

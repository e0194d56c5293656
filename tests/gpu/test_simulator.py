"""The simulator against the GPU: the same PTX on the same data leaves the same bits.

Bit for bit wherever no approximate instruction of the hardware is involved; a kernel with one is compared within the
larger of its line's tolerances, and 1e-5 at least (the ISA bounds ex2, lg2, sin, cos and rsqrt by some 2^-20). NaN
payloads are not compared: the PTX ISA leaves them open.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import phobos
from phobos.runline import RunLine, make_inputs
from tests.kernels.test_kernels import runs

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("path", "line"), runs())
def test_same_bits(path: Path, line: RunLine) -> None:
    handle = getattr(phobos.compile(path), line.kernel)
    if constants := line.constants(handle.choices):
        handle = handle.configured(**constants)
    inputs = make_inputs(handle.meaning, line)
    left = [{name: array.copy() for name, array in inputs.tensors.items()} for _ in range(2)]
    order = [p.name for p in handle.signature.params]
    on_gpu, simulated = ([{**tensors, **inputs.scalars}[name] for name in order] for tensors in left)
    handle(*on_gpu, grid=line.grid)
    handle.simulate(simulated, line.grid)
    for name, (a, b) in ((n, (left[0][n], left[1][n])) for n in inputs.tensors):
        if ".approx" in handle.ptx and a.dtype.kind == "f":
            bound = max(line.approx or 0.0, line.tolerance or 0.0, 1e-5)
            np.testing.assert_allclose(a, b, rtol=bound, atol=bound, err_msg=name)
            continue
        bits = np.dtype(f"u{a.itemsize}")
        differ = (a.view(bits) != b.view(bits)).reshape(-1)
        if a.dtype.kind == "f":
            differ &= ~(np.isnan(a) & np.isnan(b)).reshape(-1)
        assert not differ.any(), f"{name}: {differ.sum()} of {a.size} elements differ, first at {np.argmax(differ)}"

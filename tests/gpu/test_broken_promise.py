"""A broken @aligned promise on a GPU: the kernel traps, one clear error comes, and nothing was written anywhere.

The context does not survive a trap, and device memory goes with it. So each case runs in a child, with its tensors in
page-locked host memory that the GPU sees: that belongs to the process, and can be read afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).resolve().parents[2]

CHILD = """\
import ctypes, json, sys
import numpy as np
import phobos
from phobos.runtime import device

MARGIN, POISON, MAPPED = 1 << 20, 0xA5, 2

class Mapped:
    def __init__(self, m, n):
        size = 2 * m * n
        pointer = int(device._call("cuMemHostAlloc", 2 * MARGIN + size, MAPPED))
        seen = int(device._call("cuMemHostGetDevicePointer", pointer, 0))
        self.memory = np.ctypeslib.as_array((ctypes.c_uint8 * (2 * MARGIN + size)).from_address(pointer))
        self.memory[:] = POISON
        self.tensor = self.memory[MARGIN : MARGIN + size].view(np.float16).reshape(m, n)
        self.__cuda_array_interface__ = {
            "shape": (m, n), "typestr": "<f2", "data": (seen + MARGIN, False), "version": 3, "strides": None,
        }

    def beside(self):
        inside = np.zeros(self.memory.shape, bool)
        inside[MARGIN : MARGIN + self.tensor.nbytes] = True
        return int(np.count_nonzero(self.memory[~inside] != POISON))

def pair(m, n):
    a, b = Mapped(m, n), Mapped(m, n)
    a.tensor[:] = np.arange(m * n, dtype=np.float32).reshape(m, n) % 1000
    return a, b

assert device.has_gpu(), device.why_no_gpu()
device.enter(0)
copy2d = phobos.compile(sys.stdin.read()).copy2d
m, n = int(sys.argv[1]), int(sys.argv[2])
a, b = pair(128, 64)
broken_a, broken_b = pair(m, n)
before = [x.memory.copy() for x in (broken_a, broken_b)]
copy2d(a, b, check=False)
device.synchronize(0)
said = {"kept": bool((a.tensor == b.tensor).all()), "beside": a.beside() + b.beside(), "errors": []}
copy2d(broken_a, broken_b, check=False)
for again in range(2):
    try:
        device.synchronize(0)
    except phobos.CudaError as error:
        said["errors"].append([error.name, error.advice])
said["changed"] = [int(np.count_nonzero(x.memory != y)) for x, y in zip((broken_a, broken_b), before)]
print(json.dumps(said), flush=True)
import os
os._exit(0)
"""

SOURCE = """\
@autotune(TM in [64], TN in [64])
@aligned(M = TM, N = TN)
kernel copy2d(A: tensor<f16>[M, N], B: tensor<f16>[M, N]) {
  let row = ctx.block.x * TM
  let col = ctx.block.y * TN
  B[row :+ TM, col :+ TN] = A[row :+ TM, col :+ TN]
}
"""


@pytest.mark.parametrize(("m", "n"), [(65, 64), (64, 68), (20, 28), (1, 1), (4095, 4092)])
def test_b087_a_broken_promise_traps_and_writes_nothing(m: int, n: int) -> None:
    child = [sys.executable, "-c", CHILD, str(m), str(n)]
    ran = subprocess.run(child, input=SOURCE, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    assert said["kept"], "the same kernel copies where the promise is kept, and the host sees it"
    assert said["beside"] == 0
    assert len(said["errors"]) == 2, "a dead context says so each time"
    name, advice = said["errors"][0]
    assert name in ("CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ILLEGAL_INSTRUCTION")
    assert "@aligned" in advice
    assert said["errors"][1][0].startswith("CUDA_ERROR_")
    assert said["changed"] == [0, 0]

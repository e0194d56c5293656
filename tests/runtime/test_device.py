"""The driver's calls through cuda-python, against a stub of libcuda.so.1: what is passed, what comes back, errors.

The stub is built with a C compiler and loaded in a child process; `test_gpu.py` has the real thing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import ctypes
import numpy as np
import phobos
from phobos.runtime import device

stub = ctypes.CDLL("libcuda.so.1")
stub.stub_noted.restype = ctypes.c_long

assert device.why_no_gpu() == ""
assert device.compute_capability(0) == (9, 0)
assert (device.current_device(), device.context_id()) == (0, 5)
assert (device.device_of(8192), device.device_of(1)) == (0, None)

SOURCE = '''
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x * 1024
  Y[i :+ 1024] = a * X[i :+ 1024] + Y[i :+ 1024]
}
'''
module = phobos.compile(SOURCE)
assert module.target.name == "sm_90a"  # the GPU at hand decides

class Array:
    def __init__(self, pointer):
        shape = (1000,)
        self.__cuda_array_interface__ = dict(shape=shape, typestr="<f4", data=(pointer, False), version=3, stream=2)

x, y = Array(0x7000), Array(0x90000)
module.saxpy(x, y, 2.0)
assert [stub.stub_noted(i) for i in range(7)] == [1, 256, 0, 2, 0x7000, 1000, 0]
try:
    module.saxpy(x, y, 2.0, grid=9)
    raise AssertionError("the launch went through")
except phobos.CudaError as error:
    assert (error.call, error.name, error.text) == ("cuLaunchKernel", "CUDA_ERROR_LAUNCH_FAILED", "a text")
    assert "@aligned promise" in error.advice

assert device.load_function(module.saxpy.cubin, "saxpy", 50_000) == (32, 48)
for cubin, name, code in ((b"junk", "saxpy", "INVALID_IMAGE"), (module.saxpy.cubin, "nope", "NOT_FOUND")):
    try:
        device.load_function(cubin, name, 0)
        raise AssertionError(code)
    except phobos.CudaError as error:
        assert error.name == f"CUDA_ERROR_{code}"

assert device.resident_blocks(48, 256, 0, 0) == 3 * 132
with device.stopwatch(0) as spent:
    pass
assert spent == [1.5]
device.order(1, 2)
device.enter(0)
host = np.zeros(64, np.float32)
pointer = device.allocate(256)
assert pointer == 4096
device.copy_in(pointer, host.ctypes.data, 256, 0)
device.copy_out(host.ctypes.data, pointer, 256, 0)
device.synchronize(0)
device.free(pointer)
print("ok", module.saxpy.artifact.link.linker)
"""


def test_calls_reach_the_driver(tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build the stub of libcuda.so.1 with")
    library = tmp_path / "libcuda.so.1"
    source = Path(__file__).with_name("stub_driver.c")
    options = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(library), str(source), "-ldl"]
    subprocess.run([compiler, *options], check=True)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("LD_LIBRARY_PATH", "")]))
    child = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "LD_LIBRARY_PATH": path},
    )
    assert child.returncode == 0, child.stderr
    assert child.stdout.startswith("ok ")

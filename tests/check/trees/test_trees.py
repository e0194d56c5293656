"""Whole kernels: the typed tree of each file stands below it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from phobos.diagnostics import Sink
from phobos.frontend.check import check_kernel
from phobos.frontend.dump_typed import dump
from tests.check.helpers import parsed, typed
from tests.check.verify_typed import verify
from tests.filetest import cases, expect, split


@pytest.mark.parametrize("path", cases(__file__))
def test_tree(path: Path, bless: bool) -> None:
    kernel = typed(split(path)[0])
    verify(kernel)
    expect(path, dump(kernel), bless)


def test_checking_gemm_takes_less_than_ten_milliseconds() -> None:
    program, _ = parsed(split(Path(__file__).with_name("gemm.ph"))[0])
    times = []
    for _ in range(5):
        start = time.perf_counter()
        check_kernel(program, program.kernels[0], {}, Sink())
        times.append(time.perf_counter() - start)
    assert min(times) < 0.010

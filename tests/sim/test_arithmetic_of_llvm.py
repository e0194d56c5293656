"""What LLVM makes of index arithmetic is no fault: sums that wrap and wrap back, bytes of which none is taken."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sim.harness import kernel, launch

USE = "mul.wide.s32 %rd1, %r3, 4; add.s64 %rd2, %out, %rd1; ld.global.u32 %r4, [%rd2];"
QUARTER = 0x3FFF_FFFF
BODIES = {
    # Two range tests become one of a number half the range away, and the address is made from that number.
    "range test": "add.s32 %r2, %t, -2147483647; add.s32 %r5, %r2, -2147483645; sub.s32 %r3, %r5, 4;",
    # A sum that is taken apart: a part of it wraps, the whole does not.
    "wraps back": (
        f"add.s32 %r2, %t, {QUARTER}; add.s32 %r5, %r2, {QUARTER}; add.s32 %r6, %r5, {QUARTER};"
        f"sub.s32 %r7, %r6, {QUARTER}; sub.s32 %r8, %r7, {QUARTER}; sub.s32 %r3, %r8, {QUARTER};"
    ),
    # -1 / 2 rounds towards zero by its sign bit, logically shifted.
    "division": (
        "mov.u32 %r2, -1; shr.u32 %r5, %r2, 31; shr.u32 %r6, %r2, 1; add.s32 %r7, %r6, %r5; shl.b32 %r8, %r7, 1;"
        "add.s32 %r3, %r8, %t;"
    ),
    # A byte beside one that was never set, and what is read in the end is neither.
    "bytes": "prmt.b32 %r2, %t, %r9, 0x3340; prmt.b32 %r3, %r2, %t, 0x7654;",
}


@pytest.mark.parametrize("name", BODIES)
def test_no_finding(name: str) -> None:
    launch(kernel(BODIES[name] + USE), [np.zeros(64, np.uint32)], 64)

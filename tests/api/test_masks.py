"""What masks and promises cost and touch: the PTX, the plan, and what the simulator and the interpreter saw."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import phobos
from phobos.errors import AlignedPromiseError
from phobos.interp import machine
from phobos.interp import run as interpret
from phobos.ir.tile_ops import Load
from phobos.sim import SimFault, simulate

COPY = """\
@autotune(TM in [64], TN in [64])
{promise}
kernel copy2d(A: tensor<{elem}>[M, N], B: tensor<{elem}>[M, N]) {{
  let row = ctx.block.x * TM
  let col = ctx.block.y * TN
  B[row :+ TM, col :+ TN] = A[row :+ TM, col :+ TN]
}}
"""
PROMISE = "@aligned(M = TM, N = TN)"
GLOBAL = re.compile(r"^\s*(@!?%p\d+ )?((?:ld|st)\.global\S*)", re.MULTILINE)


def copy2d(elem: str, promise: str = PROMISE, **options: Any) -> Any:
    return phobos.compile(COPY.format(elem=elem, promise=promise), **options).copy2d


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90a"])
@pytest.mark.parametrize("elem", ["f16", "bf16", "i8", "f32"])
def test_a_promised_copy_moves_16_bytes_at_a_time_under_no_predicate(elem: str, chip: str, bits: int) -> None:
    """B084."""
    made = copy2d(elem, target=chip, index_bits=bits)
    found = GLOBAL.findall(made.ptx)
    assert {name for _, name in found} == {"ld.global.nc.v4.b32", "st.global.v4.b32"}
    assert all(not predicate for predicate, _ in found)
    assert not re.search(r"selp|setp\.(lt|ge|gt|le)", made.ptx)
    assert [(a.width_bytes, a.masked) for a in made.plan.accesses] == [(16, False)] * 2


def test_without_the_promise_both_axes_are_masked() -> None:
    made = copy2d("f16", promise="", target="sm_90")
    assert all([g.guard for g in a.guards] == ["hi", "hi"] for a in made.plan.accesses)
    assert re.search(r"setp\.(lt|ge|gt|le)", made.ptx)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("elem", ["f16", "f32"])
def test_the_last_block_of_20_by_28_reads_16_elements(elem: str, bits: int) -> None:
    """B073 B075: block (2, 3) of 8x8 tiles holds 4x4 elements; it loads and stores those, and no more bytes."""
    made = copy2d(elem, "", target="sm_80", index_bits=bits, TM=8, TN=8)
    dtype = {"f16": np.float16, "f32": np.float32}[elem]
    extent = np.int32 if bits == 32 else np.int64
    a, b = np.arange(560, dtype=dtype).reshape(20, 28), np.full((20, 28), -1, dtype)
    ptx = made.ptx
    for register, number in (("%ctaid.x", 2), ("%ctaid.y", 3), ("%nctaid.x", 3), ("%nctaid.y", 4)):
        ptx = re.sub(rf"(mov\.u32 \t%r\d+, ){register};", rf"\g<1>{number};", ptx)
    assert "ctaid" not in ptx
    result = simulate(
        ptx, "copy2d", [a, b, extent(20), extent(28)], (1, 1, 1), (made.artifact.kernel.threads,), processes=1
    )
    moved = {"ld": 0, "st": 0}
    for access in result.counters.accesses.values():
        moved[access.name[:2]] += access.bytes
    assert moved == {"ld": 16 * a.itemsize, "st": 16 * a.itemsize}
    inside = np.zeros((20, 28), bool)
    inside[16:, 24:] = True
    np.testing.assert_array_equal(b, np.where(inside, a, dtype(-1)))


def test_the_last_block_of_20_by_28_holds_48_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = copy2d("f16", "", target="sm_80", TM=8, TN=8).artifact.kernel
    a, b = np.arange(1, 561, dtype=np.float16).reshape(20, 28), np.zeros((20, 28), np.float16)
    tiles: dict[tuple[int, ...], Any] = {}
    plain = machine.MEANING[Load]

    def recorded(m: machine.Machine, op: Load) -> Any:
        (tile,) = found = plain(m, op)
        tiles[m.numbers(op.offsets)] = tile
        return found

    monkeypatch.setitem(machine.MEANING, Load, recorded)
    interpret(kernel, {"A": a, "B": b}, {}, (3, 4, 1))
    assert len(tiles) == 12
    last = tiles[16, 24]
    np.testing.assert_array_equal(last[:4, :4], a[16:, 24:])
    assert last.shape == (8, 8)
    assert np.count_nonzero(last) == 16
    np.testing.assert_array_equal(b, a)


WALK = """\
@launch(32)
kernel walk(A: tensor<f32>[M, K], Y: tensor<f32>[M, 16]) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += A[0 :+ 16, k :+ 16]
  }
  Y[0 :+ 16, :] = acc
}
"""


@pytest.mark.parametrize(("k", "whole", "masked"), [(1000, 62, 1), (992, 62, 0), (12, 0, 1), (16, 1, 0), (0, 0, 0)])
def test_a_walk_over_k_is_whole_tiles_and_one_masked(k: int, whole: int, masked: int) -> None:
    """B079 B080: counted by the simulator, how often the warp comes to each load, and the bytes moved there."""
    made = phobos.compile(WALK, target="sm_80").walk
    assert [(x.part, x.trips_text) for x in made.plan.loops] == [("whole", "floor(K / 16)"), ("remainder", "0 or 1")]
    a, y = np.ones((16, k), np.float32), np.zeros((16, 16), np.float32)
    counters = made.simulate([a, y], 1).counters
    loads = [(c.warps, c.bytes) for _, c in sorted(counters.accesses.items()) if c.name.startswith("ld.global")]
    assert len(loads) == 4  # two of the whole tiles, two of the remainder
    assert loads[:2] == [(whole, whole * 512)] * 2
    assert sum(b for _, b in loads[2:]) == masked * 16 * (k % 16) * 4
    assert all(warps == masked for warps, _ in loads[2:])
    np.testing.assert_array_equal(y, np.where(np.arange(16) < k % 16, -(-k // 16), k // 16) * np.ones((16, 16)))


@pytest.mark.parametrize(("m", "n"), [(65, 64), (64, 60), (1, 1)])
def test_a_broken_promise_traps_before_anything_is_touched(m: int, n: int) -> None:
    """B087, in the simulator, which finds every access outside of its tensors besides."""
    made = copy2d("f16", target="sm_80")
    frame = np.full(4096 + m * n, 7, np.float16)
    a, b = np.ones((m, n), np.float16), frame[2048 : 2048 + m * n].reshape(m, n)
    with pytest.raises(AlignedPromiseError):
        made.simulate([a, b])
    with pytest.raises(SimFault) as caught:
        made.simulate([a, b], check=False)
    assert caught.value.finding.kind == "trap"
    assert bool((frame == 7).all())

"""lift: an operand that a loop does not change is staged once, as long as the buffers fit side by side."""

from __future__ import annotations

from phobos.compiler import Unit
from phobos.ir.cta_ops import Write
from phobos.ir.kernel import Kernel
from phobos.ir.tile_ops import For
from phobos.passes import Options, run
from phobos.source import Source
from phobos.target import target

KERNEL = """\
kernel k(Q: tensor<f32>[64, D], K: tensor<f32>[N, D], S: tensor<f32>[64, 64]) {
  let q = Q[:, 0 :+ {d}]
  var s: tile<f32>[64, 64] = 0.0
  for i in range(0, N, 64) {
    s += dot_t(q, K[i :+ 64, 0 :+ {d}])
  }
  S[:, :] = s
}
"""


def compiled(d: int, chip: str) -> Kernel:
    unit = Unit(Source("t.ph", KERNEL.replace("{d}", str(d))))
    return run(unit.built(unit.kernels[0], {}), Options(target(chip), 32, verify=True))


def written_in_loops(kernel: Kernel) -> set[str]:
    loops = [op for op in kernel.walk() if isinstance(op, For)]
    return {op.value.name.partition(".")[0] for loop in loops for op in loop.body.walk() if isinstance(op, Write)}


def codes(kernel: Kernel) -> set[str]:
    return {remark.code for remark in kernel.remarks}


def test_an_operand_from_outside_is_written_before_the_loop() -> None:
    kernel = compiled(64, "sm_80")
    assert written_in_loops(kernel) == {"K"}
    assert "PR503" in codes(kernel)
    assert "PR407" not in codes(kernel)


def test_where_the_buffers_do_not_fit_it_is_written_in_each_trip() -> None:
    kernel = compiled(128, "sm_75")
    assert written_in_loops(kernel) == {"q", "K"}
    assert "PR407" in codes(kernel)
    assert "PR503" not in codes(kernel)

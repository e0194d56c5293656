"""Lines of the conformance list about what the compiler decides: masks, splits, shared bytes, barriers, pipelines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from phobos import interp
from phobos.compiler import Unit
from phobos.diagnostics import CompileError
from phobos.interp import TrapError
from phobos.ir.cta_ops import CopyAsync
from phobos.ir.kernel import Kernel
from phobos.passes import Options, run
from phobos.plan import Plan, describe
from phobos.source import Source
from phobos.target import target

GEMM = (Path(__file__).parents[2] / "examples" / "gemm_fp32.ph").read_text()
PRODUCT = """\
kernel k(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N], D: tensor<f32>[M, N]) {
  let i = ctx.block.x * 32
  let j = ctx.block.y * 32
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 16) {
    acc += dot(A[i :+ 32, k :+ 16], B[k :+ 16, j :+ 32])
  }
  C[i :+ 32, j :+ 32] = acc
}
"""


def compiled(text: str, chip: str = "sm_80", bits: int = 32, **constants: int) -> Kernel:
    """The first kernel of a text, through every pass."""
    unit = Unit(Source("t.ph", text))
    return run(unit.built(unit.kernels[0], constants), Options(target(chip), bits, verify=True))


def plan(text: str, chip: str = "sm_80", bits: int = 32, **constants: int) -> Plan:
    return describe(compiled(text, chip, bits, **constants), target(chip), bits)


def masks(plan: Plan, tensor: str) -> set[tuple[str, tuple[str, ...]]]:
    """(part of the loop, guard of each axis) of the accesses of a tensor."""
    return {
        (a.loop.split()[-1] if " " in a.loop else "", tuple(g.guard for g in a.guards))
        for a in plan.accesses
        if a.tensor == tensor
    }


WALK = """\
%s
kernel k(A: tensor<f32>[M, %s], Y: tensor<f32>[M, 16]) {
  let i = ctx.block.x * 16
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, %s, 16) {
    acc += A[i :+ 16, k :+ 16]
  }
  Y[i :+ 16, :] = acc
}
"""


def test_b082_only_the_walked_axis_loses_its_mask() -> None:
    found = plan(WALK % ("", "K", "K"))
    assert masks(found, "A") == {("whole", ("hi", "")), ("remainder", ("hi", "hi"))}
    assert masks(found, "Y") == {("", ("hi", ""))}


def test_b083_a_constant_extent_that_divides_needs_no_mask_and_no_split() -> None:
    found = plan(WALK % ("", "64", "64"))
    assert masks(found, "A") == {("", ("hi", ""))}
    assert [loop.part for loop in found.loops] == [""]
    odd = plan(WALK % ("", "60", "60"))
    assert {guards[1] for _, guards in masks(odd, "A")} == {"", "hi"}


@pytest.mark.parametrize(("divisor", "masked"), [(16, False), (32, False), (48, False), (24, True), (8, True)])
def test_b084_b085_a_promise_takes_masks_that_it_covers(divisor: int, masked: bool) -> None:
    found = plan(WALK % (f"@aligned(M = 16, K = {divisor})", "K", "K"))
    assert any(a.masked for a in found.accesses) is masked
    assert [loop.part for loop in found.loops] == (["whole", "remainder"] if masked else [""])


def test_b088_a_promise_is_checked_once_also_where_no_access_needs_it() -> None:
    text = "@aligned(M = 8, N = 32)\nkernel k(A: tensor<f32>[M, N], Y: tensor<f32>[4]) { Y[0] = A[0, 0] }\n"
    kernel = compiled(text)
    checks = [op.text.partition(":")[0] for op in kernel.body.walk() if op.name == "require"]
    assert sorted(checks) == ["@aligned(M = 8)", "@aligned(N = 32)"]
    tensors = {"A": np.ones((8, 32), np.float32), "Y": np.zeros(4, np.float32)}
    interp.run(kernel, tensors, {}, (1, 1, 1))
    assert tensors["Y"][0] == 1.0
    with pytest.raises(TrapError, match=r"@aligned\(N = 32\)"):
        interp.run(kernel, {**tensors, "A": np.ones((8, 24), np.float32)}, {}, (1, 1, 1))


def test_b180_a_chain_of_products_keeps_two_buffers() -> None:
    """Four [16, 64] tiles one after another; the operands of one product at a time are in shared memory."""
    products = "\n".join(f"  let t{i + 1} = dot(t{i}, W[:, :])" for i in range(4))
    text = "kernel k(A: tensor<f32>[16, 64], W: tensor<f32>[64, 64], Y: tensor<f32>[16, 64]) {\n"
    found = plan(f"{text}  let t0 = A[:, :]\n{products}\n  Y[:, :] = t4\n}}\n")
    assert found.shared.total_bytes <= 2 * 16 * 64 * 4 + 64 * 64 * 4


def test_b183_shared_bytes_of_the_gemm() -> None:
    first = plan(GEMM, "sm_75")
    assert first.shared.total_bytes == 2048
    without = "\n".join(line for line in GEMM.splitlines() if not line.startswith("@aligned"))
    assert plan(without, "sm_75").shared.total_bytes <= 8192


def test_b185_more_than_48_kb_is_dynamic_by_itself_and_more_than_the_chip_has_is_refused() -> None:
    big = PRODUCT.replace(" 32", " 128").replace("[32, 128]", "[128, 128]").replace("16", "64")
    big = big.replace("kernel k", "@pipeline(2)\nkernel k")
    found = plan(big)
    assert found.shared.total_bytes > 48 * 1024
    assert found.shared.dynamic
    with pytest.raises(CompileError) as caught:
        plan(big.replace("@pipeline(2)", "@pipeline(8)"))
    assert [d.code for d in caught.value.diagnostics] == ["PH501"]


TWO_LOOPS = PRODUCT.replace("kernel k", "@pipeline\nkernel k").replace(
    "  C[i",
    "  for k in range(0, K, 16) {\n    acc += dot(exp(A[i :+ 32, k :+ 16]), B[k :+ 16, j :+ 32])\n  }\n  C[i",
)


def test_b189_a_loop_that_is_not_pipelined_is_a_remark() -> None:
    only_sums = TWO_LOOPS.replace("dot(exp(A[i :+ 32, k :+ 16]), B[k :+ 16, j :+ 32])", "D[i :+ 32, j :+ 32]")
    found = plan(only_sums)
    assert sorted(loop.stages for loop in found.loops if loop.part != "remainder") == [0, 2]
    said = [r.message for r in found.remarks if "pipelined" in r.message]
    assert any("loop pipelined with 2 stages" in message for message in said)
    assert "loop not pipelined: no operand of a contraction is loaded in it" in said


def test_b190_a_pipeline_of_nothing_names_the_kernel_and_the_reason_of_each_loop() -> None:
    text = TWO_LOOPS.replace("acc += dot(exp(A[i :+ 32, k :+ 16]), B[k :+ 16, j :+ 32])", "acc += 1.0")
    text = text.replace("acc += dot(A[i :+ 32, k :+ 16], B[k :+ 16, j :+ 32])", "acc += D[i :+ 32, j :+ 32]")
    with pytest.raises(CompileError) as caught:
        compiled(text)
    (error,) = caught.value.diagnostics
    assert error.code == "PH402"
    assert error.message == "@pipeline: nothing in kernel `k` can be pipelined"
    assert [label.text for label in error.labels] == ["no operand of a contraction is loaded in it"] * 2


@pytest.mark.parametrize(("promise", "parts"), [("", {"whole", "remainder"}), ("@aligned(K = 16)\n", {""})])
def test_b191_whole_tiles_are_pipelined_and_the_rest_runs_once(promise: str, parts: set[str]) -> None:
    found = plan(PRODUCT.replace("kernel k", f"{promise}@pipeline\nkernel k"))
    assert {loop.part: loop.stages > 1 for loop in found.loops} == {part: part != "remainder" for part in parts}


@pytest.mark.parametrize("bits", [32, 64])
def test_b193_asynchronous_copies_need_sm_80_and_operands_as_they_are(bits: int) -> None:
    """FMA loops use them at either index width; an operand that is converted on its way does not."""
    pipelined = PRODUCT.replace("kernel k", "@pipeline\nkernel k")
    converted = pipelined.replace("A: tensor<f32>", "A: tensor<f16>").replace(
        "dot(A[i :+ 32, k :+ 16]", "dot(f32(A[i :+ 32, k :+ 16])"
    )

    def copied(text: str, chip: str) -> set[str]:
        return {op.tensor.name for op in compiled(text, chip, bits).body.walk() if isinstance(op, CopyAsync)}

    assert copied(pipelined, "sm_80") == {"A", "B"}
    assert copied(pipelined, "sm_75") == set()
    assert copied(converted, "sm_80") == {"B"}


def test_b194_an_operand_that_the_body_writes_is_not_fetched_ahead() -> None:
    text = PRODUCT.replace("kernel k", "@pipeline\nkernel k").replace(
        "    acc += dot(A[i :+ 32, k :+ 16], B[k :+ 16, j :+ 32])",
        "    acc += dot(A[i :+ 32, k :+ 16], B[k :+ 16, j :+ 32])\n    B[k :+ 16, j :+ 32] = 0.0",
    )
    with pytest.raises(CompileError) as caught:
        compiled(text)
    (error,) = caught.value.diagnostics
    assert {label.text for label in error.labels} == {"the loop stores to B, which may be where B is read"}

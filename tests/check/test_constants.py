"""`@autotune` lists, overrides, and the other attributes evaluated for a choice of constants."""

from __future__ import annotations

import pytest

from phobos.diagnostics import Severity, Sink
from phobos.frontend.check import check_kernel, constants_of
from phobos.frontend.typed import Declare
from tests.check.helpers import findings, parsed, typed

LISTS = [
    ("16, 256", (16, 32, 64, 128, 256)),
    ("64, 100", (64, 100)),
    ("64, 200", (64, 128, 200)),
    ("16, 32, 48", (16, 32, 48)),
    ("32, 16", (32, 16)),
    ("64", (64,)),
    ("0, 1", (0, 1)),
    ("8, 8", (8, 8)),
    ("1, 2147483647", (*(1 << n for n in range(31)), 2147483647)),
]


@pytest.mark.parametrize(("text", "values"), LISTS)
def test_two_ascending_values_are_walked_by_doubling(text: str, values: tuple[int, ...]) -> None:
    program, _ = parsed(f"@autotune(X in [{text}])\nkernel k() {{ }}\n")
    sink = Sink()
    assert constants_of(program.kernels[0], sink) == {"X": values}
    assert sink.diagnostics == ()


SOURCE = """\
@autotune(T in [32, 64], STAGES in [2, 4])
@autotune(THREADS in [128, 256])
@launch(THREADS, 2, 64)
@aligned(M = T, N = 8)
@pipeline(STAGES)
@tensorcore(tf32)
@registers(128)
@swizzle(8)
@persistent
@dynshared
@precise
kernel k(A: tensor<f32>[M, T], B: tensor<f32>[T, N, 4 * T]) {
  let t = ctx.threads
  let w = ctx.warps + ctx.lanes
}
"""


def test_defaults_are_the_first_values() -> None:
    kernel = typed(SOURCE)
    assert kernel.constants == {"T": 32, "STAGES": 2, "THREADS": 128}
    assert kernel.choices == {"T": (32, 64), "STAGES": (2, 4), "THREADS": (128, 256)}
    assert [str(s.type) for s in kernel.tensors] == ["tensor<f32>[M, 32]", "tensor<f32>[32, N, 128]"]
    assert kernel.dims == ("M", "N")


def test_attributes_follow_the_constants() -> None:
    kernel = typed(SOURCE, T=64, STAGES=4, THREADS=256)
    attributes = kernel.attributes
    assert (attributes.launch.threads, attributes.launch.min_blocks, attributes.launch.max_regs) == (256, 2, 64)
    assert attributes.launch.explicit
    assert [(a.dim, a.divisor) for a in attributes.aligned] == [("M", 64), ("N", 8)]
    assert attributes.pipeline == 4
    assert attributes.tensorcore == "tf32"
    assert (attributes.registers, attributes.swizzle) == (128, 8)
    assert attributes.persistent
    assert attributes.dynshared
    assert attributes.precise
    values = {s.symbol.name: s.value.value for s in kernel.body if isinstance(s, Declare)}  # type: ignore[union-attr]
    assert values == {"t": 256, "w": 8 + 32}


def test_without_launch_a_block_has_256_threads() -> None:
    launch = typed("kernel k() { }").attributes.launch
    assert (launch.threads, launch.explicit) == (256, False)


def test_pipeline_alone_is_two_stages() -> None:
    assert typed("@pipeline\nkernel k() { }").attributes.pipeline == 2


def test_a_value_outside_of_the_list_is_a_remark() -> None:
    program, _ = parsed("@autotune(T in [32, 64])\nkernel k() { }\n")
    sink = Sink()
    kernel = check_kernel(program, program.kernels[0], {"T": 48, "OTHER": 3}, sink)
    assert kernel is not None
    assert kernel.constants == {"T": 48}
    assert [(d.code, d.severity) for d in sink.diagnostics] == [("PR202", Severity.REMARK)]


def test_static_promises_are_checked_and_dropped() -> None:
    kernel = typed("@autotune(C in [128], T in [32])\n@aligned(C = T, M = T)\nkernel k(A: tensor<f32>[M, C]) { }")
    assert [a.dim for a in kernel.attributes.aligned] == ["M"]


def test_unknown_attributes_warn_and_do_nothing() -> None:
    found = findings("@padstage\n@aligne(M = 4)\nkernel k(A: tensor<f32>[M]) { }").diagnostics
    assert [(d.code, d.severity) for d in found] == [("PR201", Severity.WARNING)] * 2
    assert found[1].help == ("did you mean @aligned?",)


def test_all_errors_of_a_file_come_out_of_one_run() -> None:
    text = """\
@launch(100)
kernel a(V: tensor<f32>[N]) {
  V[0] = missing
  V[1.5] = 0.0
}
fn unused(x) { return y }
kernel a(V: tensor<f32>[N]) {
  if 1 { V[0] = 2.0 }
}
"""
    found = findings(text).diagnostics
    assert [(d.span.line, d.code) for d in found] == [
        (1, "PH271"),
        (3, "PH201"),
        (4, "PH213"),
        (6, "PH201"),
        (7, "PH205"),
        (8, "PH212"),
    ]


def test_one_mistake_is_one_error() -> None:
    text = """\
kernel k(A: tensor<f32>[M, N]) {
  let a = B[0 :+ 4, 0 :+ 8]
  var s = rowsum(a) + 1.0
  s += dot(a, a) * exp(s)
  for i in range(0, a) { A[i, 0] = s[0, 0] }
  A[0 :+ 4, 0 :+ 4] = s
}
"""
    assert [d.code for d in findings(text).diagnostics] == ["PH201"]

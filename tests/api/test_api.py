"""`phobos.compile` and what it gives, on a machine that may have no GPU: targets are named."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import phobos
from phobos.ir.kernel import Fact
from phobos.plan import Plan

ROOT = Path(__file__).parents[2]

SOURCE = """\
@autotune(TILE in [256, 1024])
kernel scale(A: tensor<f32>[N], s: f32) {
  let i = ctx.block.x * TILE
  A[i :+ TILE] = s * A[i :+ TILE]
}

@autotune(ROWS in [4, 8])
kernel copy(A: tensor<f32>[M, 64], B: tensor<f32>[M, 64]) {
  let i = ctx.block.x * ROWS
  B[i :+ ROWS, :] = A[i :+ ROWS, :]
}
"""


@pytest.fixture(scope="module")
def module() -> phobos.Module:
    return phobos.compile(SOURCE, target="sm_80")


def test_the_products_of_a_kernel(module: phobos.Module) -> None:
    scale = module.scale
    assert "define ptx_kernel void @scale(" in scale.llvm_ir
    assert ".target sm_80" in scale.ptx
    assert ".entry scale(" in scale.ptx
    assert scale.cubin[:4] == b"\x7fELF"
    assert isinstance(scale.plan, Plan)
    assert scale.plan.linked is not None
    assert scale.plan.linked.registers == scale.artifact.link.registers
    assert "scale" in scale.report.splitlines()[0]


def test_an_artifact_describes_the_launch(module: phobos.Module) -> None:
    artifact = module.scale.artifact
    assert [(t.name, str(t), t.written) for t in artifact.signature.tensors] == [("A", "tensor<f32>[N]", True)]
    assert [(s.name, s.type.name) for s in artifact.signature.scalars] == [("s", "f32")]
    assert artifact.signature.dims == ("N",)
    assert (artifact.grid[0].extent, artifact.grid[0].tile) == ("N", 256)
    assert (artifact.threads, artifact.shared_bytes, artifact.dynamic_shared_bytes) == (256, 0, 0)
    assert [t.written for t in module.copy.artifact.signature.tensors] == [False, True]


def test_code_is_made_when_asked_for_and_once() -> None:
    module = phobos.compile(SOURCE, target="sm_80")
    assert module._unit._artifacts == {}
    artifact = module.scale.artifact
    assert "link" not in artifact.times_ms
    assert module.scale.artifact is artifact
    assert len(module._unit._artifacts) == 1
    assert module.scale.cubin is module.scale.cubin
    stages = ["parse", "check", "lower", "passes", "emit", "llvm", "link"]
    assert [s for s in artifact.times_ms if s in stages] == stages


def test_constants_choose_and_default_to_the_first(module: phobos.Module) -> None:
    assert module.scale.constants == {"TILE": 256}
    assert module.scale.artifact.constants == {"TILE": 256}
    chosen = phobos.compile(SOURCE, target="sm_80", TILE=1024)
    assert chosen.scale.artifact.grid[0].tile == 1024
    assert chosen.copy.constants == {"ROWS": 4}
    assert module.scale.configured(TILE=1024).artifact.grid[0].tile == 1024
    assert module.scale.choices == {"TILE": (256, 512, 1024)}


def test_what_the_front_end_remarks_is_in_the_plan_and_the_report() -> None:
    kernel = phobos.compile("@bogus\n" + SOURCE, target="sm_80", TILE=512 + 64).scale
    assert [r.code for r in kernel.plan.remarks if r.code in ("PR201", "PR202")] == ["PR201", "PR202"]
    assert "PR202 TILE = 576 is not in its list" in kernel.report


def test_a_constant_that_no_kernel_declares_is_an_error() -> None:
    with pytest.raises(phobos.CompileError) as caught:
        phobos.compile(SOURCE, target="sm_80", TIEL=512)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PH503"
    assert diagnostic.notes == ("the constants of scale: TILE", "the constants of copy: ROWS")
    assert diagnostic.help == ("did you mean TILE?",)


def test_a_constant_of_another_kernel_is_an_error_when_one_is_configured(module: phobos.Module) -> None:
    with pytest.raises(phobos.CompileError):
        module.scale.configured(ROWS=4)


def test_an_unknown_kernel_lists_the_kernels(module: phobos.Module) -> None:
    with pytest.raises(AttributeError, match="has no kernel 'scael'; its kernels: scale, copy"):
        module.scael  # noqa: B018
    assert module.kernels == ("scale", "copy")
    assert {"scale", "copy"} <= set(dir(module))


def test_all_errors_of_a_source_come_together() -> None:
    with pytest.raises(phobos.CompileError) as caught:
        phobos.compile(SOURCE.replace("s * A", "q * A").replace("= A[i :+ ROWS", "= C[i :+ ROWS"), target="sm_80")
    assert [d.span.line for d in caught.value.diagnostics] == [4, 10]


def test_a_path_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kernels.ph"
    path.write_text(SOURCE)
    for src in (path, str(path)):
        module = phobos.compile(src, target="sm_80")
        assert module.scale.artifact.source.name == str(path)
    with pytest.raises(FileNotFoundError):
        phobos.compile("no_such_file.ph")


def test_an_unknown_target_is_an_error() -> None:
    with pytest.raises(phobos.CompileError) as caught:
        phobos.compile(SOURCE, target="sm_81")
    assert caught.value.diagnostics[0].code == "PH601"


def test_the_index_width_is_chosen(module: phobos.Module) -> None:
    assert module.scale.artifact.index_bits == 32
    wide = phobos.compile(SOURCE, target="sm_80", index_bits=64).scale
    assert wide.artifact.index_bits == 64
    assert ".param .u64 scale_param_1" in wide.ptx
    assert ".param .u32 scale_param_1" in module.scale.ptx
    with pytest.raises(ValueError, match="32 or 64"):
        phobos.compile(SOURCE, index_bits=16)


def test_a_variant_is_compiled_without_a_fact(module: phobos.Module) -> None:
    fact = Fact("aligned_16", "A")
    assert fact in module.scale.artifact.used
    variant = module.scale.variant(frozenset({fact}))
    assert fact not in variant.used
    assert "ld.global.v4" in module.scale.ptx
    assert "ld.global.v4" not in variant.ptx
    assert module.scale.variant(frozenset({fact})) is variant


def test_verify_and_observer_see_every_form() -> None:
    from phobos.compiler import Unit
    from phobos.passes import FORMS
    from phobos.source import Source
    from phobos.target import target

    seen: list[str] = []
    Unit(Source("k.ph", SOURCE), verify=True).compile(
        "scale", target("sm_90a"), observer=lambda form, kernel: seen.append(form)
    )
    assert tuple(seen) == FORMS


# ---- in a child process -------------------------------------------------------------------------------------


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_import_is_quick() -> None:
    program = "import time; t = time.perf_counter(); import phobos; print(time.perf_counter() - t)"
    assert statistics.median(float(run(program).stdout) for _ in range(3)) < 0.3


ISOLATED = f"""
import dataclasses, os, phobos
from phobos.target import TARGETS
src = {SOURCE!r}
plain = phobos.compile(src, target="sm_80").scale.ptx
os.environ["PHOBOS_ISOLATE"] = "1"
assert phobos.compile(src, target="sm_80").scale.ptx == plain
# LLVM ends the process over a chip that is too new for the PTX version.
broken = dataclasses.replace(TARGETS["sm_80"], name="sm_88")
try:
    phobos.compile(src, target=broken).scale.ptx
except phobos.InternalError as error:
    print("caught:", error)
assert phobos.compile(src, target="sm_80").scale.ptx == plain
print("alive")
"""


def test_a_crash_of_llvm_is_an_internal_error_when_isolated() -> None:
    result = run(ISOLATED)
    assert result.returncode == 0, result.stderr
    assert "caught: LLVM ended the child process that compiled kernel scale for sm_88" in result.stdout
    assert "PTX version 8.8 does not support target 'sm_88'" in result.stdout
    assert result.stdout.endswith("alive\n")


def test_without_isolation_that_crash_ends_the_process() -> None:
    """The test above can fail: this is what it guards against."""
    program = ISOLATED.replace('"PHOBOS_ISOLATE"] = "1"', '"PHOBOS_ISOLATE"] = "0"')
    assert "alive" not in run(program).stdout


@pytest.mark.parametrize(
    ("level", "there", "absent"),
    [
        ("off", [], ["phobos.compiler"]),
        ("info", ["scale for sm_80 at 32-bit indices with TILE=256: parse"], ["relies on", "form built"]),
        ("debug", ["scale relies on aligned_16(A)"], ["form built"]),
        ("trace", ["form built", "form synced"], []),
    ],
)
def test_log_levels(level: str, there: list[str], absent: list[str]) -> None:
    program = f"import phobos; phobos.compile({SOURCE!r}, target='sm_80').scale.ptx"
    said = run(program, PHOBOS_LOG=level).stderr
    assert [t for t in there if t not in said] == []
    assert [t for t in absent if t in said] == []


def test_an_unknown_log_level_is_said() -> None:
    said = run(f"import phobos; phobos.compile({SOURCE!r}, target='sm_80')", PHOBOS_LOG="loud").stderr
    assert "PHOBOS_LOG is 'loud', not one of off, info, debug, trace" in said


NO_GPU = f"""
import numpy as np, phobos
module = phobos.compile({SOURCE!r})
assert module.target.name == "sm_80"
a = np.arange(300, dtype=np.float32)
module.scale(a, 2.0)
assert (a == 2 * np.arange(300)).all(), a
module.scale(a, 0.5)
assert (a == np.arange(300)).all(), a
"""


def test_without_a_gpu_a_call_runs_the_simulator_and_says_so_once() -> None:
    from phobos.runtime import device

    if device.has_gpu():
        pytest.skip("this machine has a GPU")
    result = run(NO_GPU)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("kernels run in the simulator") == 1


def test_the_runtime_is_found_in_a_checkout_that_is_only_on_the_path(tmp_path: Path) -> None:
    """-S: no site-packages, so no installed phobos; what is heavy is not needed to import the runtime's arrays."""
    program = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; import phobos.runtime.grid as g; print(g.__file__)"
    result = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert result.stdout.strip() == str(ROOT / "runtime" / "grid.py"), result.stderr


@pytest.mark.parametrize(
    ("src", "given", "error", "said"),
    [
        (3, {}, TypeError, "src is a path or the text of a program, not int"),
        ("", {}, ValueError, "src is empty"),
        (SOURCE, {"target": 80}, TypeError, "target is a name such as 'sm_90a', not 80"),
        (SOURCE, {"TILE": "a"}, TypeError, "the constant TILE is an integer, not 'a'"),
        (SOURCE, {"TILE": 256.0}, TypeError, "the constant TILE is an integer, not 256.0"),
        (SOURCE, {"TILE": True}, TypeError, "the constant TILE is an integer, not True"),
    ],
)
def test_arguments_of_compile_that_are_wrong(src: Any, given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        phobos.compile(src, **given)

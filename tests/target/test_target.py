"""The target table: every entry assembles, names are checked, capabilities follow the PTX ISA."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from phobos.diagnostics import CompileError
from phobos.target import CAPABILITIES, TARGETS, of_compute_capability, runs_on, target

# Run in one child: LLVM ends the process on an architecture or PTX version that it does not know.
ASSEMBLE = """
import llvmlite.binding as llvm
from phobos.codegen.link import default_linker
from phobos.target import TARGETS

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
nvptx = llvm.Target.from_triple("nvptx64-nvidia-cuda")
ir = "define ptx_kernel void @k(ptr addrspace(1) %a) { store i32 1, ptr addrspace(1) %a, align 4 ret void }"
for target in TARGETS.values():
    machine = nvptx.create_target_machine(cpu=target.name, features=target.features, opt=3)
    module = llvm.parse_assembly(ir)
    module.triple, module.data_layout = "nvptx64-nvidia-cuda", str(machine.target_data)
    ptx = machine.emit_assembly(module)
    assert f".target {target.name}\\n" in ptx and ".version 8.8\\n" in ptx, ptx
    result = default_linker().link(ptx, target, "k")
    assert result.cubin[:4] == b"\\x7fELF" and result.registers > 0, result.log
    print(target.name)
"""


def test_every_target_assembles() -> None:
    result = subprocess.run(
        [sys.executable, "-c", ASSEMBLE], cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == list(TARGETS)
    assert "not a recognized" not in result.stderr  # all that LLVM says about an unknown cpu or feature


def test_the_table_spans_sm_70_to_sm_120_with_variants() -> None:
    wanted = ("70", "75", "80", "86", "89", "90", "90a", "100", "100a", "120", "120a")
    assert [n for n in wanted if f"sm_{n}" not in TARGETS] == []


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("sm_81", "sm_80"), ("sm90a", "sm_90a"), ("80", "sm_80"), ("sm_90b", "sm_90a"), ("SM_75", "sm_75")],
)
def test_an_unknown_name_is_an_error_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(CompileError) as caught:
        target(name)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PH601"
    assert nearest in " ".join(diagnostic.help)


def test_a_name_without_neighbours_gets_the_list() -> None:
    with pytest.raises(CompileError) as caught:
        target("gfx942")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.help == ()
    assert "sm_90a" in diagnostic.notes[0]


# The first architecture of each feature, from the cookbook of what LLVM and the linker accept.
FIRST = {
    "wmma": "sm_70", "mma_sync": "sm_75", "ldmatrix": "sm_75", "tanh_approx": "sm_75", "cp_async": "sm_80",
    "bf16_mma": "sm_80", "redux": "sm_80", "fp8": "sm_89", "tma": "sm_90", "cluster": "sm_90", "wgmma": "sm_90a",
    "redux_f32": "sm_100a", "tcgen05": "sm_100a",
}  # fmt: skip


@pytest.mark.parametrize("capability", FIRST)
def test_the_first_target_with_a_feature(capability: str) -> None:
    having = [name for name, t in TARGETS.items() if getattr(t, capability)]
    assert having[0] == FIRST[capability]


def test_wgmma_is_sm_90a_alone() -> None:
    assert [t.name for t in TARGETS.values() if t.wgmma] == ["sm_90a"]


def test_capabilities_name_fields() -> None:
    for name in CAPABILITIES:
        assert isinstance(getattr(TARGETS["sm_70"], name), bool)
    assert TARGETS["sm_75"].capabilities == ("wmma", "mma_sync", "ldmatrix", "int8_mma", "tanh_approx")


def test_limits_are_consistent() -> None:
    for t in TARGETS.values():
        assert t.max_static_shared <= t.max_dynamic_shared
        assert t.max_dynamic_shared + t.reserved_shared <= t.shared_per_sm
        assert t.max_threads <= t.max_threads_per_sm


@pytest.mark.parametrize(
    ("capability", "name"),
    [((7, 0), "sm_70"), ((8, 6), "sm_86"), ((9, 0), "sm_90a"), ((10, 0), "sm_100a"), ((12, 0), "sm_120a")],
)
def test_a_device_gets_its_own_target(capability: tuple[int, int], name: str) -> None:
    found = of_compute_capability(*capability)
    assert found is not None
    assert found.name == name


def test_a_device_outside_the_table_has_none() -> None:
    assert of_compute_capability(6, 1) is None
    assert of_compute_capability(99, 0) is None


def test_a_chip_between_two_rows_gets_the_earlier_one() -> None:
    assert of_compute_capability(8, 8) is TARGETS["sm_87"]


@pytest.mark.parametrize(
    ("name", "device", "runs"),
    [
        ("sm_80", (8, 0), True),
        ("sm_80", (8, 9), True),
        ("sm_86", (8, 0), False),
        ("sm_80", (9, 0), False),
        ("sm_90", (9, 0), True),
        ("sm_90a", (9, 0), True),
        ("sm_100a", (10, 3), False),
        ("sm_100", (10, 3), True),
        ("sm_120", (12, 1), True),
    ],
)
def test_which_cubin_runs_where(name: str, device: tuple[int, int], runs: bool) -> None:
    assert runs_on(TARGETS[name], *device) is runs

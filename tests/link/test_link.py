"""Both linkers: the same cubin from the same PTX, the numbers of the log, and errors that name the line."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from phobos.codegen import link
from phobos.diagnostics import CompileError, InternalError
from phobos.target import TARGETS, target

ROOT = Path(__file__).parents[2]

# 48 words of shared memory, a loop over them, and a parameter: every number of the log is there.
PTX = """\
.version 8.8
.target {target}
.address_size 64
.file 1 "sum.ph"
.shared .align 16 .b8 words[192];
.visible .entry sum(.param .u64 .ptr .global .align 4 out)
.maxntid 64
{{
  .reg .b32 %r<6>;
  .reg .b64 %rd<3>;
  .loc 1 3 5
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, words;
  shl.b32 %r3, %r1, 2;
  add.s32 %r4, %r2, %r3;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  .loc 1 4 9
  ld.shared.u32 %r5, [words+128];
  st.global.u32 [%rd2], %r5;
  ret;
}}
"""


def ptx(name: str = "sm_80") -> str:
    return PTX.format(target=name)


@pytest.fixture(scope="module")
def linker() -> link.Linker:
    return link.linker_named("nvjitlink")


# From sm_90 on the section of shared memory counts a KiB of the system's.
@pytest.mark.parametrize("name", ["sm_70", "sm_80", "sm_90", "sm_120a"])
def test_the_numbers_of_a_link(linker: link.Linker, name: str) -> None:
    result = linker.link(ptx(name), target(name), "sum")
    assert result.cubin[:4] == b"\x7fELF"
    assert (result.shared_bytes, result.barriers, result.spill_stores, result.spill_loads) == (192, 1, 0, 0)
    assert 4 <= result.registers <= 16
    assert result.constant_bytes >= 352 + 8
    assert (result.linker, result.version) == ("nvjitlink", linker.version)


def test_the_library_is_the_tested_one(linker: link.Linker) -> None:
    assert linker.version.startswith("12.9.")


def test_max_regs_caps_the_registers_and_spills_are_counted(linker: link.Linker) -> None:
    # 40 values that are live at once: all are loaded before the first is stored, on both sides of a barrier.
    loads = "\n".join(f"ld.global.f32 %f{i}, [%rd2+{4 * i}];" for i in range(40))
    stores = "\n".join(f"st.global.f32 [%rd2+{4 * i}], %f{39 - i};" for i in range(40))
    text = (
        ".version 8.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
        ".reg .f32 %f<40>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\n"
        f"{loads}\nbar.sync 0;\n{stores}\nret;\n}}\n"
    )
    free = linker.link(text, target("sm_80"), "k")
    capped = linker.link(text, target("sm_80"), "k", max_regs=24)
    assert free.registers > 40
    assert free.spill_stores == 0
    assert capped.registers <= 24
    assert capped.spill_stores > 0
    assert capped.spill_loads > 0
    assert capped.stack_bytes > 0


def test_refused_ptx_names_its_line_and_the_source(linker: link.Linker) -> None:
    text = ptx().replace("ld.shared.u32 %r5", "ld.shared.bogus.u32 %r5")
    number = 1 + next(i for i, line in enumerate(text.splitlines()) if "bogus" in line)
    with pytest.raises(InternalError) as caught:
        linker.link(text, target("sm_80"), "sum")
    message = str(caught.value)
    assert message.startswith("PH603: nvjitlink 12.9")
    assert f"PTX line {number} (from sum.ph:4:9)" in message
    assert "ld.shared.bogus.u32" in message


def test_a_later_ptx_version_is_said_to_be_the_library_s_age(linker: link.Linker) -> None:
    with pytest.raises(CompileError) as caught:
        linker.link(ptx().replace(".version 8.8", ".version 9.9"), target("sm_80"), "sum")
    assert caught.value.diagnostics[0].code == "PH603"
    assert "nvJitLink 12.9" in caught.value.diagnostics[0].notes[0]


def test_an_unknown_linker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOBOS_LINKER", "ld")
    with pytest.raises(CompileError) as caught:
        link.default_linker()
    assert "pynvjitlink or nvjitlink" in caught.value.diagnostics[0].help[0]


def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOBOS_LINKER", "nvjitlink")
    assert link.default_linker().name == "nvjitlink"


# A child prints a digest of the cubin that one linker makes for each target.
CHILD = """
import ctypes, hashlib, json, sys
if sys.argv[2]:
    ctypes.CDLL(sys.argv[2])
from phobos.codegen.link import linker_named
from phobos.target import TARGETS
linker = linker_named(sys.argv[1])
ptx = sys.stdin.read()
found = {}
for name in json.loads(sys.argv[3]):
    result = linker.link(ptx.replace("sm_80", name), TARGETS[name], "sum")
    found[name] = [hashlib.sha256(result.cubin).hexdigest(), result.registers, result.shared_bytes]
print(json.dumps(found))
"""


def digests(name: str, stub: str) -> dict[str, list[object]]:
    command = [sys.executable, "-c", CHILD, name, stub, json.dumps(list(TARGETS))]
    child = subprocess.run(command, cwd=ROOT, input=ptx(), capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    found: dict[str, list[object]] = json.loads(child.stdout)
    return found


def test_both_linkers_give_the_same_cubin(tmp_path: Path) -> None:
    if importlib.util.find_spec("pynvjitlink") is None:
        pytest.skip("pynvjitlink is not installed: it has no wheel for this Python")
    stub = ""
    if not driver_present():
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            pytest.skip("no libcuda.so.1, and no C compiler to build an empty one for pynvjitlink's import")
        stub = str(tmp_path / "libcuda.so.1")
        (tmp_path / "empty.c").write_text("")
        command = [compiler, "-shared", "-o", stub, "-Wl,-soname,libcuda.so.1", str(tmp_path / "empty.c")]
        subprocess.run(command, check=True)
    assert digests("pynvjitlink", stub) == digests("nvjitlink", "")


def driver_present() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def test_pynvjitlink_without_a_driver_is_explained() -> None:
    if driver_present():
        pytest.skip("this machine has a driver")
    program = "from phobos.codegen.link import default_linker; default_linker()"
    child = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PHOBOS_LINKER": "pynvjitlink"},
    )
    assert child.returncode == 1
    assert "CompileError" in child.stderr


def test_without_a_choice_there_is_a_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PHOBOS_LINKER", raising=False)
    loads = driver_present() and importlib.util.find_spec("pynvjitlink") is not None
    assert link.default_linker().name == ("pynvjitlink" if loads else "nvjitlink")

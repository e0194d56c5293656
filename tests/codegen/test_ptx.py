"""What the PTX and the SASS of known kernels must and must not hold, on every generation of chips."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from phobos.codegen import compile_ptx, emit, shared_bytes
from phobos.codegen.link import LinkResult, default_linker
from phobos.codegen.ptx import PtxResult
from phobos.diagnostics import InternalError
from phobos.ir.core import Value
from phobos.ir.kernel import Attributes, Kernel, Launch
from phobos.ir.parser import parse
from phobos.ir.tile_ops import Store
from phobos.ir.types import F32, I32
from phobos.source import Source
from phobos.target import TARGETS, target
from tests.codegen.kernels import mapped, operations

HERE = Path(__file__).parent
CHIPS = ("sm_70", "sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")
GEMM = parse((HERE / "gemm_128.tile").read_text())


def compiled(kernel: Kernel, chip: str = "sm_90a", index_bits: int = 32) -> tuple[str, PtxResult, LinkResult]:
    text = emit(kernel, target(chip), index_bits, kernel.span.source)
    made = compile_ptx(text, target(chip))
    return text, made, default_linker().link(made.ptx, target(chip), kernel.name)


def double(threads: int = 64, vector: int = 1, attributes: Attributes | None = None) -> Kernel:
    return mapped(
        "double", [F32], F32, lambda b, x: b.binary("add", x, x), 4 * threads, threads, vector, "hi", attributes
    )


@pytest.mark.parametrize("index_bits", [32, 64])
@pytest.mark.parametrize("chip", CHIPS)
def test_a_map_links_everywhere(chip: str, index_bits: int) -> None:
    _, made, linked = compiled(double(vector=4), chip, index_bits)
    assert "ld.global.nc.v4.b32" in made.ptx
    assert "st.global.v4.b32" in made.ptx
    assert ".local" not in made.ptx
    assert ".maxntid 64" in made.ptx
    assert not re.search(r"\.(minnctapersm|maxnreg)", made.ptx)
    assert linked.spill_stores == linked.stack_bytes == 0


def test_launch_bounds() -> None:
    """B200."""
    _, made, linked = compiled(double(128, 1, Attributes(launch=Launch(128, 2, 64))))
    assert re.search(r"\.maxntid 128\s+\.minnctapersm 2\s+\.maxnreg 64\b", made.ptx)
    assert linked.registers <= 64


def test_an_access_that_is_not_invariant_is_coherent() -> None:
    kernel = double()
    body = kernel.body
    ops = tuple(o.replace(invariant=False) if o.name == "load" else o for o in body.ops)
    _, made, _ = compiled(kernel.replace(body=type(body)(body.params, ops)))
    assert "ld.global.b32" in made.ptx
    assert ".nc." not in made.ptx


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_gemm(chip: str) -> None:
    text, made, linked = compiled(GEMM, chip)
    copies = Counter(re.findall(r"cp\.async\.(c[ag]\.shared\.global|commit_group|wait_group)", made.ptx))
    assert copies["ca.shared.global"] == 3 * 8
    assert copies["cg.shared.global"] == 3 * 2
    assert len(re.findall(r"\bbar\.sync", made.ptx)) == 1
    assert made.ptx.count("fma.rn.f32") >= 64 * 16
    assert ".local" not in made.ptx
    assert ".extern .func" not in made.ptx
    assert ".shared .align 128 .b8 smem[49152]" in made.ptx
    assert shared_bytes(GEMM) == (49152, False)
    assert linked.shared_bytes == 49152
    assert linked.spill_stores == linked.spill_loads == linked.stack_bytes == 0
    assert linked.registers <= 128
    assert re.search(r"^  ; .*acc\.3: tile.*dot\(%a, %b, %acc\.2\)$|^for\.k:$", text, re.MULTILINE)


def test_without_cp_async_the_target_is_named() -> None:
    with pytest.raises(InternalError, match=r"cp\.async on sm_75"):
        emit(GEMM, target("sm_75"), 32, GEMM.span.source)


def instructions(sass: str) -> list[str]:
    """Opcodes; `@!PT` marks what the assembler puts in and never runs."""
    sass = re.sub(r"^.*@!PT .*$", "", sass, flags=re.MULTILINE)
    return re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([\w.]+)", sass, re.MULTILINE)


def test_the_gemm_loop_is_multiply_adds(nvdisasm: Path, tmp_path: Path) -> None:
    """Between the loop's label and its branch: at least 88 of 100 instructions FFMA, reads of 16 bytes."""
    _, _, linked = compiled(GEMM)
    cubin = tmp_path / "gemm.cubin"
    cubin.write_bytes(linked.cubin)
    sass = subprocess.run([str(nvdisasm), "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    bodies = [(sass.find(f"{label}:"), end) for end, label in branches(sass)]
    loop = max((sass[a:b] for a, b in bodies if 0 <= a < b), key=len)
    found = instructions(loop)
    assert sum(i.startswith("FFMA") for i in found) > 0.88 * len(found)
    assert {i for i in found if i.startswith("LDS")} == {"LDS.128"}
    assert not any(i.startswith(("LDL", "STL")) for i in instructions(sass))


def branches(sass: str) -> list[tuple[int, str]]:
    """Where each branch ends and the label it goes to."""
    return [(m.end(), m[1]) for m in re.finditer(r"BRA[^;]*?(\.L_x_\d+)[^;]*;", sass)]


@pytest.fixture(scope="module")
def nvdisasm() -> Path:
    for folder in map(Path, sys.path):
        tool = folder / "nvidia" / "cu13" / "bin" / "nvdisasm"
        if tool.exists():
            return tool
    pytest.skip("nvdisasm (package nvidia-cuda-nvdisasm) is not installed")


def test_shared_memory_past_48_kb_is_dynamic() -> None:
    ops = [o.replace(offset_bytes=49152) if o.name == "alloc" and o.label == "b" else o for o in GEMM.body.ops]
    kernel = GEMM.replace(body=type(GEMM.body)(GEMM.body.params, tuple(ops)))
    assert shared_bytes(kernel) == (49152 + 24576, True)
    _, made, linked = compiled(kernel)
    assert ".extern .shared .align 128 .b8 smem[]" in made.ptx
    assert linked.shared_bytes == 0


def test_source_lines_reach_the_ptx() -> None:
    source = Source("demo/twice.ph", "kernel twice(..) {\n  Y[..] = x + x\n}\n")
    kernel = double()
    span = type(kernel.span)(source, source.text.index("Y["), source.text.index("\n}"))
    ops = tuple(o.replace(span=span) for o in kernel.body.ops)
    text, made, _ = compiled(kernel.replace(body=type(kernel.body)((), ops), span=type(span)(source, 0, 6)))
    assert "; demo/twice.ph:2: Y[..] = x + x" in text
    assert re.search(r'\.file\s+1 "demo/twice\.ph"', made.ptx)
    assert re.search(r"\.loc\s+1 2 3\b", made.ptx)
    assert "debug" not in re.search(r"\.target.*", made.ptx)[0]


def test_the_ir_reads_well() -> None:
    """Names of the source, unquoted, and pointer parameters without promises."""
    text, _, _ = compiled(double())
    assert "define ptx_kernel void @double(ptr addrspace(1) %X0, ptr addrspace(1) %Y, i32 %N)" in text
    assert "%block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()" in text
    assert re.search(r"%add\.\d = fadd float", text)
    assert '%"' not in text


def test_no_fast_math_but_where_an_approximation_is_asked_for() -> None:
    for kind, arity, result, make in operations(F32):
        if kind in ("rem",):
            continue
        kernel = mapped("k", [F32] * arity, result, make, n=64)
        text = emit(kernel, target("sm_90a"), 32, kernel.span.source)
        flags = set(re.findall(r"\b(fast|nnan|ninf|nsz|arcp|contract|afn|reassoc)\b", text))
        assert flags == ({"afn"} if kind in ("sin", "cos", "tanh") else set()), kind


def test_precise_has_no_approximations() -> None:
    attributes = Attributes(launch=Launch(64), precise=True)
    kernel = mapped("k", [F32], F32, lambda b, x: b.unary("rsqrt", x), attributes=attributes)
    _, made, _ = compiled(kernel)
    assert "sqrt.rn.f32" in made.ptx
    assert "approx" not in made.ptx


def test_other_forms_and_unknown_intrinsics_are_internal_errors() -> None:
    kernel = double()
    with pytest.raises(InternalError, match="form synced"):
        emit(kernel.replace(form="packed"), target("sm_80"), 32, kernel.span.source)
    call = "call void @llvm.nvvm.no.such()"
    unknown = f"declare void @llvm.nvvm.no.such()\ndefine ptx_kernel void @k() {{ {call} ret void }}"
    with pytest.raises(InternalError, match=r"no\S*such"):
        compile_ptx(unknown, target("sm_80"))
    with pytest.raises(InternalError, match="refuses"):
        compile_ptx("define void @k() { ret i32 1 }", target("sm_80"))


def test_runs_that_the_layout_lacks_are_an_internal_error() -> None:
    kernel = mapped("k", [I32], I32, lambda b, x: b.unary("neg", x))
    ops = tuple(o.replace(width=4) if isinstance(o, Store) else o for o in kernel.body.ops)
    with pytest.raises(InternalError, match="runs of 4"):
        emit(kernel.replace(body=type(kernel.body)((), ops)), target("sm_80"), 32, kernel.span.source)


def test_names_are_made_legal() -> None:
    kernel = double()
    odd = Value("odd.name", kernel.tensors[0].type)
    ops = tuple(o.replace(tensor=odd) if o.name == "load" else o for o in kernel.body.ops)
    named = kernel.replace(name="a.b", tensors=(odd, kernel.tensors[1]), body=type(kernel.body)((), ops))
    text = emit(named, target("sm_80"), 32, named.span.source)
    assert "@a_b(ptr addrspace(1) %odd_name" in text


@pytest.mark.parametrize("chip", [c if c in CHIPS else pytest.param(c, marks=pytest.mark.slow) for c in TARGETS])
def test_every_operation_on_every_type(chip: str) -> None:
    """In a child process, which LLVM would end on what it cannot do."""
    program = "from tests.codegen.every_operation import main; main(__import__('sys').argv[1])"
    child = subprocess.run(
        [sys.executable, "-c", program, chip], capture_output=True, text=True, cwd=HERE.parents[1], check=False
    )
    last = child.stdout.strip().splitlines()[-1:]
    assert child.returncode == 0, f"ended at {last}: {child.stderr[-500:]}"
    assert last == ["done 278"]

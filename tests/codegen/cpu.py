"""Runs a kernel's LLVM IR, as `emit` writes it, on this machine's processor: one thread for each thread of a block.

The few NVPTX intrinsics are given bodies: special registers become parameters, barriers are `threading.Barrier`s, an
asynchronous copy copies at once. Tensors end where a page ends, before one that cannot be touched, so that an access
past the last element ends the process. Shared memory is filled with ones before each block.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import re
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding

from phobos.codegen import emit, shared_bytes
from phobos.ir.kernel import Kernel
from phobos.target import target

PAGE = mmap.PAGESIZE
PROT_NONE = 0
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
BARRIER = ctypes.CFUNCTYPE(None)
REGISTERS = ("tid.x", "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z")

BODIES = """
declare void @llvm.memcpy.p3.p1.i32(ptr addrspace(3), ptr addrspace(1), i32, i1)
declare void @llvm.memset.p3.i32(ptr addrspace(3), i8, i32, i1)
declare float @llvm.exp2.f32(float)
declare float @llvm.log2.f32(float)
declare float @llvm.sqrt.f32(float)
define void @cpu.cp.async.commit.group() { ret void }
define void @cpu.cp.async.wait.group(i32 %n) { ret void }
define float @cpu.ex2.approx.f32(float %x) { %r = call float @llvm.exp2.f32(float %x) ret float %r }
define float @cpu.lg2.approx.f(float %x) { %r = call float @llvm.log2.f32(float %x) ret float %r }
define float @cpu.rsqrt.approx.f(float %x) {
  %s = call float @llvm.sqrt.f32(float %x)
  %r = fdiv float 1.0, %s
  ret float %r
}
"""


def bytes_of_words() -> str:
    """dp4a for each pair of signs, and prmt without its sign bits."""
    text = ""
    for a, b in itertools.product("su", repeat=2):
        body = ""
        for word, sign in (("a", a), ("b", b)):
            body += f"  %{word}v = bitcast i32 %{word} to <4 x i8>\n"
            body += f"  %{word}w = {sign if sign == 's' else 'z'}ext <4 x i8> %{word}v to <4 x i32>\n"
        text += f"""
define i32 @cpu.idp4a.{a}.{b}(i32 %a, i32 %b, i32 %c) {{
{body}  %p = mul <4 x i32> %aw, %bw
  %s = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %p)
  %r = add i32 %s, %c
  ret i32 %r
}}
"""
    chosen = ""
    for at in range(4):
        chosen += f"""  %n{at} = lshr i32 %sel, {4 * at}
  %i{at} = and i32 %n{at}, 7
  %b{at} = extractelement <8 x i8> %both, i32 %i{at}
  %w{at} = insertelement <4 x i8> {f"%w{at - 1}" if at else "undef"}, i8 %b{at}, i32 {at}
"""
    return (
        text
        + f"""
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
define i32 @cpu.prmt(i32 %a, i32 %b, i32 %sel) {{
  %low = zext i32 %a to i64
  %wide = zext i32 %b to i64
  %high = shl i64 %wide, 32
  %all = or i64 %low, %high
  %both = bitcast i64 %all to <8 x i8>
{chosen}  %r = bitcast <4 x i8> %w3 to i32
  ret i32 %r
}}
"""
    )


def copies() -> str:
    """cp.async of each size, with and without the number of bytes that are read."""
    text = ""
    for how, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        name = f"@cpu.cp.async.{how}.shared.global.{size}"
        arguments = "ptr addrspace(3) %d, ptr addrspace(1) %s"
        text += f"""
define void {name}.s({arguments}, i32 %n) {{
  call void @llvm.memset.p3.i32(ptr addrspace(3) %d, i8 0, i32 {size}, i1 false)
  call void @llvm.memcpy.p3.p1.i32(ptr addrspace(3) %d, ptr addrspace(1) %s, i32 %n, i1 false)
  ret void
}}
define void {name}({arguments}) {{
  call void {name}.s({arguments}, i32 {size})
  ret void
}}
"""
    return text


def translated(text: str, shared: int) -> str:
    """The module with NVPTX's intrinsics replaced, ready for the host's back end."""
    text = re.sub(r'"nvvm\.\w+"="\d+"', "", text).replace("ptx_kernel ", "")
    text = re.sub(r"^target .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^declare .*@llvm\.nvvm\..*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.([\w.]+)\(\)", r"add i32 %cpu.\1, 0", text)
    text = re.sub(r"@llvm\.nvvm\.barrier\.cta\.sync\.aligned\.all\(i32 0\)", "%cpu.barrier()", text)
    text = re.sub(r"@llvm\.nvvm\.bar\.warp\.sync\(i32 -1\)", "%cpu.warp()", text)
    text = re.sub(
        r"^@smem = .*$", f"@smem = addrspace(3) global [{shared} x i8] zeroinitializer, align 128", text, flags=re.M
    )
    text = text.replace("@llvm.nvvm.", "@cpu.")
    hidden = "ptr %cpu.barrier, ptr %cpu.warp, " + ", ".join(f"i32 %cpu.{r}" for r in REGISTERS)
    text = re.sub(r"^(define void @\w+\()", rf"\1{hidden}, ", text, count=1, flags=re.MULTILINE)
    bodies = BODIES + copies() + bytes_of_words()
    for name in re.findall(r"^declare .*(@llvm\.[\w.]+)\(", text, flags=re.MULTILINE):
        bodies = re.sub(rf"^declare .*{re.escape(name)}\(.*$", "", bodies, flags=re.MULTILINE)
    return text + bodies


class Guarded:
    """A copy of an array that ends within 16 bytes of a page's end, with a page behind it that must not be touched."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        pages = -(-max(array.nbytes, 1) // PAGE)
        self._map = mmap.mmap(-1, (pages + 1) * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        assert LIBC.mprotect(start + pages * PAGE, PAGE, PROT_NONE) == 0
        # Not the very end where the size is odd: the base is a multiple of 16 bytes, as kernels may assume.
        self.offset = pages * PAGE - -(-array.nbytes // 16) * 16
        self.address = start + self.offset
        self.array = np.frombuffer(self._map, array.dtype, array.size, self.offset).reshape(array.shape)
        self.array[...] = array


def run(
    kernel: Kernel,
    grid: tuple[int, ...],
    tensors: list[np.ndarray[Any, Any]],
    dims: list[int],
    scalars: tuple[Any, ...] = (),
    index_bits: int = 32,
    chip: str = "sm_80",
) -> list[np.ndarray[Any, Any]]:
    """Launch a synced kernel; scalars are ctypes values. Gives the tensors as the kernel left them."""
    text = emit(kernel, target(chip), index_bits, kernel.span.source)
    shared, _ = shared_bytes(kernel)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_assembly(translated(text, max(shared, 1)))
    module.verify()
    features = binding.get_host_cpu_features().flatten()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features
    )
    with binding.create_mcjit_compiler(module, machine) as engine:
        engine.finalize_object()
        guarded = [Guarded(t) for t in tensors]
        index = ctypes.c_int64 if index_bits == 64 else ctypes.c_int32
        hidden: list[Any] = [BARRIER, BARRIER, *[ctypes.c_int32] * len(REGISTERS)]
        arguments = [*(g.address for g in guarded), *dims, *(s.value for s in scalars)]
        types = [*[ctypes.c_void_p] * len(tensors), *[index] * len(dims), *(type(s) for s in scalars)]
        function = ctypes.CFUNCTYPE(None, *hidden, *types)(engine.get_function_address(kernel.name))
        smem = engine.get_global_value_address("smem") if shared else 0
        _in_a_child(lambda: _blocks(function, kernel.threads, grid, smem, shared, arguments))
    return [g.array.copy() for g in guarded]


def _blocks(function: Any, threads: int, grid: tuple[int, ...], smem: int, shared: int, arguments: list[Any]) -> None:
    """Every block, one after another, each with its threads at once."""
    gx, gy, gz = (*grid, 1, 1)[:3]
    for z, y, x in itertools.product(range(gz), range(gy), range(gx)):
        if shared:
            ctypes.memset(smem, 0xFF, shared)
        block, warps = _barrier(threads), [_barrier(32) for _ in range(threads // 32)]
        running = [
            threading.Thread(target=function, args=(block, warps[tid // 32], tid, x, y, z, gx, gy, gz, *arguments))
            for tid in range(threads)
        ]
        for t in running:
            t.start()
        for t in running:
            t.join()


def _barrier(threads: int) -> Any:
    """What so many threads call to wait for each other."""
    barrier = threading.Barrier(threads)
    return BARRIER(lambda: barrier.wait() and None)


def _in_a_child(work: Callable[[], None]) -> None:
    """Do it in a forked process: an access outside a tensor ends that process, not the tests. Tensors are shared."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert not os.WIFSIGNALED(status), f"the kernel died of {signal.Signals(os.WTERMSIG(status)).name}"

"""Code generation: a kernel of form "synced" to LLVM IR (`emit`), and LLVM IR to PTX (`compile_ptx`).

llvmlite is imported on the first call, so that importing phobos stays cheap.
"""

from __future__ import annotations

from ..ir.kernel import Kernel
from ..source import Source
from ..target import Target
from .ptx import PtxResult, compile_ptx

__all__ = ["PtxResult", "compile_ptx", "emit", "shared_bytes"]


def emit(kernel: Kernel, target: Target, index_bits: int, source: Source) -> str:
    """LLVM IR of a synced kernel before optimisation, readable, with a comment for each source line."""
    from . import module

    return module.emit(kernel, target, index_bits, source)


def shared_bytes(kernel: Kernel) -> tuple[int, bool]:
    """Bytes of shared memory that a block uses, and whether the launch must ask for them (dynamic)."""
    from . import shared

    return shared.shared_bytes(kernel)

"""LLVM IR text to PTX, through LLVM's optimiser and its NVPTX back end.

LLVM ends the process on what it cannot do, so codegen must not hand it that; what it does report becomes an
`InternalError`. llvmlite holds one lock for the whole process and the back end's options are global, so compilations
take turns; use processes to compile in parallel.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..diagnostics import InternalError
from ..target import Target

TRIPLE = "nvptx64-nvidia-cuda"
LOCK = threading.Lock()

UNKNOWN_INTRINSIC = re.compile(r"\.extern \.func[^;]*?\b(llvm[.$_][\w.$]+)")
"""An intrinsic that LLVM does not know comes out as an external function."""


@dataclass(frozen=True, slots=True)
class PtxResult:
    """What LLVM made of a module."""

    optimised_ir: str
    ptx: str


@cache
def _machine(cpu: str, features: str) -> Any:
    """LLVM's target machine for a chip.

    Options of the whole process, which must precede the first machine: shared pointers are 32 bits wide, and vector
    loads stay whole (VectorCombine would take them apart, and drop that they are invariant). Accesses are as wide as
    `stage` made them: the back end's vectoriser would merge neighbours, and read what lies between and nobody wrote.
    """
    from llvmlite import binding

    binding.set_option("phobos", "-nvptx-short-ptr")
    binding.set_option("phobos", "-disable-vector-combine")
    binding.set_option("phobos", "-disable-nvptx-load-store-vectorizer")
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding.Target.from_triple(TRIPLE).create_target_machine(cpu=cpu, features=features, opt=3)


def compile_ptx(llvm_ir: str, target: Target) -> PtxResult:
    """Optimise a module for a chip and write its PTX."""
    from llvmlite import binding

    with LOCK:
        machine = _machine(target.name, target.features)
        try:
            module = binding.parse_assembly(llvm_ir)
            module.triple = TRIPLE
            module.data_layout = str(machine.target_data)
            module.verify()
        except RuntimeError as error:
            raise InternalError(f"codegen: LLVM refuses the module: {error}") from error
        options = binding.create_pipeline_tuning_options(speed_level=3)
        # Accesses are as wide as the layouts made them, and lanes are the vector unit.
        options.loop_vectorization = options.slp_vectorization = False
        passes = binding.create_pass_builder(machine, options)
        passes.getModulePassManager().run(module, passes)
        optimised, ptx = str(module), machine.emit_assembly(module)
    unknown = UNKNOWN_INTRINSIC.search(ptx)
    if unknown:
        raise InternalError(f"codegen: LLVM does not know the intrinsic {unknown[1]}")
    return PtxResult(optimised, ptx)

"""Phobos: a tile kernel compiler for NVIDIA GPUs.

`phobos.compile(src)` gives a `Module` whose attributes are the kernels of a `.ph` source; calling one launches it.
Names are imported when they are first used, so that `import phobos` costs milliseconds.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import KernelHandle, Module, compile
    from .artifact import Artifact
    from .diagnostics import CompileError, Diagnostic, InternalError
    from .errors import AlignedPromiseError, ArgumentError, CudaError, LaunchError
    from .plan import Plan
    from .sim import Checks, SimFault, SimResult
    from .target import Target

__all__ = [
    "AlignedPromiseError",
    "ArgumentError",
    "Artifact",
    "Checks",
    "CompileError",
    "CudaError",
    "Diagnostic",
    "InternalError",
    "KernelHandle",
    "LaunchError",
    "Module",
    "Plan",
    "SimFault",
    "SimResult",
    "Target",
    "compile",
]

_HOME = {
    "AlignedPromiseError": "errors",
    "ArgumentError": "errors",
    "Artifact": "artifact",
    "Checks": "sim",
    "CompileError": "diagnostics",
    "CudaError": "errors",
    "Diagnostic": "diagnostics",
    "InternalError": "diagnostics",
    "KernelHandle": "api",
    "LaunchError": "errors",
    "Module": "api",
    "Plan": "plan",
    "SimFault": "sim",
    "SimResult": "sim",
    "Target": "target",
    "compile": "api",
}

# Installed, runtime/ is the package phobos.runtime (package_dir in setup.cfg). In a checkout that is only on the path
# it stands beside this folder, and is found there under the same name.
if not os.path.isdir(os.path.join(__path__[0], "runtime")):
    __path__.append(os.path.dirname(__path__[0]))


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("phobos-gpu")
        except PackageNotFoundError:
            return "0+checkout"
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'phobos' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, "__version__"})

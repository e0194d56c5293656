"""PTX to cubin with nvJitLink 12.9, with or without a driver.

`default_linker()` gives the `Linker` of this machine: pynvjitlink where `libcuda.so.1` loads (its import asks for the
driver's library although it calls none of it), cuda-python's binding over the library of `nvidia-nvjitlink-cu12`
elsewhere. Both hold the same nvJitLink and give the same cubin. `PHOBOS_LINKER=pynvjitlink|nvjitlink` chooses by name.

PTX that the assembler refuses is a fault of the compiler: `InternalError` with the PTX line and the `.ph` line it came
from. A linker that is missing or too new for the target is the user's to mend: `CompileError` PH603.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import logging
import os
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

from ..diagnostics import CompileError, Diagnostic, InternalError, Severity
from ..source import NOWHERE
from ..target import Target
from .cubin import constant_bytes, shared_bytes

log = logging.getLogger("phobos.link")

LIBRARY = "libnvJitLink.so.12"
"""The library inside the wheel nvidia-nvjitlink-cu12."""
WANTED = (12, 9)
"""The version the project is tested with: the last one with sm_70, and with PTX 8.8 the newest."""


@dataclass(frozen=True, slots=True)
class LinkResult:
    """A cubin and what the assembler said about it. The numbers are per thread, shared and constant bytes per block."""

    cubin: bytes
    log: str
    linker: str
    version: str
    registers: int
    spill_stores: int
    spill_loads: int
    stack_bytes: int
    shared_bytes: int
    constant_bytes: int
    barriers: int


class Linker(Protocol):
    """Turns the PTX of one kernel into a cubin."""

    @property
    def name(self) -> str:
        """What PHOBOS_LINKER calls it."""

    @property
    def version(self) -> str:
        """The library's version: part of every cache key."""

    def link(self, ptx: str, target: Target, name: str, max_regs: int | None = None) -> LinkResult:
        """Assemble `ptx`, which holds the kernel `name`; max_regs caps registers further than the PTX does."""


class PyNvJitLink:
    """pynvjitlink: nvJitLink linked statically into a Python module."""

    name = "pynvjitlink"

    @cached_property
    def _module(self) -> Any:
        import pynvjitlink.api

        return pynvjitlink.api

    @cached_property
    def version(self) -> str:
        major, minor = self._module.nvjitlink_version()
        return f"{major}.{minor} (pynvjitlink {distribution_version('pynvjitlink-cu12')})"

    def link(self, ptx: str, target: Target, name: str, max_regs: int | None = None) -> LinkResult:
        try:
            linker = self._module.NvJitLinker(*options(target, max_regs))
            linker.add_ptx(ptx.encode(), f"{name}.ptx")
            cubin = bytes(linker.get_linked_cubin())
        except self._module.NvJitLinkError as error:
            raise refusal(str(error), ptx, target, name, self) from None
        return result(cubin, linker.info_log or "", target, name, self)


class NvJitLink:
    """cuda-python's binding over the library of nvidia-nvjitlink-cu12."""

    name = "nvjitlink"

    @cached_property
    def _module(self) -> Any:
        # The binding takes whichever nvJitLink the process already has, and else the newest installed one, which
        # from 13.0 on refuses sm_70 and sm_72. Loading ours first decides that, unless another is there already.
        wheel = wheel_library()
        if wheel is not None:
            ctypes.CDLL(str(wheel), mode=ctypes.RTLD_GLOBAL)
        import cuda.bindings.nvjitlink as binding

        version = tuple(binding.version())
        if version != WANTED:
            log.warning("nvJitLink %d.%d is loaded in this process, Phobos is tested with %d.%d", *version, *WANTED)
        return binding

    @cached_property
    def version(self) -> str:
        version = tuple(self._module.version())
        if version == WANTED and wheel_library() is not None:
            return distribution_version("nvidia-nvjitlink-cu12")
        return ".".join(map(str, version))

    def link(self, ptx: str, target: Target, name: str, max_regs: int | None = None) -> LinkResult:
        n = self._module
        asked = options(target, max_regs)
        try:
            handle = n.create(len(asked), list(asked))
        except n.nvJitLinkError as error:
            if "UNSUPPORTED_ARCH" in str(error):
                raise too_new(self, target) from None
            raise refusal(str(error), ptx, target, name, self) from None
        try:
            data = ptx.encode()
            n.add_data(handle, n.InputType.PTX, data, len(data), f"{name}.ptx")
            n.complete(handle)
            cubin = bytearray(n.get_linked_cubin_size(handle))
            n.get_linked_cubin(handle, cubin)
            return result(bytes(cubin), self._log(handle, "info"), target, name, self)
        except n.nvJitLinkError as error:
            raise refusal(f"{error}\n{self._log(handle, 'error')}", ptx, target, name, self) from None
        finally:
            n.destroy(handle)

    def _log(self, handle: int, which: str) -> str:
        size = getattr(self._module, f"get_{which}_log_size")(handle)
        text = bytearray(size)
        if size:
            getattr(self._module, f"get_{which}_log")(handle, text)
        return bytes(text).rstrip(b"\0").decode(errors="replace")


LINKERS: dict[str, type[PyNvJitLink] | type[NvJitLink]] = {"pynvjitlink": PyNvJitLink, "nvjitlink": NvJitLink}


@cache
def linker_named(name: str) -> Linker:
    """The linker called `name`, made once."""
    made: Linker = LINKERS[name]()
    return made


def default_linker() -> Linker:
    """The linker of this machine, or the one that PHOBOS_LINKER names."""
    asked = os.environ.get("PHOBOS_LINKER", "")
    if asked and asked not in LINKERS:
        raise failure(
            f"PHOBOS_LINKER is '{asked}', which is no linker", help=f"set it to {' or '.join(LINKERS)}, or unset it"
        )
    linker = linker_named(asked or _available())
    try:
        _ = linker.version
    except (ImportError, OSError, RuntimeError) as error:  # the binding raises RuntimeError when it finds no library
        if linker.name == "pynvjitlink":
            note = f"importing pynvjitlink failed: {error}"
            remedy = "unset PHOBOS_LINKER, or install the NVIDIA driver, whose libcuda.so.1 pynvjitlink asks for"
        else:
            note = f"loading nvJitLink through cuda-python failed: {error}"
            remedy = "python -m pip install 'nvidia-nvjitlink-cu12==12.9.*' cuda-python"
        raise failure("there is no linker to turn PTX into a cubin", note, remedy) from None
    return linker


@cache
def _available() -> str:
    """pynvjitlink if it can be imported here, else nvjitlink."""
    if importlib.util.find_spec("pynvjitlink") is None:
        return NvJitLink.name
    try:
        ctypes.CDLL("libcuda.so.1")
        import pynvjitlink.api  # noqa: F401
    except (OSError, ImportError) as error:
        log.debug("pynvjitlink is installed and does not load: %s", error)
        return NvJitLink.name
    return PyNvJitLink.name


def distribution_version(name: str) -> str:
    """The version of an installed package, "unknown" for one that was only put on the path."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


@cache
def wheel_library() -> Path | None:
    """libnvJitLink.so.12 of the wheel nvidia-nvjitlink-cu12, if that is installed."""
    try:
        spec = importlib.util.find_spec("nvidia.nvjitlink")
    except ModuleNotFoundError:
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "lib" / LIBRARY
        if path.exists():
            return path
    return None


def options(target: Target, max_regs: int | None) -> tuple[str, ...]:
    """What the linker is asked for, besides its defaults (-O3; the line table comes from .loc by itself)."""
    # Without -no-cache a driver serves the same PTX from its compute cache the second time, and then there is no log.
    asked = (f"-arch={target.name}", "-Xptxas=-v", "-no-cache")
    return asked if max_regs is None else (*asked, f"-maxrregcount={max_regs}")


# ---- what the assembler says --------------------------------------------------------------------------------

USED = re.compile(r"Used (\d+) registers")
BARRIERS = re.compile(r"used (\d+) barriers")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def result(cubin: bytes, text: str, target: Target, name: str, linker: Linker) -> LinkResult:
    """The cubin with the numbers of the log (`-Xptxas=-v`) and of its sections."""
    used, barriers, stack = USED.search(text), BARRIERS.search(text), STACK.search(text)
    if used is None:
        raise InternalError(f"PH603: {linker.name} {linker.version} gave no register count:\n{text}")
    frame, stores, loads = map(int, stack.groups()) if stack else (0, 0, 0)
    return LinkResult(
        cubin,
        text,
        linker.name,
        linker.version,
        registers=int(used[1]),
        spill_stores=stores,
        spill_loads=loads,
        stack_bytes=frame,
        shared_bytes=shared_bytes(cubin, name, target.sm),
        constant_bytes=constant_bytes(cubin, name),
        barriers=int(barriers[1]) if barriers else 0,
    )


COMPLAINT = re.compile(r"ptxas .*?, line (\d+); (?:error|fatal)\s*:\s*(.*)")
LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', re.MULTILINE)


def refusal(text: str, ptx: str, target: Target, name: str, linker: Linker) -> CompileError | InternalError:
    """The error for PTX that the assembler refused: each complaint with its line of PTX and of the source."""
    if "Unsupported .version" in text or "UNSUPPORTED_ARCH" in text:
        return too_new(linker, target)
    said = [f"PH603: {linker.name} {linker.version} refused the PTX of kernel {name} for {target.name}"]
    lines = ptx.splitlines()
    for number, message in ((int(m[1]), m[2]) for m in COMPLAINT.finditer(text)):
        place = source_place(ptx, number)
        said.append(f"  PTX line {number}{f' (from {place})' if place else ''}: {message}")
        if 1 <= number <= len(lines):
            said.append(f"    {lines[number - 1].strip()}")
    if len(said) == 1:
        said.append(text.strip())
    return InternalError("\n".join(said))


def source_place(ptx: str, number: int) -> str:
    """`file:line:column` of the `.loc` in force at a line of PTX counted from 1, or ""."""
    for line in reversed(ptx.splitlines()[:number]):
        loc = LOC.match(line)
        if loc is not None:
            files = {m[1]: m[3] or m[2] for m in FILE.finditer(ptx)}
            return f"{files.get(loc[1], '?')}:{loc[2]}:{loc[3]}"
        if line.lstrip().startswith((".visible .entry", ".entry", ".func")):
            break
    return ""


def too_new(linker: Linker, target: Target) -> CompileError:
    """The error for a library that does not know the target or the PTX version."""
    return failure(
        f"{linker.name} {linker.version} does not assemble for {target.name}",
        f"Phobos is tested with nvJitLink {WANTED[0]}.{WANTED[1]}, and a process has only one nvJitLink: "
        "a package that was imported before may have brought another",
        "python -m pip install 'nvidia-nvjitlink-cu12==12.9.*', and compile before importing that package",
    )


def failure(message: str, note: str = "", help: str = "") -> CompileError:
    """PH603, for what the user can mend."""
    notes, helps = (note,) if note else (), (help,) if help else ()
    return CompileError((Diagnostic(Severity.ERROR, "PH603", message, NOWHERE, notes=notes, help=helps),))

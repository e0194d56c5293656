"""The chips Phobos compiles for: what each can do and how much of it there is.

`target("sm_80")` gives a `Target`. LLVM's back end ends the process when it is asked for what a chip lacks, so code
generation asks this table first. Limits are those of the CUDA programming guide's "Technical Specifications per
Compute Capability"; the capability rows give the first architecture with the feature, as the PTX ISA's target notes do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from .diagnostics import CompileError, Diagnostic, Severity
from .source import NOWHERE, Span

KIB = 1024
PTX_VERSION = (8, 8)
"""The newest PTX that nvJitLink 12.9 assembles; LLVM writes it for every chip in the table."""


@dataclass(frozen=True, slots=True)
class Target:
    """One chip. Shared memory in bytes; limits are per block or per multiprocessor as named."""

    name: str
    sm: int
    """The number in the name: 90 for sm_90 and sm_90a."""
    arch_specific: bool
    """The name ends in `a`: features of this very chip, code that no other chip runs."""

    max_dynamic_shared: int
    """Most shared memory of one block, after opting in with the function attribute."""
    shared_per_sm: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    max_static_shared: int = 48 * KIB
    reserved_shared: int = 0
    """Shared memory that the system takes from each resident block."""
    registers_per_sm: int = 65536
    max_registers: int = 255
    """Most 32-bit registers of one thread."""
    max_threads: int = 1024
    """Most threads of one block."""

    # What the chip can do. The rows of CAPABILITIES fill these.
    wmma: bool = False
    mma_sync: bool = False
    ldmatrix: bool = False
    int8_mma: bool = False
    tanh_approx: bool = False
    cp_async: bool = False
    bf16: bool = False
    bf16_mma: bool = False
    tf32_mma: bool = False
    f64_mma: bool = False
    redux: bool = False
    fp8: bool = False
    bf16_arithmetic: bool = False
    stmatrix: bool = False
    mbarrier: bool = False
    tma: bool = False
    cluster: bool = False
    elect: bool = False
    wgmma: bool = False
    vector_256: bool = False
    f32x2: bool = False
    redux_f32: bool = False
    tcgen05: bool = False

    @property
    def features(self) -> str:
        """LLVM's feature string: the PTX version to write."""
        return f"+ptx{PTX_VERSION[0]}{PTX_VERSION[1]}"

    @property
    def compute_capability(self) -> tuple[int, int]:
        return divmod(self.sm, 10)

    @property
    def capabilities(self) -> tuple[str, ...]:
        """Names of what the chip can do, in the order of CAPABILITIES."""
        return tuple(name for name in CAPABILITIES if getattr(self, name))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Needs:
    """The first architecture with a feature; `only`: not from `sm` on but on exactly these targets."""

    sm: int
    what: str
    only: tuple[str, ...] = ()


BLACKWELL_A = ("sm_100a", "sm_101a", "sm_103a")
CAPABILITIES: dict[str, Needs] = {
    "wmma": Needs(70, "wmma m16n16k16 on f16"),
    "mma_sync": Needs(75, "mma.sync m16n8k8 on f16 (m16n8k16 from sm_80)"),
    "ldmatrix": Needs(75, "ldmatrix"),
    "int8_mma": Needs(75, "mma.sync m8n8k16 on 8-bit integers"),
    "tanh_approx": Needs(75, "tanh.approx.f32, ex2.approx.f16x2"),
    "cp_async": Needs(80, "cp.async"),
    "bf16": Needs(80, "conversions to and fma on bf16; emulated through f32 below"),
    "bf16_mma": Needs(80, "mma.sync and wmma on bf16"),
    "tf32_mma": Needs(80, "mma.sync on tf32"),
    "f64_mma": Needs(80, "mma.sync m8n8k4 on f64"),
    "redux": Needs(80, "redux.sync on 32-bit integers"),
    "fp8": Needs(89, "e4m3 and e5m2: conversions and mma.sync"),
    "bf16_arithmetic": Needs(90, "add, sub, mul and atomics on bf16"),
    "stmatrix": Needs(90, "stmatrix"),
    "mbarrier": Needs(90, "mbarrier with transaction counts and try_wait"),
    "tma": Needs(90, "cp.async.bulk and tensor maps"),
    "cluster": Needs(90, "thread block clusters, distributed shared memory"),
    "elect": Needs(90, "elect.sync"),
    "wgmma": Needs(90, "wgmma.mma_async, setmaxnreg", only=("sm_90a",)),
    "vector_256": Needs(100, "32-byte global loads and stores"),
    "f32x2": Needs(100, "fma.rn.f32x2"),
    "redux_f32": Needs(100, "redux.sync on f32", only=BLACKWELL_A),
    "tcgen05": Needs(100, "tcgen05, tensor memory", only=BLACKWELL_A),
}

# sm, KiB of shared memory for one block and for one multiprocessor, threads and blocks per multiprocessor,
# and whether there is an `a` variant.
CHIPS: tuple[tuple[int, int, int, int, int, bool], ...] = (
    (70, 96, 96, 2048, 32, False),
    (72, 96, 96, 2048, 32, False),
    (75, 64, 64, 1024, 16, False),
    (80, 163, 164, 2048, 32, False),
    (86, 99, 100, 1536, 16, False),
    (87, 163, 164, 1536, 16, False),
    (89, 99, 100, 1536, 24, False),
    (90, 227, 228, 2048, 32, True),
    (100, 227, 228, 2048, 32, True),
    (101, 227, 228, 1536, 24, True),
    (103, 227, 228, 2048, 32, True),
    (120, 99, 100, 1536, 24, True),
    (121, 99, 100, 1536, 24, True),
)


def _targets() -> dict[str, Target]:
    table = {}
    for sm, block_kib, sm_kib, threads, blocks, has_a in CHIPS:
        for suffix in ("", "a") if has_a else ("",):
            name = f"sm_{sm}{suffix}"
            table[name] = Target(
                name,
                sm,
                bool(suffix),
                max_dynamic_shared=block_kib * KIB,
                shared_per_sm=sm_kib * KIB,
                max_threads_per_sm=threads,
                max_blocks_per_sm=blocks,
                reserved_shared=KIB if sm >= 80 else 0,
                **{c: name in n.only if n.only else sm >= n.sm for c, n in CAPABILITIES.items()},
            )
    return table


TARGETS: dict[str, Target] = _targets()
DEFAULT = "sm_80"


def target(name: str, span: Span = NOWHERE) -> Target:
    """The chip called `name`; an unknown name is error PH601 with the nearest ones."""
    found = TARGETS.get(name)
    if found is None:
        _unknown(name, span)
    return found


def _nearest(name: str) -> list[str]:
    """Up to three names whose number is close to the one in `name`, those with its suffix first."""
    found = re.search(r"(\d+)(a?)", name)
    if found is None:
        return []
    number, suffix = int(found[1]), found[2]
    close = [t for t in TARGETS.values() if abs(t.sm - number) < 10]
    return [t.name for t in sorted(close, key=lambda t: (abs(t.sm - number), t.arch_specific != bool(suffix)))[:3]]


def _unknown(name: str, span: Span) -> NoReturn:
    near = _nearest(name)
    diagnostic = Diagnostic(
        Severity.ERROR,
        "PH601",
        f"unknown target '{name}'",
        span,
        notes=(f"the targets are {', '.join(TARGETS)}",),
        help=(f"did you mean {' or '.join(near)}?",) if near else (),
    )
    raise CompileError((diagnostic,))


def of_compute_capability(major: int, minor: int) -> Target | None:
    """The target for a device: its `a` variant where there is one, else the nearest earlier chip of the same major
    number, whose code it runs; None for a chip that has neither."""
    exact = TARGETS.get(f"sm_{major}{minor}a") or TARGETS.get(f"sm_{major}{minor}")
    earlier = [t for t in TARGETS.values() if t.compute_capability < (major, minor) and t.sm // 10 == major]
    runs = [t for t in earlier if not t.arch_specific]
    return exact or (runs[-1] if runs else None)


def runs_on(target: Target, major: int, minor: int) -> bool:
    """Whether a cubin for `target` runs on a device: same major number, no later minor one; `a` code only at home."""
    if target.arch_specific:
        return target.compute_capability == (major, minor)
    return target.sm // 10 == major and target.sm % 10 <= minor

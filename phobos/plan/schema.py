"""What a Plan holds: one frozen record per kind of decision, all of plain values, and its JSON form.

The JSON object of a record has the record's fields in their order here; `docs/plan.md` explains each. Reading back
gives an equal Plan. A field that is added, removed or changes its meaning raises `SCHEMA`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from .codec import decode, encode

SCHEMA = 2


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the kernel and the value that it was compiled with."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in ABI order. role: "tensor", "dim" (a run-time extent), "stride" (elements) or "scalar"."""

    name: str
    role: str
    type: str


@dataclass(frozen=True, slots=True)
class Axis:
    """Blocks along one grid axis. blocks: a formula, or "" where it cannot be inferred; why: how, or why not."""

    axis: str
    blocks: str
    extent: str
    tile: int
    why: str


@dataclass(frozen=True, slots=True)
class Launch:
    """A block's shape and what `@launch` and `@registers` ask of the assembler."""

    threads: int
    warps: int
    explicit: bool
    min_blocks: int | None
    max_regs: int | None
    persistent: bool
    swizzle: int | None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A shared buffer: `slots` tiles of `shape`, `bytes` in all, from `offset_bytes` (-1 before it is packed).

    label: a variable's name where a tile of the source lives in it, and why: why it does.
    """

    label: str
    elem: str
    shape: tuple[int, ...]
    slots: int
    offset_bytes: int
    bytes: int
    layout: str
    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Shared:
    """Shared memory of a block. dynamic: asked for at launch rather than declared. limit_bytes: what the chip has."""

    total_bytes: int
    dynamic: bool
    limit_bytes: int
    buffers: tuple[Buffer, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """One axis of an access. guard: "" none, "hi" past the extent, "lo" below 0, "both". why: the proof or its lack."""

    axis: int
    extent: str
    guard: str
    why: str


@dataclass(frozen=True, slots=True)
class Access:
    """An access of a tensor or of a tile in shared memory.

    space: "global" or "shared"; tensor: its name, or the buffer's label.
    kind: "load", "store", "async copy", "point load", "point store", "run load", "run store",
    "atomic add", "atomic max", "atomic min", "atomic cas".
    width elements of width_bytes at a time, 0 before they are chosen. `threads` threads move `elements` each, 0 while
    that is not known.
    loop: the loops around it, outermost first, each "line" or "line part"; "" outside. buffer: an async copy's goal.
    """

    line: int
    text: str
    tensor: str
    elem: str
    shape: tuple[int, ...]
    kind: str
    invariant: bool
    width: int
    width_bytes: int
    width_why: str
    elements: int
    threads: int
    guards: tuple[Guard, ...]
    loop: str
    buffer: str
    space: str

    @property
    def masked(self) -> bool:
        return any(g.guard for g in self.guards)


@dataclass(frozen=True, slots=True)
class Carried:
    """A value that a loop carries in registers: `registers` elements per thread (1 for a scalar)."""

    name: str
    type: str
    registers: int


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop. kind: "for" or "while". part: "" entire, "whole" and then "remainder" or "tail" of a split one.

    start, stop, step are formulas; trips a number where it is constant, else None. trips_text: a formula.
    """

    line: int
    kind: str
    variable: str
    part: str
    start: str
    stop: str
    step: str
    trips: int | None
    trips_text: str
    stages: int
    unroll: int
    carried: tuple[Carried, ...]
    loop: str


@dataclass(frozen=True, slots=True)
class Sync:
    """A barrier. scope: "cta", "warp", or "none": elided, silent in the code. why: the hazard, or why there is none."""

    line: int
    scope: str
    why: str
    loop: str

    @property
    def kept(self) -> bool:
        return self.scope != "none"


@dataclass(frozen=True, slots=True)
class Contraction:
    """A dot of a [m, k] and b [k, n]. path: "FMA", "dp4a" (a thread's sum), or "" before it is chosen.

    thread_tile: accumulators per thread. a and b: the shared buffers that hold the operands, with elements per shared
    access.
    """

    line: int
    text: str
    path: str
    m: int
    n: int
    k: int
    elem_a: str
    elem_b: str
    elem_acc: str
    trans_b: bool
    thread_tile: tuple[int, ...]
    layout: str
    a: str
    a_width: int
    b: str
    b_width: int
    loop: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A member of the assumption class: a launch that breaks it gets another variant. meaning: in plain words."""

    kind: str
    subject: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Promise:
    """`@aligned(dim = divisor)`. checked: "at kernel entry" or "when compiled" (a constant extent)."""

    dim: str
    divisor: int
    line: int
    checked: str


@dataclass(frozen=True, slots=True)
class Place:
    """A secondary place of a remark and the fact that it shows."""

    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A diagnostic that is no error. severity: "remark" or "warning"."""

    severity: str
    code: str
    message: str
    line: int
    column: int
    label: str
    labels: tuple[Place, ...]
    notes: tuple[str, ...]
    help: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Linked:
    """What the linker said of the cubin. None: it did not say."""

    linker: str
    version: str
    registers: int | None = None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Blocks and warps that fit on a multiprocessor at once. limited_by: "threads", "blocks", "registers", "shared"."""

    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    limited_by: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that was decided for one kernel at one choice of constants, target and index width."""

    schema: int
    kernel: str
    file: str
    line: int
    form: str
    target: str
    index_bits: int
    constants: tuple[Constant, ...]
    parameters: tuple[Parameter, ...]
    grid: tuple[Axis, ...]
    launch: Launch
    shared: Shared
    accesses: tuple[Access, ...]
    loops: tuple[Loop, ...]
    contractions: tuple[Contraction, ...]
    syncs: tuple[Sync, ...]
    facts: tuple[Fact, ...]
    denied: tuple[Fact, ...]
    promises: tuple[Promise, ...]
    remarks: tuple[Remark, ...]
    linked: Linked | None
    occupancy: Occupancy | None

    def to_json(self) -> str:
        """The Plan as JSON text: keys in the order of the fields, so equal Plans give equal text."""
        return json.dumps(encode(self), indent=2, ensure_ascii=False) + "\n"

    @staticmethod
    def from_json(text: str) -> Plan:
        """The Plan that `to_json` wrote. ValueError says what does not fit, another schema's number included."""
        data = json.loads(text)
        found = data.get("schema") if isinstance(data, dict) else None
        if found != SCHEMA:
            raise ValueError(f"the plan has schema {found}, this compiler reads {SCHEMA}")
        plan = decode(Plan, data, "plan")
        assert isinstance(plan, Plan)
        return plan

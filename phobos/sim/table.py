"""The instruction table: opcode to the function that builds what executes it.

A builder gets the `State` of a machine and an instruction, and gives a `Step` (or, for the few that steer threads, a
`Control`). To add an instruction, decorate a builder in any module that `instructions` imports:

    @instruction("popc")
    def popc(state: State, i: Instruction) -> Step:
        ...

Steps are bound to the rows of the register file once; running one costs little more than its NumPy calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from .errors import PtxError
from .syntax import Instruction

if TYPE_CHECKING:
    from .state import State

Mask = NDArray[Any] | None
"""Which lanes execute: a bool per lane, or None for all of them."""


@dataclass(slots=True)
class Step:
    """What executes an instruction for all lanes, and for some. `batch` describes a pure one to the batcher."""

    full: Callable[[], object]
    masked: Callable[[NDArray[Any]], object]
    batch: Batch | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """An operand of a batchable step: a row of the register slab of a width, or a constant array."""

    bits: int
    row: int
    dtype: Any
    constant: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """A pure elementwise step: `fn` of the sources goes to a row. Steps of one `key` may run as one."""

    key: tuple[Any, ...]
    fn: Callable[..., Any]
    sources: tuple[Source, ...]
    target: Source


Builder = Callable[["State", Instruction], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """An opcode's row. kind: `step`, or how it ends a segment: `branch`, `exit`, `barrier`, `warp`, `yield`.

    writes: how many leading operands are destinations.
    """

    opcode: str
    build: Builder
    kind: str | Callable[[Instruction], str]
    writes: int | Callable[[Instruction], int]


TABLE: dict[str, Row] = {}


def instruction(
    *opcodes: str,
    kind: str | Callable[[Instruction], str] = "step",
    writes: int | Callable[[Instruction], int] = 1,
) -> Callable[[Builder], Builder]:
    """Enter a builder into the table under one or more opcodes."""

    def enter(build: Builder) -> Builder:
        for opcode in opcodes:
            assert opcode not in TABLE, f"{opcode} is in the table twice"
            TABLE[opcode] = Row(opcode, build, kind, writes)
        return build

    return enter


def row(i: Instruction) -> Row:
    """The row of an instruction; PTX that the table does not know is an error at its line."""
    found = TABLE.get(i.opcode)
    if found is None:
        raise PtxError(i.line, f"unknown instruction '{i.name}'")
    return found


def kind_of(i: Instruction) -> str:
    """How an instruction is scheduled."""
    kind = row(i).kind
    return kind if isinstance(kind, str) else kind(i)


def writes_of(i: Instruction) -> int:
    """How many leading operands an instruction writes."""
    writes = row(i).writes
    return writes if isinstance(writes, int) else writes(i)


def unknown(i: Instruction, what: str = "form") -> PtxError:
    """The error for an instruction whose opcode is known and whose form is not."""
    return PtxError(i.line, f"unknown {what} of '{i.opcode}': '{i.name}'")

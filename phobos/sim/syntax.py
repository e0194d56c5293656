"""PTX as it is written: a module, its entries, their declarations and statements, names not yet resolved to storage."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reg:
    """A virtual register. `name` is unique in its entry, scopes included."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Special:
    """A special register such as `%tid.x`."""

    name: str


@dataclass(frozen=True, slots=True)
class Imm:
    """A constant: an int, or the bits of an f32 or f64 (`0f`, `0d`), or a decimal float."""

    value: int | float
    kind: str  # "int", "f32" (value is bits), "f64" (value is bits), "float" (value is a float)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable or parameter whose address, plus an offset, is meant."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class LabelRef:
    """A label or any other bare name of the statement."""

    name: str


@dataclass(frozen=True, slots=True)
class Address:
    """`[base + offset]`; the base is a register, a variable, or nothing for an absolute address."""

    base: Reg | Symbol | None
    offset: int
    extra: tuple[Operand, ...] = ()  # further members, as in tensor copies: [map, {x, y}]


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, ...}`."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`p|q`, two destinations; `_` stands for none."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Not:
    """`!p`."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`, a destination that nobody reads."""


Operand = Reg | Special | Imm | Symbol | LabelRef | Address | Vector | Pair | Not | Sink


@dataclass(frozen=True, slots=True)
class Location:
    """A `.loc`: file number, line and column."""

    file: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `opcode` is the first word, `modifiers` the dotted rest, `line` its line in the PTX."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    line: int
    loc: Location | None = None
    guard: Reg | None = None
    negated: bool = False

    @property
    def name(self) -> str:
        """The whole instruction word, as `fma.rn.f32`."""
        return ".".join((self.opcode, *self.modifiers))

    def __str__(self) -> str:
        return f"{self.name} (PTX line {self.line})"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in memory. `size` 0 means an extern array whose size the launch gives."""

    name: str
    space: str  # shared, global, const, local, param
    type: str
    size: int
    align: int
    initial: bytes | None = None
    extern: bool = False


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of an entry, at its byte offset in parameter space."""

    name: str
    type: str
    size: int
    align: int
    offset: int
    is_array: bool
    is_pointer: bool


@dataclass
class Entry:
    """A kernel: parameters, directives, registers, variables, statements in order, labels by statement index."""

    name: str
    line: int
    params: list[Param] = field(default_factory=list)
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    registers: dict[str, Reg] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    body: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)  # .branchtargets


@dataclass
class Module:
    """A PTX module. `files` maps the numbers of `.file` to names."""

    version: tuple[int, int] = (0, 0)
    target: str = ""
    address_size: int = 64
    files: dict[int, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)

    def source(self, loc: Location | None) -> str:
        """The place that a `.loc` names, as `file:line:column`; empty when there is none."""
        if loc is None:
            return ""
        return f"{self.files.get(loc.file, f'file {loc.file}')}:{loc.line}:{loc.column}"

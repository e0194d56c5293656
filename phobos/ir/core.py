"""Values, ops, blocks and kernels of the tile IR.

An op class is a table row: its fields say what it reads (`operand`), holds (`attribute`), makes (`result`) and
owns (`region`). Printing, parsing, cloning, verifying and walking are derived from the fields. Everything is
immutable; a pass builds a new kernel.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, Flag, auto
from functools import cache
from typing import Any, ClassVar, TypeVar, dataclass_transform

from ..source import NOWHERE, Span
from .types import Buffer, Type


class Effect(Flag):
    """What an op does besides making its results."""

    NONE = 0
    READ_GLOBAL = auto()
    WRITE_GLOBAL = auto()
    READ_SHARED = auto()
    WRITE_SHARED = auto()
    ORDER = auto()
    """A barrier, wait or trap: keeps its place among effects."""

    def in_shared(self) -> Effect:
        """The same effects on shared memory where they are on global memory."""
        moved = self & ~(Effect.READ_GLOBAL | Effect.WRITE_GLOBAL)
        if self & Effect.READ_GLOBAL:
            moved |= Effect.READ_SHARED
        if self & Effect.WRITE_GLOBAL:
            moved |= Effect.WRITE_SHARED
        return moved


class Role(Enum):
    OPERAND = auto()
    ATTRIBUTE = auto()
    RESULT = auto()
    REGION = auto()


@dataclass(eq=False, slots=True)
class Value:
    """An SSA value: one definition and a type. Compared by identity; the name is for people."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f"%{self.name}"

    def like(self, type: Type | None = None, name: str | None = None) -> Value:
        """A new value of the same name, or with another type or name."""
        return Value(name or self.name, type or self.type)


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """A straight line of ops; inside an op it ends in a `yield`. Parameters stand in for phis."""

    params: tuple[Value, ...] = ()
    ops: tuple[Op, ...] = ()

    def walk(self) -> Iterator[Op]:
        """Every op, outer before inner."""
        for op in self.ops:
            yield op
            for block in op.regions():
                yield from block.walk()


def operand(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds a Value or a tuple of Values that the op reads. One with a default, (), is the op's last."""
    return dataclasses.field(default=default, metadata={"role": Role.OPERAND})


def attribute(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds a plain Python value: int, str, bool, float, None, a tuple of such, a layout or a type."""
    return dataclasses.field(default=default, metadata={"role": Role.ATTRIBUTE})


def result() -> Any:
    """A field that holds a Value or a tuple of Values that the op defines."""
    return dataclasses.field(metadata={"role": Role.RESULT})


def region() -> Any:
    """A field that holds a Block."""
    return dataclasses.field(metadata={"role": Role.REGION})


@dataclass(frozen=True, eq=False, kw_only=True)
class Op:
    """Base of all ops. Concrete classes are final: dispatch is on `type(op)`.

    memory: the operand field that holds a tensor or, equally, a shared buffer; "" for ops without one.
    """

    name: ClassVar[str]
    declared_effects: ClassVar[Effect] = Effect.NONE
    terminator: ClassVar[bool] = False
    memory: ClassVar[str] = ""
    span: Span = NOWHERE

    @property
    def effects(self) -> Effect:
        """What the op does; its memory's type says in which space. Regions are not looked into."""
        if self.memory and isinstance(getattr(self, self.memory).type, Buffer):
            return self.declared_effects.in_shared()
        return self.declared_effects

    @classmethod
    @cache
    def fields(cls, role: Role) -> tuple[str, ...]:
        """Names of the fields with a role, in order of declaration."""
        return tuple(f.name for f in dataclasses.fields(cls) if f.metadata.get("role") is role)

    def _values(self, role: Role) -> Iterator[Value]:
        for name in self.fields(role):
            v = getattr(self, name)
            if isinstance(v, Value):
                yield v
            else:
                yield from v

    def operands(self) -> tuple[Value, ...]:
        return tuple(self._values(Role.OPERAND))

    def results(self) -> tuple[Value, ...]:
        return tuple(self._values(Role.RESULT))

    def regions(self) -> tuple[Block, ...]:
        return tuple(getattr(self, name) for name in self.fields(Role.REGION))

    def attributes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.fields(Role.ATTRIBUTE)}

    def all_effects(self) -> Effect:
        """The op's own effects and those of its regions."""
        effects = self.effects
        for block in self.regions():
            for op in block.ops:
                effects |= op.all_effects()
        return effects

    def replace(self: OpT, **changes: Any) -> OpT:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def verify(self) -> Iterator[str]:
        """Yield one message for each rule of this op that the instance breaks."""
        return iter(())


OpT = TypeVar("OpT", bound=Op)
OPS: dict[str, type[Op]] = {}


@dataclass_transform(
    eq_default=False, kw_only_default=True, frozen_default=True, field_specifiers=(operand, attribute, result, region)
)
def op(
    name: str, effects: Effect = Effect.NONE, terminator: bool = False, memory: str = ""
) -> Callable[[type[OpT]], type[OpT]]:
    """Register a class as the op called `name`. effects: those on a tensor, where `memory` may be a buffer too."""

    def register(cls: type[OpT]) -> type[OpT]:
        made = dataclass(eq=False, kw_only=True, frozen=True)(cls)
        made.name, made.declared_effects, made.terminator, made.memory = name, effects, terminator, memory
        assert name not in OPS, f"op {name} is defined twice"
        OPS[name] = made
        return made

    return register

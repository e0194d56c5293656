"""The text of a kernel: the inverse of `parser`, for every form.

An op is printed from the roles of its fields: results, name, operands, attributes that differ from their defaults,
regions. docs/ir.md has the grammar. Values with equal names are told apart here (`%acc`, `%acc.1`). Spans are optional
comments; remarks are not part of the text.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable
from typing import Any

from ..layout.base import RegisterLayout, SharedLayout
from ..source import NOWHERE, Span
from .core import Block, Op, Role, Value
from .kernel import Aligned, Fact, GridAxis, Kernel, Launch
from .types import Buffer, Tile, Type

RECORDS: dict[str, type[Any]] = {"launch": Launch, "aligned": Aligned, "axis": GridAxis, "fact": Fact}
"""Dataclasses that may stand as attribute values, by the names that the text gives them."""


def print_kernel(kernel: Kernel, spans: bool = False) -> str:
    """The whole kernel; spans: end each op's line with `// line:column` of the source."""
    return _Printer(spans).kernel(kernel)


def print_block(block: Block, spans: bool = False) -> str:
    """The ops of a block, for people."""
    return "\n".join(_Printer(spans).ops(block, 0))


def print_op(op: Op) -> str:
    """One line for an op, its regions left out: for messages."""
    return _Printer(False).head(op)


class Names:
    """A printable name for each value, unique in one text."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def __getitem__(self, value: Value) -> str:
        if value not in self._names:
            name = re.sub(r"[^\w.]", "_", value.name, flags=re.ASCII) or "_"
            if name in self._taken:
                base = re.sub(r"\.\d+$", "", name)
                number = self._next.get(base, 1)
                while f"{base}.{number}" in self._taken:
                    number += 1
                self._next[base] = number + 1
                name = f"{base}.{number}"
            self._taken.add(name)
            self._names[value] = name
        return f"%{self._names[value]}"


class _Printer:
    def __init__(self, spans: bool) -> None:
        self.spans = spans
        self.names = Names()

    def kernel(self, k: Kernel) -> str:
        # Parameters and results get their names in the order of definition, so that a use never takes one first.
        params = "; ".join(", ".join(map(self.typed, group)) for group in (k.tensors, k.dims, k.scalars))
        strides = [", ".join(map(self.typed, each)) for each in k.strides]
        for op in k.walk():
            for v in (*op.results(), *(p for b in op.regions() for p in b.params)):
                self.names[v]
        lines = [f"kernel {k.name}({params})" + self.place(k.span), f"  form {value_text(k.form)}"]
        if k.constants:
            lines.append("  constants " + dict_text(dict(k.constants)))
        if attributes := changed_fields(k.attributes):
            lines.append("  attributes " + dict_text(attributes))
        if any(axis != GridAxis() for axis in k.grid):
            lines.append("  grid " + value_text(k.grid))
        if k.order != (0, 1, 2):
            lines.append("  order " + value_text(k.order))
        if strides:
            lines.append("  strides [" + ", ".join(f"[{each}]" for each in strides) + "]")
        lines += [f"  {word} {facts_text(f)}" for word, f in (("denied", k.denied), ("used", k.used)) if f]
        return "\n".join([*lines, "{", *self.ops(k.body, 1), "}"]) + "\n"

    def typed(self, value: Value) -> str:
        return f"{self.names[value]}: {type_text(value.type)}"

    def place(self, span: Span) -> str:
        return f"  // {span.line}:{span.column}" if self.spans and span.source is not NOWHERE.source else ""

    def ops(self, block: Block, depth: int) -> list[str]:
        lines: list[str] = []
        for op in block.ops:
            indent, line, place = "  " * depth, self.head(op), self.place(op.span)
            for name in op.fields(Role.REGION):
                inner: Block = getattr(op, name)
                params = f"({', '.join(map(self.typed, inner.params))})" if inner.params else ""
                lines.append(f"{indent}{line} {name}{params} {{{place}")
                lines += self.ops(inner, depth + 1)
                line, place = "}", ""
            lines.append(f"{indent}{line}{place}")
        return lines

    def head(self, op: Op) -> str:
        results = [self.values(getattr(op, name), typed=True) for name in op.fields(Role.RESULT)]
        left = f"{', '.join(results)} = " if any(r != "[]" for r in results) else ""
        operands = [self.values(getattr(op, name)) for name in op.fields(Role.OPERAND) if not _omitted(op, name)]
        attributes = changed_fields(op, op.fields(Role.ATTRIBUTE))
        right = f" {dict_text(attributes)}" if attributes else ""
        return f"{left}{op.name}({', '.join(operands)}){right}"

    def values(self, held: Value | tuple[Value, ...], typed: bool = False) -> str:
        if isinstance(held, Value):
            return self.typed(held) if typed else self.names[held]
        return f"[{', '.join(self.values(v, typed) for v in held)}]"


def _omitted(op: Op, name: str) -> bool:
    """An operand that has a default, and has it: such ones stand last."""
    default = next(f.default for f in dataclasses.fields(op) if f.name == name)
    return default == () and getattr(op, name) == ()


def changed_fields(record: Any, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Fields of a dataclass that differ from their defaults; spans are left out."""
    changed = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        chosen = names is None or field.name in names
        default = type(value) is type(field.default) and value == field.default
        if chosen and not default and not isinstance(value, Span):
            changed[field.name] = value
    return changed


def dict_text(items: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{name} = {value_text(value)}" for name, value in items.items()) + "}"


def facts_text(facts: Iterable[Fact]) -> str:
    return f"[{', '.join(map(str, sorted(facts)))}]"


def value_text(value: Any) -> str:
    """An attribute's value."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, RegisterLayout | SharedLayout):
        return "@" + layout_text(value, shape=True)
    if isinstance(value, Type):
        return type_text(value)
    for name, record in RECORDS.items():
        if type(value) is record:
            return f"{name}({', '.join(f'{n} = {value_text(v)}' for n, v in changed_fields(value).items())})"
    raise TypeError(f"an attribute cannot hold a {type(value).__name__}")


def type_text(t: Type) -> str:
    """A type; the layout's shape is the type's own and is not repeated."""
    if isinstance(t, Tile | Buffer) and t.layout is not None:
        bare = f"{type(t).__name__.lower()}<{t.elem}>[{', '.join(map(str, t.shape))}]"
        slots = f" x {t.slots}" if isinstance(t, Buffer) and t.slots != 1 else ""
        return f"{bare}{slots} @{layout_text(t.layout, shape=t.layout.shape != t.shape)}"
    return str(t)


def snake(name: str) -> str:
    """How a layout class is called in the text."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def layout_text(layout: RegisterLayout | SharedLayout, shape: bool) -> str:
    """A layout from its fields; shape: whether to print its shape too. A field that the class fills in is left out."""
    parts = []
    for field in dataclasses.fields(layout):
        value = getattr(layout, field.name)
        omit = (
            field.default is not dataclasses.MISSING
            and dataclasses.replace(layout, **{field.name: field.default}) == layout
        )
        if not omit and (shape or field.name != "shape"):
            parts.append(f"{field.name}={value_text(value)}")
    return f"{snake(type(layout).__name__)}({', '.join(parts)})"

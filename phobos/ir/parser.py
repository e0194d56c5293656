"""Reads the text that `printer` writes; field roles say what to expect of an op.

A kernel that breaks a rule of the IR parses all the same (the verifier judges it), so a value may be used before its
definition. Each op's span is its place in this text. Comments, with the printed spans in them, are skipped.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ..layout import register, shared
from ..layout.base import RegisterLayout, SharedLayout
from ..source import Source, Span
from . import cta_ops, reduce_ops, shape_ops, thread_ops, tile_ops
from .core import OPS, Block, Op, Role, Value
from .kernel import Attributes, Fact, GridAxis, Kernel
from .printer import RECORDS, snake
from .types import SCALARS, Buffer, Dim, Scalar, Tensor, Tile, Type, Vec

OP_MODULES = (tile_ops, shape_ops, reduce_ops, thread_ops, cta_ops)
"""Importing them fills OPS."""

T = TypeVar("T")
Layout = RegisterLayout | SharedLayout

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*)
      | (?P<value>%[\w.]+)
      | (?P<number>-?(?:inf\b|nan\b|\d+(?:\.\d+)?(?:e[-+]?\d+)?))
      | (?P<name>[A-Za-z_]\w*)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<mark>[()\[\]{}<>,;:=@])""",
    re.VERBOSE | re.ASCII,
)
_PENDING = Type()


class IrSyntaxError(ValueError):
    """Text that is not tile IR; says where."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def parse(text: str, name: str = "<tile>") -> Kernel:
    """The one kernel of a text."""
    parser = _Parser(Source(name, text))
    kernel = parser.kernel()
    parser.expect_end()
    return kernel


def parse_type(text: str) -> Type:
    parser = _Parser(Source("<type>", text))
    found = parser.type()
    parser.expect_end()
    return found


def layouts() -> dict[str, type[Layout]]:
    """Every layout class by its name in the text; `rows` is how a Swizzled without a mask calls itself."""
    found: dict[str, type[Layout]] = {"rows": shared.Swizzled, "blocked": register.Blocked}
    todo: list[type[Any]] = [RegisterLayout, SharedLayout]
    while todo:
        for cls in todo.pop().__subclasses__():
            found[snake(cls.__name__)] = cls
            todo.append(cls)
    return found


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = self._lex(source.text)
        self.at = 0
        self.values: dict[str, Value] = {}
        self.used_at: dict[str, int] = {}

    def _lex(self, text: str) -> list[_Token]:
        tokens, at = [], 0
        while at < len(text):
            m = _TOKEN.match(text, at)
            if m is None:
                raise self._error(f"unexpected character {text[at]!r}", at)
            if m.lastgroup != "skip":
                tokens.append(_Token(str(m.lastgroup), m.group(), at))
            at = m.end()
        tokens.append(_Token("end", "end of text", at))
        return tokens

    def _error(self, message: str, at: int | None = None) -> IrSyntaxError:
        line, column = self.source.position(self.token.start if at is None else at)
        return IrSyntaxError(f"{self.source.name}:{line}:{column}: {message}")

    # ---- tokens ---------------------------------------------------------------------------------------------

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self, kind: str) -> str:
        if self.token.kind != kind:
            raise self._error(f"expected a {kind}, found {self.token.text}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def accept(self, text: str) -> bool:
        found = self.token.text == text and self.token.kind in ("mark", "name")
        self.at += found
        return found

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self._error(f"expected {text}, found {self.token.text}")

    def expect_end(self) -> None:
        if self.token.kind != "end":
            raise self._error(f"expected the end, found {self.token.text}")

    def until(self, close: str, item: Callable[[], T]) -> list[T]:
        """Items with commas in between, up to the closing mark."""
        items: list[T] = []
        while not self.accept(close):
            if items:
                self.expect(",")
            items.append(item())
        return items

    def span_from(self, start: int) -> Span:
        last = self.tokens[self.at - 1]
        return Span(self.source, start, last.start + len(last.text))

    # ---- kernels --------------------------------------------------------------------------------------------

    def kernel(self) -> Kernel:
        start = self.token.start
        self.expect("kernel")
        name = self.take("name")
        self.expect("(")
        tensors = self.until(";", self.definition)
        dims = self.until(";", self.definition)
        scalars = self.until(")", self.definition)
        span = self.span_from(start)
        self.expect("form")
        form = json.loads(self.take("string"))
        constants = self.items() if self.accept("constants") else {}
        chosen = self.items() if self.accept("attributes") else {}
        grid = self.value() if self.accept("grid") else (GridAxis(),) * 3
        order = self.value() if self.accept("order") else (0, 1, 2)
        strides = self.strides() if self.accept("strides") else []
        denied = self.facts() if self.accept("denied") else frozenset()
        used = self.facts() if self.accept("used") else frozenset()
        self.expect("{")
        body = Block((), self.ops())
        missing = [n for n, v in self.values.items() if v.type is _PENDING]
        if missing:
            raise self._error(f"%{missing[0]} is never defined", self.used_at[missing[0]])
        return Kernel(
            name=name,
            form=form,
            tensors=tuple(tensors),
            dims=tuple(dims),
            scalars=tuple(scalars),
            body=body,
            attributes=self.make(Attributes, chosen),
            constants=tuple(constants.items()),
            span=span,
            grid=grid,
            order=order,
            denied=denied,
            used=used,
            strides=tuple(strides),
        )

    def strides(self) -> list[tuple[Value, ...]]:
        self.expect("[")
        return self.until("]", lambda: tuple(self.until("]", self.definition) if self.accept("[") else ()))

    def facts(self) -> frozenset[Fact]:
        self.expect("[")
        return frozenset(self.until("]", self.fact))

    def fact(self) -> Fact:
        kind, subject = self.take("name"), ""
        if self.accept("("):
            subject = self.take("name")
            self.expect(")")
        return Fact(kind, subject)

    def make(self, cls: type[T], fields: dict[str, Any], *fixed: Any) -> T:
        """An object of a dataclass; spans that the text does not have are the place here."""
        known = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        for name in fields:
            if name not in known:
                raise self._error(f"{cls.__name__} has no field {name}")
        spans = {n: self.span_from(self.token.start) for n, f in known.items() if f.type == "Span"}
        try:
            return cls(*fixed, **{**spans, **fields})
        except (TypeError, AssertionError) as e:
            raise self._error(f"not a {cls.__name__}: {e}") from e

    # ---- ops ------------------------------------------------------------------------------------------------

    def ops(self) -> tuple[Op, ...]:
        """The rest of a block, with its closing brace."""
        ops: list[Op] = []
        while not self.accept("}"):
            ops.append(self.op())
        return tuple(ops)

    def op(self) -> Op:
        start = self.token.start
        made: list[Value | tuple[Value, ...]] = []
        if self.token.kind == "value" or self.token.text == "[":
            made.append(self.one_or_many(self.definition))
            while self.accept(","):
                made.append(self.one_or_many(self.definition))
            self.expect("=")
        where = self.token.start
        name = self.take("name")
        if name not in OPS:
            raise self._error(f"unknown op {name}", where)
        cls = OPS[name]
        self.expect("(")
        read = self.until(")", lambda: self.one_or_many(self.use))
        fields = self.items() if self.token.text == "{" else {}
        for attribute in fields:
            if attribute not in cls.fields(Role.ATTRIBUTE):
                raise self._error(f"{name} has no attribute {attribute}", where)
        span = self.span_from(start)
        fields |= self.matched(cls, Role.OPERAND, read, where)
        if not made:  # results that are all empty are not written
            made = [() for n in cls.fields(Role.RESULT) if is_tuple(cls, n)]
        fields |= self.matched(cls, Role.RESULT, made, where)
        for region in cls.fields(Role.REGION):
            self.expect(region)
            params = self.until(")", self.definition) if self.accept("(") else []
            self.expect("{")
            fields[region] = Block(tuple(params), self.ops())
        try:
            return cls(span=span, **fields)
        except TypeError as e:
            raise self._error(f"{name}: {e}", where) from e

    def matched(self, cls: type[Op], role: Role, found: list[Any], where: int) -> dict[str, Any]:
        names = cls.fields(role)
        if len(found) < len(names) and has_default(cls, names[-1]):
            names = names[:-1]
        if len(found) != len(names):
            raise self._error(f"{cls.name} has {len(names)} {role.name.lower()}s, found {len(found)}", where)
        for name, held in zip(names, found, strict=True):
            if is_tuple(cls, name) != isinstance(held, tuple):
                raise self._error(f"{name} of {cls.name} is {'a list' if is_tuple(cls, name) else 'one value'}", where)
        return dict(zip(names, found, strict=True))

    def one_or_many(self, item: Callable[[], Value]) -> Value | tuple[Value, ...]:
        return tuple(self.until("]", item)) if self.accept("[") else item()

    def use(self) -> Value:
        at, name = self.token.start, self.take("value")[1:]
        if name not in self.values:
            self.values[name] = Value(name, _PENDING)
            self.used_at[name] = at
        return self.values[name]

    def definition(self) -> Value:
        value, at = self.use(), self.tokens[self.at - 1].start
        self.expect(":")
        t = self.type()
        if value.type not in (_PENDING, t):
            raise self._error(f"{value} has two types", at)
        value.type = t
        return value

    # ---- types and attribute values -------------------------------------------------------------------------

    def type(self) -> Type:
        name = self.take("name")
        if name in SCALARS:
            return SCALARS[name]
        if name not in ("tile", "tensor", "vec", "buffer"):
            raise self._error(f"unknown type {name}", self.tokens[self.at - 1].start)
        self.expect("<")
        elem = self.scalar()
        if name == "vec":
            self.expect(",")
            n = int(self.take("number"))
            self.expect(">")
            return Vec(elem, n)
        self.expect(">")
        self.expect("[")
        if name == "tensor":
            return Tensor(elem, tuple(self.until("]", self.dim)))
        shape = tuple(self.until("]", lambda: int(self.take("number"))))
        slots = int(self.take("number")) if name == "buffer" and self.accept("x") else 1
        layout = self.layout(shape) if self.accept("@") else None
        if name == "tile" and not isinstance(layout, SharedLayout):
            return Tile(elem, shape, layout)
        if name == "buffer" and isinstance(layout, SharedLayout):
            return Buffer(elem, shape, layout, slots)
        raise self._error(f"a {name} needs another kind of layout")

    def scalar(self) -> Scalar:
        name = self.take("name")
        if name not in SCALARS:
            raise self._error(f"unknown scalar type {name}", self.tokens[self.at - 1].start)
        return SCALARS[name]

    def dim(self) -> Dim:
        return self.take("name") if self.token.kind == "name" else int(self.take("number"))

    def layout(self, shape: tuple[int, ...] | None) -> Layout:
        where, name = self.token.start, self.take("name")
        cls = layouts().get(name)
        if cls is None:
            raise self._error(f"unknown layout {name}", where)
        self.expect("(")
        fields = dict(self.until(")", self.item))
        if "shape" in fields or shape is not None:
            fields.setdefault("shape", shape)
            return self.make(cls, fields)
        raise self._error(f"the layout {name} needs a shape here", where)

    def items(self) -> dict[str, Any]:
        self.expect("{")
        return dict(self.until("}", self.item))

    def item(self) -> tuple[str, Any]:
        name = self.take("name")
        self.expect("=")
        return name, self.value()

    def value(self) -> Any:
        kind, text, start = self.token
        if kind == "number":
            self.at += 1
            return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        if kind == "string":
            self.at += 1
            return json.loads(text)
        if self.accept("["):
            return tuple(self.until("]", self.value))
        if self.accept("@"):
            return self.layout(None)
        if kind == "name" and text in ("true", "false", "none"):
            self.at += 1
            return {"true": True, "false": False, "none": None}[text]
        if kind == "name" and text in RECORDS:
            self.at += 1
            self.expect("(")
            return self.make(RECORDS[text], dict(self.until(")", self.item)))
        if kind == "name":
            return self.type()
        raise self._error(f"expected a value, found {text}", start)


def has_default(cls: type[Op], name: str) -> bool:
    """Whether a field may be left out."""
    return any(f.name == name and f.default is not dataclasses.MISSING for f in dataclasses.fields(cls))


def is_tuple(cls: type[Op], name: str) -> bool:
    """Whether a field holds a tuple of values."""
    declared = next(f.type for f in dataclasses.fields(cls) if f.name == name)
    return str(declared).startswith("tuple")

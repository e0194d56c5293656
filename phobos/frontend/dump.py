"""Tokens and syntax trees as text, for tests and for people who debug the parser.

A tree is an s-expression: the class name in lower case, then the fields in order, optional ones as `name=`.
Spans are left out, so are fields that are None or empty. A node goes on one line if it fits.
"""

from __future__ import annotations

import json
from dataclasses import fields

from ..source import Source
from . import ast
from .lexer import Token

_WIDTH = 110


def dump(node: ast.Node) -> str:
    """The tree as an s-expression."""
    return _render(node, 0)


def dump_tokens(tokens: list[Token], source: Source) -> str:
    """One line per token: line:column, kind, and the value of a name or literal."""
    lines = []
    for token in tokens:
        line, column = source.position(token.start)
        value = "" if token.value is None else f" {token.value!r}"
        lines.append(f"{line}:{column} {token.kind}{value}")
    return "\n".join(lines)


def _render(item: object, indent: int) -> str:
    if isinstance(item, ast.Name):
        return item.name
    if isinstance(item, ast.IntLit | ast.FloatLit | ast.BoolLit | ast.StrLit):
        return json.dumps(item.value)
    if isinstance(item, ast.Ctx):
        return ".".join(["ctx", *item.path])
    if isinstance(item, ast.Node):
        return _join(type(item).__name__.lower(), _fields(item, indent + 2), "()", indent)
    if isinstance(item, tuple):
        return _join("", [_render(child, indent + 2) for child in item], "[]", indent)
    return item if isinstance(item, str) else json.dumps(item)


def _fields(node: ast.Node, indent: int) -> list[str]:
    texts = []
    for field in fields(node):
        value = getattr(node, field.name)
        if not (field.name.endswith("span") or value is None or value == ()):
            name = f"{field.name}=" if "None" in str(field.type) else ""
            texts.append(name + _render(value, indent))
    return texts


def _join(head: str, texts: list[str], brackets: str, indent: int) -> str:
    """The parts in brackets, on one line if they fit, else one part a line."""
    line = " ".join([head, *texts] if head else texts)
    if "\n" not in line and len(line) + indent + 2 <= _WIDTH:
        return brackets[0] + line + brackets[1]
    while head and texts and not any(bracket in texts[0] for bracket in "(["):
        head += " " + texts.pop(0)  # names and operators stay on the line of the head
    pad = "\n" + " " * (indent + 2)
    return brackets[0] + pad.join([head, *texts] if head else texts) + brackets[1]

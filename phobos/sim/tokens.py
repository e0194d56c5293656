"""PTX text to tokens: words, dotted words, numbers, strings and punctuation, each with its line."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from .errors import PtxError
from .syntax import Imm

TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|//[^\n]*)
    |(?P<newline>\n)
    |(?P<comment>/\*.*?\*/)
    |(?P<string>"[^"\n]*")
    |(?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
        |\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
    |(?P<dotted>\.\w+(?:::\w+)*)
    |(?P<word>[%$_A-Za-z][\w$]*)
    |(?P<punct>[{}()\[\],;:+\-*/@!|<>=~&^])""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """One token: `kind` is word, dotted, number, string, punct or end."""

    kind: str
    text: str
    line: int


def tokenize(text: str) -> list[Token]:
    """All tokens of a PTX text, an `end` token last."""
    tokens: list[Token] = []
    line, at = 1, 0
    match = TOKEN.match
    while at < len(text):
        found = match(text, at)
        if found is None:
            raise PtxError(line, f"unexpected character {text[at]!r}")
        kind = found.lastgroup
        assert kind is not None
        if kind == "newline":
            line += 1
        elif kind == "comment":
            line += found[0].count("\n")
        elif kind != "space":
            tokens.append(Token(kind, found[0], line))
        at = found.end()
    tokens.append(Token("end", "", line))
    return tokens


def number(token: Token) -> Imm:
    """The constant that a number token writes."""
    text = token.text
    head = text[:2].lower()
    if head == "0f":
        return Imm(int(text[2:], 16), "f32")
    if head == "0d":
        return Imm(int(text[2:], 16), "f64")
    text = text.rstrip("U")
    if head == "0x":
        return Imm(int(text, 16), "int")
    if head == "0b":
        return Imm(int(text, 2), "int")
    if "." in text or "e" in text.lower():
        return Imm(float(text), "float")
    # A leading zero writes octal in PTX, as in C.
    return Imm(int(text, 8) if len(text) > 1 and text[0] == "0" and text.isdigit() else int(text), "int")


def negative(imm: Imm) -> Imm:
    """The constant with a minus sign before it."""
    if imm.kind == "f32":
        return Imm(int(imm.value) ^ 0x8000_0000, "f32")
    if imm.kind == "f64":
        return Imm(int(imm.value) ^ (1 << 63), "f64")
    return Imm(-imm.value, imm.kind)


def constant_bytes(imm: Imm, bits: int, is_float: bool) -> bytes:
    """A constant of an initialiser in memory, little endian."""
    if not is_float:
        return (int(imm.value) & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
    if imm.kind in ("f32", "f64") and bits == int(imm.kind[1:]):
        return int(imm.value).to_bytes(bits // 8, "little")
    if imm.kind in ("f32", "f64"):
        size = int(imm.kind[1:]) // 8
        value = struct.unpack("<f" if size == 4 else "<d", int(imm.value).to_bytes(size, "little"))[0]
    else:
        value = float(imm.value)
    return struct.pack({16: "<e", 32: "<f", 64: "<d"}[bits], value)

"""The lexer: source text to tokens, with newlines that end a statement as tokens of their own.

Takes a `Source`, gives a list of `Token`s that ends in "eof"; findings go to the sink. What cannot be read
becomes one "error" token, at which the parser recovers without a second finding.

A newline becomes a token after a name, a literal, `)`, `]`, `}`, `break`, `continue`, `return`, `true`, `false`,
and never inside `(` or `[`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ..diagnostics import Sink
from ..source import Source, Span

KEYWORDS = frozenset(
    ["kernel", "fn", "let", "var", "if", "else", "for", "in", "while", "break", "continue", "return", "true", "false"]
)
# Words that open a statement or a declaration. None is legal inside brackets, so one of these at the start of a
# line shows that a bracket was left open on a line before.
STARTERS = frozenset(["kernel", "fn", "let", "var", "if", "for", "while", "break", "continue", "return"])
ENDERS = frozenset(
    ["name", "int", "float", "string", "error", ")", "]", "}", "break", "continue", "return", "true", "false"]
)

_SCAN = re.compile(
    r"""
      (?P<space> [ \t\r\f\v]+ | //[^\n]* )
    | (?P<newline> \n )
    | (?P<name> [A-Za-z_][A-Za-z0-9_]* )
    | (?P<number> 0[xX][0-9A-Za-z_]* | \.?[0-9] (?: [eE][+-](?=[0-9]) | [0-9A-Za-z_.] )* )
    | (?P<string> "(?: [^"\\\n] | \\[^\n] )*"? )
    | (?P<comment> /\* )
    | (?P<op> <<= | >>= | :\+ | -> | << | >> | <= | >= | == | != | && | \|\| | [-+*/%&|^]=
            | [-+*/%&|^~!<>=()\[\]{},;:.@] )
    | (?P<junk> [^\x00-\x7f]+ | . )
    """,
    re.VERBOSE,
)
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_INT = re.compile(rf"{_DIGITS}|0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*")
_FLOAT = re.compile(rf"{_DIGITS}\.(?:{_DIGITS})?(?:[eE][+-]?{_DIGITS})?|{_DIGITS}[eE][+-]?{_DIGITS}")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"'}
_MAX_INT = 2**64 - 1
_MAX_INT_DIGITS = 20

_LOOKALIKES = {
    "\u2212": "-", "\u2013": "-", "\u2014": "-", "\u00d7": "*", "\u00b7": "*", "\u00f7": "/", "\u2264": "<=",
    "\u2265": ">=", "\u2260": "!=", "\u201c": '"', "\u201d": '"', "\u2018": '"', "\u2019": '"', "'": '"',
    "\u00a0": "a plain space", "#": "//", "\u2227": "&&", "\u2228": "||",
}  # fmt: skip


class Token(NamedTuple):
    """kind: "name", "int", "float", "string", "newline", "eof", "error", or the keyword or operator itself.

    value: of an "int", "float" or "string" its value, of a "name" its spelling; None otherwise.
    """

    kind: str
    start: int
    end: int
    value: int | float | str | None = None


def tokenize(source: Source, sink: Sink) -> list[Token]:
    """All tokens of `source`, "eof" last."""
    return _Lexer(source, sink).run()


class _Lexer:
    def __init__(self, source: Source, sink: Sink) -> None:
        self.source = source
        self.sink = sink
        self.tokens: list[Token] = []
        self.open: list[str] = []  # brackets not closed yet

    def run(self) -> list[Token]:
        text, tokens = self.source.text, self.tokens
        scan = _SCAN.match
        pos = 1 if text.startswith("\ufeff") else 0  # a byte order mark is not part of the program
        line_start = True
        while pos < len(text):
            match = scan(text, pos)
            assert match is not None, "the scanner takes any character"
            kind, end = match.lastgroup, match.end()
            if kind == "space":
                pos = end
                continue
            if kind == "newline":
                self.newline()
                pos, line_start = end, True
                continue
            if kind == "name":
                word = match.group()
                if word not in KEYWORDS:
                    tokens.append(Token("name", pos, end, word))
                else:
                    if line_start and word in STARTERS:
                        self.close_left_open(everything=word in ("kernel", "fn"))
                    tokens.append(Token(word, pos, end))
            elif kind == "op":
                op = match.group()
                if op in "()[]{}":
                    self.bracket(op)
                elif op == "@" and line_start:
                    self.close_left_open(everything=True)
                tokens.append(Token(op, pos, end))
            elif kind == "number":
                self.number(match.group(), pos, end)
            elif kind == "string":
                end = self.string(match.group(), pos, end)
            elif kind == "comment":
                end = self.block_comment(pos)
            else:
                end = self.junk(match.group(), pos)
            pos, line_start = end, False
        last = tokens[-1].end if tokens else len(text)
        tokens.append(Token("eof", last, last))
        return tokens

    def newline(self) -> None:
        """Put a "newline" where the newline ends a statement; it stands right behind the token before it."""
        if self.open and self.open[-1] != "{":
            return
        if self.tokens and self.tokens[-1].kind in ENDERS:
            end = self.tokens[-1].end
            self.tokens.append(Token("newline", end, end))

    def bracket(self, op: str) -> None:
        if op in "([{":
            self.open.append(op)
        elif op == "}":
            while self.open and self.open.pop() != "{":
                pass
        elif self.open and self.open[-1] != "{":
            self.open.pop()

    def close_left_open(self, everything: bool = False) -> None:
        """Forget brackets that were left open, so that newlines count again; the parser reports them."""
        left_open = bool(self.open) and self.open[-1] != "{"
        if everything:
            self.open.clear()
        while self.open and self.open[-1] != "{":
            self.open.pop()
        if left_open:
            self.newline()

    def error(self, code: str, message: str, start: int, end: int, label: str = "", help: tuple[str, ...] = ()) -> None:
        self.sink.error(code, message, Span(self.source, start, end), label, help=help)

    def number(self, text: str, start: int, end: int) -> None:
        if _INT.fullmatch(text):
            self.integer(text, start, end)
        elif _FLOAT.fullmatch(text):
            value = float(text)
            if value == float("inf"):
                self.error("PH106", "float literal too large", start, end, "more than the largest f64")
                value = 0.0
            self.tokens.append(Token("float", start, end, value))
        else:
            label, help = _number_fault(text)
            shown = text if len(text) <= 40 else text[:37] + "..."
            self.error("PH105", f"malformed number `{shown}`", start, end, label, help)
            self.tokens.append(Token("error", start, end))

    def integer(self, text: str, start: int, end: int) -> None:
        digits = text.replace("_", "")
        if digits.startswith("0x"):
            value = int(digits, 16)
        else:
            digits = digits.lstrip("0") or "0"
            # int() refuses very long text and takes quadratic time; anything longer is too large anyway
            value = int(digits) if len(digits) <= _MAX_INT_DIGITS else _MAX_INT + 1
        if value > _MAX_INT:
            self.error("PH106", "integer literal too large", start, end, "does not fit 64 bits")
            value = 0
        self.tokens.append(Token("int", start, end, value))

    def string(self, text: str, start: int, end: int) -> int:
        """Take the string at `start`; where it does not end, the rest of the line."""
        if len(text) < 2 or not text.endswith('"') or not _closed(text):
            newline = self.source.text.find("\n", start)
            end = len(self.source.text) if newline < 0 else newline
            self.error("PH103", "unterminated string", start, end, 'no closing `"` on this line')
            self.tokens.append(Token("error", start, end))
            self.close_left_open()
            return end
        for match in _ESCAPE.finditer(text, 1, len(text) - 1):
            if match.group(1) not in _ESCAPES:
                at = start + match.start()
                help = ('the escapes are \\n, \\t, \\\\ and \\"',)
                self.error("PH104", f"unknown escape `{match.group()}` in a string", at, at + 2, help=help)
        value = _ESCAPE.sub(lambda m: _ESCAPES.get(m.group(1), m.group(1)), text[1:-1])
        self.tokens.append(Token("string", start, end, value))
        return end

    def block_comment(self, start: int) -> int:
        close = self.source.text.find("*/", start + 2)
        end = len(self.source.text) if close < 0 else close + 2
        help = ("start every line of the comment with `//`",)
        self.error("PH107", "block comments are not part of the language", start, start + 2, help=help)
        return end

    def junk(self, text: str, start: int) -> int:
        """Report a run of one unexpected character, or of a non-ASCII word, once."""
        source, char = self.source.text, text[0]
        end = start + len(text)
        if char.isascii():
            while end < len(source) and source[end] == char:
                end += 1
        elif char.isalpha():
            while end < len(source) and (source[end].isalnum() or source[end] == "_"):
                end += 1
        else:
            end = start + 1
        if char.isascii():
            shown = f"`{char if char.isprintable() else repr(char)[1:-1]}`"
        else:
            shown = f"`{char if char.isprintable() else '?'}` (U+{ord(char):04X} {unicodedata.name(char, 'unnamed')})"
        message = f"unexpected character {shown}"
        help: tuple[str, ...] = ()
        if char in _LOOKALIKES:
            help = (f"write {_LOOKALIKES[char]}" if " " in _LOOKALIKES[char] else f"write `{_LOOKALIKES[char]}`",)
        elif char.isalpha():
            help = ("names are ASCII letters, digits and _",)
        self.error("PH101", message, start, end, help=help)
        if not self.tokens or self.tokens[-1].kind != "error":
            self.tokens.append(Token("error", start, end))
        return end


def _closed(text: str) -> bool:
    """Whether the last quote of `text` is not escaped."""
    backslashes = len(text) - 1 - len(text[:-1].rstrip("\\"))
    return backslashes % 2 == 0


def _number_fault(text: str) -> tuple[str, tuple[str, ...]]:
    """What is wrong with a number: the label and the help."""
    if text.startswith("."):
        return "a float starts with a digit", (f"write 0{text}",) if _FLOAT.fullmatch("0" + text) else ()
    if text.endswith("_") or "__" in text or "_." in text or "._" in text:
        return "_ stands between two digits", ()
    if text[:2] in ("0b", "0B", "0o", "0O"):
        return "integers are decimal or hexadecimal", ("write it in hexadecimal, 0x..",)
    if text[:2] in ("0x", "0X"):
        return "0x in lower case, then hexadecimal digits", ()
    if text.count(".") > 1:
        help = ("a slice is written `a : b`, the range of a loop `range(a, b)`",)
        return "more than one point", help if ".." in text else ()
    if text[-1] in "eE" and text[:-1].replace(".", "").isdigit():
        return "the exponent has no digits", ()
    return "letters in a number", ("types are converted by a call, such as f16(1.0)",)

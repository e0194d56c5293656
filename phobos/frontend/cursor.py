"""The parser's hold on the token list: looking, taking, reporting, and finding the next statement after an error.

An error that leaves no sensible way on raises `PanicError`; the nearest statement or declaration catches it and skips
to its end. At most one error is reported per token, and none at a token that the lexer has reported.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NoReturn

from ..diagnostics import Label, Sink
from ..source import Source, Span
from .lexer import KEYWORDS, STARTERS, Token, tokenize

# Nested blocks, brackets and operators together. The stages after the parser walk the tree recursively, and this
# keeps them, and the parser's own methods, well inside Python's recursion limit of 1000 frames.
MAX_DEPTH = 128


class PanicError(Exception):
    """Raised after an error is reported, to get back to a place where parsing can go on."""


class TooDeepError(PanicError):
    """Gives up on the whole statement: its parts would only be too deep again."""


class Cursor:
    """Where the parser stands in the tokens of one file."""

    def __init__(self, source: Source, sink: Sink) -> None:
        self.source = source
        self.sink = sink
        self.tokens = tokenize(source, sink)
        self.pos = 0
        self.tok = self.tokens[0]
        self.kind = self.tok.kind
        self.prev_end = 0  # where the last taken token ends
        self.depth = 0  # blocks, brackets and operands around this place
        self.open: list[Token] = []  # brackets around this place
        self._reported = -1  # the token at which the last error was reported

    # ---- looking and taking -----------------------------------------------------------------------------

    def advance(self) -> Token:
        """Take the current token; "eof" stays."""
        tok = self.tok
        if tok.kind != "eof":
            self.prev_end = tok.end
            self.pos += 1
            self.tok = self.tokens[self.pos]
            self.kind = self.tok.kind
        return tok

    def peek(self) -> str:
        """The kind of the token after the current one."""
        return self.tokens[min(self.pos + 1, len(self.tokens) - 1)].kind

    def take(self, kind: str) -> bool:
        """Take the current token if it is of this kind."""
        if self.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str, where: str) -> Token:
        """Take a token of this kind, or fail; `where` ends the sentence "expected `(` ..."."""
        if self.kind != kind:
            self.unexpected(f"`{kind}` {where}")
        return self.advance()

    def enter(self) -> None:
        """One level deeper. A level left by a `PanicError` is restored by whoever catches it."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep(self.here())

    def at_end(self) -> bool:
        """Whether a statement may end here."""
        return self.kind in ("newline", ";", "}", "eof")

    # ---- spans ------------------------------------------------------------------------------------------

    def span(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

    def here(self) -> Span:
        return self.span(self.tok)

    def since(self, start: int) -> Span:
        """From `start` to the end of the last taken token."""
        return Span(self.source, start, max(start, self.prev_end))

    # ---- reporting --------------------------------------------------------------------------------------

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        labels: Iterable[Label] = (),
        notes: Iterable[str] = (),
        help: Iterable[str] = (),
    ) -> None:
        """Report, unless an error was reported at this token already."""
        if self._reported != self.pos and self.kind != "error":
            self._reported = self.pos
            self.sink.error(code, message, span, label, tuple(labels), tuple(notes), tuple(help))

    def fail(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        labels: Iterable[Label] = (),
        notes: Iterable[str] = (),
        help: Iterable[str] = (),
    ) -> NoReturn:
        """Report and give up on this statement."""
        self.error(code, message, span, label, labels, notes, help)
        raise PanicError

    def unexpected(self, expected: str, help: Iterable[str] = ()) -> NoReturn:
        """Fail at the current token: an open bracket if that is the cause, else what was expected and found."""
        closes_nothing = self.kind in ("newline", ";", "}", "eof", "{", "@") or self.kind in STARTERS
        if closes_nothing and self.open:
            bracket = self.open[-1]
            found = Label(self.here(), f"expected {expected} before this")
            self.fail("PH108", f"unclosed `{bracket.kind}`", self.span(bracket), "opened here", [found])
        self.fail("PH102", f"expected {expected}, found {self.found()}", self.here(), help=help)

    def too_deep(self, span: Span) -> NoReturn:
        label = f"more than {MAX_DEPTH} levels of blocks, brackets and operators"
        help = ["bind a part of it to a name with `let`, or move it to a `fn`"]
        self.error("PH109", "nested too deep", span, label, help=help)
        raise TooDeepError

    def found(self) -> str:
        """The current token as an error names it."""
        if self.kind == "newline":
            return "the end of the line"
        if self.kind == "eof":
            return "the end of the file"
        text = self.here().text
        shown = text if len(text) <= 40 else text[:37] + "..."
        if self.kind in KEYWORDS:
            return f"the keyword `{shown}`"
        return shown if self.kind == "string" else f"`{shown}`"

    # ---- recovery ---------------------------------------------------------------------------------------

    def skip_statement(self) -> None:
        """Go to the end of this statement, over blocks that belong to it; take neither its `}` nor a declaration.

        It also ends before a line that begins with a statement's keyword, and at the end of the line whose last
        token is the one in error, such as the second + of `i++`.
        """
        depth = 0
        error = self.pos
        while self.kind != "eof" and not self.at_declaration():
            if depth == 0 and self.at_end():
                return
            if depth == 0 and self.starts_line() and (self.kind in STARTERS or self.pos == error + 1):
                return
            depth += (self.kind == "{") - (self.kind == "}")
            self.advance()

    def skip_to_block(self) -> bool:
        """Go to the `{` of a header that could not be read, on the same line; whether there is one."""
        while not self.at_end() and self.kind != "{" and not self.at_declaration():
            self.advance()
        return self.kind == "{"

    def skip_to_declaration(self) -> None:
        """Go to the next kernel or fn, or to the attributes before it."""
        while self.kind not in ("eof", "kernel", "fn", "@"):
            self.advance()

    def skip_within(self, closer: str) -> None:
        """Go to the `,` or the closing bracket of the list that the cursor stands in, or to the statement's end."""
        depth = 0
        while not self.at_end() and self.kind != "{" and not self.at_declaration():
            if depth == 0 and self.kind in (",", closer):
                return
            depth += (self.kind in ("(", "[")) - (self.kind in (")", "]"))
            self.advance()

    def restore(self, depth: int) -> None:
        """Forget the brackets and levels that a `PanicError` left open."""
        self.depth = depth
        self.open = []

    def at_declaration(self) -> bool:
        """Whether a line begins here with a kernel, a fn or, unindented, an attribute: none stands inside a block."""
        if self.kind == "@":
            return self.tok.start == 0 or self.source.text[self.tok.start - 1] == "\n"
        return self.kind in ("kernel", "fn") and self.starts_line()

    def starts_line(self) -> bool:
        return self.pos == 0 or "\n" in self.source.text[self.tokens[self.pos - 1].end : self.tok.start]


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Help that offers the known word closest to a misspelt one, if one is close."""
    return [f"did you mean `{match}`?" for match in difflib.get_close_matches(word, list(known), 1)]

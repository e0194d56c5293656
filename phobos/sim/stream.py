"""A cursor over the tokens of a PTX text, with the few moves that the parsers share."""

from __future__ import annotations

from .errors import PtxError
from .tokens import Token, number, tokenize


class Stream:
    """Tokens with a position."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._tokens[self._at].kind == "end"

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def next(self) -> Token:
        token = self._tokens[self._at]
        if token.kind == "end":
            raise PtxError(token.line, "the text ends in the middle of a statement")
        self._at += 1
        return token

    def accept(self, text: str) -> bool:
        """Take a token with this text when it is next."""
        if self._tokens[self._at].text == text and self._tokens[self._at].kind != "string":
            self._at += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        token = self.next()
        if token.text != text:
            raise PtxError(token.line, f"expected '{text}', not '{token.text}'")
        return token

    def word(self, what: str) -> str:
        token = self.next()
        if token.kind != "word":
            raise PtxError(token.line, f"expected {what}, not '{token.text}'")
        return token.text

    def integer(self) -> int:
        """A constant integer, a sign and sums allowed."""
        value = self._signed()
        while self.peek().text in ("+", "-"):
            sign = 1 if self.next().text == "+" else -1
            value += sign * self._signed()
        return value

    def _signed(self) -> int:
        sign = -1 if self.accept("-") else 1
        token = self.next()
        if token.kind != "number":
            raise PtxError(token.line, f"expected a number, not '{token.text}'")
        imm = number(token)
        if imm.kind != "int":
            raise PtxError(token.line, f"expected an integer, not '{token.text}'")
        return sign * int(imm.value)

    def number_text(self) -> str:
        token = self.next()
        if token.kind != "number":
            raise PtxError(token.line, f"expected a number, not '{token.text}'")
        return token.text

    def skip_line(self, line: int) -> None:
        """Drop what is left of a line."""
        while not self.at_end and self.peek().line == line:
            self._at += 1

    def rest_of_line(self) -> str:
        """The tokens after this one up to the end of its line, joined."""
        line = self.next().line
        start = self._at
        self.skip_line(line)
        return "".join(token.text for token in self._tokens[start : self._at])

    def skip_past(self, text: str) -> None:
        while self.next().text != text:
            pass

    def skip_braces(self) -> None:
        """Drop a balanced `{ ... }`."""
        self.expect("{")
        depth = 1
        while depth:
            text = self.next().text
            depth += (text == "{") - (text == "}")

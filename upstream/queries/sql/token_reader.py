"""Reads our own grammar, token by token: names, words and brackets."""

from __future__ import annotations

from typing import Never

from sqlglot import Token, TokenType

from ...errors import QuerySyntaxError, UnknownColumnError
from .names import did_you_mean, found, is_reserved, reserved
from .source_text import SourceText


class TokenReader:
    """Reads our own grammar, token by token."""

    def __init__(self, source: SourceText, tokens: list[Token], index: int, form: str) -> None:
        self._source = source
        self._tokens = tokens
        self._form = form
        self.index = index

    @property
    def is_at_end(self) -> bool:
        """Whether all tokens were read."""
        return self.index >= len(self._tokens)

    @property
    def place(self) -> int:
        """Where the next token begins, or where the text ends."""
        if self.is_at_end:
            return self._tokens[-1].end + 1
        return int(self._tokens[self.index].start)

    def skip(self, *words: str) -> bool:
        """Skip these words, if they come next."""
        following = self._tokens[self.index : self.index + len(words)]
        if [token.text.upper() for token in following] != [*words]:
            return False
        if any(token.token_type == TokenType.IDENTIFIER for token in following):
            return False  # a quoted name
        self.index += len(words)
        return True

    def is_next(self, word: str) -> bool:
        """Tell whether this word or sign comes next."""
        return not self.is_at_end and self._tokens[self.index].text.upper() == word

    def token(self, what: str) -> Token:
        """Read any token."""
        if self.is_at_end:
            self.refuse(f"expected {what}")
        self.index += 1
        return self._tokens[self.index - 1]

    def name(self, what: str) -> str:
        """Read a name, quoted or not."""
        if self.is_at_end or not _is_name(self._tokens[self.index]):
            self.refuse(f"expected {what}")
        name = str(self._tokens[self.index].text)
        if not name:
            self.refuse(f"expected {what}, which must not be empty")
        if is_reserved(name):
            self.refuse(reserved(name))
        self.index += 1
        return name

    def skip_brackets(self, what: str) -> None:
        """Skip from an opening bracket to the token after the closing one."""
        if self.is_at_end or self._tokens[self.index].token_type != TokenType.L_PAREN:
            self.refuse(f"expected {what}, in brackets")
        depth = 0
        while not self.is_at_end:
            kind = self._tokens[self.index].token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            self.index += 1
            if depth == 0:
                return
        self.refuse("expected )")

    def names(self, known: list[str]) -> list[str]:
        """Read names of columns in brackets."""
        names: list[str] = []
        separator = "("
        while self.skip(separator):
            place = self.place
            written = self.name("the name of a column")
            column = found(written, known)
            if column is None:
                hint = did_you_mean(written, [each for each in known if each not in names])
                reason = f"there is no column named {written}"
                self._source.refuse(UnknownColumnError, reason, place, hint)
            if column in names:
                reason = f"{column} is named twice"
                self._source.refuse(QuerySyntaxError, reason, place, self._form)
            names.append(column)
            separator = ","
        if not names or not self.skip(")"):
            self.refuse("expected the names of columns, in brackets")
        return names

    def new_names(self, what: str) -> list[str]:
        """Read names in brackets that are all different."""
        names: list[str] = []
        separator = "("
        while self.skip(separator):
            place = self.place
            names.append(self.name(what))
            if found(names[-1], names[:-1]):
                reason = f"{names[-1]} is named twice"
                self._source.refuse(QuerySyntaxError, reason, place, self._form)
            separator = ","
        if not names or not self.skip(")"):
            self.refuse(f"expected {what}, in brackets")
        return names

    def refuse(self, reason: str) -> Never:
        """Raise an error with the place that was reached."""
        self._source.refuse(QuerySyntaxError, reason, self.place, self._form)


def _is_name(token: Token) -> bool:
    if token.token_type == TokenType.IDENTIFIER:  # a quoted name
        return True
    return token.text.isidentifier() and token.token_type != TokenType.STRING

"""Reads our own grammar, token by token: names, words and brackets."""

from __future__ import annotations

import re
from typing import Never

from sqlglot import Token, TokenType

from ...errors import QuerySyntaxError, UnknownColumnError
from ..into import NamedAt
from .names import did_you_mean, found, is_reserved, reserved
from .source_text import SourceText


class TokenReader:
    """Reads our own grammar, token by token."""

    def __init__(self, source: SourceText, tokens: list[Token], index: int, form: str) -> None:
        self._source = source
        self._tokens = tokens
        self.form = form
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

    def comes(self, *words: str) -> bool:
        """Tell whether these words come next, not as a quoted name."""
        following = self._tokens[self.index : self.index + len(words)]
        if any(token.token_type == TokenType.IDENTIFIER for token in following):
            return False
        return [token.text.upper() for token in following] == [*words]

    def skip(self, *words: str) -> bool:
        """Skip these words, if they come next."""
        if not self.comes(*words):
            return False
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
        """Read names of columns in brackets, and return them as these columns are named."""
        written = self.names_at("the names of columns", known)
        return [column for each in written if (column := found(each.name, known)) is not None]

    def new_names(self, what: str) -> list[str]:
        """Read names in brackets that are all different."""
        return [each.name for each in self.names_at(what)]

    def names_at(self, what: str, known: list[str] | None = None) -> list[NamedAt]:
        """Read different names in brackets, with their places; of these columns, if given."""
        names: list[NamedAt] = []
        separator = "("
        while self.skip(separator):
            place = self.place
            written = self.name("the name of a column")
            if known is not None and found(written, known) is None:
                taken = {each.name.lower() for each in names}
                hint = did_you_mean(written, [each for each in known if each.lower() not in taken])
                reason = f"there is no column named {written}"
                self._source.refuse(UnknownColumnError, reason, place, hint)
            if found(written, [each.name for each in names]) is not None:
                reason = f"{written} is named twice"
                self._source.refuse(QuerySyntaxError, reason, place, self.form)
            names.append(NamedAt(written, place))
            separator = ","
        if not names or not self.skip(")"):
            self.refuse(f"expected {what}, in brackets")
        return names

    def rest(self) -> str:
        """Return the rest of the text, with blanks before it, so that all places are the same."""
        blank = re.sub(r"[^\n]", " ", self._source.text[: self.place])
        return blank + self._source.text[self.place : self._tokens[-1].end + 1]

    def refuse(self, reason: str) -> Never:
        """Raise an error with the place that was reached."""
        self._source.refuse(QuerySyntaxError, reason, self.place, self.form)


def _is_name(token: Token) -> bool:
    if token.token_type == TokenType.IDENTIFIER:  # a quoted name
        return True
    return token.text.isidentifier() and token.token_type != TokenType.STRING

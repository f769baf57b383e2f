"""The text of a statement and its tokens, which give mistakes their places.

sqlglot's tokenizer and parser do the work, in our own dialect (`dialect`), with one change: `rows(`
in place of a table is the name of a function, although ROWS is a keyword.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Never

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError, TokenError

from ...database.duck import Duck
from ...errors import ParameterError, QueryError, QuerySyntaxError, StatementError
from .dialect import DIALECT, WrittenParser
from .foreign_forms import foreign_form, in_words_of_duckdb

LONGEST = 250_000
"""The greatest number of characters in a statement; parsing more takes seconds."""
DEEPEST = 1_000
"""The depth of nested brackets that DuckDB can read."""

_SLIPS = (AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that sqlglot may raise for a text that is not SQL, besides its own."""

_TABLE_COMES = {TokenType.FROM, TokenType.JOIN, TokenType.COMMA, TokenType.LATERAL}
_KEYWORDS = {TokenType.ROWS, TokenType.SESSION}
_DEPTHS = {
    **dict.fromkeys((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE), 1),
    **dict.fromkeys((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE), -1),
}
_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}


class SourceText:
    """A text with its tokens; raises QuerySyntaxError if it cannot be tokenized."""

    __slots__ = ("_parser", "for_duckdb", "text", "tokens")

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise ParameterError("text", text, "a statement as a string")
        self.text = text
        self._check_characters()
        self._parser = WrittenParser(error_level=ErrorLevel.IMMEDIATE, dialect=DIALECT())
        self.tokens = self._tokenized(text)
        self.for_duckdb = in_words_of_duckdb(text, self.tokens)
        """A version of the text that DuckDB can read, with every character in its place."""
        if self.for_duckdb != text:
            self.tokens = self._tokenized(self.for_duckdb)
        _name_rows(self.tokens)

    def statement(self) -> exp.Expr:
        """Parse the only statement of the text."""
        return self.parse(self.one_statement())

    @property
    def place(self) -> int | None:
        """Where the last parse failed."""
        return self._parser.place

    def all_tokens(self) -> list[Token]:
        """Return the tokens, including those after a word such as EXPLAIN."""
        if not self.tokens or self.tokens[0].token_type != TokenType.COMMAND:
            return self.tokens
        behind = self.tokens[0].end + 1
        return SourceText(" " * behind + self.text[behind:]).all_tokens()

    def type_for_duckdb(self, duck: Duck) -> str:
        """Return DuckDB's kind of this statement; "" if DuckDB cannot read it either.

        DuckDB is not asked if brackets are not closed: for many of them it takes minutes, or
        crashes.
        """
        depths = [0, *_depths(self.tokens)]
        is_closed = min(depths) == depths[-1] == 0 and max(depths) <= DEEPEST
        return duck.statement_type(self.for_duckdb) if is_closed else ""

    def one_statement(self) -> list[Token]:
        """Return the tokens of the only statement.

        Raise StatementError where a second one begins.
        """
        tokens = self.tokens
        while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
            tokens = tokens[:-1]
        if not tokens:
            self.refuse(QuerySyntaxError, "there is no statement here", 0)
        for token, following in pairwise(tokens):
            if token.token_type == TokenType.SEMICOLON:
                hint = "run one statement at a time"
                self.refuse(StatementError, "a second statement begins here", following.start, hint)
        return tokens

    def written(self, first: int, end: int) -> str:
        """Return the text of tokens, with one space wherever there was anything between them."""
        tokens = self.tokens[first:end]
        parts = [self.text[tokens[0].start : tokens[0].end + 1]]
        for before, token in pairwise(tokens):
            gap = " " if token.start > before.end + 1 else ""
            parts.append(gap + self.text[token.start : token.end + 1])
        return "".join(parts)

    def parse(self, tokens: list[Token]) -> exp.Expr:
        """Parse some of the tokens as one statement."""
        with self.syntax_errors():
            trees = self._parser.parse(tokens, self.for_duckdb)
        tree = trees[0] if trees else None
        if tree is None:
            self.refuse(QuerySyntaxError, "there is no statement here", 0)
        return tree

    @contextmanager
    def syntax_errors(self) -> Iterator[None]:
        """Turn any exception of sqlglot about a text into an error with a place."""
        try:
            yield
        except ParseError as error:
            reason = error.errors[0].get("description") if error.errors else None
            self._refuse_foreign_form()
            self.refuse(QuerySyntaxError, _spoken(reason or str(error)), self._parser.place)
        except RecursionError:
            self.refuse(QuerySyntaxError, "the statement is nested too deeply", 0)
        except QuerySyntaxError:  # raised for DuckDB, which cannot read what sqlglot can
            self._refuse_foreign_form()
            raise
        except QueryError:
            raise
        except (SqlglotError, *_SLIPS):
            self.refuse(QuerySyntaxError, "this cannot be read as SQL", self._parser.place)

    def refuse(
        self, kind: type[QueryError], reason: str, place: int | None, hint: str = ""
    ) -> Never:
        """Raise an error with a place in this text."""
        raise kind(reason, self.text, place, hint) from None

    def foreign_form(self) -> QuerySyntaxError | None:
        """Return the error for syntax of another engine; to be called if a text cannot be read."""
        if (form := foreign_form(self.tokens)) is None:
            return None
        reason, place, hint = form
        return QuerySyntaxError(reason, self.text, place, hint)

    def _refuse_foreign_form(self) -> None:
        if (error := self.foreign_form()) is not None:
            raise error from None

    def _check_characters(self) -> None:
        if len(self.text) > LONGEST:
            reason = f"a statement of {len(self.text):,} characters is too long"
            hint = f"write at most {LONGEST:,}; add many rows with append(stream, table)"
            raise QuerySyntaxError(reason, self.text, None, hint)
        if (found := _NO_TEXT.search(self.text)) is not None:
            sign = ascii(found.group())
            self.refuse(QuerySyntaxError, f"a statement cannot contain {sign}", found.start())

    def _tokenized(self, text: str) -> list[Token]:
        try:
            return list(DIALECT().tokenize(text))
        except TokenError as error:
            reason = str(error.__cause__ or error)
            at = re.search(r" from \d+:(\d+)$", reason)
            place = int(at.group(1)) if at else len(text)
            reason = reason[: at.start()] if at else "this cannot be read as SQL"
            if reason.startswith("Missing "):
                reason = f"what begins here has no closing {reason.removeprefix('Missing ')}"
            self.refuse(QuerySyntaxError, reason, place)
        except (SqlglotError, RecursionError, *_SLIPS):
            self.refuse(QuerySyntaxError, "this cannot be read as SQL", None)


_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


def _spoken(reason: str) -> str:
    """Return a message of sqlglot without its trees and tokens."""
    if reason.startswith("Required keyword"):
        return "something is missing here"
    if reason.startswith("Invalid expression"):
        return "this is not expected here"
    reason = re.sub(r" but got .*", "", reason, flags=re.DOTALL)
    reason = reason.replace("Expecting ", "Expected ")
    return lowered(re.sub(r"<class '[\w.]*\.(\w+)'>", r"\1", reason).rstrip(". "))


def lowered(reason: str) -> str:
    """Return a sentence in the form that follows a colon; keywords keep their case."""
    words = reason.split(" ", 1)
    return reason if words[0].isupper() else reason[:1].lower() + reason[1:]


def _name_rows(tokens: list[Token]) -> None:
    """Turn each ROWS that is called as a table function into a name, except those of frames.

    `ROWS (` begins a frame as well, which contains neither a name followed by a comma nor an
    interval.
    """
    for i in range(len(tokens) - 1):
        if tokens[i].token_type not in _KEYWORDS:
            continue
        if tokens[i + 1].token_type != TokenType.L_PAREN:
            continue
        behind = [token.token_type for token in tokens[i + 2 : i + 4]]
        is_value = tokens[i].token_type == TokenType.SESSION and behind[:1] == [TokenType.INTERVAL]
        is_after_table = i > 0 and tokens[i - 1].token_type in _TABLE_COMES
        has_arguments = behind[:1] and behind[0] in _NAMES and behind[1:] == [TokenType.COMMA]
        if is_after_table or has_arguments or is_value:
            tokens[i].token_type = TokenType.VAR


def _depths(tokens: Iterable[Token]) -> Iterator[int]:
    """Yield the depth of brackets after each token."""
    return accumulate(_DEPTHS.get(token.token_type, 0) for token in tokens)


def places_in_brackets(tokens: Sequence[Token]) -> list[list[int]]:
    """Return for each outermost pair of brackets where its parts begin."""
    places: list[list[int]] = []
    for (token, following), depth in zip(pairwise(tokens), _depths(tokens), strict=False):
        if depth == 1 and token.token_type == TokenType.L_PAREN:
            places.append([following.start])
        elif depth == 1 and token.token_type == TokenType.COMMA:
            places[-1].append(following.start)
    return places


def end_of_brackets(tokens: Sequence[Token], start: int) -> int:
    """Return the number of the token after the brackets that open here, or after the last."""
    depths = enumerate(_depths(tokens[start:]), start=start + 1)
    return next((end for end, depth in depths if depth == 0), len(tokens))


def place_of_word(text: str, word: str) -> int | None:
    """Return where a name, in any case, stands in a statement."""
    tokens = SourceText(text).all_tokens()
    return next((token.start for token in tokens if token.text.lower() == word.lower()), None)


def words_of(text: str) -> set[str]:
    """Return all names and other words in a statement, in lower case."""
    return {token.text.lower() for token in SourceText(text).all_tokens()}

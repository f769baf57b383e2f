"""Where the query of an INSERT is in the text, and the values of its VALUES."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import Token, TokenType, exp

from .source_text import SourceText
from .statement import InsertInto

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


def text_of_query(insert: InsertInto) -> str:
    """Return the text of the query that is inserted, with the WITH before it, at its place."""
    tokens = SourceText(insert.text).one_statement()
    into = next(i for i, token in enumerate(tokens) if token.start >= insert.place)
    first = next(i for i in range(into, -1, -1) if tokens[i].token_type == TokenType.INSERT)
    query = into + 1
    if insert.columns is not None:
        query = _behind_brackets(tokens, query)
    if tokens[query].text.upper() == "BY":  # BY NAME, BY POSITION
        query += 2
    before, start, end = tokens[first].start, tokens[query].start, tokens[-1].end + 1
    return insert.text[:before] + " " * (start - before) + insert.text[start:end]


def _behind_brackets(tokens: list[Token], start: int) -> int:
    depth = 0
    for i in range(start, len(tokens)):
        depth += (tokens[i].token_type in _OPENING) - (tokens[i].token_type in _CLOSING)
        if depth == 0:
            return i + 1
    return len(tokens)


def place_of_value(insert: InsertInto, row: int, column: int | None) -> int:
    """Return where a value begins; where the stream is named if it is none of VALUES."""
    if column is None or not isinstance(insert.query, exp.Values):
        return insert.place
    rows = _places(insert)
    is_there = row < len(rows) and column < len(rows[row])
    return rows[row][column] if is_there else insert.place


def _places(insert: InsertInto) -> list[list[int]]:
    """Return where the values of each row begin."""
    tokens = [token for token in SourceText(insert.text).tokens if token.start >= insert.place]
    while tokens and tokens[0].token_type != TokenType.VALUES:
        tokens.pop(0)
    rows: list[list[int]] = []
    depth = 0
    for token, following in pairwise(tokens):
        kind = token.token_type
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if depth == 1 and kind == TokenType.L_PAREN:
            rows.append([following.start])
        elif depth == 1 and kind == TokenType.COMMA:
            rows[-1].append(following.start)
    return rows

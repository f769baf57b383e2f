"""Where a value of INSERT INTO … VALUES is in the text."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import TokenType, exp

from .source_text import SourceText
from .statement import InsertInto

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


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

"""Columns of a result without an alias are called what the user wrote.

DuckDB calls them after the text that it reads, and that is what sqlglot writes out: `CAST(a AS
INT)` for `a::INTEGER`. So each of them gets its own text as an alias; the parser notes of which
tokens an item was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot import Token, exp

from .dialect import ITEM
from .source_text import SourceText

_NAMED = (exp.Alias, exp.Aliases, exp.Column, exp.Star, exp.Dot)
"""What has a name, or is several columns."""
_SEVERAL = "unnest"
"""The function that may make several columns, with names of their own, as COLUMNS does."""


def name_columns(source: SourceText, query: exp.Query) -> None:
    """Give the unnamed columns of a query's result their text as a name."""
    tokens = source.one_statement()
    for select in _outermost(query):
        for item in [*select.expressions]:
            if _is_unnamed(item) and ITEM in item.meta:
                name = _joined(source.text, tokens[slice(*item.meta[ITEM])])
                alias = exp.Alias(alias=exp.to_identifier(name, quoted=True))
                item.replace(alias)
                alias.set("this", item)


def _outermost(query: exp.Expr) -> Iterator[exp.Select]:
    """Yield the query that names the columns; all, if columns of several meet by name."""
    waiting = [query]
    while waiting:
        query = waiting.pop()
        if isinstance(query, exp.Subquery):
            waiting.append(query.this)
        elif isinstance(query, exp.SetOperation):
            waiting += [query.right, query.left] if query.args.get("by_name") else [query.left]
        elif isinstance(query, exp.Select):
            yield query


def _is_unnamed(item: exp.Expr) -> bool:
    if isinstance(item.unnest(), _NAMED) or item.find(exp.Columns, exp.Unnest) is not None:
        return False
    return all(call.name.lower() != _SEVERAL for call in item.find_all(exp.Anonymous))


def _joined(text: str, tokens: Sequence[Token]) -> str:
    """Return the text of tokens, with one space where there was anything between them."""
    parts = [text[tokens[0].start : tokens[0].end + 1]]
    for before, token in pairwise(tokens):
        gap = " " if token.start > before.end + 1 else ""
        parts.append(gap + text[token.start : token.end + 1])
    return "".join(parts)

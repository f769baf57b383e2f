"""Columns of a result without an alias are called what the user wrote.

DuckDB calls them after the text that it reads, and that is what sqlglot writes out: `CAST(a AS
INT)` for `a::INTEGER`. So each of them gets its own text as an alias. Where it begins and ends
is found among the tokens, and proved by parsing it once more: it has to be the same expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise

from sqlglot import Token, TokenType, exp

from ...errors import QueryError
from .source_text import SourceText, place_of

MOST_LISTS = 20
"""So many lists of constants are compared with one."""
MOST_ENDS = 3
"""So many words are tried that may end a list."""

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_BETWEEN_QUERIES = {TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT}
_BEHIND_ITEMS = {
    *(TokenType.FROM, TokenType.INTO, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING),
    *(TokenType.WINDOW, TokenType.QUALIFY, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET),
    *(TokenType.FETCH, TokenType.TABLE_SAMPLE, TokenType.USING),
}
_NAMED = (exp.Alias, exp.Aliases, exp.Column, exp.Star, exp.Dot)
"""What has a name, or is several columns."""
_SEVERAL = "unnest"
"""The function that may make several columns, with names of their own, as COLUMNS does."""


def name_columns(source: SourceText, query: exp.Query) -> None:
    """Give the unnamed columns of a query's result their text as a name."""
    tokens = source.one_statement()
    for select in _outermost(query):
        unnamed = [i for i, item in enumerate(select.expressions) if _is_unnamed(item)]
        lists = islice(_lists_of(select, tokens), MOST_LISTS) if unnamed else ()
        for items in lists:
            texts = {i: _text_of(source, select.expressions, i, items) for i in unnamed}
            if any(texts.values()):
                _alias(select, texts)
                break


def _alias(select: exp.Select, texts: Mapping[int, str | None]) -> None:
    items = [*select.expressions]
    for i, text in texts.items():
        if text is not None:
            name = exp.to_identifier(text, quoted=True)
            items[i] = exp.Alias(this=items[i], alias=name)
    select.set("expressions", items)


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


def _lists_of(select: exp.Select, tokens: Sequence[Token]) -> Iterator[list[list[Token]]]:
    """Yield the lists that may be that of a query: one, but for lists of mere constants."""
    places = [place_of(item) for item in select.expressions]
    for start, token in enumerate(tokens):
        if token.token_type != TokenType.SELECT:
            continue
        items = [*_items(tokens, start)]
        if len(items) >= len(places) and all(
            place is None or (item and item[0].start <= place <= item[-1].end)
            for item, place in zip(items, places, strict=False)
        ):
            yield items


def _items(tokens: Sequence[Token], start: int) -> Iterator[list[Token]]:
    """Yield the items behind a SELECT; the last of them goes on to the end of the query."""
    depth = 0
    first = start + 1
    for i in range(first, len(tokens)):
        kind = tokens[i].token_type
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if depth < 0 or (depth == 0 and kind in _BETWEEN_QUERIES):
            yield [*tokens[first:i]]
            return
        if depth == 0 and kind == TokenType.COMMA:
            yield [*tokens[first:i]]
            first = i + 1
    yield [*tokens[first:]]


def _text_of(
    source: SourceText, expressions: Sequence[exp.Expr], number: int, items: list[list[Token]]
) -> str | None:
    """Return what was written for an item; None if it cannot be proved."""
    tokens = items[number]
    if number == 0:
        tokens = _without_distinct(tokens)
    ends = _ends(tokens) if number == len(expressions) - 1 else [len(tokens)]
    for end in ends:
        if _parsed(source, tokens[:end]) == expressions[number]:
            return _joined(source.text, tokens[:end])
    return None


def _without_distinct(tokens: list[Token]) -> list[Token]:
    """Return what comes behind DISTINCT, or DISTINCT ON (…), or ALL."""
    kinds = [token.token_type for token in tokens]
    if kinds[:1] == [TokenType.ALL]:
        return tokens[1:]
    if kinds[:1] != [TokenType.DISTINCT]:
        return tokens
    if kinds[1:3] != [TokenType.ON, TokenType.L_PAREN]:
        return tokens[1:]
    depth = 0
    for i, kind in enumerate(kinds):
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if depth == 0 and kind == TokenType.R_PAREN:
            return tokens[i + 1 :]
    return tokens


def _ends(tokens: list[Token]) -> list[int]:
    """Return where the last item may end: `FROM` may belong to IS DISTINCT FROM as well."""
    ends: list[int] = []
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth == 0 and token.token_type in _BEHIND_ITEMS:
            ends.append(i)
    return [*ends[:MOST_ENDS], len(tokens)]


def _parsed(source: SourceText, tokens: list[Token]) -> exp.Expr | None:
    if not tokens:
        return None
    select = Token(TokenType.SELECT, "SELECT", start=tokens[0].start, end=tokens[0].start)
    try:
        tree = source.parse([select, *tokens])
    except QueryError:
        return None
    items = tree.expressions if isinstance(tree, exp.Select) else []
    return items[0] if len(items) == 1 else None


def _joined(text: str, tokens: list[Token]) -> str:
    """Return the text of tokens, with one space where there was anything between them."""
    parts = [text[tokens[0].start : tokens[0].end + 1]]
    for before, token in pairwise(tokens):
        gap = " " if token.start > before.end + 1 else ""
        parts.append(gap + text[token.start : token.end + 1])
    return "".join(parts)

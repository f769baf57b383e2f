"""Parses CREATE VIEW, DROP VIEW and EXPLAIN of a name.

Only the words before the query are read here. Whether a view is continuous is known once its query
is read; if it is not, the statement is DuckDB's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sqlglot import Token

from ...errors import StatementError
from .options import options_in
from .statement import CreateView, DropView, ExplainName
from .token_reader import TokenReader

if TYPE_CHECKING:
    from .source_text import SourceText

_FORM: Final = "write CREATE VIEW by_day AS SELECT day, sum(size) AS size FROM trades GROUP BY day"
_MODIFIERS: Final = ("TEMP", "TEMPORARY", "RECURSIVE", "MATERIALIZED")


def view_statement(
    source: SourceText, tokens: list[Token]
) -> CreateView | DropView | ExplainName | None:
    """Return a statement about a view, or None if it is another one or has another form."""
    words = [token.text.upper() for token in tokens[:6]]
    if words[0] == "CREATE" and "VIEW" in words[1:5]:
        before = words[1 : words.index("VIEW")]
        or_replace = before[:2] == ["OR", "REPLACE"]
        modifiers = before[2:] if or_replace else before
        if all(word in _MODIFIERS for word in modifiers):
            return _create(source, tokens, tuple(modifiers), or_replace=or_replace)
    if words[:2] == ["DROP", "VIEW"]:
        return _drop(source, tokens)
    if words[0] == "EXPLAIN":
        return _explain(source.text)
    return None


def _create(
    source: SourceText, tokens: list[Token], modifiers: tuple[str, ...], *, or_replace: bool
) -> CreateView | None:
    first = 2 + len(modifiers) + 2 * or_replace
    reader = TokenReader(source, tokens, first, _FORM)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    if if_not_exists and or_replace:
        reader.refuse("OR REPLACE and IF NOT EXISTS cannot be combined")
    place = reader.place
    name = reader.name("the name of a view")
    if reader.is_next("."):
        return None  # in a schema, where only DuckDB's views are
    columns = tuple(reader.new_names("the name of a column")) if reader.is_next("(") else None
    options = options_in(source, reader) if reader.skip("WITH") else {}
    if not reader.skip("AS"):
        reader.refuse("expected AS and a query")
    return CreateView(
        text=source.text,
        name=name,
        query=reader.rest(),
        columns=columns,
        options=options,
        words=modifiers,
        or_replace=or_replace,
        if_not_exists=if_not_exists,
        place=place,
    )


def _drop(source: SourceText, tokens: list[Token]) -> DropView | None:
    reader = TokenReader(source, tokens, 2, "write DROP VIEW by_sector")
    if_exists = reader.skip("IF", "EXISTS")
    place = reader.place
    if reader.is_at_end:
        return None
    name = reader.name("the name of a view")
    if reader.skip("CASCADE"):
        hint = "drop first what reads it"
        source.refuse(StatementError, "DROP VIEW … CASCADE is not supported", place, hint)
    reader.skip("RESTRICT")
    return DropView(source.text, name, if_exists, place) if reader.is_at_end else None


_EXPLAIN_NAME: Final = re.compile(
    r"""\s*EXPLAIN\s+(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<name>[a-z_]\w*))\s*;?\s*""", re.IGNORECASE
)


def _explain(text: str) -> ExplainName | None:
    """Return the statement if a name is all that follows; DuckDB explains statements only."""
    found = _EXPLAIN_NAME.fullmatch(text)
    if found is None:
        return None
    if found["name"]:
        return ExplainName(text, found["name"], found.start("name"))
    return ExplainName(text, found["quoted"].replace('""', '"'), found.start("quoted") - 1)

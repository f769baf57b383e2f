"""Where in a query it is that DuckDB does not like something: found by trial.

DuckDB names what it does not like, but not where it is. So a part of the query is replaced by NULL,
and if DuckDB then says something else, this part has to do with it. Of that part the pieces are
tried likewise, down to the least that DuckDB does not like all by itself: a piece that stands in
for the whole of it is refused for the same reason only if the reason is within.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...database.failure import DatabaseError
from .source_text import place_of

MOST_TRIALS = 200
"""So often DuckDB is asked at most; each time costs about a millisecond."""
MOST_CHARACTERS = 100_000
"""So much is DuckDB asked in all, so that long queries are not tried for seconds."""


def place_of_table(query: exp.Query, name: str) -> int | None:
    """Return where a table of this name is read, or else where it qualifies a column."""
    plain = name.rpartition(".")[2].strip('"').lower()
    tables = [each for each in query.find_all(exp.Table) if each.name.lower() == plain]
    columns = [each for each in query.find_all(exp.Column) if each.table.lower() == plain]
    return _first_place(tables) if tables else _first_place(columns)


def place_of_function(query: exp.Query, name: str) -> int | None:
    """Return where a table function of this name is called."""
    calls = [each for each in query.find_all(exp.Anonymous) if each.name.lower() == name.lower()]
    return _first_place([each for each in calls if isinstance(each.parent, exp.Table)] or calls)


class Trial:
    """Asks DuckDB of variants of a query for which it said something."""

    def __init__(self, query: exp.Query, message: str, bind: Callable[[exp.Query], object]) -> None:
        self._query = query
        self._message = _said(message)
        self._bind = bind
        self._left = min(MOST_TRIALS, MOST_CHARACTERS // (len(query.sql()) + 1))

    def place_of_column(self, name: str) -> int | None:
        """Return where the column of this name is that DuckDB means."""
        named = [
            each for each in self._query.find_all(exp.Column) if each.name.lower() == name.lower()
        ]
        named.sort(key=lambda each: place_of(each) or 0)
        meant = (each for each in named if self._says_else(each, exp.Null()))
        return _first_place([next(meant, None) or (named[0] if named else None)])

    def place(self) -> int | None:
        """Return where the least part begins that DuckDB does not like."""
        found: exp.Expr | None = None
        parts = _parts(self._query)
        while parts:
            part = parts.pop(0)
            if not self._says_else(part, exp.Null()):
                continue
            if found is not None and self._says_else(found, part.copy()):
                continue  # all by itself the part is none of the matter
            found = part
            parts = _parts(part)
        return _first_place([found])

    def _says_else(self, part: exp.Expr, other: exp.Expr) -> bool:
        """Tell whether DuckDB says something else if a part is replaced."""
        if self._left <= 0:
            return False
        self._left -= 1
        part.replace(other)
        try:
            self._bind(self._query)
        except DatabaseError as error:
            said = _said(str(error))
            return said != self._message and not said.startswith("Parser Error")
        except (SqlglotError, ValueError, RecursionError):
            return False
        else:
            return True
        finally:
            other.replace(part)


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of a node that are values, or else the parts of these, in their order."""
    parts: list[exp.Expr] = []
    for child in node.iter_expressions():
        if isinstance(child, exp.Table):  # a function that makes one is no value
            continue
        if isinstance(child, exp.Condition) and not isinstance(child, exp.Star | exp.If):
            parts.append(child)
        else:
            parts.extend(_parts(child))
    return parts


def _said(message: str) -> str:
    """Return a message without the text that it is about, which is another with each variant."""
    return message.partition("\n\nLINE ")[0]


def _first_place(nodes: Sequence[exp.Expr | None]) -> int | None:
    places = [place_of(node) for node in nodes if node is not None]
    return min((place for place in places if place is not None), default=None)

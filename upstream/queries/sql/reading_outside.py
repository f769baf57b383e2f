"""Whether a query may read anything that changes without a statement, such as a file or the clock.

DuckDB's views and macros hide what they read. So the queries of the views are read as well, and a
macro counts as reading outside if its body reads anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sqlglot import exp

from ...database.duck import Duck
from ...errors import QueryError
from .functions import functions_of, name_of
from .source_text import SourceText
from .standing_needs import tables_read

_SERIES: Final = frozenset({"range", "generate_series"})


def reads_files(query: exp.Query, duck: Duck) -> bool:
    """Tell whether a query may read something other than DuckDB's tables.

    That is a function in FROM, a macro that reads, or a name that is neither a table nor a view
    of the user, such as the name of a file.
    """
    return any(each is None or _calls_reading(each, duck) for each in _with_views(query, duck))


def volatile_in(query: exp.Query, duck: Duck) -> str:
    """Return a function of another value each time, in a query or in the views that it reads."""
    functions = functions_of(duck)
    found = (functions.volatile_in(each) for each in _with_views(query, duck) if each is not None)
    return next(filter(None, found), "")


def _calls_reading(query: exp.Query, duck: Duck) -> bool:
    """Tell whether a query calls functions in FROM, or macros, that may read files or tables."""
    calls = (node.this for node in query.find_all(exp.Table, exp.Lateral))
    if any(isinstance(call, exp.Func) and name_of(call) not in _SERIES for call in calls):
        return True
    return bool(functions_of(duck).reading_in(query))


def _with_views(query: exp.Query, duck: Duck) -> Iterator[exp.Query | None]:
    """Yield a query, and those of DuckDB's views that it reads directly or indirectly.

    None stands for what is neither a table nor a view that can be read.
    """
    yield query
    found = set(tables_read(query))
    waiting = [*found]
    while waiting:
        for behind in _behind(waiting.pop(), duck):
            yield behind
            more = frozenset[str]() if behind is None else tables_read(behind) - found
            found |= more
            waiting += more


def _behind(name: str, duck: Duck) -> Sequence[exp.Query | None]:
    """Return the queries of the views of a name, of which a schema may have one each."""
    tables = duck.known(_tables)
    if name not in tables:
        return [None]
    return [_query_of(text) for text in tables[name]]


def _tables(duck: Duck) -> Mapping[str, list[str]]:
    """Return DuckDB's tables and views by their names in lower case, with the texts of the views.

    Views of DuckDB itself have no text here, so that they count as unknown.
    """
    rows = duck.rows(
        "SELECT lower(table_name), NULL FROM duckdb_tables() UNION ALL "
        "SELECT lower(view_name), if(internal, '', coalesce(sql, '')) FROM duckdb_views()"
    )
    tables: dict[str, list[str]] = {}
    for name, text in rows:
        texts = tables.setdefault(name, [])
        if text is not None:
            texts.append(text)
    return tables


def _query_of(text: str) -> exp.Query | None:
    """Return the query of a view; None if it cannot be read."""
    try:
        tree = SourceText(text).statement()
    except QueryError:
        return None
    query = tree.expression if isinstance(tree, exp.Create) else None
    return query if isinstance(query, exp.Query) else None

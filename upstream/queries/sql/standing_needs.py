"""What standing queries require of their streams, and of tables and settings.

An update query without a window returns the newest row of each key, so each row of its result must
contain the key. An append query without a window evaluates each row once, and cannot use all
earlier rows. A standing query keeps what it computed from tables and under settings. If these
changed, the parts of one result would not fit together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from sqlglot import exp

from ...database.duck import Duck
from ...errors import QueryKeyError, StatementError
from ...rows.stream_definition import StreamDefinition
from .from_relations import FromRelations
from .functions import functions_of
from .names import is_reserved
from .source_text import words_of
from .statement import InsertInto, OtherStatement, ParsedQuery
from .trees import chunk_index, chunk_tables, common_table, place_of
from .window_clause import WindowKind

_WINDOW: Final = (
    "give the stream a window, such as hop(stream, INTERVAL '10 minutes', INTERVAL '1 minute') or "
    "landmark(stream), or choose semantics='update' for an answer over the newest row of each key"
)
JOIN_OF_STREAMS: Final = "a join of streams"
"""What needs all rows, unless the condition of the join limits how far apart rows are in time."""
_CLAUSES: Final = {
    "group": "GROUP BY",
    "distinct": "DISTINCT",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
}
_READ_ONLY: Final = frozenset({"SELECT", "MULTI", "EXPLAIN"})
"""DuckDB's names for statements that change nothing; for DuckDB, a PIVOT is several statements."""
_WRITES: Final = frozenset({"insert", "update", "delete", "truncate", "merge", "copy"})
_KINDS: Final = frozenset({"SET", "VARIABLE_SET", "PRAGMA"})
"""DuckDB's names for statements that change settings, including RESET and SET TIME ZONE."""
_SETTINGS: Final = frozenset(
    {
        *{"calendar", "timezone", "zone", "default_collation"},
        *{"default_order", "default_null_order", "null_order"},
        *{"integer_division", "ieee_floating_point_ops", "error_on_division_by_zero"},
        *{"old_implicit_casting", "disable_timestamptz_casts"},
    }
)


def check_key(
    parsed: ParsedQuery,
    definitions: Mapping[str, StreamDefinition],
    semantics: str,
    duck: Duck,
) -> tuple[str, ...]:
    """Return the names of the key in the result; raise QueryKeyError if the result lacks it.

    This is for row-wise update queries over streams without a window. Other queries need no key,
    and no names are returned. A join of streams has the keys of all of them.
    """
    kinds = {window.kind for window in parsed.windows} - {WindowKind.VIEW}
    is_windowed = kinds != {WindowKind.STREAM}
    if semantics != "update" or is_windowed or not _is_row_wise(parsed.query, duck):
        return ()
    of_windows = [definitions[window.stream] for window in parsed.windows]
    columns = FromRelations(parsed.windows, of_windows, None).of_query(parsed.query).columns
    names: list[str] = []
    for i, definition in enumerate(of_windows):
        for key in definition.key:
            origin = (i, key.lower())
            name = next((each.name for each in columns if origin in each.origins), None)
            if name is None:
                _refuse(parsed, definition.name, _qualified(parsed, of_windows, i, key))
            elif name not in names:
                names.append(name)
    return tuple(names)


def _refuse(parsed: ParsedQuery, stream: str, key: str) -> None:
    reason = f"the result lacks {key}, a column of the key of {stream}"
    hint = (
        f'select {key} too, so that newer rows can replace older ones, or choose semantics="append"'
    )
    raise QueryKeyError(reason, parsed.text, place_of(*parsed.query.selects), hint)


def _qualified(
    parsed: ParsedQuery, of_windows: Sequence[StreamDefinition], number: int, key: str
) -> str:
    """Return a column of a chunk with its table, if other tables also have such a column."""
    having = [each for each in of_windows if each.column_named(key) is not None]
    tables = (each for each in chunk_tables(parsed.query) if chunk_index(each) == number)
    table = next(tables, None)
    return key if table is None or len(having) < 2 else f"{table.alias_or_name}.{key}"


def _is_row_wise(query: exp.Query, duck: Duck) -> bool:
    """Tell whether each row of the result comes from one row of a stream, as far as can be seen."""
    if query.find(exp.Group, exp.Window, exp.Distinct) is not None:
        return False
    functions = functions_of(duck)
    return not any(functions.is_aggregate(call) for call in query.find_all(exp.Anonymous))


def cause_and_cure(parsed: ParsedQuery) -> tuple[str, str]:
    """Return what needs all rows, if that is known, and what to write instead."""
    streams = [each.stream for each in parsed.windows if each.kind is WindowKind.STREAM]
    if len(streams) > 1 and parsed.query.find(exp.Join) is not None:
        cure = (
            f"write latest({streams[1]}) to join each row with the newest rows of {streams[1]}, "
            f"or give both streams windows, such as tumble({streams[0]}, INTERVAL '1 minute')"
        )
        return JOIN_OF_STREAMS, cure
    causes = (words for name, words in _CLAUSES.items() if parsed.query.args.get(name))
    return next(causes, ""), _WINDOW


# Tables and settings


def tables_read(query: exp.Query) -> frozenset[str]:
    """Return the names of the tables that a query over chunks reads, in lower case."""
    tables = query.find_all(exp.Table)
    read = (each for each in tables if each.args.get("db") or common_table(each) is None)
    names = {table.name.lower() for table in read}
    return frozenset(name for name in names if name and not is_reserved(name))


def common_table_names(query: exp.Query) -> frozenset[str]:
    """Return the names that WITH defines in a query, in lower case."""
    return frozenset(cte.alias.lower() for cte in query.find_all(exp.CTE))


def with_tables_behind(names: frozenset[str], duck: Duck) -> frozenset[str]:
    """Add the tables that DuckDB's views among these read, or tables that they may read."""
    texts = duck.rows("SELECT lower(view_name), sql FROM duckdb_views() WHERE NOT internal")
    words = {name: words_of(text) for name, text in texts if text}
    found = set(names)
    while more := {word for name in found & words.keys() for word in words[name]} - found:
        found |= more
    return frozenset(found)


def changed_tables(statement: OtherStatement, duck: Duck) -> frozenset[str]:
    """Return the tables in which a statement may change more than rows, in lower case.

    For a statement that only DuckDB can read, these are all names in it.
    """
    tree = statement.tree
    if tree is None or isinstance(tree, exp.Command):
        is_change = duck.statement_type(statement.text) in {"ALTER", "CREATE", "DROP"}
        return frozenset(words_of(statement.text)) if is_change else frozenset()
    is_replaced = isinstance(tree, exp.Create) and bool(tree.args.get("replace"))
    if not is_replaced and not isinstance(tree, exp.Drop | exp.Alter):
        return frozenset()
    table = tree.find(exp.Table)
    return frozenset() if table is None else frozenset({table.name.lower()})


def tables_with_other_rows(statement: InsertInto | OtherStatement, duck: Duck) -> frozenset[str]:
    """Return the tables whose rows a statement may change, in lower case.

    For a statement that only DuckDB can read, these are all names in it.
    """
    tree = statement.tree
    if tree is None or isinstance(tree, exp.Command):
        words = frozenset(words_of(statement.text))
        is_run = "analyze" in words and words & _WRITES  # EXPLAIN ANALYZE runs what it explains
        is_read = duck.statement_type(statement.text) in _READ_ONLY and not is_run
        return frozenset() if is_read else words
    if isinstance(tree, exp.Query | exp.Describe | exp.Show | exp.Summarize | exp.Pivot):
        return frozenset()
    if isinstance(tree, exp.Copy) and not tree.args.get("kind"):
        return frozenset()  # it has TO and not FROM
    changed = tree.this if isinstance(tree.this, exp.Expr) else tree
    return frozenset(table.name.lower() for table in changed.find_all(exp.Table))


def check_settings(statement: OtherStatement, duck: Duck, *, standing: Collection[str]) -> None:
    """Refuse a change of settings that would change the results of these queries."""
    if not standing or duck.statement_type(statement.text) not in _KINDS:
        return
    if words_of(statement.text) & _SETTINGS:
        raise StatementError(
            "a setting that changes results cannot be changed while there are standing queries: "
            + ", ".join(standing),
            statement.text,
            hint="set it before creating them, or close them first",
        )

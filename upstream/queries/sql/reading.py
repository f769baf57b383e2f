"""Reads queries over streams: each occurrence of a stream becomes a table `chunk_i` with a window.

Names are looked up as in SQL. A common table expression hides a stream of the same name from its
query and from the expressions after it, and from itself only if it is recursive. A name with a
schema is always a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Never

from sqlglot import exp

from ...database.duck import Duck
from ...errors import QuerySyntaxError, StatementError, WindowError
from ...rows.stream_definition import StreamDefinition
from .dialect import DIALECT, ITEM
from .foreign_forms import read_windows_as_values
from .names import found, is_reserved, reserved
from .reading_bounds import read_bounds
from .same_reading import difference
from .source_text import SourceText
from .statement import ParsedQuery
from .trees import is_unnamed, place_of, stream_read
from .window_arguments import FUNCTIONS
from .window_clause import WindowClause, WindowKind
from .window_functions import window_of_call


def read_query(
    text: str, streams: Mapping[str, StreamDefinition], duck: Duck | None = None
) -> ParsedQuery:
    """Parse a query, and replace its windows; streams are found regardless of case.

    Result columns without an alias are named after what the user wrote. With `duck`, it is checked
    that DuckDB reads the query in the same way.
    """
    source = SourceText(text)
    try:
        tree = source.statement()
    except QuerySyntaxError:
        if duck is not None and source.type_for_duckdb(duck) in _QUERIES:
            source.refuse(StatementError, _DUCKDB_ONLY, source.place, _ASK_ONCE)
        raise
    if not isinstance(tree, exp.Query):
        _refuse_statement(source, tree)
    with source.syntax_errors():
        written = tree.sql(DIALECT)
        if duck is not None and (
            found := difference(text, written, duck, for_duckdb=source.for_duckdb)
        ):
            source.refuse(StatementError, _DUCKDB_ONLY, found.place, _ASK_ONCE)
        _name_columns(source, tree)
        read_windows_as_values(source, tree, streams)
        taken = [*_take_windows(source, tree, streams, duck)]
        windows, places = tuple(each for each, _ in taken), tuple(place for _, place in taken)
        hidden = read_bounds(source, tree, windows, streams, duck)
    return ParsedQuery(text, tree, windows, places, hidden)


_QUERIES = {"SELECT", "MULTI"}
"""DuckDB's names for queries; for DuckDB, a PIVOT is several statements."""
_DUCKDB_ONLY = "DuckDB can read this, but a standing query may read it differently"
_ASK_ONCE = "write it differently, perhaps with brackets; sql() runs it once as it is"


def _refuse_statement(source: SourceText, tree: exp.Expr) -> Never:
    if isinstance(tree, exp.Pivot):
        hint = "write the aggregates with FILTER (WHERE …)"
        what = "UNPIVOT" if tree.unpivot else "PIVOT"
        source.refuse(StatementError, f"a query must be a SELECT; {what} is not supported", 0, hint)
    hint = "write it as SELECT … FROM …; run other statements with sql()"
    source.refuse(StatementError, "this is not a query", 0, hint)


def _name_columns(source: SourceText, query: exp.Query) -> None:
    """Name the unnamed columns of a query's result after what the user wrote.

    DuckDB names them after the text that it reads, which is written by sqlglot: `CAST(a AS INT)`
    for `a::INTEGER`.
    """
    for select in _outermost(query):
        for item in [*select.expressions]:
            if is_unnamed(item) and ITEM in item.meta:
                name = source.written(*item.meta[ITEM])
                alias = exp.Alias(alias=exp.to_identifier(name, quoted=True))
                item.replace(alias)
                alias.set("this", item)


def _outermost(query: exp.Expr) -> Iterator[exp.Select]:
    """Yield the query that names the columns.

    All of them, if columns of several are matched by name.
    """
    waiting = [query]
    while waiting:
        query = waiting.pop()
        if isinstance(query, exp.Subquery):
            waiting.append(query.this)
        elif isinstance(query, exp.SetOperation):
            waiting += [query.right, query.left] if query.args.get("by_name") else [query.left]
        elif isinstance(query, exp.Select):
            yield query


def _take_windows(
    source: SourceText,
    query: exp.Query,
    streams: Mapping[str, StreamDefinition],
    duck: Duck | None,
) -> Iterator[tuple[WindowClause, int | None]]:
    _check_names(source, query)
    count = 0
    nodes = query.find_all(exp.Table, exp.Lateral, exp.Anonymous)
    for node in sorted(nodes, key=lambda node: place_of(node) or 0):
        clause = _window_of(source, node, streams, duck)
        if clause is not None:
            yield clause, place_of(node.this)
            _replace(node, count)
            count += 1


def _window_of(
    source: SourceText,
    node: exp.Expr,
    streams: Mapping[str, StreamDefinition],
    duck: Duck | None,
) -> WindowClause | None:
    inner = node.this
    if isinstance(node, exp.Anonymous):
        _check_place(source, node, streams)
    elif isinstance(inner, exp.Anonymous):
        if inner.name.lower() in FUNCTIONS and not node.args.get("db"):
            return window_of_call(source, inner, streams, duck)
    elif (name := stream_read(node, streams)) is not None:
        return WindowClause(WindowKind.VIEW if streams[name].is_view else WindowKind.STREAM, name)
    return None


def _check_place(
    source: SourceText, call: exp.Anonymous, streams: Mapping[str, StreamDefinition]
) -> None:
    """Refuse a window function in place of a value."""
    if isinstance(call.parent, exp.Table | exp.Lateral) or call.name.lower() not in FUNCTIONS:
        return
    first = call.expressions[0] if call.expressions else None
    if isinstance(first, exp.Column) and found(first.name, streams) is not None:
        reason = f"{call.name.lower()} returns a table, not a value"
        hint = f"write {call.name.lower()}({first.name}, …) in FROM"
        source.refuse(WindowError, reason, place_of(call), hint)


def _replace(node: exp.Expr, number: int) -> None:
    """Make a chunk of an occurrence of a stream, which keeps its alias or otherwise its name."""
    chunk = exp.to_identifier(f"chunk_{number}")
    if not node.alias:
        named = node.this.expressions[0] if isinstance(node.this, exp.Anonymous) else node
        named = named.expression if isinstance(named, exp.Kwarg | exp.PropertyEQ) else named
        alias = exp.TableAlias(this=named.this.copy())
        if isinstance(node.args.get("alias"), exp.TableAlias):
            alias.set("columns", [column.copy() for column in node.args["alias"].columns])
        node.set("alias", alias)
    if isinstance(node, exp.Lateral):
        node.replace(exp.Table(this=chunk, alias=node.args["alias"]))
    else:
        node.set("this", chunk)


def _check_names(source: SourceText, query: exp.Query) -> None:
    """Refuse parameters, and names that a rewritten query uses for something else."""
    for node in query.find_all(exp.Identifier, exp.Placeholder, exp.Parameter):
        if not isinstance(node, exp.Identifier):
            reason = "a statement cannot have parameters"
            signs = (token.start for token in source.tokens if token.text in {"$", "?", ":"})
            place = next(signs, None)
            source.refuse(StatementError, reason, place, "write the value itself")
        if is_reserved(node.name):
            place = place_of(node)
            source.refuse(StatementError, reserved(node.name), place, "choose another name")

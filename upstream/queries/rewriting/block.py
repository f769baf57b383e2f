"""One SELECT of a query: its sources, and whether each of its rows comes from one row of a stream.

A *stream source* is a chunk, or a subquery in FROM whose every row comes from rows of chunks. The
other sources are tables, which stay the same while chunks enter and leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.names import STEP
from ..sql.trees import (
    call,
    chunk_index,
    chunk_tables,
    chunks_in,
    conjuncts,
    named,
    own_nodes,
    step_column,
)
from ..sql.window_bounds import bounds_in
from .not_incremental import BOUNDS_COME_LATER, NotIncrementalError, obstacle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..sql.functions import Functions
    from .trial import Trial


@dataclass(frozen=True, slots=True)
class Source:
    """One relation in FROM. `windows` are the chunks in it; it has none if it is a table."""

    alias: str
    node: exp.Expr
    windows: tuple[int, ...]
    columns: tuple[str, ...]
    is_visible: bool = True


@dataclass(frozen=True, slots=True)
class Block:
    """A SELECT with its sources."""

    select: exp.Select
    sources: tuple[Source, ...]

    @property
    def windows(self) -> tuple[int, ...]:
        """The chunks that the block reads."""
        return tuple(sorted({index for source in self.sources for index in source.windows}))

    @property
    def using(self) -> frozenset[str]:
        """The columns that joins merge with USING, in lower case."""
        joins = self.select.args.get("joins") or ()
        return frozenset(
            name.name.lower() for join in joins for name in join.args.get("using") or ()
        )


def as_source(query: exp.Expr, alias: str, columns: Iterable[str] = ()) -> exp.Subquery:
    """Return a query as a relation in FROM, with this name and these names of columns."""
    quoted = [exp.to_identifier(name, quoted=True) for name in (alias, *columns)]
    return exp.Subquery(this=query, alias=exp.TableAlias(this=quoted[0], columns=quoted[1:]))


def source_nodes(select: exp.Select) -> list[exp.Expr]:
    """Return the relations in FROM, from left to right."""
    start = select.args.get("from_")
    joins = select.args.get("joins") or ()
    return [start.this, *(join.this for join in joins)] if start else []


def is_inner(join: exp.Join) -> bool:
    """Tell whether a join returns the pairs of rows that meet its condition, and nothing else."""
    return not join.side and not join.method and join.kind in ("", "INNER", "CROSS")


def conditions_of(select: exp.Select) -> list[exp.Expr]:
    """Return the conditions that each pair of rows in FROM must meet: of WHERE and inner joins."""
    where = select.args.get("where")
    found = conjuncts(where.this if where else None)
    for join in filter(is_inner, select.args.get("joins") or ()):
        found += conjuncts(join.args.get("on"))
    return found


def read_block(select: exp.Select, trial: Trial) -> Block:
    """Find out the columns of all sources."""
    nodes = source_nodes(select)
    joins = [None, *(select.args.get("joins") or ())][: len(nodes)]
    sources = [
        Source(
            alias=_alias(node),
            node=node,
            windows=chunks_in(node),
            columns=_columns(node, select, trial),
            is_visible=join is None or join.kind not in ("SEMI", "ANTI"),
        )
        for node, join in zip(nodes, joins, strict=True)
    ]
    aliases = [source.alias.lower() for source in sources]
    if len(set(aliases)) < len(aliases):
        raise NotIncrementalError("two relations in FROM have the same name")
    return Block(select, tuple(sources))


def _alias(node: exp.Expr) -> str:
    alias = node.alias_or_name
    if not alias:
        raise NotIncrementalError("a relation in FROM has no name")
    return str(alias)


def _columns(node: exp.Expr, select: exp.Select, trial: Trial) -> tuple[str, ...]:
    alias = node.args.get("alias")
    renamed = [name.name for name in (alias.columns if alias else ())]
    index = chunk_index(node)
    if index is not None:
        names = tuple(trial.schemas[node.name].names)
    elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        names = trial.columns(node.this).names
    elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        return trial.columns(exp.select("*").from_(node.copy())).names
    else:
        star = exp.Column(this=exp.Star(), table=exp.to_identifier(_alias(node), quoted=True))
        query = exp.Select(expressions=[star], from_=select.args["from_"].copy())
        query.set("joins", [join.copy() for join in select.args.get("joins") or ()])
        return trial.columns(query).names
    return (*renamed, *names[len(renamed) :])


def check_sources(select: exp.Select, functions: Functions) -> None:
    """Raise unless each row of FROM comes from single rows of the streams in it.

    More rows of a stream must only add rows, and never change or remove any.
    """
    for node in source_nodes(select):
        _check_source(node, functions)
    found = [table for node in source_nodes(select) for table in chunk_tables(node)]
    if len(found) > len(chunks_in(select)):
        raise NotIncrementalError("FROM reads the same rows of a stream more than once")
    if any(chunks_in(query) for query in queries_beside_from(select, _DECIDING)):
        raise NotIncrementalError("a subquery over a stream filters the rows of FROM")
    if any(bounds_in(query) for query in queries_beside_from(select, _DECIDING)):
        raise NotIncrementalError(f"rows of FROM are compared with {BOUNDS_COME_LATER}")
    check_joins(select)


def check_joins(select: exp.Select) -> None:
    """Raise unless each join keeps all its rows when a stream has more rows."""
    has_stream = bool(chunks_in(source_nodes(select)[0])) if source_nodes(select) else False
    for join in select.args.get("joins") or ():
        _check_join(join, has_stream)
        has_stream = has_stream or bool(chunks_in(join.this))


def _check_source(node: exp.Expr, functions: Functions) -> None:
    if node.args.get("pivots"):
        raise NotIncrementalError("PIVOT and UNPIVOT need all rows")
    if node.args.get("joins"):
        raise NotIncrementalError("joins in brackets are not split")
    if not chunks_in(node) or chunk_index(node) is not None:
        return
    if not isinstance(node, exp.Subquery) or not isinstance(node.this, exp.Select):
        raise NotIncrementalError("a stream is read inside a relation that is not split")
    reason = obstacle(check_row_wise, node.this, functions)
    if reason:
        raise NotIncrementalError(f"in a subquery that it is combined with, {reason}")


def _check_join(join: exp.Join, has_stream: bool) -> None:
    """Raise unless the join keeps all its rows when a stream on either side has more rows."""
    is_stream = bool(chunks_in(join.this))
    side, kind, method = join.side, join.kind, join.method
    if not has_stream and not is_stream:
        return
    words = " ".join(word for word in (method, side, kind, "JOIN") if word)
    if method == "NATURAL" and has_stream and is_stream:
        raise NotIncrementalError("NATURAL JOIN of two streams is not split: write USING (…)")
    if method not in ("", "NATURAL", "ASOF") or (method == "ASOF" and is_stream):
        raise NotIncrementalError(f"{words}: the rows it matches depend on all rows")
    if side == "FULL" or (side == "LEFT" and is_stream) or (side == "RIGHT" and has_stream):
        raise NotIncrementalError(f"{words}: whether a row has no match depends on all rows")
    if kind in ("SEMI", "ANTI") and is_stream:
        raise NotIncrementalError(f"{words}: whether a row has a match depends on all rows")


def check_row_wise(select: exp.Select, functions: Functions) -> None:
    """Raise unless each row of the result comes from one row of FROM."""
    check_sources(select, functions)
    _check_clauses(select)
    if any(chunks_in(query) for query in queries_beside_from(select)):
        raise NotIncrementalError("a subquery over a stream needs all its rows")
    if any(bounds_in(item) for item in select.expressions):
        raise NotIncrementalError(f"its rows have {BOUNDS_COME_LATER}")
    _check_items(select, functions)


def check_projection(select: exp.Select, functions: Functions) -> None:
    """Raise unless a block only selects from the rows of FROM, whatever these come from."""
    _check_clauses(select)
    _check_items(select, functions)


def _check_clauses(select: exp.Select) -> None:
    for name, words in _WHOLE_CLAUSES.items():
        if select.args.get(name):
            raise NotIncrementalError(f"{words} needs all rows")


def _check_items(select: exp.Select, functions: Functions) -> None:
    for node in (node for item in select.expressions for node in own_nodes(item)):
        if isinstance(node, exp.Window):
            raise NotIncrementalError("a window function needs all rows")
        if functions.is_aggregate(node):
            raise NotIncrementalError("an aggregate needs all rows")
    for query in queries_beside_from(select, ("expressions",)):
        if _aggregates(query, select, functions):
            raise NotIncrementalError("an aggregate needs all rows")


def _aggregates(query: exp.Query, select: exp.Select, functions: Functions) -> bool:
    """Tell whether a subquery contains an aggregate over the rows of the SELECT around it."""
    around = {node.alias_or_name.lower() for node in source_nodes(select)}
    for inner in query.find_all(exp.Select):
        own = {node.alias_or_name.lower() for node in source_nodes(inner)}
        for node in filter(functions.is_aggregate, own_nodes(inner)):
            columns = [each for each in own_nodes(node) if isinstance(each, exp.Column)]
            if columns and all(not own or each.table.lower() in around - own for each in columns):
                return True
    return False


_WHOLE_CLAUSES = {
    "with_": "WITH",
    "distinct": "DISTINCT",
    "group": "GROUP BY",
    "having": "HAVING",
    "qualify": "QUALIFY",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "windows": "WINDOW",
    "sample": "USING SAMPLE",
}


_DECIDING = ("from_", "joins", "where")


def queries_beside_from(
    select: exp.Select, clauses: tuple[str, ...] | None = None
) -> Iterator[exp.Query]:
    """Yield the queries inside a SELECT, or some of its clauses, that are not relations of FROM."""
    relations = {id(node) for node in source_nodes(select)}
    for name, value in select.args.items():
        if clauses is None or name in clauses:
            for item in value if isinstance(value, list) else [value]:
                yield from _outermost(item, relations)


def _outermost(tree: object, besides: set[int]) -> Iterator[exp.Query]:
    if not isinstance(tree, exp.Expr) or id(tree) in besides:
        return
    if isinstance(tree, exp.Query):
        yield tree
        return
    for child in tree.iter_expressions():
        yield from _outermost(child, besides)


# Many steps at once


def by_step(partial: exp.Select, *, groups: int | None = None) -> exp.Select:
    """Return the partial over chunks with a column `__step`, for many steps at once.

    A row that comes from several streams has the oldest of their steps. A partial that aggregates
    has its groups in front, and groups by their numbers; the step becomes the first group.
    """
    partial = partial.copy()
    steps = []
    for node in source_nodes(partial):
        if not chunks_in(node):
            continue
        if chunk_index(node) is None:
            _pass_step_on(node)
        steps.append(step_column(node.alias_or_name))
    for item in partial.expressions:
        _leave_step_out(item, {column.table.lower() for column in steps})
    step = steps[0] if len(steps) == 1 else call("least", *steps)
    partial.set("expressions", [named(step, STEP), *partial.expressions])
    if groups is not None:
        group_by_first(partial, 1 + groups)
    return partial


def group_by_first(select: exp.Select, count: int) -> None:
    """Group by the first columns, by their numbers, in place; with none, do not group."""
    numbers = [exp.Literal.number(i) for i in range(1, count + 1)]
    select.set("group", exp.Group(expressions=numbers) if numbers else None)


def _pass_step_on(node: exp.Expr) -> None:
    """Let a subquery in FROM pass the step on."""
    node.set("this", by_step(node.this))
    alias = node.args.get("alias")
    if alias and alias.columns:
        alias.set("columns", [exp.to_identifier(STEP, quoted=True), *alias.columns])


def _leave_step_out(item: exp.Expr, streams: set[str]) -> None:
    """Exclude the step from the columns that a star stands for."""
    star = item.this if isinstance(item, exp.Columns | exp.Column) else item
    is_of_table = isinstance(item, exp.Column) and item.table.lower() not in streams
    if isinstance(star, exp.Star) and not is_of_table:
        step = exp.column(STEP, quoted=True)
        star.set("except_", [*(star.args.get("except_") or ()), step])

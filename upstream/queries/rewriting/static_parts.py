"""Static parts: what a partial reads of tables, computed once.

A view reads all rows of a stream once, when they arrive. Tables that its partials read must stay as
they were when the view was made: otherwise earlier rows would have met other tables than later
ones (sections 3.3 and 3.7 of the views paper). So each relation without a stream is computed once,
with only the columns and rows that can matter, and the partial reads the result.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from ..sql.functions import name_of
from ..sql.trees import chunks_in, column
from .block import as_source, read_block, source_nodes
from .not_incremental import NotIncrementalError
from .resolution import resolved
from .retention import conditions_by_source, names_read
from .static_joins import with_static_joins

if TYPE_CHECKING:
    from collections.abc import Callable

    from .split_query import Leaf
    from .trial import Trial


@dataclass(frozen=True, slots=True)
class StaticPart:
    """A query that reads no stream, and the name of the table that has its result.

    `reads` are the names of the tables in it.
    """

    name: str
    query: exp.Query
    reads: tuple[str, ...]


class StaticTables(Protocol):
    """Makes the tables of parts."""

    def make(self, part: StaticPart) -> None:
        """Make the table of a part."""

    def count(self, query: exp.Query) -> int:
        """Run a query, and return its only value."""


def with_static_parts(
    leaf: Leaf, trial: Trial, new_name: Callable[[], str], tables: StaticTables
) -> Leaf:
    """Return a leaf that reads static parts in place of tables."""
    partial = leaf.partial.copy()
    parts = _Parts(trial, new_name, tables)
    if isinstance(partial, exp.Select):
        partial = parts.over_parts(partial)
    for table in list(partial.find_all(exp.Table)):
        parts.take_table(table, partial)
    return replace(leaf, partial=partial)


class _Parts:
    """Takes static parts out of a partial, which then reads tables in their place."""

    def __init__(self, trial: Trial, new_name: Callable[[], str], tables: StaticTables) -> None:
        self._trial = trial
        self._new_name = new_name
        self._tables = tables
        self._known: dict[str, str] = {}

    def over_parts(self, select: exp.Select) -> exp.Select:
        """Return a SELECT over parts, with the conditions on each alone, in place of relations."""
        with suppress(NotIncrementalError):
            select = resolved(read_block(select, self._trial))
        for node in source_nodes(select):
            if isinstance(node.this, exp.Select) and chunks_in(node):
                node.set("this", self.over_parts(node.this))
        select = with_static_joins(select, _is_static, self._tables.count, self._new_name)
        conditions = conditions_by_source(select, self._trial)
        for node in filter(_is_static, source_nodes(select)):
            self._take(node, select, conditions.get(node.alias_or_name, ()))
        return select

    def take_table(self, table: exp.Table, within: exp.Expr) -> None:
        """Take a table, wherever it is read."""
        if _is_static(table) and not self._is_part(table):
            self._take(table, within, ())

    def _is_part(self, table: exp.Table) -> bool:
        return table.name in self._known.values()

    def _take(self, node: exp.Expr, within: exp.Expr, conditions: tuple[exp.Expr, ...]) -> None:
        """Make a part of a relation, and make the partial read it in place."""
        alias = node.alias_or_name or name_of(node.this)  # of a function in FROM
        names = self._trial.columns(exp.select("*").from_(node.copy())).names
        read = names_read(within, names, [alias])
        query = exp.select(*map(column, read)).from_(node.copy()).where(*conditions)
        text = query.sql("duckdb")
        if text not in self._known:
            self._known[text] = self._new_name()
            reads = tuple(table.name or table.alias for table in query.find_all(exp.Table))
            self._tables.make(StaticPart(self._known[text], query, reads))
        table = exp.Table(this=exp.to_identifier(self._known[text], quoted=True))
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        node.replace(table)


def _is_static(node: exp.Expr) -> bool:
    """Tell whether a relation in FROM reads no stream, and nothing else of the query."""
    if chunks_in(node) or node.args.get("joins") or node.args.get("pivots"):
        return False
    if isinstance(node, exp.Subquery):
        return isinstance(node.this, exp.Query)
    if isinstance(node, exp.Table):
        return isinstance(node.this, exp.Identifier) or not node.this.find(exp.Column)
    return False


def as_table(part: StaticPart) -> exp.Create:
    """Return the statement that creates the table of a part."""
    return exp.Create(
        this=exp.Table(this=exp.to_identifier(part.name, quoted=True)),
        kind="TABLE",
        expression=exp.select("*").from_(as_source(part.query.copy(), "__part")),
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )


def have_same_rows(
    one: StaticPart, other: StaticPart, trial: Trial, count: Callable[[exp.Query], int]
) -> bool:
    """Tell whether the tables of two parts have the same rows in the same order.

    Values are compared as texts, too, since 0.0 equals -0.0.
    """
    names = [one.name, other.name]
    rows = [exp.select("*").from_(exp.to_table(name)) for name in names]
    columns, others = map(trial.columns, rows)
    if columns != others:
        return False
    numbers = [count(exp.select(exp.Count(this=exp.Star())).from_(exp.to_table(n))) for n in names]
    sides = [[exp.column(name, table, quoted=True) for name in columns.names] for table in "ab"]
    texts = [[exp.cast(each.copy(), "VARCHAR") for each in side] for side in sides]
    pairs = [*zip(*sides, strict=True), *zip(*texts, strict=True)]
    differing = (
        exp.select(exp.Count(this=exp.Star()))
        .from_(exp.to_table(one.name).as_("a"))
        .join(exp.Join(this=exp.to_table(other.name).as_("b"), method="POSITIONAL"))
        .where(exp.or_(*(exp.NullSafeNEQ(this=a, expression=b) for a, b in pairs)))
    )
    return numbers[0] == numbers[1] and not count(differing)

"""Static parts: what a partial reads of tables, computed once.

A view reads all rows of a stream once, when they arrive. Tables that its partials read must stay as
they were when the view was made: otherwise earlier rows would have met other tables than later
ones (sections 3.3 and 3.7 of the views paper). So each relation without a stream is computed once,
with only the columns and rows that can matter, and the partial reads the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.functions import name_of
from ..sql.trees import chunk_index, chunks_in, column, nested_queries
from .block import as_source, is_inner, read_block, source_nodes
from .not_incremental import NotIncrementalError
from .resolution import resolved
from .retention import conditions_on

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from .split_query import Leaf
    from .trial import Trial


@dataclass(frozen=True, slots=True)
class StaticPart:
    """A query that reads no stream, and the name of the table that has its result.

    `text` names it for `explain`.
    """

    name: str
    query: exp.Query
    text: str


def with_static_parts(
    leaf: Leaf, trial: Trial, new_name: Callable[[], str], changing: Container[str]
) -> tuple[Leaf, list[StaticPart]]:
    """Return a leaf that reads static parts in place of tables, and these parts.

    Tables whose names are in `changing` are left as they are.
    """
    partial = leaf.partial.copy()
    parts = _Parts(trial, new_name, changing)
    if isinstance(partial, exp.Select):
        parts.take_sources(partial)
    for table in list(partial.find_all(exp.Table)):
        parts.take_table(table, partial)
    return replace(leaf, partial=partial), parts.found


class _Parts:
    """Takes static parts out of a partial, which then reads tables in their place."""

    def __init__(self, trial: Trial, new_name: Callable[[], str], changing: Container[str]) -> None:
        self.found: list[StaticPart] = []
        self._trial = trial
        self._new_name = new_name
        self._changing = changing
        self._known: dict[str, str] = {}

    def take_sources(self, select: exp.Select) -> None:
        """Take the relations in FROM that are static, with the conditions on each alone."""
        conditions = _conditions(select, self._trial)
        for node in source_nodes(select):
            if isinstance(node, exp.Subquery) and chunks_in(node):
                if isinstance(node.this, exp.Select):
                    self.take_sources(node.this)
            elif self._is_static(node):
                self._take(node, select, conditions.get(node.alias_or_name, ()))

    def take_table(self, table: exp.Table, within: exp.Expr) -> None:
        """Take a table, wherever it is read."""
        if self._is_static(table) and not self._is_part(table):
            self._take(table, within, ())

    def _is_static(self, node: exp.Expr) -> bool:
        if chunks_in(node) or node.args.get("joins") or node.args.get("pivots"):
            return False
        if isinstance(node, exp.Subquery):
            return isinstance(node.this, exp.Query) and not self._reads_changing(node)
        is_table = isinstance(node, exp.Table) and not node.find(exp.Column)
        return is_table and chunk_index(node) is None and not self._reads_changing(node)

    def _reads_changing(self, node: exp.Expr) -> bool:
        return any(table.name in self._changing for table in node.find_all(exp.Table))

    def _is_part(self, table: exp.Table) -> bool:
        return any(table.name == part.name for part in self.found)

    def _take(self, node: exp.Expr, within: exp.Expr, conditions: tuple[exp.Expr, ...]) -> None:
        """Make a part of a relation, and make the partial read it in place."""
        alias = node.alias_or_name or name_of(node.this)  # of a function in FROM
        names = self._trial.columns(exp.select("*").from_(node.copy())).names
        read = _columns_read(within, names, alias)
        query = exp.select(*map(column, read)).from_(node.copy()).where(*conditions)
        text = query.sql("duckdb")
        if text not in self._known:
            self._known[text] = self._new_name()
            self.found.append(StaticPart(self._known[text], query, alias))
        table = exp.Table(this=exp.to_identifier(self._known[text], quoted=True))
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        node.replace(table)


def _conditions(select: exp.Select, trial: Trial) -> dict[str, tuple[exp.Expr, ...]]:
    """Return for each static relation in FROM the conditions that concern it alone."""
    if not all(map(is_inner, select.args.get("joins") or ())):
        return {}
    try:
        block = read_block(select, trial)
        block = replace(block, select=resolved(block))
    except NotIncrementalError:
        return {}
    static = [source.alias for source in block.sources if not source.windows]
    return {
        alias: tuple(each for each in conditions_on(block, alias) if not any(nested_queries(each)))
        for alias in static
    }


def _columns_read(tree: exp.Expr, names: tuple[str, ...], alias: str) -> tuple[str, ...]:
    """Return the columns that a tree may name, at least one; all if it has a star."""
    if any(not isinstance(star.parent, exp.Func) for star in tree.find_all(exp.Star)):
        return names
    joins = tree.find_all(exp.Join)
    if tree.find(exp.Columns) or any(join.method == "NATURAL" for join in joins):
        return names
    known = {node.name.lower() for node in tree.find_all(exp.Identifier)}
    is_row = any(
        not node.table and node.name.lower() == alias.lower() for node in tree.find_all(exp.Column)
    )
    read = tuple(name for name in names if name.lower() in known)
    return names if is_row else read or names[:1]


def as_table(part: StaticPart) -> exp.Create:
    """Return the statement that creates the table of a part."""
    return exp.Create(
        this=exp.Table(this=exp.to_identifier(part.name, quoted=True)),
        kind="TABLE",
        expression=exp.select("*").from_(as_source(part.query.copy(), "__part")),
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )

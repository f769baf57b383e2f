"""Leading rows: where the finish of a view can only return the greatest of the merged rows.

    SELECT part, sum(quantity) AS sold FROM lines GROUP BY part ORDER BY sold DESC LIMIT 10

    SELECT * FROM sales, suppliers
    WHERE supplier = number AND revenue = (SELECT max(revenue) FROM sales)

The first query returns ten groups of a million, and the second those that share one value. The
finish stays as it is. It is given the leading rows in place of all rows: the first ten by their
sum, with all rows that are equal to the tenth, or those with the greatest revenue. So the result is
the same also where rows are tied.

What computes with other columns must not be able to fail, because rows that are left out cannot
fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.trees import conjuncts, item_meant
from .aggregates.aggregate_call import read_call
from .block import is_inner, read_block, source_nodes
from .merged_rows import MergedRows, has_only
from .not_incremental import NotIncrementalError
from .split_query import Leading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .split_query import Leaf, SplitQuery
    from .trial import Trial

_MOST: Final = 1_000
"""With a larger LIMIT, selecting the rows first is not worth it."""


def leading_rows(leaf: Leaf, query: SplitQuery, trial: Trial) -> Leading | None:
    """Return the rows of a leaf's merged relation that the finish needs, or None for all."""
    if not leaf.groups:
        return None
    reader = _Reader(MergedRows(leaf))
    found = reader.of_limit(query.finish)
    if found is not None:
        return found
    schemas = {each.relation: each.schema for each in query.leaves if each.schema is not None}
    return reader.of_extreme(query.finish, trial.lending(schemas))


class _Reader:
    """Finds out which rows of the merged relation a query reads."""

    def __init__(self, rows: MergedRows) -> None:
        self._rows = rows

    # ORDER BY … LIMIT

    def of_limit(self, query: exp.Query) -> Leading | None:
        """Return the rows that a query over the relation alone sorts first."""
        names = self._rows.columns_of(query, "order", "limit", "offset")
        count = _most_rows(query)
        order = query.args.get("order")
        if names is None or count is None or not order:
            return None
        assert isinstance(query, exp.Select)
        first = order.expressions[0]
        if not isinstance(first, exp.Ordered) or not first.args.get("desc"):
            return None  # the order that is not named is a setting
        if not all(self._rows.is_safe(each.this) for each in order.expressions):
            return None
        item = item_meant(query, first.this)
        found = self._rows.value(
            item.unalias() if item else first.this, self._rows.names(query) or {}
        )
        return Leading(found, count) if found in self._rows.sortable else None

    # WHERE … = (SELECT max(…))

    def of_extreme(self, query: exp.Query, trial: Trial) -> Leading | None:
        """Return the rows that have the extreme with which all parts of a query compare them."""
        left = {
            id(table): table for table in query.find_all(exp.Table) if self._rows.is_ours(table)
        }
        found = set[Leading]()
        for select in query.find_all(exp.Select):
            extreme = self._extreme(select)
            if extreme is not None:
                found.add(extreme)
                _take(left, select)
        if len(found) != 1:
            return None
        [leading] = found
        for table in list(left.values()):
            around = _block_around(table)
            if around is not None and self._selects(*around, leading, trial):
                _take(left, around[1])
        return None if left else leading

    def _extreme(self, select: exp.Select) -> Leading | None:
        """Return what `SELECT max(x) FROM merged` selects, or None for another query."""
        names = self._rows.names(select)
        items = select.expressions
        if names is None or len(items) != 1 or not has_only(select, "expressions", "from_"):
            return None
        aggregate = read_call(items[0].unalias())
        if aggregate.name not in ("max", "min") or len(aggregate.arguments) != 1:
            return None
        if not aggregate.is_plain or aggregate.condition is not None:
            return None
        found = self._rows.value(aggregate.arguments[0], names)
        if found not in self._rows.sortable:
            return None
        return Leading(found, 1, is_least=aggregate.name == "min")

    def _selects(self, select: exp.Select, node: exp.Expr, leading: Leading, trial: Trial) -> bool:
        """Tell whether a block reads only leading rows of a relation in FROM."""
        names = self._rows.of_source(node)
        if names is None or not all(map(is_inner, select.args.get("joins") or ())):
            return False
        try:
            sources = read_block(select, trial).sources
        except (NotIncrementalError, DatabaseError):
            return False
        alias = node.alias_or_name.lower()
        others = {
            name.lower()
            for source in sources
            if source.alias.lower() != alias
            for name in (*source.columns, source.alias)
        }

        def is_ours(tree: exp.Expr) -> bool:
            if not isinstance(tree, exp.Column) or tree.args.get("db"):
                return False
            is_known = tree.table.lower() == alias or (
                not tree.table and tree.name.lower() not in others
            )
            return is_known and names.get(tree.name.lower()) == leading.column

        def is_extreme(tree: exp.Expr) -> bool:
            query = tree.this if isinstance(tree, exp.Subquery) else None
            return isinstance(query, exp.Select) and self._extreme(query) == leading

        where = select.args.get("where")
        return any(
            (is_ours(each.left) and is_extreme(each.right))
            or (is_ours(each.right) and is_extreme(each.left))
            for each in conjuncts(where.this if where else None)
            if isinstance(each, exp.EQ)
        )


def _most_rows(query: exp.Query) -> int | None:
    """Return how many rows a query reads in its order, if LIMIT and OFFSET are plain numbers."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if not isinstance(limit, exp.Limit) or not has_only(limit, "expression"):
        return None
    numbers = [limit.expression, *([offset.expression] if offset else [])]
    if not all(isinstance(each, exp.Literal) and each.is_int for each in numbers):
        return None
    count = sum(int(each.name) for each in numbers)
    return count if 0 < count <= _MOST else None


def _block_around(table: exp.Table) -> tuple[exp.Select, exp.Expr] | None:
    """Return the SELECT that joins a relation, or chooses from it, and the relation in its FROM."""
    for node in _upwards(table):
        select = node.find_ancestor(exp.Select)
        if select is None:
            return None
        if select.args.get("where") and any(each is node for each in source_nodes(select)):
            return select, node
    return None


def _upwards(table: exp.Table) -> Iterator[exp.Expr]:
    """Yield a table, and the subqueries around it from the inside out."""
    node: exp.Expr | None = table
    while node is not None:
        yield node
        node = node.find_ancestor(exp.Subquery)


def _take(left: dict[int, exp.Table], tree: exp.Expr) -> None:
    for table in tree.find_all(exp.Table):
        left.pop(id(table), None)

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

import pyarrow as pa
from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.trees import conjuncts, is_bare_star, item_meant
from .aggregates.aggregate_call import read_call
from .block import is_inner, read_block, source_nodes
from .not_incremental import NotIncrementalError
from .split_query import Leading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .split_query import Leaf, SplitQuery
    from .trial import Trial

    Names = dict[str, str | None]
    """The columns of a relation in lower case, with the merged columns that they have; None for
    those that are computed."""

_MOST: Final = 1_000
"""With a larger LIMIT, selecting the rows first is not worth it."""
_PLAIN: Final = (exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Alias)
"""Expressions that cannot fail."""


def leading_rows(leaf: Leaf, query: SplitQuery, trial: Trial) -> Leading | None:
    """Return the rows of a leaf's merged relation that the finish needs, or None for all."""
    if leaf.groups is None or not leaf.groups:
        return None
    merged = _Merged(leaf)
    found = merged.of_limit(query.finish)
    if found is not None:
        return found
    schemas = {each.relation: each.schema for each in query.leaves if each.schema is not None}
    return merged.of_extreme(query.finish, trial.lending(schemas))


class _Merged:
    """The merged relation of one leaf."""

    def __init__(self, leaf: Leaf) -> None:
        assert leaf.schema is not None
        self._relation = leaf.relation
        self._columns = leaf.schema.names
        self._exact = {field.name for field in leaf.schema if _is_exact(field.type)}
        states = {name for state in leaf.states for name in state.columns}
        self._sortable = {
            name for name in states if _sorts_as_integers(leaf.schema.field(name).type)
        }

    # ORDER BY … LIMIT

    def of_limit(self, query: exp.Query) -> Leading | None:
        """Return the rows that a query over the relation alone sorts first."""
        names = self._columns_of(query, "order", "limit", "offset")
        count = _most_rows(query)
        order = query.args.get("order")
        if names is None or count is None or not order:
            return None
        assert isinstance(query, exp.Select)
        first = order.expressions[0]
        if not isinstance(first, exp.Ordered) or not first.args.get("desc"):
            return None  # the order that is not named is a setting
        if not all(self._is_safe(each.this) for each in order.expressions):
            return None
        item = item_meant(query, first.this)
        found = self._value(item.unalias() if item else first.this, self._names(query) or {})
        return Leading(found, count) if found in self._sortable else None

    # WHERE … = (SELECT max(…))

    def of_extreme(self, query: exp.Query, trial: Trial) -> Leading | None:
        """Return the rows that have the extreme with which all parts of a query compare them."""
        left = {id(table): table for table in query.find_all(exp.Table) if self._is_ours(table)}
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
        names = self._names(select)
        items = select.expressions
        if names is None or len(items) != 1 or not _has_only(select, "expressions", "from_"):
            return None
        aggregate = read_call(items[0].unalias())
        if aggregate.name not in ("max", "min") or len(aggregate.arguments) != 1:
            return None
        if not aggregate.is_plain or aggregate.condition is not None:
            return None
        found = self._value(aggregate.arguments[0], names)
        if found not in self._sortable:
            return None
        return Leading(found, 1, is_least=aggregate.name == "min")

    def _selects(self, select: exp.Select, node: exp.Expr, leading: Leading, trial: Trial) -> bool:
        """Tell whether a block reads only leading rows of a relation in FROM."""
        names = self._of_source(node)
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

    # Columns

    def _is_ours(self, node: exp.Expr) -> bool:
        return isinstance(node, exp.Table) and node.name == self._relation

    def _columns_of(self, query: exp.Expr, *clauses: str) -> Names | None:
        """Return the columns of a query that reads only this relation and cannot fail.

        None for another query. It may have these clauses.
        """
        names = self._names(query)
        if names is None or not _has_only(query, "expressions", "from_", *clauses):
            return None
        assert isinstance(query, exp.Select)
        found: list[tuple[str, str | None]] = []
        for item in query.expressions:
            if is_bare_star(item) and _has_only(item):
                found += names.items()
            elif self._is_safe(item):
                found.append((item.alias_or_name.lower(), self._value(item.unalias(), names)))
            else:
                return None
        return _distinct(found)

    def _names(self, query: exp.Expr) -> Names | None:
        """Return the columns of the only relation in FROM, if its rows are those of this one."""
        nodes = source_nodes(query) if isinstance(query, exp.Select) else []
        return self._of_source(nodes[0]) if len(nodes) == 1 else None

    def _of_source(self, node: exp.Expr) -> Names | None:
        if not _has_only(node, "this", "alias"):
            return None
        names: Names | None = None
        if self._is_ours(node):
            names = {name.lower(): name for name in self._columns}
        elif isinstance(node, exp.Subquery):
            names = self._columns_of(node.this)
        if names is None:
            return None
        alias = node.args.get("alias")
        columns = alias.columns if isinstance(alias, exp.TableAlias) else ()
        renamed = [each.name.lower() for each in columns]
        new = [*renamed, *list(names)[len(renamed) :]]
        return _distinct(zip(new, names.values(), strict=True))

    def _value(self, tree: exp.Expr, names: Names) -> str | None:
        """Return the merged column that has the value of a tree, or None."""
        if self._is_restored(tree):
            tree = tree.this
        return names.get(tree.name.lower()) if isinstance(tree, exp.Column) else None

    def _is_restored(self, tree: exp.Expr) -> bool:
        """Tell whether this is a sum of integers, cast back to the type that it had."""
        return (
            isinstance(tree, exp.Cast)
            and tree.to.is_type("HUGEINT", "INT128")
            and isinstance(tree.this, exp.Column)
            and tree.this.name in self._sortable & self._exact
        )

    def _is_safe(self, tree: exp.Expr) -> bool:
        if self._is_restored(tree):
            return True
        return isinstance(tree, _PLAIN) and all(map(self._is_safe, tree.iter_expressions()))


def _is_exact(type_: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(type_) or pa.types.is_integer(type_))


def _sorts_as_integers(type_: pa.DataType) -> bool:
    """Tell whether values are in the order of the integers that store them."""
    is_time = pa.types.is_temporal(type_) and not pa.types.is_interval(type_)
    return bool(_is_exact(type_) or is_time)


def _has_only(tree: exp.Expr, *names: str) -> bool:
    return not any(value for name, value in tree.args.items() if name not in names)


def _distinct(columns: Iterable[tuple[str, str | None]]) -> Names | None:
    """Return columns by their names, or None if two have the same name."""
    found = list(columns)
    names = dict(found)
    return names if len(names) == len(found) else None


def _most_rows(query: exp.Query) -> int | None:
    """Return how many rows a query reads in its order, if LIMIT and OFFSET are plain numbers."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if not isinstance(limit, exp.Limit) or not _has_only(limit, "expression"):
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

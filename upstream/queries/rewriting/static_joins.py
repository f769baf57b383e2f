"""Joins of tables below a stream, computed once.

    SELECT … FROM lineitem, orders, customer
    WHERE l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_mktsegment = 'BUILDING'

reads one table of the orders of these customers in place of two tables. A join is computed ahead
only if it has no more rows than the larger of its sides: otherwise keeping it could cost more than
it saves. Whether it has is found by running it, up to that number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.trees import column, named, nested_queries, own_nodes
from .block import as_source, conditions_of, is_inner, source_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_MOST_RELATIONS: Final = 12
"""With more relations than this, the pairs to try would be too many."""
_CLAUSES: Final = {"expressions", "from_", "joins", "where", "group"}
"""The clauses that a partial may have whose joins are computed ahead."""


@dataclass(slots=True)
class Joined:
    """Static relations that are joined: their nodes in FROM by alias, and conditions on them."""

    nodes: dict[str, exp.Expr]
    conditions: list[exp.Expr] = field(default_factory=list)
    rows: int = 0

    def query(self, items: Iterable[exp.Expr]) -> exp.Select:
        """Return the query over the join."""
        first, *others = self.nodes.values()
        query = exp.select(*items).from_(first.copy())
        for node in others:
            query = query.join(node.copy(), join_type="cross")
        return query.where(*(condition.copy() for condition in self.conditions))


def with_static_joins(
    select: exp.Select,
    static: Callable[[exp.Expr], bool],
    count: Callable[[exp.Select], int],
    alias: Callable[[], str],
) -> exp.Select:
    """Return a partial that reads subqueries in place of static relations that can be joined.

    `static` tells whether a relation in FROM is static. `count` runs a query and returns its only
    value. `alias` returns a name for a subquery. The names of columns must be resolved.
    """
    if not _is_simple(select):
        return select
    relations = {
        node.alias_or_name: Joined({node.alias_or_name: node})
        for node in source_nodes(select)
        if static(node)
    }
    if not 1 < len(relations) <= _MOST_RELATIONS:
        return select
    conditions = conditions_of(select)
    for one in relations.values():
        one.conditions = _within(conditions, one.nodes)
        one.rows = count(one.query([exp.Count(this=exp.Star())]))
    groups = _grouped([*relations.values()], conditions, count)
    joined = [each for each in groups if len(each.nodes) > 1]
    return _over(select, conditions, joined, alias) if joined else select


def _is_simple(select: exp.Select) -> bool:
    """Tell whether all joins are inner ones, and every column names its relation."""
    if any(value for name, value in select.args.items() if name not in _CLAUSES):
        return False
    joins = select.args.get("joins") or ()
    if not all(is_inner(join) and not join.args.get("using") for join in joins):
        return False
    trees = [*select.expressions, *conditions_of(select)]
    if any(any(nested_queries(tree)) or isinstance(tree, exp.Query) for tree in trees):
        return False
    columns = [node for tree in trees for node in own_nodes(tree) if isinstance(node, exp.Column)]
    names = {node.alias_or_name for node in source_nodes(select)}
    return all(each.table in names and not isinstance(each.this, exp.Star) for each in columns)


def _tables(tree: exp.Expr) -> set[str]:
    return {node.table for node in tree.find_all(exp.Column)}


def _within(conditions: list[exp.Expr], nodes: dict[str, exp.Expr]) -> list[exp.Expr]:
    """Return the conditions that are about these relations only."""
    return [each for each in conditions if (tables := _tables(each)) and tables <= nodes.keys()]


def _grouped(
    groups: list[Joined], conditions: list[exp.Expr], count: Callable[[exp.Select], int]
) -> list[Joined]:
    """Join relations as long as a join has no more rows than the larger of its sides."""
    tried: set[tuple[str, ...]] = set()
    while (pair := _next_pair(groups, conditions, tried)) is not None:
        left, right = pair
        both = Joined({**left.nodes, **right.nodes})
        tried.add(tuple(sorted(both.nodes)))
        both.conditions = _within(conditions, both.nodes)
        most = max(left.rows, right.rows)
        rows = both.query([exp.Literal.number(1)]).limit(most + 1)
        both.rows = count(exp.select(exp.Count(this=exp.Star())).from_(as_source(rows, "__rows")))
        if both.rows <= most:
            groups = [each for each in groups if each not in (left, right)] + [both]
    return groups


def _next_pair(
    groups: list[Joined], conditions: list[exp.Expr], tried: set[tuple[str, ...]]
) -> tuple[Joined, Joined] | None:
    """Return two groups that an equality connects and that were not tried, the smallest first."""
    pairs = [
        (left.rows + right.rows, i, j)
        for i, left in enumerate(groups)
        for j, right in enumerate(groups[:i])
        if tuple(sorted({**left.nodes, **right.nodes})) not in tried
        and any(_connects(each, left, right) for each in conditions)
    ]
    if not pairs:
        return None
    _, i, j = min(pairs)
    return groups[i], groups[j]


def _connects(condition: exp.Expr, left: Joined, right: Joined) -> bool:
    tables = _tables(condition)
    is_within = tables <= {*left.nodes, *right.nodes}
    is_of_both = bool(tables & left.nodes.keys()) and bool(tables & right.nodes.keys())
    return isinstance(condition, exp.EQ) and is_within and is_of_both


def _over(
    select: exp.Select, conditions: list[exp.Expr], joined: list[Joined], alias: Callable[[], str]
) -> exp.Select:
    """Return the partial over subqueries for the joined relations."""
    names: dict[tuple[str, str], exp.Column] = {}
    sources: list[exp.Expr] = []
    done = [condition for group in joined for condition in group.conditions]
    left = [each for each in conditions if not any(each is other for other in done)]
    for group in joined:
        own = alias()
        read = sorted(
            {
                (node.table, node.name)
                for tree in [*select.expressions, *left]
                for node in tree.find_all(exp.Column)
                if node.table in group.nodes
            }
        )
        items = [named(column(name, table), f"__j{i}") for i, (table, name) in enumerate(read)]
        items = items or [named(exp.Literal.number(1), "__j0")]  # a table has a column
        names |= {each: column(f"__j{i}", own) for i, each in enumerate(read)}
        sources.append(as_source(group.query(items), own))
    taken = {name for group in joined for name in group.nodes}
    rest = [node.copy() for node in source_nodes(select) if node.alias_or_name not in taken]

    def renamed(tree: exp.Expr) -> exp.Expr:
        return tree.transform(
            lambda node: (
                names[node.table, node.name].copy()
                if isinstance(node, exp.Column) and (node.table, node.name) in names
                else node
            )
        )

    query = exp.Select(expressions=[renamed(item) for item in select.expressions])
    first, *others = [*rest, *sources]
    query = query.from_(first, copy=False)
    for node in others:
        query = query.join(node, join_type="cross", copy=False)
    query = query.where(*map(renamed, left), copy=False)
    if select.args.get("group"):
        query.set("group", renamed(select.args["group"]))
    return query

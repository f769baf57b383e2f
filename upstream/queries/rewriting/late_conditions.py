"""Late conditions: those that cannot be checked row by row when rows arrive.

    SELECT sum(price) FROM lines l, parts p WHERE l.part = p.part
        AND l.quantity < (SELECT 0.2 * avg(quantity) FROM lines WHERE part = p.part)

A condition is late if it contains a subquery over a stream, whose result changes as rows arrive, or
refers to a column of a query around the block, which has no value yet. The partial leaves it out
and groups by what the condition needs of a row, here `l.quantity` and `p.part`. The finish checks
it over the merged relation and then aggregates again, by the block's own groups.

So a subquery that is correlated stays correlated in the finish, where DuckDB evaluates it over
merged groups instead of rows. Equal values are one group, and one of them stands for all. That is
exact where values are compared. Elsewhere it is exact only for types whose equal values are the
same: 0.0 and -0.0 are equal, and 1 / 0.0 and 1 / -0.0 are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.trees import chunks_in, column, conjuncts, nested_queries, own_nodes
from .block import is_inner
from .correlation import columns_of, own_aliases, parts_beside_from
from .merged_relation import restored
from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .block import Block
    from .partial_columns import PartialColumns

KEEPS_ROWS: Final = (
    "a condition depends on a subquery over a stream, or on a query around it, and selects single "
    "rows: group them by what the result and the condition need"
)
"""The reason why a block without groups cannot have late conditions."""
COMPARISONS: Final = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Between, exp.In, exp.Is, exp.And, exp.Or, exp.Not),
)
"""What treats equal values in the same way."""
_BRACKETS: Final = (exp.Paren, exp.Tuple)
INEXACT: Final = re.compile(r"FLOAT|DOUBLE|INTERVAL|TIME WITH TIME ZONE|UNION\(|VARIANT")
"""Types with equal values that are not the same."""


@dataclass(frozen=True, slots=True)
class Separated:
    """A block without its late conditions, and these.

    If the block is correlated, `closed` is what can be evaluated without the queries around it.
    """

    select: exp.Select
    late: tuple[exp.Expr, ...]
    closed: exp.Select | None


def separated(block: Block, around: frozenset[str]) -> Separated:
    """Separate the late conditions of a block whose names are resolved and qualified.

    `around` are the aliases of the queries around it.
    """
    select = block.select.copy()
    outer = around - own_aliases(select)
    is_correlated = any(columns_of(select, outer))

    def is_late(condition: exp.Expr) -> bool:
        return bool(chunks_in(condition)) or any(columns_of(condition, outer))

    late: list[exp.Expr] = []
    for clause, name in _clauses(select):
        found = conjuncts(clause.args.get(name))
        late += filter(is_late, found)
        early = [each for each in found if not is_late(each)]
        if len(early) < len(found):
            clause.set(name, exp.and_(*early) if early else exp.true())
    if late and select.args.get("where") and select.args["where"].this == exp.true():
        select.set("where", None)
    above = select.copy()
    above.set("having", None)  # it is checked in the finish, where the queries around it are known
    left = next(columns_of(above, outer), None)
    if left is not None:
        raise NotIncrementalError(
            f"a subquery over a stream refers to {left.name} of the query around it: it may do so "
            "only in conditions of WHERE or HAVING"
        )
    return Separated(select, tuple(late), above if is_correlated else None)


def _clauses(select: exp.Select) -> list[tuple[exp.Expr, str]]:
    """Return the clauses whose conditions decide about rows: WHERE, and ON of inner joins."""
    where = select.args.get("where")
    joins = select.args.get("joins") or []
    clauses: list[tuple[exp.Expr, str]] = [(where, "this")] if where else []
    if any(join.side in ("RIGHT", "FULL") or join.method for join in joins):
        return clauses  # these joins see which rows are left by those before them
    return clauses + [(join, "on") for join in joins if is_inner(join) and join.args.get("on")]


class LateConditions:
    """The late conditions of one block, over the groups of its partial.

    `alias` is the name of the merged relation in the finish, which no other relation has.
    """

    def __init__(self, block: Block, alias: str, columns: PartialColumns) -> None:
        self._own = own_aliases(block.select)
        self._using = block.using
        self._alias = alias
        self._columns = columns
        self._not_compared: set[str] = set()
        self.conditions: list[exp.Expr] = []

    def add(self, condition: exp.Expr) -> None:
        """Group by what a condition needs of a row, and check the condition over groups."""

        def group(tree: exp.Expr, is_compared: bool) -> exp.Expr:
            found = self._columns.refining(tree, is_counted=False)
            if not is_compared:
                self._not_compared.add(found.name)
            return column(found.name, self._alias)

        self.conditions.append(self._exchanged(condition, group))

    def beside(self, tree: exp.Expr) -> exp.Expr:
        """Return what stands above the groups, where its subqueries refer to groups."""

        def group(node: exp.Expr, _: bool) -> exp.Expr | None:
            known = self._columns.groups.known(node)
            if known is not None:
                return column(known, self._alias)
            if isinstance(node, exp.Column):
                raise NotIncrementalError(
                    f"a subquery refers to {node.name} of the query around it, which is not a group"
                )
            return None

        for query in list(nested_queries(tree)):
            query.replace(self._exchanged(query, group))
        return tree

    def _exchanged(
        self, tree: exp.Expr, group: Callable[[exp.Expr, bool], exp.Expr | None]
    ) -> exp.Expr:
        """Return a copy in which `group` replaces the expressions over columns of the block."""
        root = exp.Paren(this=tree.copy())

        def visit(node: exp.Expr, own: frozenset[str], using: frozenset[str], known: bool) -> None:
            if isinstance(node, exp.Select):
                own -= own_aliases(node)
            if isinstance(node, exp.Query):
                using = frozenset()
            if (known or isinstance(node, exp.Column)) and _is_over(node, own, using):
                new = group(node, known)
                if new is not None:
                    node.replace(new)
                    return
            known = isinstance(node, COMPARISONS) or (known and isinstance(node, _BRACKETS))
            for child in list(parts_beside_from(node)):
                visit(child, own, using, known)

        visit(root, self._own, self._using, True)
        result = root.this
        assert isinstance(result, exp.Expr)
        return result.pop()

    def read_back(self, finish: exp.Select, types: Mapping[str, tuple[str, str]]) -> None:
        """Restore the types of groups in conditions and subqueries, in place."""
        for name in self._not_compared:
            if INEXACT.search(types[name][0]):
                tree = self._columns.groups[name]
                raise NotIncrementalError(
                    f"a condition computes with {tree.sql('duckdb')}, a {types[name][0]}, beside "
                    "values that are known later: compare its values only"
                )
        conditions = exp.Tuple(expressions=self.conditions)
        for tree in (*nested_queries(finish), conditions):
            for node in list(columns_of(tree, frozenset({self._alias}))):
                node.replace(restored(node.copy(), *types[node.name]))
        if self.conditions:
            finish.where(*conditions.expressions, copy=False)
        self._check(finish)

    def _check(self, finish: exp.Select) -> None:
        """Raise if the finish refers to a column of the block, which it cannot read."""
        aliases = {item.alias.lower() for item in finish.expressions}
        unknown = (
            node
            for node in own_nodes(finish)
            if isinstance(node, exp.Column)
            and not (node.table or node.name.startswith("__") or node.name.lower() in aliases)
        )
        left = next(columns_of(finish, self._own), None) or next(unknown, None)
        if left is not None:
            raise NotIncrementalError(f"it uses {left.name} in a way that is not split")


def _is_over(node: exp.Expr, own: frozenset[str], using: frozenset[str]) -> bool:
    """Tell whether an expression is computed from columns of the block alone."""
    if not isinstance(node, exp.Condition) or isinstance(node, exp.Query | exp.Tuple):
        return False
    if any(nested_queries(node)):
        return False
    columns = [each for each in own_nodes(node) if isinstance(each, exp.Column)]
    return bool(columns) and all(
        each.table.lower() in own or (not each.table and each.name.lower() in using)
        for each in columns
    )

"""The merged relation of a leaf in a finish: where it is read, and which columns pass through.

A subquery that only selects columns has the rows of the relation: `SELECT __g0 AS k FROM merged`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
from sqlglot import exp

from ..sql.trees import is_bare_star
from .block import source_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .split_query import Leaf

    Names = dict[str, str | None]
    """The columns of a relation in lower case, with the merged columns that they have; None for
    those that are computed."""

_PLAIN: Final = (exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Alias)
"""Expressions that cannot fail."""


class MergedRows:
    """The merged relation of one leaf. `sortable` are the states that sort as integers do."""

    def __init__(self, leaf: Leaf) -> None:
        assert leaf.schema is not None
        self._relation = leaf.relation
        self._columns = leaf.schema.names
        self._exact = {field.name for field in leaf.schema if _is_exact(field.type)}
        states = {name for state in leaf.states for name in state.columns}
        self.sortable = {
            name for name in states if _sorts_as_integers(leaf.schema.field(name).type)
        }

    def is_ours(self, node: exp.Expr) -> bool:
        """Tell whether a node reads the relation."""
        return isinstance(node, exp.Table) and node.name == self._relation

    def columns_of(self, query: exp.Expr, *clauses: str) -> Names | None:
        """Return the columns of a query that reads only this relation and cannot fail.

        None for another query. It may have these clauses.
        """
        names = self.names(query)
        if names is None or not has_only(query, "expressions", "from_", *clauses):
            return None
        assert isinstance(query, exp.Select)
        found: list[tuple[str, str | None]] = []
        for item in query.expressions:
            if is_bare_star(item) and has_only(item):
                found += names.items()
            elif self.is_safe(item):
                found.append((item.alias_or_name.lower(), self.value(item.unalias(), names)))
            else:
                return None
        return _distinct(found)

    def names(self, query: exp.Expr) -> Names | None:
        """Return the columns of the only relation in FROM, if its rows are those of this one."""
        nodes = source_nodes(query) if isinstance(query, exp.Select) else []
        return self.of_source(nodes[0]) if len(nodes) == 1 else None

    def of_source(self, node: exp.Expr) -> Names | None:
        """Return the columns of a relation in FROM, if its rows are those of this one."""
        if not has_only(node, "this", "alias"):
            return None
        names: Names | None = None
        if self.is_ours(node):
            names = {name.lower(): name for name in self._columns}
        elif isinstance(node, exp.Subquery):
            names = self.columns_of(node.this)
        if names is None:
            return None
        alias = node.args.get("alias")
        columns = alias.columns if isinstance(alias, exp.TableAlias) else ()
        renamed = [each.name.lower() for each in columns]
        new = [*renamed, *list(names)[len(renamed) :]]
        return _distinct(zip(new, names.values(), strict=True))

    def value(self, tree: exp.Expr, names: Names) -> str | None:
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
            and tree.this.name in self.sortable & self._exact
        )

    def is_safe(self, tree: exp.Expr) -> bool:
        """Tell whether an expression over the relation cannot fail."""
        if self._is_restored(tree):
            return True
        return isinstance(tree, _PLAIN) and all(map(self.is_safe, tree.iter_expressions()))


def _is_exact(type_: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(type_) or pa.types.is_integer(type_))


def _sorts_as_integers(type_: pa.DataType) -> bool:
    """Tell whether values are in the order of the integers that store them."""
    is_time = pa.types.is_temporal(type_) and not pa.types.is_interval(type_)
    return bool(_is_exact(type_) or is_time)


def has_only(tree: exp.Expr, *names: str) -> bool:
    """Tell whether a tree has no other parts than these."""
    return not any(value for name, value in tree.args.items() if name not in names)


def _distinct(columns: Iterable[tuple[str, str | None]]) -> Names | None:
    """Return columns by their names, or None if two have the same name."""
    found = list(columns)
    names = dict(found)
    return names if len(names) == len(found) else None

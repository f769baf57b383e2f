"""The columns of epochs that `*` does not include: `epoch`, `window_start` and `window_end`.

A reference becomes a column of the chunk, such as `__epoch`, which only a query that names it has.
A subquery that selects `*` from epochs passes such a column on if the query around it reads it.
Wherever a text can mean all columns of a relation, the hidden ones are excluded, or the form is
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Never

from sqlglot import exp

from ...errors import WindowError
from .dialect import ITEM
from .from_relations import FromRelations, nodes_of
from .relation_columns import Relation
from .source_text import SourceText
from .stars import hide_columns
from .trees import chunk_index, common_table, is_unnamed, place_of
from .window_bounds import HIDDEN


class HiddenColumns:
    """Replaces references to hidden columns in one query, in place."""

    def __init__(self, source: SourceText, query: exp.Expr, relations: FromRelations) -> None:
        self._source = source
        self._query = query
        self._relations = relations
        self._of_chunks: dict[int, set[str]] = {}
        self._passed_on: dict[int, set[str]] = {}
        """The hidden columns that subqueries pass on, by their identity."""

    def exchange(self, reference: exp.Column, select: exp.Select, relation: Relation) -> None:
        """Replace a reference to a hidden column of a relation in FROM of a SELECT."""
        if not self._of_chunks:
            for each in self._query.find_all(exp.Select):
                self._relations.of(each)  # before anything changes
        name = reference.name.lower()
        node = self._provide(select, relation, HIDDEN[name])
        identifier = reference.this.copy()
        identifier.set("this", HIDDEN[name])
        identifier.set("quoted", False)
        item = _item_of(reference)
        shown = "" if item is None else self._shown_name(item, reference)
        if item is not None and shown:
            named = exp.Alias(alias=exp.to_identifier(shown))
            item.replace(named)
            named.set("this", item)
        reference.replace(exp.Column(this=identifier, table=_alias_of(node)))

    def excluded(self) -> Mapping[int, tuple[str, ...]]:
        """Exclude the hidden columns from all stars; return those of each chunk.

        Raises WindowError for a form that could mean all columns of a relation.
        """
        if self._of_chunks:
            for select in list(self._query.find_all(exp.Select)):
                self._exclude(select)
        return {
            number: tuple(name for name in HIDDEN.values() if name in names)
            for number, names in sorted(self._of_chunks.items())
        }

    def _provide(self, select: exp.Select, relation: Relation, name: str) -> exp.Expr:
        """Let a relation in FROM of a SELECT have a hidden column; return its table or subquery."""
        nodes, relations = list(nodes_of(select)), self._relations.of(select)
        node = next(one for one, each in zip(nodes, relations, strict=True) if each is relation)
        if (number := chunk_index(node)) is not None:
            self._of_chunks.setdefault(number, set()).add(name)
            return node
        inner = _body_of(node)
        assert isinstance(inner, exp.Select)
        passed_on = self._passed_on.setdefault(id(inner), set())
        if name not in passed_on:
            has_bounds = self._relations.has_bounds
            [window] = [each for each in self._relations.of(inner) if has_bounds(each)]
            below = self._provide(inner, window, name)
            passed_on.add(name)
            hidden = exp.to_identifier(name)
            inner.append("expressions", exp.Column(this=hidden, table=_alias_of(below)))
        return node

    def _exclude(self, select: exp.Select) -> None:
        """Exclude the hidden columns from the stars of one SELECT."""
        having = [(node, names) for node in nodes_of(select) if (names := self._hidden_of(node))]
        if not having:
            return
        relations = self._relations.of(select)
        for relation, node in zip(relations, nodes_of(select), strict=True):
            if self._hidden_of(node):
                self._check_relation(relation, node)
        joins = [join for join in select.find_all(exp.Join) if join.parent_select is select]
        self._check_joins(joins, [names for _, names in having])
        unseen = [each.this for each in joins if each.kind in {"SEMI", "ANTI"}]
        visible: dict[str, list[str]] = {}
        for node, names in having:
            of_alias = visible.setdefault(node.alias_or_name.lower(), [])
            of_alias += [] if any(node is each for each in unseen) else sorted(names)
        known = {each.name.lower() for relation in relations for each in relation.columns}
        if reason := hide_columns(select, visible, known):
            reason = f"beside {_shown(sorted(having[0][1]))}, {reason.partition(':')[0]}"
            self._refuse(reason, select, "name the columns instead")

    def _shown_name(self, item: exp.Expr, reference: exp.Column) -> str:
        """Return the name that a select item needs, so that no hidden column gives it one."""
        if item.unnest() is reference:
            return reference.name.lower()
        is_written = is_unnamed(item) and ITEM in item.meta
        return self._source.written(*item.meta[ITEM]) if is_written else ""

    def _hidden_of(self, node: exp.Expr) -> set[str]:
        """Return the hidden columns that a relation in FROM has."""
        if (number := chunk_index(node)) is not None:
            return self._of_chunks.get(number, set())
        return self._passed_on.get(id(_body_of(node)), set())

    def _check_relation(self, relation: Relation, node: exp.Expr) -> None:
        """Refuse PIVOT, and an alias such as `t(a, b, c)` with more columns than the relation."""
        if node.args.get("pivots"):
            reason = f"{relation.alias} has hidden columns here, and PIVOT would group by them"
            self._refuse(reason, node, "name the columns to pivot in a subquery")
        alias = node.args.get("alias")
        given = alias.columns if isinstance(alias, exp.TableAlias) else []
        if len(given) > len(relation.columns):
            reason = f"{relation.alias} has {len(relation.columns)} columns, and more are named"
            self._refuse(reason, given[-1], "hidden columns such as epoch have names already")

    def _check_joins(self, joins: list[exp.Join], hidden: list[set[str]]) -> None:
        """Refuse a NATURAL JOIN, which would join by hidden columns of both sides."""
        shared = [one & other for one, other in combinations(hidden, 2) if one & other]
        for join in joins:
            if join.method == "NATURAL" and shared:
                reason = f"a NATURAL JOIN is not allowed beside {_shown(sorted(shared[0]))}"
                self._refuse(reason, join, "write JOIN … USING with the columns to join by")

    def _refuse(self, reason: str, node: exp.Expr, hint: str) -> Never:
        self._source.refuse(WindowError, reason, place_of(node), hint)


def _item_of(reference: exp.Column) -> exp.Expr | None:
    """Return the select item that a reference is part of, unless it is in a query inside it."""
    inside: exp.Expr = reference
    while inside.parent is not None and not isinstance(inside.parent, exp.Query):
        inside = inside.parent
    is_item = isinstance(inside.parent, exp.Select) and inside.arg_key == "expressions"
    return inside if is_item else None


def _alias_of(node: exp.Expr) -> exp.Expr | None:
    """Return the name of a relation in FROM as the query has it; a subquery may have none."""
    alias = node.args.get("alias")
    if isinstance(alias, exp.TableAlias) and alias.this is not None:
        return exp.to_identifier(alias.name, quoted=alias.this.args.get("quoted") or None)
    return exp.to_identifier(node.name, quoted=True) if isinstance(node, exp.Table) else None


def _body_of(node: exp.Expr) -> exp.Expr | None:
    """Return the query of a subquery in FROM, or of a common table expression."""
    if isinstance(node, exp.Subquery | exp.Lateral):
        body: exp.Expr = node.this
        return body
    table = common_table(node) if isinstance(node, exp.Table) else None
    return None if table is None or node.args.get("db") else table.this


def _shown(names: list[str]) -> str:
    """Return hidden columns by the names that the user knows."""
    return " and ".join(name.removeprefix("__") for name in names)

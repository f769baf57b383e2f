"""The relations of a FROM: their columns, and which window they are or pass on.

Columns are followed through aliases, stars, subqueries and common table expressions. A subquery
that selects `*` from one window passes the bounds of that window on, like columns that `*` does not
include.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from ...database.duck import Duck
from ...rows.stream_definition import StreamDefinition
from .relation_columns import Relation, RelationColumn, equated, origins_of, united, without
from .trees import chunk_index, common_table, is_star
from .window_bounds import BOUNDED
from .window_clause import WindowClause, WindowKind

_DEEPEST: Final = 60
"""Subqueries are followed to this depth to find their columns."""
_WIDEST: Final = 10_000
"""At most this many columns are considered: stars over stars can double them at each step."""


class FromRelations:
    """Finds out about the relations in one query over chunks."""

    def __init__(
        self,
        windows: Sequence[WindowClause],
        definitions: Sequence[StreamDefinition],
        duck: Duck | None,
    ) -> None:
        self._windows = windows
        self._chunks = [_chunk(i, definition) for i, definition in enumerate(definitions)]
        self._duck = duck
        self._known: dict[int, list[Relation]] = {}
        """The relations of each SELECT, so that nested ones are analysed only once."""

    def of(self, select: exp.Select, depth: int = 0) -> list[Relation]:
        """Return the relations in the FROM of a SELECT, which must not change afterwards."""
        if id(select) not in self._known:
            self._known[id(select)] = []  # found by an expression that refers to itself
            found = [self._relation(node, depth) for node in nodes_of(select)]
            joins = [*(select.args.get("joins") or ()), *_nested_joins(select)]
            self._known[id(select)] = equated(found, select.args.get("where"), joins)
        return self._known[id(select)]

    def has_bounds(self, relation: Relation) -> bool:
        """Tell whether a relation is a window with bounds, or passes one on."""
        return relation.number is not None and self._windows[relation.number].kind in BOUNDED

    def _is_epochs(self, relation: Relation) -> bool:
        number = relation.number
        return number is not None and self._windows[number].kind is WindowKind.EPOCHS

    def of_query(self, query: exp.Expr, depth: int = 0) -> Relation:
        """Return what a query selects, as a relation without a name."""
        others = []
        while isinstance(query, exp.SetOperation | exp.Subquery):
            if isinstance(query, exp.SetOperation):
                others.append((bool(query.args.get("by_name")), query.right))
            query = query.this
        found = Relation("")
        if isinstance(query, exp.Select) and depth <= _DEEPEST:
            items = [self._item(item, query, depth) for item in query.expressions]
            columns = tuple(column for item in items for column in item.columns)
            found = Relation("", columns[:_WIDEST], all(item.is_known for item in items))
        for by_name, right in reversed(others):
            found = united(found, self.of_query(right, depth + 1), by_name=by_name)
        return found

    def _relation(self, node: exp.Expr, depth: int) -> Relation:
        names = _new_names(node)
        found = Relation("")
        if node.args.get("pivots"):
            names = []
        elif (number := chunk_index(node)) is not None:
            found = self._chunks[number]
        elif isinstance(node, exp.Subquery | exp.Lateral):
            found = self._subquery(node.this, depth, is_renamed=bool(names))
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            table = common_table(node)
            if table is None or node.db:
                found = self._of_table(node)
            else:
                new = _new_names(table)
                found = self._subquery(table.this, depth, is_renamed=bool(names or new))
                found = found.renamed("", new)
        return found.renamed(node.alias_or_name.lower(), names)

    def _subquery(self, query: exp.Expr, depth: int, *, is_renamed: bool) -> Relation:
        found = self.of_query(query, depth)
        window = None if is_renamed else self._handed_on(query, depth)
        if window is None:
            return found
        return replace(found, number=window.number, filled=window.filled)

    def _handed_on(self, query: exp.Expr, depth: int) -> Relation | None:
        """Return the only window from which a query selects `*`, as far as its columns are kept."""
        if not isinstance(query, exp.Select) or query.args.get("group") or depth > _DEEPEST:
            return None
        relations = self.of(query, depth + 1)
        windows = [each for each in relations if self.has_bounds(each)]
        if len(windows) != 1 or windows[0].alias in made_up(query):
            return None
        if query.args.get("distinct") and self._is_epochs(windows[0]):
            return None  # another column would make more rows distinct
        stars = [item for item in query.expressions if is_star(item)]
        if not any(_table_of(star) in {"", windows[0].alias} for star in stars):
            return None
        is_alone = len(relations) == len(query.expressions) == 1
        is_plain = is_alone and not any(_star(stars[0]).args.values())
        return windows[0] if is_plain else replace(windows[0], filled=())

    def _item(self, item: exp.Expr, select: exp.Select, depth: int) -> Relation:
        """Return the columns that one item of a select list stands for."""
        relations = self.of(select, depth + 1)
        value = item.unalias().unnest()
        if is_star(value):
            among = [each for each in relations if _table_of(value) in {"", each.alias}]
            columns = tuple(column for each in among for column in each.columns)
            is_known = bool(among) and all(each.is_known for each in among)
            return Relation("", without(columns, _star(value)), is_known)
        origins = origins_of(value, relations) if isinstance(value, exp.Column) else frozenset()
        name = item.alias or (value.name if isinstance(value, exp.Column | exp.Dot) else "")
        is_known = bool(item.alias) or item.find(exp.Columns) is None
        return Relation("", (RelationColumn(name, origins),), is_known)

    def _of_table(self, node: exp.Table) -> Relation:
        """Return the columns of a table of DuckDB; none if it does not know the name."""
        if self._duck is None:
            return Relation("")
        ask = (
            "SELECT column_name FROM duckdb_columns() WHERE lower(table_name) = ? "
            "ORDER BY column_index"
        )
        rows = self._duck.rows(ask, [node.name.lower()])
        return Relation("", tuple(RelationColumn(str(name)) for (name,) in rows), bool(rows))


def made_up(select: exp.Select, reference: exp.Column | None = None) -> set[str]:
    """Return the relations for which an outer join may supply a row of NULLs.

    In the condition of a join, given by a `reference` in it, only the relations before it count.
    """
    read = select.args.get("from_")
    before = [read.this.alias_or_name.lower()] if read is not None else []
    found: set[str] = set()
    for join in select.args.get("joins") or ():
        if reference is not None and reference.find_ancestor(exp.Join) is join:
            break
        if join.side in {"RIGHT", "FULL"}:
            found |= {*before}
        if join.side in {"LEFT", "FULL"}:
            found.add(join.this.alias_or_name.lower())
        before.append(join.this.alias_or_name.lower())
    if any(join.side for join in _nested_joins(select)):
        found |= {node.alias_or_name.lower() for node in nodes_of(select)}
    return found


def nodes_of(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the relations in FROM, including those in joins in brackets."""
    read = select.args.get("from_")
    joins = [*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())]
    waiting = [read.this] if read is not None else []
    waiting += [each.this if isinstance(each, exp.Join) else each for each in joins]
    while waiting:
        node = waiting.pop(0)
        waiting[:0] = [join.this for join in node.args.get("joins") or ()]
        is_in_brackets = isinstance(node, exp.Subquery | exp.Paren) and not node.alias
        if is_in_brackets and isinstance(node.this, exp.Table):
            waiting.insert(0, node.this)
        else:
            yield node


def _nested_joins(select: exp.Select) -> list[exp.Join]:
    return [join for node in nodes_of(select) for join in node.args.get("joins") or ()]


def _new_names(node: exp.Expr) -> list[str]:
    """Return the columns of an alias such as `t(a, b)`."""
    alias = node.args.get("alias")
    return [each.name for each in alias.columns] if isinstance(alias, exp.TableAlias) else []


def _chunk(number: int, definition: StreamDefinition) -> Relation:
    columns = tuple(
        RelationColumn(name, frozenset({(number, name.lower())}))
        for name in definition.schema.names
    )
    return Relation("", columns, True, number, tuple(definition.required))


def _star(item: exp.Expr) -> exp.Expr:
    inner: exp.Expr = item.this if isinstance(item, exp.Column) else item
    return inner


def _table_of(star: exp.Expr) -> str:
    return star.table.lower() if isinstance(star, exp.Column) else ""

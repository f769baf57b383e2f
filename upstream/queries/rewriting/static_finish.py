"""What the finish of a view computes from tables alone, computed once for each state of the tables.

    SELECT s_name FROM supplier, nation
    WHERE s_nationkey = n_nationkey AND n_name = 'CANADA' AND s_suppkey IN (
        SELECT ps_suppkey FROM partsupp
        WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
            AND ps_availqty > (SELECT 0.5 * sum(quantity) FROM merged
                WHERE part = ps_partkey AND supplier = ps_suppkey))

A block whose FROM reads tables only is divided: the join, and the conditions on tables, become a
table of their own, a *part*. What is left of the block reads the part, and checks the other
conditions. Here the first part has 400 suppliers. The block in IN needs only their rows, so the
second part has 340 rows of partsupp instead of 800,000.

The parts also say which groups of the merged relation are looked up: those of these 340 parts and
suppliers. The finish is given only these.

Leaving out rows that a condition of WHERE rejects is exact, as is leaving out groups that no row
looks up. Tables may change at any time: the parts are then made again. If making them fails, or the
finish over them, the finish runs over the tables themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.trees import column, conjuncts, named, nested_queries, own_nodes
from .block import as_source, queries_beside_from, read_block, source_nodes
from .correlation import columns_of, own_aliases, parts_beside_from, qualify
from .merged_rows import MergedRows, has_only
from .not_incremental import NotIncrementalError
from .resolution import resolved
from .static_parts import StaticPart

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from ..sql.functions import Functions
    from .split_query import Leaf, SplitQuery
    from .static_parts import StaticTables
    from .trial import Trial

_FEW: Final = 65_536
"""A part with more rows than this must have half as many as the largest relation at most."""
_ROWS: Final = ("from_", "joins", "where")
_OF_SET: Final = ("expressions", *_ROWS, "distinct")
"""The clauses of a query in IN from which rows may be left out that equal no value before IN."""
_AFTER_WHERE: Final = ("expressions", "from_", "where", "group", "having", "order", "limit")


@dataclass(frozen=True, slots=True)
class StaticFinish:
    """A finish over parts, which are tables that must be made in this order.

    `keys` are queries over parts, by the names of merged relations. They return the groups that are
    looked up.
    """

    finish: exp.Query
    parts: tuple[StaticPart, ...]
    keys: Mapping[str, exp.Query]


def static_finish(
    query: SplitQuery,
    changing: Collection[str],
    trial: Trial,
    functions: Functions,
    *,
    new_name: Callable[[], str],
    tables: StaticTables,
) -> StaticFinish | None:
    """Return the finish over parts, which are made, or None if it has no parts.

    `changing` are the names of what is read that is neither a table nor a merged relation. `trial`
    has the merged relations. Raises if DuckDB refuses the finish over parts.
    """
    if not _has_own_tables_only(query.finish):
        return None
    dividing = _Dividing(
        {leaf.relation for leaf in query.leaves} | {*changing}, trial, functions, new_name, tables
    )
    root = exp.Subquery(this=query.finish.copy())
    dividing.over_parts(root.this, None)
    if not dividing.parts:
        return None
    finish = root.this.pop()
    if trial.columns(finish) != trial.columns(query.finish):
        raise NotIncrementalError("the finish over parts has other columns")
    parts = {part.name for part in dividing.parts}
    found = ((leaf, _keys(finish, leaf, parts)) for leaf in query.leaves if leaf.groups)
    keys = {leaf.relation: keys for leaf, keys in found if keys and _fits(keys, leaf, trial)}
    return StaticFinish(finish, tuple(dividing.parts), keys)


def _has_own_tables_only(query: exp.Query) -> bool:
    """Tell whether every name in FROM is that of a table or relation in this database."""
    return not query.find(exp.With) and not any(
        table.args.get("db") for table in query.find_all(exp.Table)
    )


class _Dividing:
    """Divides the blocks of a finish, from the outside in."""

    def __init__(
        self,
        late: set[str],
        trial: Trial,
        functions: Functions,
        new_name: Callable[[], str],
        tables: StaticTables,
    ) -> None:
        self.parts: list[StaticPart] = []
        self._late = late
        self._trial = trial
        self._functions = functions
        self._new_name = new_name
        self._tables = tables

    def over_parts(self, query: exp.Expr, wanted: exp.Query | None) -> None:
        """Let the blocks of a query read parts, in place.

        `wanted` are the only values that matter of the query's only column.
        """
        if not isinstance(query, exp.Select):
            for inner in list(nested_queries(query)):
                self.over_parts(inner, None)
            return
        part = None
        if self._is_late(query) and not any(map(self._is_late, source_nodes(query))):
            part = self._divided(query, wanted)
        asked = dict(_sets_of(query, part))
        for inner in list(queries_beside_from(query)):
            self.over_parts(_without_brackets(inner), asked.get(id(_without_brackets(inner))))
        for node in source_nodes(query):
            if isinstance(node, exp.Subquery):
                self.over_parts(node.this, None)

    def _is_late(self, tree: exp.Expr) -> bool:
        return any(table.name in self._late for table in tree.find_all(exp.Table))

    def _divided(self, query: exp.Select, wanted: exp.Query | None) -> str | None:
        """Let a block read a part; return its name, or None if the block stays as it is."""
        try:
            block = read_block(query, self._trial)
            select = resolved(block)
            qualify(replace(block, select=select), self._trial, self._functions)
        except (NotIncrementalError, DatabaseError):
            return None
        if not block.sources or block.using or not _names_relations(select):
            return None
        known, late = self._conditions(select)
        value = _value_of_set(select)
        if wanted is not None and value is not None:
            known.append(exp.In(this=value.copy(), query=exp.Subquery(this=wanted.copy())))
        if not known or not self._is_small(select, known):
            return None
        name = self._new_name()
        over, items = _over_part(select, late, name)
        rows = _rows(select, items, known)
        reads = tuple(table.name for table in rows.find_all(exp.Table))
        self._tables.make(StaticPart(name, rows, reads))
        self.parts.append(StaticPart(name, rows, reads))
        for key in {*query.args, *over.args}:
            query.set(key, over.args.get(key))
        return name

    def _conditions(self, select: exp.Select) -> tuple[list[exp.Expr], list[exp.Expr]]:
        """Return the conditions of WHERE that need only the tables of a block, and the others."""
        where = select.args.get("where")
        known, late = list[exp.Expr](), list[exp.Expr]()
        for condition in conjuncts(where.this if where else None):
            is_known = not self._is_late(condition) and self._is_closed(condition, select)
            (known if is_known else late).append(condition)
        return known, late

    def _is_closed(self, condition: exp.Expr, select: exp.Select) -> bool:
        """Tell whether a condition refers to no query around its block."""
        try:
            self._trial.columns(_rows(select, [named(exp.Literal.number(1), "one")], [condition]))
        except DatabaseError:
            return False
        return True

    def _is_small(self, select: exp.Select, known: list[exp.Expr]) -> bool:
        """Tell whether a part has few rows, or half of the largest relation's, and no more."""
        count = exp.Count(this=exp.Star())
        nodes = source_nodes(select)
        most = max(self._tables.count(exp.select(count).from_(node.copy())) for node in nodes)
        bound = min(most, max(most // 2, _FEW))
        rows = _rows(select, [named(exp.Literal.number(1), "one")], known).limit(bound + 1)
        return self._tables.count(exp.select(count).from_(as_source(rows, "rows"))) <= bound


def _without_brackets(query: exp.Expr) -> exp.Expr:
    return query.this if isinstance(query, exp.Subquery) else query


def _names_relations(select: exp.Select) -> bool:
    """Tell whether every column names its relation, or is a select item in ORDER BY."""
    items = {item.alias.lower() for item in select.expressions if item.alias}
    return all(
        node.table or (node.name.lower() in items and node.find_ancestor(exp.Order))
        for child in parts_beside_from(select)
        for node in own_nodes(child)
        if isinstance(node, exp.Column)
    )


def _rows(select: exp.Select, items: list[exp.Expr], where: list[exp.Expr]) -> exp.Select:
    """Return the rows of FROM that meet conditions, with these columns."""
    query = exp.Select(expressions=items, from_=select.args["from_"].copy())
    query.set("joins", [join.copy() for join in select.args.get("joins") or ()])
    return query.where(*(each.copy() for each in where), copy=False)


def _over_part(
    select: exp.Select, late: list[exp.Expr], part: str
) -> tuple[exp.Select, list[exp.Expr]]:
    """Return what is left of a block over a part, and the columns of the part."""
    aliases = own_aliases(select)
    over = select.copy()
    over.set("expressions", [_with_name(item) for item in over.expressions])
    over.set("from_", None)
    over.set("joins", None)
    over.set("where", exp.Where(this=exp.and_(*(each.copy() for each in late))) if late else None)
    read = [node for child in parts_beside_from(over) for node in columns_of(child, aliases)]
    names = {key: f"__j{i}" for i, key in enumerate(sorted({_key(node) for node in read}))}
    items = [named(column(name, table), names[table, name]) for table, name in names]
    for node in read:
        node.replace(column(names[_key(node)], part))
    over.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(part, quoted=True))))
    return over, items or [named(exp.Literal.number(1), "__j0")]


def _key(node: exp.Column) -> tuple[str, str]:
    return node.table, node.name


def _with_name(item: exp.Expr) -> exp.Expr:
    return named(item.copy(), item.name) if isinstance(item, exp.Column) else item


def _value_of_set(select: exp.Select) -> exp.Expr | None:
    """Return the column of a query in IN if its rows may be left out by their values."""
    items, distinct = select.expressions, select.args.get("distinct")
    is_set = has_only(select, *_OF_SET) and not (distinct and distinct.args.get("on"))
    value = items[0].unalias() if is_set and len(items) == 1 else None
    return value if isinstance(value, exp.Column) else None


def _sets_of(select: exp.Select, part: str | None) -> Iterator[tuple[int, exp.Query]]:
    """Yield the queries in IN that rows of a part must be in, and the values before IN."""
    where = select.args.get("where")
    for each in conjuncts(where.this if where and part else None):
        query = each.args.get("query") if isinstance(each, exp.In) else None
        if query is not None and isinstance(each.this, exp.Column) and each.this.table == part:
            values = exp.select(column(each.this.name)).from_(_table(each.this.table))
            yield id(_without_brackets(query)), values


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


# Groups that are looked up


def _keys(finish: exp.Query, leaf: Leaf, parts: set[str]) -> exp.Query | None:
    """Return the groups that a finish looks up by equality, or None if it may read all.

    The only query over the merged relation compares each group with a column of one part.
    """
    rows = MergedRows(leaf)
    tables = [table for table in finish.find_all(exp.Table) if rows.is_ours(table)]
    if len(tables) != 1:
        return None
    for select in finish.find_all(exp.Select):
        names = rows.names(select)
        if names is None or not select.args.get("where") or not has_only(select, *_AFTER_WHERE):
            continue
        [source] = source_nodes(select)
        compared: dict[str, exp.Column] = {}
        for each in conjuncts(select.args["where"].this):
            for own, other in _sides(each):
                if own.table == source.alias_or_name and other.table in parts:
                    compared.setdefault(names.get(own.name.lower()) or "", other)
        found = [compared.get(name) for name in leaf.groups or ()]
        if all(found) and len({each.table for each in found if each}) == 1:
            return _distinct([each for each in found if each])
    return None


def _sides(condition: exp.Expr) -> list[tuple[exp.Column, exp.Column]]:
    left, right = condition.args.get("this"), condition.args.get("expression")
    if not isinstance(condition, exp.EQ):
        return []
    if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
        return []
    return [(left, right), (right, left)]


def _distinct(columns: list[exp.Column]) -> exp.Select:
    items = [named(column(each.name), f"__g{i}") for i, each in enumerate(columns)]
    return exp.select(*items).distinct().from_(_table(columns[0].table))


def _fits(keys: exp.Query, leaf: Leaf, trial: Trial) -> bool:
    """Tell whether keys have the types of the groups, and equal ones are the same."""
    assert leaf.schema is not None
    types = [leaf.schema.field(name).type for name in leaf.groups or ()]
    return trial.shape(keys).schema.types == types and all(map(_is_found_by_value, types))


def _is_found_by_value(type_: pa.DataType) -> bool:
    types = pa.types
    is_text = types.is_string(type_) or types.is_boolean(type_)
    is_number = types.is_integer(type_) or types.is_decimal(type_)
    return bool(is_text or is_number or types.is_date(type_) or types.is_timestamp(type_))

"""Joins of lasting streams with what is not a table: the stream is grouped below the join.

    SELECT c.key, count(o.key) FROM customers c LEFT JOIN orders o ON c.key = o.customer GROUP BY 1

Whether a customer has no order depends on all rows, so the rows of `orders` cannot be joined as
they arrive. But the join, the groups and all conditions see only its column `customer`. So the
stream is grouped by the columns that stand outside aggregates, and the join reads its groups:

    SELECT c.key, sum(o.__a0) FROM customers c LEFT JOIN (
        SELECT customer, count(*) AS __n, count(key) AS __a0 FROM orders GROUP BY customer) o
    ON c.key = o.customer GROUP BY 1

A row of the join stands for as many pairs as the product of the numbers of rows `__n`; a relation
that an outer join fills with NULLs counts once. Databases call this eager aggregation (Yan and
Larson, 1995). `early_aggregation` does the same for each step of two sliding windows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.trees import (
    call,
    cast,
    chunk_index,
    chunks_in,
    column,
    conjuncts,
    divided,
    is_known,
    named,
    named_each,
    nested_queries,
    own_nodes,
    replaced,
    summed_count,
)
from .aggregates.aggregate_call import AggregateCall, is_call, read_call
from .block import as_source, check_joins, is_inner, read_block, source_nodes
from .correlation import columns_of, qualify
from .grouping import has_aggregates
from .late_conditions import COMPARISONS, INEXACT
from .not_incremental import NotIncrementalError, obstacle
from .partial_columns import Numbered
from .resolution import resolved

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..sql.functions import Functions
    from .block import Block, Source
    from .trial import Trial

_ROWS: Final = "__n"
_WEIGHTED: Final = ("count", "sum", "avg", "mean", "min", "max")
"""The aggregates that can be computed from one side's, and the numbers of rows on the others."""
_LISTS: Final = (exp.Group, exp.Select, exp.Alias, exp.Ordered, exp.Distinct)
_SAFE: Final = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Paren),
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg),
)
"""Expressions that are NULL if all their columns are."""


def needs_groups(select: exp.Select) -> bool:
    """Tell whether a block joins a stream with more than tables, so that its rows do not suffice.

    The stream may be joined with other streams, or by an outer join that needs all of its rows.
    """
    nodes = [node for node in source_nodes(select) if chunks_in(node)]
    if not any(chunk_index(node) is not None for node in nodes):
        return False
    return len(nodes) > 1 or bool(obstacle(check_joins, select))


def grouped_below(select: exp.Select, trial: Trial, functions: Functions) -> exp.Select:
    """Return a block that aggregates whose streams are grouped before they are joined.

    Raises NotIncrementalError if the block needs single rows of a stream.
    """
    block = read_block(select, trial)
    block = replace(block, select=resolved(block))
    qualify(block, trial, functions)
    try:
        names = trial.columns(select)
    except DatabaseError as error:
        raise NotIncrementalError("it refers to a query around it") from error
    over_groups = _Grouping(block, trial, functions).select()
    items = [item.unalias() for item in over_groups.expressions]
    over_groups.set("expressions", named_each(items, names.names))
    if trial.columns(over_groups).types != names.types:
        raise NotIncrementalError("aggregates over groups have other types than over rows")
    return over_groups


def check_grouped(select: exp.Select, trial: Trial, functions: Functions) -> None:
    """Raise unless the streams of a block can be grouped before they are joined."""
    grouped_below(select, trial, functions)


class _Stream:
    """One stream of the join: its columns that are groups, its aggregates and its conditions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.keys: set[str] = set()
        self.states = Numbered("__a")
        self.conditions: list[exp.Expr] = []

    @property
    def alias(self) -> str:
        return self.source.alias

    def state(self, aggregate: exp.Expr) -> exp.Column:
        """Return the column for an aggregate over this stream."""
        return column(self.states.name(aggregate), self.alias)

    def rows(self) -> exp.Expr:
        """Return how many rows of the stream a row of the join stands for."""
        return call("coalesce", column(_ROWS, self.alias), exp.Literal.number(1))

    def grouped(self) -> exp.Subquery:
        """Return the stream as groups, under the same alias."""
        keys = [name for name in self.source.columns if name in self.keys]
        items = [column(name, self.alias) for name in keys]
        rows = named(exp.Count(this=exp.Star()), _ROWS)
        query = exp.select(*items, *self.states.selected(), rows)
        query = query.from_(self.source.node.copy()).where(*self.conditions)
        # Without a key, there must be no group as long as there is no row.
        groups: list[exp.Expr] = [item.copy() for item in items]
        return as_source(query.group_by(*groups or [exp.Literal.string("")]), self.alias)


class _Grouping:
    """Changes a block whose names are resolved."""

    def __init__(self, block: Block, trial: Trial, functions: Functions) -> None:
        select = block.select
        is_of_groups = select.args.get("group") or has_aggregates(select, functions)
        if not is_of_groups and not select.args.get("distinct"):
            raise NotIncrementalError("it would keep single rows")
        if select.find(exp.Window):
            raise NotIncrementalError("a window function needs all rows")
        if select.args.get("distinct") and select.args["distinct"].args.get("on"):
            raise NotIncrementalError("DISTINCT ON needs the rows in their order")
        self._block = block
        self._trial = trial
        self._functions = functions
        streams = [each for each in block.sources if chunk_index(each.node) is not None]
        if any(join.method or join.kind in ("SEMI", "ANTI") for join in _joins(select)):
            raise NotIncrementalError("a join is not split")
        self._is_inner = all(map(is_inner, _joins(select)))
        self._streams = {each.alias.lower(): _Stream(each) for each in streams}

    def select(self) -> exp.Select:
        """Return the block over groups of its streams."""
        select = self._block.select.copy()
        self._push_conditions(select)
        for name in ("expressions", "having", "order", "qualify"):
            value = select.args.get(name)
            if isinstance(value, list):
                select.set(name, [replaced(each, self._exchange) for each in value])
            elif value:
                select.set(name, replaced(value, self._exchange))
        self._note_keys(select)
        for node in [select.args["from_"].this, *(join.this for join in _joins(select))]:
            stream = self._streams.get(node.alias_or_name.lower())
            if stream is not None:
                node.replace(stream.grouped())
        return select

    def _push_conditions(self, select: exp.Select) -> None:
        """Move conditions on one stream below the join where that changes nothing, in place."""
        joins = _joins(select)
        if self._is_inner:
            clauses = [(select.args.get("where"), "this"), *((join, "on") for join in joins)]
            for clause, name in clauses:
                if clause is not None:
                    self._push(clause, name, self._streams.values())
            where = select.args.get("where")
            if where is not None and where.this == exp.true():
                select.set("where", None)
        for join in joins:
            joined = self._streams.get(join.this.alias_or_name.lower())
            if join.side == "LEFT" and joined is not None:
                self._push(join, "on", [joined])

    def _push(self, clause: exp.Expr, name: str, streams: Iterable[_Stream]) -> None:
        found = conjuncts(clause.args.get(name))
        stay = []
        for condition in found:
            for stream in streams:
                if self._is_about(condition, stream):
                    stream.conditions.append(condition)
                    break
            else:
                stay.append(condition)
        if len(stay) < len(found):
            clause.set(name, exp.and_(*stay) if stay else exp.true())

    def _is_about(self, tree: exp.Expr, stream: _Stream) -> bool:
        columns = [node for node in own_nodes(tree) if isinstance(node, exp.Column)]
        return not any(nested_queries(tree)) and {each.table for each in columns} == {stream.alias}

    # Aggregates

    def _exchange(self, node: exp.Expr) -> exp.Expr | None:
        function = is_call(node)
        if function is None or not self._functions.is_aggregate(function):
            return None
        aggregate = read_call(node)
        found = self._over_groups(aggregate) if aggregate.is_plain else None
        if found is None:
            raise NotIncrementalError(
                f"{node.sql('duckdb')} cannot be computed from groups below the join"
            )
        return found

    def _over_groups(self, aggregate: AggregateCall) -> exp.Expr | None:
        """Return an aggregate over rows of the join as one over groups, or None."""
        name, arguments, where = aggregate.name, aggregate.arguments, aggregate.condition
        if len(arguments) > 1 or name not in _WEIGHTED:
            return None
        if aggregate.is_distinct:
            is_column = isinstance(arguments[0], exp.Column) and where is None
            return call(name, exp.Distinct(expressions=[*arguments])) if is_column else None
        if name == "count" and arguments and arguments[0].is_number:
            arguments = ()  # count(1)
        trees = [*arguments, *([where] if where is not None else [])]
        if not trees:
            rows = self._times(None)
            assert rows is not None, "a block that is grouped below reads a stream"
            return summed_count(rows)
        for stream in self._streams.values():
            if all(self._is_about(tree, stream) for tree in trees):
                is_exact = self._is_inner or (where is None and _is_safe(trees[0]))
                return self._of_stream(aggregate, stream) if is_exact else None
        is_other = isinstance(trees[0], exp.Column) and trees[0].table.lower() not in self._streams
        return self._of_others(name, trees[0]) if is_other and where is None else None

    def _of_stream(self, aggregate: AggregateCall, stream: _Stream) -> exp.Expr:
        def state(name: str) -> exp.Expr:
            arguments = aggregate.arguments or (exp.Star(),)
            return stream.state(call(name, *arguments, where=aggregate.condition))

        if aggregate.name in ("min", "max"):
            return call(aggregate.name, state(aggregate.name))
        times = self._times(stream)
        count = summed_count(_product(state("count"), times))
        if aggregate.name == "count":
            return count
        total = call("sum", _product(state("sum"), times))
        return total if aggregate.name == "sum" else divided(cast(total, "DOUBLE"), count)

    def _of_others(self, name: str, value: exp.Expr) -> exp.Expr:
        """Return an aggregate over a column of a table or of a grouped relation."""
        if name in ("min", "max"):
            return call(name, value)
        times = self._times(None)
        count = summed_count(exp.Case(ifs=[exp.If(this=is_known(value), true=times)]))
        if name == "count":
            return count
        total = call("sum", _product(value.copy(), times))
        return total if name == "sum" else divided(cast(total, "DOUBLE"), count)

    def _times(self, besides: _Stream | None) -> exp.Expr | None:
        """Return the product of the numbers of rows of all streams except one."""
        product = None
        for stream in self._streams.values():
            if stream is not besides:
                product = _product(stream.rows(), product)
        return product

    # Keys

    def _note_keys(self, select: exp.Select) -> None:
        """Group each stream by its columns that the block still names."""
        aliases = frozenset(self._streams)
        for part in (*select.iter_expressions(),):
            for node in columns_of(part, aliases):
                stream = self._streams[node.table.lower()]
                if node.name != _ROWS and node.name not in stream.states:
                    stream.keys.add(node.name)
                    self._check_exact(node, stream)
        for stream in self._streams.values():
            lower = {name.lower(): name for name in stream.source.columns}
            stream.keys |= {lower[name] for name in self._block.using if name in lower}

    def _check_exact(self, node: exp.Column, stream: _Stream) -> None:
        """Raise if equal values of a key may differ where the key is used."""
        schema = exp.select(column(node.name)).from_(stream.source.node.copy())
        [type_name] = self._trial.columns(schema).types
        is_compared = isinstance(node.parent, (*COMPARISONS, *_LISTS))
        if INEXACT.search(type_name) and not is_compared:
            raise NotIncrementalError(
                f"it computes with {stream.alias}.{node.name}, a {type_name}, above a join"
            )


def _joins(select: exp.Select) -> list[exp.Join]:
    return select.args.get("joins") or []


def _is_safe(value: exp.Expr) -> bool:
    """Tell whether a value is NULL for a row that an outer join fills with NULLs."""
    return all(isinstance(node, _SAFE) for node in value.walk())


def _product(one: exp.Expr, other: exp.Expr | None) -> exp.Expr:
    return one if other is None else exp.Mul(this=one, expression=other)

"""Synchronous replication: all aggregates of a block at once, in the groups of the block.

The partial groups as the query does, or finer if an aggregate needs that. SELECT DISTINCT is such a
block as well: each partial is without duplicates, and the merge removes those among them.

In the finish, each merged row is a group, or is aggregated once more. The latter is necessary
without groups (a window without rows still has a result), with ROLLUP and similar grouping sets,
and if an aggregate needs finer groups than the query's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ..sql.trees import call, cast, column, replaced
from .aggregates.aggregate_call import is_call, is_windowed
from .aggregates.rules import split_aggregate
from .block import group_by_first
from .collations import collated, collation_of, plain
from .division import Division, Task
from .explain import spoken
from .grouping import check_items, group_expressions, has_aggregates, has_sets
from .late_conditions import LateConditions
from .merged_relation import read_back, restored, travelling, types_of
from .not_incremental import NotIncrementalError, needs_every_value
from .partial_columns import PartialColumns
from .split_query import LATE, State, StateKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .partial_columns import StateDraft
    from .trial import Shape

_DIRECT = ("expressions", "from_", "group")
"""The parts of a query that a merged relation replaces."""


def synchronous_replication(task: Task) -> Division | None:
    """Divide a block that groups or aggregates."""
    select = task.block.select
    if not select.args.get("group") and not has_aggregates(select, task.functions):
        return None
    check_items(select, task.shape.names)
    return _grouped(task, group_expressions(select, task.functions), "synchronous replication")


def distinct_rows(task: Task) -> Division | None:
    """Divide SELECT DISTINCT: group by the whole select list."""
    select = task.block.select
    distinct = select.args.get("distinct")
    if not distinct or distinct.args.get("on") or select.args.get("qualify"):
        return None
    if len(select.expressions) != len(task.shape.names):
        raise NotIncrementalError("a select item makes several columns")
    plain = select.copy()
    plain.set("distinct", None)
    items = [item.unalias() for item in plain.expressions]
    return _grouped(replace(task, block=replace(task.block, select=plain)), items, "distinct rows")


def _grouped(task: Task, groups: list[exp.Expr], rule: str) -> Division:
    """Divide a block by these groups."""
    columns = PartialColumns(is_lasting=task.is_lasting)
    for group in groups:
        columns.groups.name(group)
    own_groups = len(columns.groups)
    aggregates = _Aggregates(task, columns)
    upper = task.upper(aggregates.over)
    if aggregates.not_split:
        raise NotIncrementalError(needs_every_value(list(aggregates.not_split)))
    late = LateConditions(task.block, task.alias, columns) if task.alias else None
    if late is not None:
        for condition in task.late:
            late.add(condition)
        late.beside(upper)
    partial = task.rows(columns.items())
    group_by_first(partial, len(columns.groups))
    if any(table.name in task.finished for table in partial.find_all(exp.Table)):
        raise NotIncrementalError("an aggregate depends on a subquery over a stream")
    shape = travelling(partial, len(columns.groups), task.trial, apart=columns.apart)
    if any(collation_of(each) for each in shape.types[len(columns.groups) :]):
        columns.needs_order = True  # of texts that a collation makes equal, the first is chosen
    finish = _Finish(task, columns, shape, own_groups)
    rule = rule if groups else "concatenation with compensation"
    leaf = task.leaf(
        f"{rule}, {LATE}" if task.late else rule,
        partial,
        groups=tuple(columns.groups),
        states=finish.states(),
    )
    over_merged = finish.select(upper)
    if late is not None:
        late.read_back(over_merged, types_of(shape, task.trial))
    if task.late:
        return Division(leaf, over_merged)
    return Division(leaf, over_merged, finish.direct(upper), finish.direct_of_row(upper))


class _Aggregates:
    """Replaces the groups and aggregates of a block by the columns of a partial."""

    def __init__(self, task: Task, columns: PartialColumns) -> None:
        self._task = task
        self._columns = columns
        self.not_split: dict[str, None] = {}
        """The aggregates that no rule splits, as the user wrote them, each once."""

    def over(self, tree: exp.Expr) -> exp.Expr:
        """Return an expression over the columns; a window function stays as it is."""
        return replaced(tree, self._exchange)

    def _exchange(self, node: exp.Expr) -> exp.Expr | None:
        group = self._columns.groups.known(node)
        if group is not None:
            return column(group)
        function = is_call(node)
        is_aggregate = function is not None and self._task.functions.is_aggregate(function)
        return self._split(node) if is_aggregate and not is_windowed(node) else None

    def _split(self, node: exp.Expr) -> exp.Expr:
        try:
            return split_aggregate(node, self._columns)
        except NotIncrementalError:
            has_many = len(self._task.block.sources) > 1
            self.not_split[spoken(node, qualified=has_many)] = None
            return node.copy()  # all of them are to be named


class _Finish:
    """The finish over a merged relation.

    Raises NotIncrementalError if the order of rows matters.
    """

    def __init__(self, task: Task, columns: PartialColumns, shape: Shape, own_groups: int) -> None:
        self._task = task
        self._columns = columns
        self._shape = shape
        self._own_groups = tuple(columns.groups)[:own_groups]
        self._has_sets = has_sets(task.block.select)
        self._aggregates_again = (
            task.is_shared or columns.is_refined or not own_groups or self._has_sets
        )
        has_many_rows = columns.is_refined or (self._aggregates_again and own_groups > 0)
        is_join = len(task.block.sources) > 1
        _check_order(columns, has_many_rows=has_many_rows, is_join=is_join)
        self._types = types_of(shape, task.trial)
        self._merges = {
            name: merge
            for draft in columns.states
            for name, merge in zip(draft.columns, self._merge(draft), strict=True)
        }
        self._reading = self._readings()

    def _readings(self) -> Mapping[str, exp.Expr]:
        found = {name: restored(column(name), *types) for name, types in self._types.items()}
        for state in self._columns.states if self._aggregates_again else ():
            for name in state.columns:
                again = restored(self._merges[name].copy(), *self._types[name])
                found[name] = _or_empty(again, state)
        return found

    def select(self, upper: exp.Select) -> exp.Select:
        """Return the query over the merged relation."""
        finish = read_back(upper, self._reading)
        if self._aggregates_again and not self._has_sets:
            own = [column(name) for name in self._own_groups]
            finish.set("group", exp.Group(expressions=own) if own else None)
        elif not self._aggregates_again:
            finish.set("group", None)
            having = finish.args.get("having")
            finish.set("where", having and exp.Where(this=having.this))
            finish.set("having", None)
        return finish

    def direct(self, upper: exp.Select) -> tuple[tuple[str, str], ...] | None:
        """Return which merged column is which result column, if the finish does nothing else."""
        return None if self._aggregates_again else self._renames(upper)

    def direct_of_row(self, upper: exp.Select) -> tuple[tuple[str, str], ...] | None:
        """Return this for a single merged row without NULLs, if the query has no groups.

        An aggregate over one value is then the value. A sum of doubles is not: 0.0 + -0.0 is 0.0.
        """
        if len(self._columns.groups) or self._has_sets or self._task.is_shared:
            return None
        renames = self._renames(upper)
        merged = {name for _, name in renames or ()}
        states = [each for each in self._columns.states if merged & {*each.columns}]
        return renames if all(map(self._is_value_of_one, states)) else None

    def _is_value_of_one(self, draft: StateDraft) -> bool:
        kind, type_ = self._kind(draft), self._shape.schema.field(draft.columns[0]).type
        is_sum = kind is StateKind.SUM and not pa.types.is_floating(type_)
        return is_sum or kind in (StateKind.MINIMUM, StateKind.MAXIMUM)

    def _renames(self, upper: exp.Select) -> tuple[tuple[str, str], ...] | None:
        if any(value for name, value in upper.args.items() if name not in _DIRECT):
            return None
        wanted = self._task.shape.schema
        if len(upper.expressions) != len(wanted):
            return None
        items = [item.unalias() for item in upper.expressions]
        for item, field in zip(items, wanted, strict=True):
            is_column = isinstance(item, exp.Column) and item.name in self._reading
            if not is_column or self._shape.schema.field(item.name).type != field.type:
                return None
        return tuple((name, item.name) for name, item in zip(wanted.names, items, strict=True))

    def states(self) -> tuple[State, ...]:
        """Return the states, merged in their own types."""
        if not self._merges:
            return ()
        relation, merges = self._task.relation, list(self._merges.items())
        query = exp.select(*(merge.copy() for _, merge in merges)).from_(exp.to_table(relation))
        found = self._task.trial.lending({relation: self._shape.schema}).columns(query).types
        same = {}
        for (name, merge), type_name in zip(merges, found, strict=True):
            wanted = plain(self._types[name][1])
            same[name] = merge if plain(type_name) == wanted else cast(merge, wanted)
        return tuple(
            State(self._kind(draft), draft.columns, tuple(same[name] for name in draft.columns))
            for draft in self._columns.states
        )

    def _kind(self, draft: StateDraft) -> StateKind:
        """Return the kind, or OTHER if the type is not one that all mergers know."""
        kind = self._shape.schema.field(draft.columns[0]).type
        is_number = (
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        )
        is_text = pa.types.is_string(kind) and not collation_of(self._types[draft.columns[0]][0])
        is_ordered = is_number or pa.types.is_temporal(kind) or is_text
        fits = {
            StateKind.SUM: is_number,
            StateKind.MINIMUM: is_ordered,
            StateKind.MAXIMUM: is_ordered,
        }
        return draft.kind if fits.get(draft.kind, True) else StateKind.OTHER

    def _merge(self, draft: StateDraft) -> Sequence[exp.Expr]:
        """Return the merge of a state's columns, which compares texts as the query does."""
        return draft.merge([collated(column(name), self._types[name][0]) for name in draft.columns])


def _check_order(columns: PartialColumns, *, has_many_rows: bool, is_join: bool) -> None:
    """Raise if a state depends on an order of rows that the merge does not have.

    A join does not define which of several tied rows comes first. Over windows such queries are
    evaluated from rows, so that both ways of evaluation agree. A landmark is evaluated in one way
    only.
    """
    is_about_ties = columns.breaks_ties and (has_many_rows or not columns.is_lasting)
    if (has_many_rows or is_join) and (columns.needs_order or is_about_ties):
        raise NotIncrementalError("an aggregate needs the rows in their order")


def _or_empty(merge: exp.Expr, state: StateDraft) -> exp.Expr:
    """Return the merge of a state in the finish, which is also right over no rows."""
    if state.when_empty is None:
        return merge
    return call("coalesce", merge, exp.Literal.number(state.when_empty))

"""Synchronous replication: all aggregates of a block at once, each in the groups of the block.

The partial groups as the query does, or finer where an aggregate asks for that. SELECT DISTINCT is
such a block as well: each partial without its duplicates, the merge without those among them.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ..sql.trees import column, replaced
from .aggregates import split_aggregate
from .aggregates.aggregate_call import is_call, is_windowed
from .by_step import group_by_first
from .collations import collation_of
from .division import Division, Task
from .explain import spoken
from .grouped_finish import GroupedFinish
from .grouping import check_items, group_expressions, has_aggregates
from .merged_relation import travelling
from .not_incremental import NotIncrementalError, needs_every_value
from .partial_columns import PartialColumns


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
    partial = task.rows(columns.items())
    group_by_first(partial, len(columns.groups))
    if any(table.name in task.finished for table in partial.find_all(exp.Table)):
        raise NotIncrementalError("an aggregate depends on a subquery over a stream")
    shape = travelling(partial, len(columns.groups), task.trial, apart=columns.apart)
    if any(collation_of(each) for each in shape.types[len(columns.groups) :]):
        columns.needs_order = True  # of texts that are equal by a collation, the first is chosen
    finish = GroupedFinish(task, columns, shape, own_groups)
    leaf = task.leaf(
        rule if groups else "concatenation with compensation",
        partial,
        groups=tuple(columns.groups),
        states=finish.states(),
    )
    return Division(leaf, finish.select(upper), finish.direct(upper))


class _Aggregates:
    """Exchanges the groups and aggregates of a block for the columns of a partial."""

    def __init__(self, task: Task, columns: PartialColumns) -> None:
        self._task = task
        self._columns = columns
        self.not_split: dict[str, None] = {}
        """The aggregates that no rule splits, as the user wrote them, each once."""

    def over(self, tree: exp.Expr) -> exp.Expr:
        """Return an expression over the columns; a window function itself stays what it is."""
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

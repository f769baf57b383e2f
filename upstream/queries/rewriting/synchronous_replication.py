"""Synchronous replication: all aggregates of a block at once, each in the groups of the block.

The partial groups as the query does, or finer where an aggregate asks for that.
"""

from __future__ import annotations

from sqlglot import exp

from ..sql.trees import key, replaced
from .aggregates import split_aggregate
from .aggregates.aggregate_call import is_call
from .by_step import by_number, by_step
from .collations import collation_of
from .division import Division, Task
from .grouped_finish import GroupedFinish
from .grouping import check_items, group_expressions, has_aggregates
from .merged_relation import travelling
from .not_incremental import NotIncrementalError, needs_every_value
from .partial_columns import PartialColumns
from .spoken import spoken


def synchronous_replication(task: Task) -> Division | None:
    """Divide a block that groups or aggregates."""
    select = task.block.select
    if not select.args.get("group") and not has_aggregates(select, task.functions):
        return None
    check_items(select, task.shape.names)
    return grouped(task, group_expressions(select, task.functions), "synchronous replication")


def grouped(task: Task, groups: list[exp.Expr], rule: str) -> Division:
    """Divide a block by these groups."""
    columns = PartialColumns(is_lasting=task.is_lasting)
    for group in groups:
        columns.group(group)
    upper = _Upper(task, columns)
    parts = upper.parts()
    if upper.not_split:
        raise NotIncrementalError(needs_every_value(list(upper.not_split)))
    partial = _partial(task.block.select, columns)
    if any(table.name in task.finished for table in partial.find_all(exp.Table)):
        raise NotIncrementalError("an aggregate depends on a subquery over a stream")
    shape = travelling(partial, len(columns.groups), task.trial, apart=columns.apart)
    if any(collation_of(each) for each in shape.types[len(columns.groups) :]):
        columns.needs_order = True  # of texts that are equal by a collation, the first is chosen
    draft = GroupedFinish(task, columns, shape, len({key(group) for group in groups}))
    return Division(
        rule=rule if groups else upper.ungrouped_rule,
        partial=partial,
        partial_by_step=by_step(partial, groups=len(columns.groups)),
        finish=draft.select(parts),
        groups=tuple(columns.groups),
        states=draft.states(),
        direct=draft.direct(parts),
    )


def _partial(select: exp.Select, columns: PartialColumns) -> exp.Select:
    """Return the partial: FROM and WHERE as they are, the columns instead of the select list."""
    partial = exp.Select(expressions=columns.items())
    for name in ("from_", "joins", "where"):
        value = select.args.get(name)
        if value:
            copy = [item.copy() for item in value] if isinstance(value, list) else value.copy()
            partial.set(name, copy)
    if columns.groups:
        partial.set("group", exp.Group(expressions=by_number(len(columns.groups))))
    return partial


class _Upper:
    """The parts of a SELECT above its FROM and WHERE, over the columns of a partial."""

    def __init__(self, task: Task, columns: PartialColumns) -> None:
        self._task = task
        self._columns = columns
        self.ungrouped_rule = "concatenation with compensation"
        self.not_split: dict[str, None] = {}
        """The aggregates that no rule splits, as the user wrote them, each once."""

    def parts(self) -> dict[str, list[exp.Expr] | exp.Expr]:
        """Return the clauses by sqlglot's names."""
        select = self._task.block.select
        items = [item.unalias() for item in select.expressions]
        parts: dict[str, list[exp.Expr] | exp.Expr] = {
            "expressions": [self._over(item) for item in items]
        }
        for name in ("having", "qualify", "order", "limit", "offset", "distinct", "group"):
            if select.args.get(name):
                parts[name] = self._over(select.args[name])
        if select.args.get("windows"):
            parts["windows"] = [self._over(window) for window in select.args["windows"]]
        return parts

    def _over(self, tree: exp.Expr) -> exp.Expr:
        return replaced(tree, self._exchange)

    def _exchange(self, node: exp.Expr) -> exp.Expr | None:
        group = self._columns.group_of(node)
        if group is not None:
            return group
        if isinstance(node, exp.Window) and is_call(node.this):
            return self._window(node)
        function = is_call(node)
        if function is not None and self._task.functions.is_aggregate(function):
            return self._aggregate(node)
        return None

    def _aggregate(self, node: exp.Expr) -> exp.Expr:
        try:
            return split_aggregate(node, self._columns)
        except NotIncrementalError:
            has_many = len(self._task.block.sources) > 1
            self.not_split[spoken(node, qualified=has_many)] = None
            return node.copy()  # all of them are to be named

    def _window(self, node: exp.Window) -> exp.Expr:
        """Look into the arguments of a window function, which itself stays what it is."""
        copy = node.copy()
        function = is_call(copy.this)
        assert function is not None
        inner = is_call(node.this)
        assert inner is not None
        for name, value in inner.args.items():
            function.set(name, self._each(value))
        for name, value in node.args.items():
            if name != "this":
                copy.set(name, self._each(value))
        return copy

    def _each(self, value: object) -> object:
        if isinstance(value, list):
            return [self._each(item) for item in value]
        return self._over(value) if isinstance(value, exp.Expr) else value

"""Rows kept, filtered and projected: for what depends on every value, or on the order of rows.

Medians, lists, window functions: the partial does what it can row by row, evaluating joins,
conditions and arguments once; the finish aggregates over the kept rows in their order.
"""

from __future__ import annotations

from sqlglot import exp

from ..sql.trees import column, key, nested_queries, own_nodes, replaced
from .aggregates.aggregate_call import is_call
from .division import Division, Task
from .grouping import check_items, contains_aggregate, group_expressions, has_aggregates
from .merged_relation import read_back, reading
from .not_incremental import NotIncrementalError
from .partial_columns import Numbered

_NO_VALUES = (
    *(exp.Query, exp.PropertyEQ, exp.WithinGroup, exp.Window),
    *(exp.Kwarg, exp.Star, exp.Filter, exp.Paren),
)
"""Parts of expressions that are no values of a row themselves."""


def kept_rows(task: Task, reason: str) -> Division:
    """Keep what the upper part of the block needs of each row."""
    block = task.block
    if len(block.sources) > 1 and is_about_order(task):
        raise NotIncrementalError(reason)
    projection = Projection(task)
    upper = projection.upper()
    if not projection.items:
        raise NotIncrementalError(reason)
    leaf = task.leaf("kept rows", projection.partial(), reason=reason)
    return Division(leaf, projection.finish(upper))


def is_about_order(task: Task) -> bool:
    """Tell whether the result may depend on the order of rows, which a join does not define."""
    select = task.block.select
    if select.args.get("limit") or select.args.get("offset") or select.find(exp.Window):
        return True
    if select.args.get("distinct") and select.args["distinct"].args.get("on"):
        return True
    return any(
        task.functions.is_aggregate(node) and task.functions.sees_order(node)
        for node in select.find_all(exp.Func)
    )


class Projection:
    """The expressions of a block that can be evaluated row by row, each a column of the partial."""

    def __init__(self, task: Task) -> None:
        check_items(task.block.select, task.shape.names)
        self.items = Numbered("__c")
        self._task = task
        self._sources = {source.alias for source in task.block.sources}
        groups = group_expressions(task.block.select, task.functions)
        self._groups = {key(group) for group in groups}
        self.is_grouped = bool(groups) or has_aggregates(task.block.select, task.functions)

    def upper(self) -> exp.Select:
        """Return the upper part of the block over the columns of the partial."""
        return self._task.upper(self._over)

    def _over(self, tree: exp.Expr) -> exp.Expr:
        """Return an expression over the columns of the partial.

        Above a GROUP BY only its own expressions and plain columns are exchanged, and the arguments
        of aggregates: what is made of a group is not a group.
        """
        return replaced(tree, self._above_groups if self.is_grouped else self._column)

    def _above_groups(self, node: exp.Expr) -> exp.Expr | None:
        function = is_call(node)
        if function is not None and self._task.functions.is_aggregate(function):
            return replaced(node, self._column)
        is_group = self.is_group(node) or isinstance(node, exp.Column)
        return self._column(node) if is_group else None

    def is_group(self, tree: exp.Expr) -> bool:
        """Tell whether the block groups by an expression."""
        return key(tree) in self._groups

    def _column(self, node: exp.Expr) -> exp.Expr | None:
        return column(self.items.name(node)) if self._is_of_a_row(node) else None

    def _is_of_a_row(self, node: exp.Expr) -> bool:
        is_value = isinstance(node, exp.Condition) and not isinstance(node, _NO_VALUES)
        if not is_value or any(nested_queries(node)):
            return False
        columns = [each for each in own_nodes(node) if isinstance(each, exp.Column)]
        if not columns or not all(self._is_known(each) for each in columns):
            return False
        if contains_aggregate(node, self._task.functions):
            return False
        return not any(isinstance(each, exp.Window | exp.Grouping) for each in own_nodes(node))

    def _is_known(self, node: exp.Column) -> bool:
        return node.table in self._sources or node.name.lower() in self._task.block.using

    def partial(self) -> exp.Select:
        """Return the rows with these columns."""
        return self._task.rows(self.items.selected())

    def finish(self, upper: exp.Select) -> exp.Select:
        """Return the finish over these rows."""
        trial = self._task.trial
        return read_back(upper, reading(trial.shape(self.partial()), trial))

"""Keeps rows, filtered and projected, where a result depends on every value or on their order.

This is for medians, lists and window functions. The partial does what it can row by row: it
evaluates joins, conditions and arguments once. The finish aggregates over the kept rows in their
order.

A histogram, an entropy, or a median of small numbers needs every value but not every row. There,
equal rows are kept once: the partial groups by everything that is needed of a row, and counts. The
counts are added, and the finish repeats each row as often as it was counted, and aggregates. So
what is kept does not grow with the window, and a landmark can have a median. This is done only
where values repeat. Where they hardly do, the rows themselves are kept, which cost nothing to
merge.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.functions import name_of
from ..sql.trees import (
    call,
    cast,
    column,
    is_known,
    key,
    named,
    nested_queries,
    own_nodes,
    replaced,
)
from .aggregates.aggregate_call import is_call
from .block import group_by_first
from .division import Division, Task
from .grouping import check_items, contains_aggregate, group_expressions, has_aggregates
from .merged_relation import read_back, reading, travelling
from .not_incremental import NotIncrementalError
from .partial_columns import Numbered
from .split_query import State, StateKind

if TYPE_CHECKING:
    from collections.abc import Mapping

_COUNT: Final = "__s0"
_FEW_VALUES: Final = re.compile(r"BOOLEAN|U?TINYINT|U?SMALLINT|DATE|ENUM\(.*\)")
_BY_VALUE: Final = frozenset({"histogram", "entropy"})
"""Aggregates that are useful only for values that repeat."""
_NO_VALUES: Final = (
    *(exp.Query, exp.PropertyEQ, exp.WithinGroup, exp.Window),
    *(exp.Kwarg, exp.Star, exp.Filter, exp.Paren),
)
"""Parts of expressions that are not values of a row themselves."""


def kept_rows(task: Task, reason: str) -> Division:
    """Keep what the upper part of the block needs of each row."""
    block = task.block
    if len(block.sources) > 1 and is_about_order(task):
        raise NotIncrementalError(reason)
    projection = Projection(task)
    upper = projection.upper()
    if not projection.items:
        raise NotIncrementalError(reason)
    if task.block.select.find(exp.Window):
        projection.check_values()
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


def counted_rows(task: Task) -> Division | None:
    """Keep equal rows once, if the rows that the block needs are likely to repeat."""
    select = task.block.select
    if is_about_order(task) or select.find(exp.Window) or select.args.get("distinct"):
        return None
    projection = Projection(task)
    finish = projection.upper()
    if not projection.is_grouped or not projection.items:
        return None
    if not _repeat_themselves(projection, task):
        return None
    names = {f"__g{i}": known for i, known in enumerate(projection.items)}
    groups = [named(projection.items[known].copy(), name) for name, known in names.items()]
    partial = task.rows([*groups, named(call("count", exp.Star()), _COUNT)])
    group_by_first(partial, len(names))
    shape = travelling(partial, len(names), task.trial)
    finish.set("from_", exp.From(this=_repeated(names, reading(shape, task.trial), task)))
    count = State(StateKind.SUM, (_COUNT,), (cast(call("sum", column(_COUNT)), "BIGINT"),))
    leaf = task.leaf("counted rows", partial, groups=tuple(names), states=(count,))
    return Division(leaf, finish)


def _repeat_themselves(projection: Projection, task: Task) -> bool:
    """Tell whether the values are likely to repeat, by their types or their aggregates."""
    calls = [n for n in task.block.select.find_all(exp.Func) if task.functions.is_aggregate(n)]
    if {name_of(node) for node in calls} <= _BY_VALUE:
        return True
    types = task.trial.columns(projection.partial()).types
    return all(
        projection.is_group(tree) or _FEW_VALUES.fullmatch(type_name)
        for tree, type_name in zip(projection.items.values(), types, strict=True)
    )


def _repeated(
    names: Mapping[str, str], columns: Mapping[str, exp.Expr], task: Task
) -> exp.Subquery:
    """Return each row as often as it was counted, with the names that the finish uses."""
    items = [named(columns[name].copy(), known) for name, known in names.items()]
    times = call("unnest", call("range", columns[_COUNT]))
    query = exp.select(*items, named(times, "__i")).from_(exp.to_table(task.relation))
    return query.subquery("__rows", copy=False)


class Projection:
    """The expressions of a block that can be evaluated per row, each a column of the partial."""

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
        return self._task.upper(self.over)

    def over(self, tree: exp.Expr) -> exp.Expr:
        """Return an expression over the columns of the partial.

        Above a GROUP BY, only its own expressions, single columns and the arguments of aggregates
        are replaced, because an expression over a group is not a group itself.
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

    def check_values(self) -> None:
        """Raise unless each column is one value of a row; unnest(…) makes several.

        Window functions see the rows before that. DuckDB rejects unnest(…), also in a macro, in
        WHERE.
        """
        known = [is_known(tree) for tree in self.items.values()]
        query = self._task.rows([exp.Literal.number(1)]).where(exp.or_(*known), copy=False)
        try:
            self._task.trial.columns(query)
        except DatabaseError as error:
            raise NotIncrementalError("an expression makes several rows of one") from error

    def partial(self) -> exp.Select:
        """Return the rows with these columns."""
        return self._task.rows(self.items.selected())

    def finish(self, upper: exp.Select) -> exp.Select:
        """Return the finish over these rows."""
        trial = self._task.trial
        return read_back(upper, reading(trial.shape(self.partial()), trial))

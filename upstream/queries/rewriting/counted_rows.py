"""Equal rows kept once, with their number: for what depends on which values there are how often.

A histogram or an entropy, or a median of small numbers, needs every value but not every row. The
partial groups by all that is needed of a row and counts; counts are added; the finish repeats each
row as often as it was there, and aggregates. So what is kept does not grow with the window, and a
landmark can have a median. Only where values repeat themselves: where they hardly do, plain rows
are kept, which cost nothing to merge.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.functions import name_of
from ..sql.trees import call, cast, column, named
from .by_step import group_by_first
from .division import Division
from .kept_rows import Projection, is_about_order
from .merged_relation import reading, travelling
from .split_query import State, StateKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .division import Task
    from .trial import Shape

_COUNT: Final = "__s0"
_FEW_VALUES: Final = re.compile(r"BOOLEAN|U?TINYINT|U?SMALLINT|DATE|ENUM\(.*\)")
_BY_VALUE: Final = frozenset({"histogram", "entropy"})
"""Aggregates that make sense only of values that repeat themselves."""


def counted_rows(task: Task) -> Division | None:
    """Keep equal rows once, if the rows that the block needs are likely to be equal."""
    select = task.block.select
    if is_about_order(task) or select.find(exp.Window) or select.args.get("distinct"):
        return None
    projection = Projection(task)
    finish = projection.upper()
    if not projection.is_grouped or not projection.items:
        return None
    if not _repeat_themselves(projection, task):
        return None
    names = tuple(f"__g{i}" for i in range(len(projection.items)))
    partial = _counting(projection.partial(), names)
    shape = travelling(partial, len(names), task.trial)
    finish.set("from_", exp.From(this=_repeated(projection, names, shape, task)))
    return Division(
        task.leaf("counted rows", partial, groups=names, states=(_count_state(),)), finish
    )


def _repeat_themselves(projection: Projection, task: Task) -> bool:
    """Tell whether the values have few values, by their types or by what is asked of them."""
    calls = [n for n in task.block.select.find_all(exp.Func) if task.functions.is_aggregate(n)]
    if {name_of(node) for node in calls} <= _BY_VALUE:
        return True
    types = task.trial.columns(projection.partial()).types
    return all(
        projection.is_group(tree) or _FEW_VALUES.fullmatch(type_name)
        for tree, type_name in zip(projection.items.values(), types, strict=True)
    )


def _counting(rows: exp.Select, names: Sequence[str]) -> exp.Select:
    """Return rows once each, with their number."""
    items = [named(_value(item), name) for item, name in zip(rows.expressions, names, strict=True)]
    partial = rows.copy()
    partial.set("expressions", [*items, named(call("count", exp.Star()), _COUNT)])
    group_by_first(partial, len(names))
    return partial


def _value(item: exp.Expr) -> exp.Expr:
    return item.this.copy() if isinstance(item, exp.Alias) else item.copy()


def _count_state() -> State:
    merge = cast(call("sum", column(_COUNT)), "BIGINT")
    return State(StateKind.SUM, (_COUNT,), (merge,))


def _repeated(
    projection: Projection, names: Sequence[str], shape: Shape, task: Task
) -> exp.Subquery:
    """Return the rows as often as they were there, under the names that the finish knows."""
    columns = reading(shape, task.trial)
    items = [
        named(columns[name].copy(), known)
        for name, known in zip(names, projection.items, strict=True)
    ]
    times = call("unnest", call("range", columns[_COUNT]))
    query = exp.select(*items, named(times, "__i")).from_(exp.to_table(task.relation))
    return query.subquery("__rows", copy=False)

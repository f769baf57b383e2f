"""Rows that need no aggregation: they are concatenated, or only the first of each partial are kept.

With ORDER BY and LIMIT, a partial keeps only the rows that can be among the first of all.
"""

from __future__ import annotations

from sqlglot import exp

from ..sql.trees import named
from .block import as_source, by_step, check_row_wise
from .bounded_rows import count_of, meant_order
from .division import Division, Task
from .kept_rows import Projection
from .merged_relation import reading
from .not_incremental import obstacle

_NOT_ROW_BY_ROW = ("group", "having", "qualify", "windows", "distinct")


def concatenation(task: Task) -> Division | None:
    """Divide a block that only selects, projects and joins with tables."""
    if obstacle(check_row_wise, task.original, task.functions):
        return None
    names = [f"__c{i}" for i in range(len(task.shape.names))]
    partial = exp.select("*").from_(as_source(task.original.copy(), "__rows", names))
    columns = reading(task.trial.shape(partial), task.trial)
    items = [named(columns[own], name) for own, name in zip(names, task.shape.names, strict=True)]
    return Division(
        task.leaf("concatenation", partial, reads=task.original),
        exp.select(*items).from_(exp.to_table(task.relation)),
        direct=tuple(zip(task.shape.names, names, strict=True)),
    )


def top_rows(task: Task) -> Division | None:
    """Keep the first rows of each partial, in the order of the query or in the order of arrival.

    Without LIMIT, the rows are kept and the finish sorts them.
    """
    select = task.block.select
    if any(select.args.get(name) for name in _NOT_ROW_BY_ROW) or select.find(exp.Window):
        return None
    if select.args.get("order") and not select.args.get("limit") and not select.args.get("offset"):
        projection = Projection(task)
        upper = projection.upper()
        return Division(task.leaf("sorted rows", projection.partial()), projection.finish(upper))
    count = count_of(select)
    if count is None:
        return None
    if len(task.block.sources) > 1 and not select.args.get("order"):
        return None  # a join has no order of arrival
    projection = Projection(task)
    upper = projection.upper()
    if not projection.items:
        return None
    rows = projection.partial()
    partial, stepped = rows.limit(count), by_step(rows)
    order = meant_order(select)
    if order.expressions:  # otherwise the rows of all steps are kept, in the order of arrival
        partial.set("order", order)
        step = stepped.expressions[0].unalias()
        number = exp.Window(this=exp.RowNumber(), partition_by=[step.copy()], order=order.copy())
        few = exp.LTE(this=number, expression=exp.Literal.number(count))
        stepped.set("qualify", exp.Qualify(this=few))
    leaf = task.leaf("top rows", partial, partial_by_step=stepped)
    return Division(leaf, projection.finish(upper))

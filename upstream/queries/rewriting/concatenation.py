"""Simple concatenation: rows that come one by one are put one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import named
from .block import check_row_wise
from .by_step import by_step
from .division import Division, Task
from .merged_relation import reading
from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .trial import Shape


def concatenation(task: Task) -> Division | None:
    """Divide a block that selects, projects and joins with tables, and does no more."""
    try:
        check_row_wise(task.original, task.functions)
    except NotIncrementalError:
        return None
    names = [f"__c{i}" for i in range(len(task.shape.names))]
    partial = renamed(task.original, names)
    shape = task.trial.shape(partial)
    return Division(
        rule="concatenation",
        partial=partial,
        partial_by_step=by_step(partial),
        finish=_finish(task, shape, reading(shape, task.trial)),
        direct=tuple(zip(task.shape.names, names, strict=True)),
        row_wise=True,
    )


def renamed(select: exp.Select, names: list[str]) -> exp.Select:
    """Return the rows of a SELECT with other names, whatever stars there are in it."""
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    alias = exp.TableAlias(this=exp.to_identifier("__rows", quoted=True), columns=columns)
    return exp.select("*").from_(exp.Subquery(this=select.copy(), alias=alias))


def _finish(task: Task, shape: Shape, columns: Mapping[str, exp.Expr]) -> exp.Select:
    items = [
        named(columns[name].copy(), result)
        for name, result in zip(shape.names, task.shape.names, strict=True)
    ]
    return exp.select(*items).from_(exp.to_table(task.relation))

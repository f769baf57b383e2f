"""Simple concatenation: rows that come one by one are put one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import named
from .block import check_row_wise
from .division import Division, Task
from .merged_relation import reading
from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    pass


def concatenation(task: Task) -> Division | None:
    """Divide a block that selects, projects and joins with tables, and does no more."""
    try:
        check_row_wise(task.original, task.functions)
    except NotIncrementalError:
        return None
    names = [f"__c{i}" for i in range(len(task.shape.names))]
    partial = renamed(task.original, names)
    columns = reading(task.trial.shape(partial), task.trial)
    items = [named(columns[own], name) for own, name in zip(names, task.shape.names, strict=True)]
    return Division(
        task.leaf("concatenation", partial, reads=task.original),
        exp.select(*items).from_(exp.to_table(task.relation)),
        direct=tuple(zip(task.shape.names, names, strict=True)),
    )


def renamed(select: exp.Select, names: list[str]) -> exp.Select:
    """Return the rows of a SELECT with other names, whatever stars there are in it."""
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    alias = exp.TableAlias(this=exp.to_identifier("__rows", quoted=True), columns=columns)
    return exp.select("*").from_(exp.Subquery(this=select.copy(), alias=alias))

"""Simple concatenation: rows that come one by one are put one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import named
from .block import as_source, check_row_wise
from .division import Division, Task
from .merged_relation import reading
from .not_incremental import obstacle

if TYPE_CHECKING:
    pass


def concatenation(task: Task) -> Division | None:
    """Divide a block that selects, projects and joins with tables, and does no more."""
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

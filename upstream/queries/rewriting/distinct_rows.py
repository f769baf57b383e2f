"""SELECT DISTINCT: each partial without its duplicates, and the merge without those among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .not_incremental import NotIncrementalError
from .synchronous_replication import grouped

if TYPE_CHECKING:
    from .division import Division, Task


def distinct_rows(task: Task) -> Division | None:
    """Group by the whole select list."""
    from dataclasses import replace

    select = task.block.select
    distinct = select.args.get("distinct")
    if not distinct or distinct.args.get("on") or select.args.get("qualify"):
        return None
    if len(select.expressions) != len(task.shape.names):
        raise NotIncrementalError("a select item makes several columns")
    plain = select.copy()
    plain.set("distinct", None)
    items = [item.unalias() for item in plain.expressions]
    block = replace(task.block, select=plain)
    return grouped(replace(task, block=block), items, "distinct rows")

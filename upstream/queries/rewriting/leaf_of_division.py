"""The leaf of a block that was divided: with what it needs of its chunks, and words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import chunk_index, chunk_tables
from .grouping import group_expressions
from .retention import columns_read, conditions_on, picking
from .split_query import Leaf
from .spoken import calls_in, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .block import Block
    from .division import Division, Task


def leaf_of(division: Division, task: Task) -> Leaf:
    """Return the leaf that a block becomes."""
    columns, filters, by_step = {}, {}, {}
    reader = task.original if division.row_wise else division.partial
    for chunk in chunk_tables(division.partial):
        index = chunk_index(chunk)
        assert index is not None
        columns[index] = columns_read(reader, task.trial.schemas[chunk.name])
        conditions = _conditions(task.block, chunk)
        filters[index] = picking(chunk, columns[index], conditions, steps=False)
        by_step[index] = picking(chunk, columns[index], conditions, steps=True)
    return Leaf(
        relation=task.relation,
        windows=task.block.windows,
        partial=division.partial,
        partial_by_step=division.partial_by_step,
        groups=division.groups,
        states=division.states,
        rule=division.rule,
        reason=division.reason,
        columns=columns,
        filters=filters,
        filters_by_step=by_step,
        aggregates=_aggregates(task),
        grouping=_grouping(task),
    )


def _conditions(block: Block, chunk: exp.Table) -> list[exp.Expr]:
    """Return the conditions on a chunk that stands in the FROM of the block itself."""
    names = [source.alias for source in block.sources if chunk_index(source.node) is not None]
    alias = chunk.alias_or_name
    return conditions_on(block, alias) if alias in names else []


def _aggregates(task: Task) -> tuple[str, ...]:
    """Return what a block aggregates, as the user wrote it."""
    select = task.original
    clauses = [select.args.get(name) for name in ("having", "qualify", "order")]
    trees = [*select.expressions, *(clause for clause in clauses if clause)]
    return _spoken(task, calls_in(trees, task.functions))


def _grouping(task: Task) -> tuple[str, ...]:
    return _spoken(task, group_expressions(task.original, task.functions))


def _spoken(task: Task, trees: Iterable[exp.Expr]) -> tuple[str, ...]:
    has_many = len(task.block.sources) > 1
    return tuple(dict.fromkeys(spoken(tree, qualified=has_many) for tree in trees))

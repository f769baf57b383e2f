"""Blocks within blocks: the innermost that aggregate rows of streams are divided.

What stands above them (HAVING of an average of sums, a join of two aggregates, UNION ALL) goes to
the finish, where it reads merged relations instead of streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .block import check_row_wise, check_sources, read_block
from .concatenation import concatenation
from .distinct_rows import distinct_rows
from .division import Task
from .kept_rows import kept_rows
from .not_incremental import NotIncrementalError
from .resolution import resolved
from .retention import check_once, chunk_tables, columns_read, conditions_on, picking
from .split_query import Leaf
from .synchronous_replication import synchronous_replication
from .top_rows import top_rows
from .trees import chunk_index

if TYPE_CHECKING:
    from sqlglot import exp

    from .block import Block
    from .division import Division
    from .functions import Functions
    from .trial import Trial

_RULES: Final = (concatenation, synchronous_replication, distinct_rows, top_rows)


class Splitter:
    """Collects the leaves while blocks are divided. `top` is the division of the whole query."""

    def __init__(self, trial: Trial, functions: Functions) -> None:
        self.leaves: list[Leaf] = []
        self.top: Division | None = None
        self._trial = trial
        self._functions = functions

    def finish(self, query: exp.Query) -> exp.Query:
        """Return the finish of a query, which reads merged relations where there were chunks."""
        from sqlglot import exp

        check_once(query)
        if isinstance(query, exp.Select):
            division = self._divided(query)
            self.top = division
            return division.finish
        raise NotIncrementalError("UNION and the like are evaluated over all rows")

    def is_row_wise(self, finish: exp.Query) -> bool:
        """Tell whether each row of the result comes from one row of a stream."""
        return bool(self.top and self.top.row_wise and len(self.leaves[0].windows) == 1)

    def _divided(self, select: exp.Select) -> Division:
        check_sources(select, self._functions)
        task = self._task(select)
        division = self._by_rules(task)
        self._add(division, task)
        return division

    def _by_rules(self, task: Task) -> Division:
        """Return what the first rule that applies makes of a block, or rows if none does."""
        import duckdb

        reason = "it needs all rows"
        for rule in _RULES:
            try:
                division = rule(task)
            except NotIncrementalError as error:
                reason = error.reason
                break
            except duckdb.Error as error:
                reason = f"DuckDB refuses the {rule.__name__.replace('_', ' ')}: {error}"
                break
            if division is not None:
                return division
        return kept_rows(task, reason)

    def _task(self, select: exp.Select) -> Task:
        from dataclasses import replace

        block = read_block(select, self._trial)
        try:
            block = replace(block, select=resolved(block))
        except NotIncrementalError:
            check_row_wise(select, self._functions)  # which needs no names
        relation = f"merged_{len(self.leaves)}"
        shape = self._trial.shape(select)
        return Task(select, shape, block, relation, self._trial, self._functions)

    def _add(self, division: Division, task: Task) -> None:
        columns, filters, by_step = {}, {}, {}
        for chunk in chunk_tables(division.partial):
            index = chunk_index(chunk)
            assert index is not None
            schema = self._trial.schemas[chunk.name]
            reader = task.original if division.row_wise else division.partial
            columns[index] = columns_read(reader, schema)
            conditions = self._conditions(task.block, chunk)
            filters[index] = picking(chunk, columns[index], conditions, steps=False)
            by_step[index] = picking(chunk, columns[index], conditions, steps=True)
        self.leaves.append(
            Leaf(
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
            )
        )

    def _conditions(self, block: Block, chunk: exp.Table) -> list[exp.Expr]:
        """Return the conditions on a chunk that stands in the FROM of the block itself."""
        names = [source.alias for source in block.sources if chunk_index(source.node) is not None]
        alias = chunk.alias_or_name
        return conditions_on(block, alias) if alias in names else []

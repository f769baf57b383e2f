"""The statements that join streams: what is picked of each stream, and the join.

One side of a join is short: the new rows. So there is a statement for each stream, in which that
stream comes last (see `rewriting.relations`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from ..rewriting.relations import plain_columns, with_last
from ..sql.lending import prepare
from ..sql.names import STEP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...database.duck import Duck
    from ..rewriting.split_query import Leaf


class PairStatements:
    """The statements of one leaf over several streams."""

    __slots__ = ("_by_step", "_columns", "_partial", "_picks", "picked", "rule")

    def __init__(self, leaf: Leaf, schemas: Mapping[int, pa.Schema], duck: Duck) -> None:
        self.rule = leaf.rule
        step = pa.field(STEP, pa.int64())
        self._columns = {i: plain_columns(leaf, i) for i in leaf.windows}
        self._picks = {
            i: prepare(duck, leaf.picks[i], {f"chunk_{i}": schemas[i].append(step)})
            for i in leaf.windows
        }
        self.picked = {i: self._picks[i].schema for i in leaf.windows}
        """The columns that are picked of each stream: the step, the join columns, and the
        values."""
        lent = {f"chunk_{i}": self.picked[i] for i in leaf.windows}
        self._by_step = {
            i: prepare(duck, with_last(leaf.partial_by_step, f"chunk_{i}"), lent)
            for i in leaf.windows
        }
        without_step = {name: schema.remove(0) for name, schema in lent.items()}
        self._partial = prepare(duck, leaf.partial, without_step)

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        for prepared in (*self._picks.values(), *self._by_step.values(), self._partial):
            prepared.close()

    def pick(self, window: int, rows: pa.Table) -> pa.Table:
        """Return what is needed of rows of a stream, which have their steps."""
        columns = self._columns[window]
        if columns is not None:
            return rows.select(columns)
        return self._picks[window].run(**{f"chunk_{window}": rows})

    def join(self, window: int, rows: pa.Table, others: Mapping[int, pa.Table]) -> pa.Table:
        """Join rows of one stream, the shorter side, with those of the others.

        The step comes first.
        """
        chunks = {f"chunk_{i}": other for i, other in others.items()}
        return self._by_step[window].run(**{f"chunk_{window}": rows}, **chunks)

    def partial(self, window: int, rows: pa.Table, others: Mapping[int, pa.Table]) -> pa.Table:
        """Return the partial of all these rows together."""
        chunks = {f"chunk_{i}": each.remove_column(0) for i, each in others.items()}
        return self._partial.run(**{f"chunk_{window}": rows.remove_column(0)}, **chunks)

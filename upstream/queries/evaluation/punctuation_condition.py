"""Evaluates the condition of `punctuation =>` over the rows of a stream, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import one_array
from ..chunks.ordinal_cuts import LastRows
from ..results.failing_rows import spare
from ..sql.last_rows import IS_LAST, ROW, ROWS, last_rows_query
from ..sql.lending import prepare

if TYPE_CHECKING:
    from ...database.duck import Duck


class PunctuationCondition:
    """Finds the rows for which a condition is true, and those on which it fails.

    The condition is SQL over the columns of the schema. It is called with rows of that schema.
    """

    __slots__ = ("_prepared",)

    def __init__(self, condition: str, schema: pa.Schema, duck: Duck) -> None:
        lent = schema.append(pa.field(ROW, pa.int64()))
        self._prepared = prepare(duck, last_rows_query(condition), {ROWS: lent})

    def __call__(self, rows: pa.Table) -> LastRows:
        """Find the rows; DuckDB may return them in any order."""
        places = pa.array(np.arange(rows.num_rows))
        spared = spare(self._run, rows.append_column(pa.field(ROW, pa.int64()), places))
        is_last = np.zeros(rows.num_rows, np.bool_)
        for found in spared.results:
            is_last[found[ROW].to_numpy()] = one_array(found[IS_LAST]).to_numpy(
                zero_copy_only=False
            )
        if not spared.left_out:
            return LastRows(is_last)
        failed = np.zeros(rows.num_rows, np.bool_)
        for place, count in spared.left_out:
            failed[place : place + count] = True
        return LastRows(is_last, failed, spared.error)

    def close(self) -> None:
        """Release its statement in DuckDB."""
        self._prepared.close()

    def _run(self, rows: pa.Table) -> pa.Table:
        return self._prepared.run(**{ROWS: rows})

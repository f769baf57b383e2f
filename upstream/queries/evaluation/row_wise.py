"""Evaluation of an append query without a window: each new row once.

Each row of the result comes from one row of a stream. So what arrived since the last evaluation is
evaluated alone, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ...rows.arrow_data import empty_table
from ..results.answer import Answer, Answers, Counts, Description
from ..results.failing_rows import spare

if TYPE_CHECKING:
    from ...database.prepared import Prepared
    from ...tables.log import Batch, LogReader
    from ..results.failing_rows import FailingRows, Spared

    Portion = list[tuple[int, Batch]]

_ROWS: Final = 131_072
"""At most this many rows go into one answer, unless a batch is larger."""


class RowWiseEvaluation:
    """Evaluate a query over the rows that arrived."""

    __slots__ = ("_failing", "_readers", "_schema", "_waiting", "_whole")

    def __init__(
        self,
        readers: Sequence[LogReader],
        *,
        whole: Prepared,
        schema: pa.Schema,
        failing: FailingRows,
    ) -> None:
        self._readers = readers
        self._whole = whole
        self._schema = schema
        self._failing = failing
        self._waiting: Portion = []

    def take_in(self, now: float) -> None:
        """Read what waits."""
        for number, reader in enumerate(self._readers):
            batches = list(reader.peek())
            with HeldInterrupt():
                self._waiting.extend((number, batch) for batch in batches)
                reader.take(sum(batch.rows.num_rows for batch in batches))

    def answers(self, now: float, keep: int) -> Answers:
        """Give answers for the rows that arrived."""
        portions = list(self._portions())
        skipped = max(0, len(portions) - keep)
        found = [self._answer(portion) for portion in portions[skipped:]]

        def commit() -> None:
            self._waiting.clear()
            for _, parts in found:
                for spared in parts:
                    self._failing.count_more(spared.rows_failed, spared.error)

        told = [answer for answer, _ in found if answer.table.num_rows or answer.rows_failed]
        return Answers(told, skipped, commit)

    def current(self, now: float) -> Answer | None:
        """Return None, because nothing is kept."""
        return None

    def due_at(self) -> float | None:
        """Return None, because time alone changes nothing."""
        return None

    def counts(self) -> Counts:
        """Return what became of rows: every row counts, and waiting rows are held."""
        return Counts(held=sum(batch.rows.num_rows for _, batch in self._waiting))

    def describe(self) -> Description:
        """Describe how the query is evaluated."""
        return Description("each row is evaluated once after it has arrived, and no rows are kept")

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._whole.close()

    def _portions(self) -> Iterator[Portion]:
        """Yield what waits in parts of bounded size."""
        portion: Portion = []
        rows = 0
        for number, batch in self._waiting:
            if portion and rows + batch.rows.num_rows > _ROWS:
                yield portion
                portion, rows = [], 0
            portion.append((number, batch))
            rows += batch.rows.num_rows
        if portion:
            yield portion

    def _answer(self, portion: Portion) -> tuple[Answer, list[Spared]]:
        parts: list[Spared] = []
        for number in range(len(self._readers)):
            tables = [batch.rows for of, batch in portion if of == number]
            if tables:
                parts.append(spare(partial(self._run, number), pa.concat_tables(tables)))
        results = [table for each in parts for table in each.results]
        table = pa.concat_tables(results) if results else empty_table(self._schema)
        due = min(batch.arrival for _, batch in portion)
        failed = sum(each.rows_failed for each in parts)
        error = next((each.error for each in reversed(parts) if each.error), self._failing.error)
        return Answer(None, None, due, 0, table, None, failed, error), parts

    def _run(self, number: int, rows: pa.Table) -> pa.Table:
        """Evaluate rows of one stream; the rows of other streams are evaluated separately."""
        return self._whole.run(**{f"chunk_{number}": rows})

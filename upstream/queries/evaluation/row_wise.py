"""Evaluation of an append query without a window: each new row once.

Each row of the result comes from one row of a stream, so what came since the last evaluation is
evaluated alone. Nothing is remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from ...rows.arrow_data import empty_table
from ..results.answer import Answer, Answers
from ..results.description import Description

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.prepared import Prepared
    from ...tables.log import Batch, LogReader
    from .failing_rows import FailingRows

_ROWS: Final = 131_072
"""How many rows go into one answer at most, but for a larger batch."""


class RowWiseEvaluation:
    """Evaluate a query over the rows that came."""

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
        self._waiting: list[tuple[int, Batch]] = []

    def take_in(self, now: float) -> None:
        """Read what waits."""
        for number, reader in enumerate(self._readers):
            self._waiting.extend((number, batch) for batch in reader.peek())
            reader.take(reader.waiting)

    def answers(self, now: float, keep: int) -> Answers:
        """Answer for the rows that came."""
        portions = list(self._portions())
        self._waiting.clear()
        skipped = max(0, len(portions) - keep)
        answers = [self._answer(portion) for portion in portions[skipped:]]
        return Answers(
            [each for each in answers if each.table.num_rows or each.rows_failed], skipped
        )

    def current(self, now: float) -> Answer | None:
        """Return None: nothing is remembered."""
        return None

    def due_at(self) -> float | None:
        """Return None: time alone changes nothing."""
        return None

    def reset_landmark(self) -> None:
        """Fail: there is none."""
        raise AssertionError("a stream without a window has no landmark")

    def late_rows(self) -> int:
        """Return 0: there is no window to be late for."""
        return 0

    def superseded_rows(self) -> int:
        """Return 0: every row counts."""
        return 0

    def memory_rows(self) -> int:
        """Return how many rows are held."""
        return sum(batch.rows.num_rows for _, batch in self._waiting)

    def delivered(self) -> None:
        """Do nothing: each answer stands alone."""

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._whole.close()

    def describe(self) -> Description:
        """Return how it is evaluated, in words."""
        return Description("each row is evaluated when it came, and nothing is remembered")

    def _portions(self) -> Iterator[list[tuple[int, Batch]]]:
        """Yield what waits in parts of bounded size."""
        portion: list[tuple[int, Batch]] = []
        rows = 0
        for number, batch in self._waiting:
            if portion and rows + batch.rows.num_rows > _ROWS:
                yield portion
                portion, rows = [], 0
            portion.append((number, batch))
            rows += batch.rows.num_rows
        if portion:
            yield portion

    def _answer(self, portion: list[tuple[int, Batch]]) -> Answer:
        import pyarrow as pa

        parts: list[pa.Table] = []
        failed_before = self._failing.count
        for number in range(len(self._readers)):
            tables = [batch.rows for of, batch in portion if of == number]
            if tables:
                rows = pa.concat_tables(tables)
                parts += self._failing.spare(partial(self._run, number), rows)
        table = pa.concat_tables(parts) if parts else empty_table(self._schema)
        due = min(batch.arrival for _, batch in portion)
        failed = self._failing.count - failed_before
        return Answer(None, None, due, 0, table, None, failed, self._failing.error)

    def _run(self, number: int, rows: pa.Table) -> pa.Table:
        """Evaluate rows of one stream; what the others have is evaluated on its own."""
        return self._whole.run(**{f"chunk_{number}": rows})

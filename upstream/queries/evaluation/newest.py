"""Evaluation over the newest rows of each key: `latest`, and update queries without a window.

There is one answer, that for now. What it does not show any more was superseded, and is counted.
Where every row of the result comes from one row of the stream, only those of keys with news are
given: all since the last answer that was taken, so that one that is skipped takes no news with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...database.failure import DatabaseError
from ...rows.arrow_data import empty_table
from ..results.answer import Answer, Answers
from ..results.description import Description
from .error_text import error_text

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.prepared import Prepared
    from ...tables.log import LogReader
    from ...tables.newest_rows import NewestRows
    from .failing_rows import FailingRows

_NO_GROUPS: NDArray[np.int64] = np.empty(0, dtype=np.int64)


class NewestEvaluation:
    """Evaluate a query over the newest rows of its streams."""

    __slots__ = (
        "_failing",
        "_is_by_row",
        "_newest",
        "_pending",
        "_readers",
        "_schema",
        "_unanswered",
        "_whole",
    )

    def __init__(
        self,
        readers: Sequence[LogReader],
        newest: Sequence[NewestRows],
        *,
        whole: Prepared,
        schema: pa.Schema,
        is_by_row: bool,
        failing: FailingRows,
    ) -> None:
        self._readers = readers
        self._newest = newest
        self._whole = whole
        self._schema = schema
        self._is_by_row = is_by_row
        self._failing = failing
        self._pending = [_NO_GROUPS for _ in newest]
        """Groups with news that no answer which was taken has told."""
        self._unanswered: float | None = None

    def take_in(self, now: float) -> None:
        """Read what waits; of each key only the newest rows are kept."""
        for reader, newest in zip(self._readers, self._newest, strict=True):
            arrival = reader.first_waiting()
            rows = reader.take_rows()
            if rows is None or arrival is None:
                continue
            newest.add(rows)
            if self._unanswered is None or arrival < self._unanswered:
                self._unanswered = arrival

    def answers(self, now: float, keep: int) -> Answers:
        """Answer for now, if anything came."""
        if self._unanswered is None:
            return Answers()
        if not keep:
            self._unanswered = None
            return Answers(skipped=1)
        due, self._unanswered = self._unanswered, None
        if not self._is_by_row:
            return Answers([self._answer([each.table() for each in self._newest], due)])
        changed = [each.take_changed_groups() for each in self._newest]
        told = [np.setdiff1d(*each) for each in zip(self._pending, changed, strict=True)]
        self._pending = [np.union1d(*each) for each in zip(told, changed, strict=True)]
        tables = self._rows_of(self._pending)
        if not any(table.num_rows for table in tables):
            return Answers()
        answer = self._answer(tables, due)
        if answer.rows_failed:
            before = self._answer(self._rows_of(told), due)  # which were counted then
            self._failing.count += answer.rows_failed - before.rows_failed
        is_news = answer.table.num_rows or answer.error or answer.rows_failed
        return Answers([answer] if is_news else [])

    def current(self, now: float) -> Answer | None:
        """Answer for all keys, be there none."""
        due = now if self._unanswered is None else self._unanswered
        return self._answer([each.table() for each in self._newest], due)

    def due_at(self) -> float | None:
        """Return None: time alone changes nothing."""
        return None

    def reset_landmark(self) -> None:
        """Fail: there is none."""
        raise AssertionError("newest rows have no landmark")

    def late_rows(self) -> int:
        """Return how many rows were older than the newest of their keys."""
        return sum(each.statistics().late for each in self._newest)

    def superseded_rows(self) -> int:
        """Return how many rows were superseded by newer ones."""
        return sum(each.statistics().superseded for each in self._newest)

    def memory_rows(self) -> int:
        """Return how many rows are held."""
        return sum(each.statistics().kept for each in self._newest)

    def delivered(self) -> None:
        """Learn that the reader has the news; what comes later is news again."""
        self._pending = [_NO_GROUPS for _ in self._newest]

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._whole.close()

    def describe(self) -> Description:
        """Return how it is evaluated, in words."""
        if self._is_by_row:
            return Description("the newest rows of keys with news are evaluated")
        return Description("the newest rows of all keys are evaluated anew, when any came")

    def _answer(self, tables: Sequence[pa.Table], due: float) -> Answer:
        names = [f"chunk_{i}" for i in range(len(tables))]
        try:
            result = self._whole.run(**dict(zip(names, tables, strict=True)))
        except DatabaseError as failure:
            if self._is_by_row and len(tables) == 1:
                return self._spared(tables[0], due)
            return Answer(None, None, due, 0, empty_table(self._schema), error_text(failure))
        return Answer(None, None, due, 0, result)

    def _spared(self, rows: pa.Table, due: float) -> Answer:
        """Answer for the rows that do not fail; those that do are not counted here."""
        import pyarrow as pa

        failed: list[int] = []
        parts = self._failing.spare(
            lambda part: self._whole.run(chunk_0=part), rows, lambda _, count: failed.append(count)
        )
        table = pa.concat_tables(parts) if parts else empty_table(self._schema)
        return Answer(None, None, due, 0, table, None, sum(failed), self._failing.error)

    def _rows_of(self, groups: Sequence[NDArray[np.int64]]) -> list[pa.Table]:
        """Return the newest rows of groups of each stream."""
        return [newest.rows_of(each) for newest, each in zip(self._newest, groups, strict=True)]

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

from .answer import Answer, Answers
from .description import Description
from .error_text import error_text

if TYPE_CHECKING:
    import pyarrow as pa

    from ..duck import Prepared
    from ..newest_rows import NewestRows
    from .basket import BasketReader
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
        readers: Sequence[BasketReader],
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
        self._pending = [
            np.union1d(pending, newest.take_changed_groups())
            for pending, newest in zip(self._pending, self._newest, strict=True)
        ]
        tables = [
            newest.rows_of(groups)
            for groups, newest in zip(self._pending, self._newest, strict=True)
        ]
        if not any(table.num_rows for table in tables):
            return Answers()
        answer = self._answer(tables, due)
        return Answers([answer] if answer.table.num_rows or answer.error else [])

    def current(self, now: float) -> Answer | None:
        """Answer for all keys."""
        if not any(each.statistics().came for each in self._newest):
            return None
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
        import duckdb

        names = [f"chunk_{i}" for i in range(len(tables))]
        error = None
        try:
            result = self._whole.run(**dict(zip(names, tables, strict=True)))
        except duckdb.Error as failure:
            result, error = self._schema.empty_table(), error_text(failure)
            if self._is_by_row and len(tables) == 1:
                result, error = self._spared(tables[0]), None
        return Answer(None, None, due, 0, result, error)

    def _spared(self, rows: pa.Table) -> pa.Table:
        import pyarrow as pa

        parts = self._failing.spare(lambda part: self._whole.run(chunk_0=part), rows)
        return pa.concat_tables(parts) if parts else self._schema.empty_table()

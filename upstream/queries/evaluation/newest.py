"""Evaluation over the newest rows of each key: `latest`, and update queries without a window.

There is only the current answer. Rows that it no longer shows were superseded, and are counted. If
every row of the result comes from one row of the stream, the answer has only the keys with news:
all news since the last answer that was taken, so that skipping an answer loses no news.

A key that is deleted or expires is in no further answer. Where an answer has only the keys with
news, this alone gives no answer, as for a key whose newest row does not pass WHERE.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ...database.failure import DatabaseError
from ...rows.arrow_data import empty_table
from ..results.answer import Answer, Answers, Counts, Description
from ..results.error_text import error_text
from ..results.failing_rows import spare

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ...database.prepared import Prepared
    from ...rows.arrow_words import Integers
    from ...tables.log import LogReader
    from ...tables.newest_reader import NewestReader
    from ..results.failing_rows import FailingRows, Spared


class NewestEvaluation:
    """Evaluate a query over the newest rows of its streams."""

    __slots__ = (
        "_due_at",
        "_failing",
        "_is_by_row",
        "_newest",
        "_readers",
        "_schema",
        "_whole",
    )

    def __init__(
        self,
        readers: Sequence[NewestReader],
        *,
        whole: Prepared,
        schema: pa.Schema,
        is_by_row: bool,
        failing: FailingRows,
    ) -> None:
        self._readers = readers
        self._newest = [each.newest for each in readers]
        self._whole = whole
        self._schema = schema
        self._is_by_row = is_by_row
        self._failing = failing
        self._due_at: float | None = None

    def take_in(self, now: float) -> None:
        """Read what waits; of each key only the newest rows are kept."""
        for reader in self._readers:
            reader.read(now)
        self._due_at = _first(each.first_due() for each in self._newest)

    def answers(self, now: float, keep: int) -> Answers:
        """Give the current answer, if anything arrived, was deleted or expired."""
        since = self._since()
        if since is None:
            return Answers()
        if not keep:
            return Answers((), 1, self._answered)
        if not self._is_by_row:
            return Answers([self._answer(self._all_rows(), since)], 0, self._answered)
        changed = [each.changed_groups() for each in self._newest]
        known = [each.told_groups() for each in self._newest]  # no taken answer has included them
        told = [np.setdiff1d(*each) for each in zip(known, changed, strict=True)]
        tables = self._rows_of([np.union1d(*each) for each in zip(told, changed, strict=True)])
        answer, failed, error = None, 0, None
        if any(table.num_rows for table in tables):
            answer = self._answer(tables, since)
            failed, error = answer.rows_failed, answer.failure
            if failed:  # some of them were counted before
                failed -= self._answer(self._rows_of(told), since).rows_failed
            if not (answer.table.num_rows or answer.error or answer.rows_failed):
                answer = None

        tell = [each.telling() for each in self._newest]

        def commit() -> None:
            self._answered()
            for mark in tell:
                mark()
            self._failing.count_more(failed, error)

        return Answers([] if answer is None else [answer], 0, commit)

    def current(self, now: float) -> Answer | None:
        """Return the answer for all keys, even if there are none."""
        since = self._since()
        return self._answer(self._all_rows(), now if since is None else since)

    def due_at(self) -> float | None:
        """Return when the first key expires unless a row of it arrives, or None."""
        return self._due_at

    def counts(self) -> Counts:
        """Return what became of rows. A row is late if it was older than the newest of its key."""
        found = [each.statistics() for each in self._newest]
        late = (
            (newest.stream, each.late) for newest, each in zip(self._newest, found, strict=True)
        )
        counts = Counts.of_late(late, held=sum(each.kept for each in found))
        return counts._replace(
            superseded=sum(each.superseded for each in found),
            deleted=sum(each.deleted for each in found),
            expired=sum(each.expired for each in found),
        )

    def describe(self) -> Description:
        """Describe how the query is evaluated."""
        if self._is_by_row:
            return Description("the newest rows of keys with news are evaluated")
        return Description("the newest rows of all keys are evaluated again when rows have arrived")

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._whole.close()

    def _since(self) -> float | None:
        """Return when the first change came that is in no answer yet."""
        return _first(each.since for each in self._readers)

    def _answered(self) -> None:
        for each in self._readers:
            each.known()

    def _delivered(self) -> None:
        """Note that the reader has the news; what arrives later is news again."""
        for each in self._newest:
            each.forget_told()

    def _all_rows(self) -> list[pa.Table]:
        return [each.table() for each in self._newest]

    def _rows_of(self, groups: Sequence[Integers]) -> list[pa.Table]:
        """Return the newest rows of groups of each stream."""
        return [newest.rows_of(each) for newest, each in zip(self._newest, groups, strict=True)]

    def _answer(self, tables: Sequence[pa.Table], due: float) -> Answer:
        delivered = self._delivered if self._is_by_row else None
        names = [f"chunk_{i}" for i in range(len(tables))]
        try:
            result = self._whole.run(**dict(zip(names, tables, strict=True)))
        except DatabaseError as failure:
            if self._is_by_row and len(tables) == 1:
                return self._spared(tables[0], due)
            empty = empty_table(self._schema)
            return Answer(None, None, due, 0, empty, error_text(failure), delivered=delivered)
        return Answer(None, None, due, 0, result, delivered=delivered)

    def _spared(self, rows: pa.Table, due: float) -> Answer:
        """Return the answer for the rows that do not fail; failing rows are not counted here."""
        spared = spare(lambda part: self._whole.run(chunk_0=part), rows)
        table = joined(spared, self._schema)
        failed, error = spared.rows_failed, spared.error
        return Answer(None, None, due, 0, table, None, failed, error, self._delivered)


class SideTable:
    """Lends the newest rows of a stream to DuckDB: a table for a query over other windows.

    It is brought up to date before the query reads its streams, so that a row is joined with the
    rows that are the newest when it is evaluated.
    """

    __slots__ = ("_duck", "_due_at", "_newest", "_relation", "version")

    def __init__(self, newest: NewestReader, schema: pa.Schema, duck: Duck) -> None:
        self._duck = duck
        self._newest = newest
        self._relation = duck.lend(schema)
        self._due_at: float | None = None
        self.version = 0
        """How often the table has changed."""

    @property
    def reader(self) -> LogReader:
        """What reads the stream."""
        return self._newest.reader

    @property
    def name(self) -> str:
        """The name of the table in DuckDB."""
        return self._relation.name

    def refresh(self, now: float) -> None:
        """Read what waits, and let keys expire. O(changes)."""
        self._newest.read(now)
        self._due_at = self._newest.newest.first_due()
        if self._newest.since is not None or not self.version:
            self._relation.hold(self._newest.newest.table())
            self._newest.known()
            self.version += 1

    def due_at(self) -> float | None:
        """Return when the first key expires unless a row of it arrives, or None."""
        return self._due_at

    def close(self) -> None:
        """Stop reading, and take the table back."""
        self.reader.close()
        self._duck.take_back(self._relation)


def _first(moments: Iterable[float | None]) -> float | None:
    return min((moment for moment in moments if moment is not None), default=None)


def joined(spared: Spared, schema: pa.Schema) -> pa.Table:
    """Return the results of a statement for the rows that it does not fail on, as one table."""
    return pa.concat_tables(spared.results) if spared.results else empty_table(schema)

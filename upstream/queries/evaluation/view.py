"""Evaluation of a continuous view: part of the work when rows arrive, the rest when it is asked.

The split maintenance of the views paper (section 3.1). Rows are taken into partials, which only
grow. When the view is asked, the finish runs over the partials, the newest rows of streams, other
views and tables. If nothing has come since, the last answer is given again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ..chunks.windows import Span
from ..results.answer import Answer, Answers, Counts, Description

if TYPE_CHECKING:
    from ...tables.log import Batch, LogReader
    from ..results.failing_rows import FailingRows
    from .finish import Finish
    from .increments import Increments
    from .refreshed import Refreshed
    from .tables_version import TablesVersion

_CHUNK: Final = 0
"""All rows of a view are in one chunk."""
_ALL: Final = Span(_CHUNK, _CHUNK + 1)
_TOGETHER: Final = 65_536
"""Batches are evaluated together up to this many rows."""

Version = tuple[int, ...]
"""How often each thing changed that an answer was made from."""


class ViewEvaluation:
    """Evaluate a query over all rows of some streams.

    `tables_version` tells how often that may have changed which the query reads when it is asked.
    """

    __slots__ = (
        "_answer",
        "_failing",
        "_finish",
        "_increments",
        "_readers",
        "_side_tables",
        "_tables_version",
        "_taken",
        "_unanswered",
    )

    def __init__(
        self,
        readers: Sequence[LogReader],
        increments: Increments,
        *,
        finish: Finish,
        side_tables: Sequence[Refreshed],
        tables_version: TablesVersion,
        failing: FailingRows,
    ) -> None:
        self._readers = readers
        self._increments = increments
        self._finish = finish
        self._side_tables = side_tables
        self._tables_version = tables_version
        self._failing = failing
        self._taken = 0
        """How many portions of rows were taken in."""
        self._unanswered: float | None = None
        """When the first row arrived that is in no answer yet."""
        self._answer: tuple[Version, Answer] | None = None
        increments.advance(self._spans)  # so that rows are merged before the view is asked

    @property
    def _spans(self) -> tuple[Span, ...]:
        return (_ALL,) * len(self._readers)

    def take_in(self, now: float) -> None:
        """Read what waits into the partials."""
        for number, reader in enumerate(self._readers):
            for batches in _portions(reader.peek()):
                rows = pa.concat_tables([batch.rows for batch in batches])
                take = self._increments.prepared(number, [(_CHUNK, rows)])
                with HeldInterrupt():
                    reader.take(rows.num_rows)
                    take()
                    self._taken += 1
                    if self._unanswered is None:
                        self._unanswered = batches[0].arrival
        self._increments.settle()

    def answers(self, now: float, keep: int) -> Answers:
        """Give no answer, since a view answers when it is asked."""
        return Answers()

    def current(self, now: float) -> Answer:
        """Return the answer over all rows so far: the same one as before if nothing has come."""
        version = self._version()
        if self._answer is None or self._answer[0] != version:
            if self._tables_version.reads_files:
                self._finish.bind_anew()
            due = now if self._unanswered is None else self._unanswered
            spans = self._spans
            table, error = self._finish.attempt(lambda: self._increments.table(spans, {}))
            answer = Answer(None, None, due, 0, table, error, *self._failing.within(spans))
            with HeldInterrupt():
                self._answer, self._unanswered = (version, answer), None
        return self._answer[1]

    def is_current(self, answer: Answer) -> bool:
        """Tell whether this would be the answer, as far as rows were taken in."""
        if self._answer is None or self._answer[1] is not answer:
            return False
        taken, tables, *sides = self._answer[0]
        is_same = taken == self._taken and sides == [each.version for each in self._side_tables]
        return is_same and self._tables_version.is_still(tables)

    def due_at(self) -> float | None:
        """Return None, because time alone changes nothing."""
        return None

    def counts(self) -> Counts:
        """Return what became of rows; no row is too late for a view."""
        return Counts(held=self._increments.rows)

    def describe(self) -> Description:
        """Describe how the query is evaluated."""
        return Description("rows are added to partials as they arrive", self._increments.describe())

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._increments.close()

    def _version(self) -> Version:
        side = (each.version for each in self._side_tables)
        return self._taken, self._tables_version(), *side


def _portions(batches: Sequence[Batch]) -> list[list[Batch]]:
    """Return batches in lists of at most so many rows, but at least one batch each."""
    found: list[list[Batch]] = []
    room = 0
    for batch in batches:
        if not found or batch.rows.num_rows > room:
            found.append([])
            room = _TOGETHER
        found[-1].append(batch)
        room -= batch.rows.num_rows
    return found

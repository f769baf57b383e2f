"""Evaluation of a continuous view: part of the work when rows arrive, the rest when it is asked.

The split maintenance of the views paper (section 3.1). Rows are taken into partials, which only
grow. When the view is asked, the finish runs over the partials, the newest rows of streams, other
views and tables. If nothing has come since, the last answer is given again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...held_interrupt import HeldInterrupt
from ..results.answer import Answer, Answers, Counts, Description

if TYPE_CHECKING:
    import pyarrow as pa

    from .finish import Finish
    from .increments import Leaf
    from .refreshed import Refreshed
    from .stream_state import Share
    from .tables_version import TablesVersion

Version = tuple[tuple[int, ...], int, tuple[int, ...]]
"""How often each thing changed that an answer was made from."""


class ViewEvaluation:
    """Evaluate a query over all rows of some streams.

    `shares` are its shares in the states of these streams, and `own` the leaves over newest rows.
    `merged` return the merged relations of all leaves in the order of the finish. `tables_version`
    tells how often that may have changed which the query reads when it is asked.
    """

    __slots__ = (
        "_answer",
        "_finish",
        "_merged",
        "_own",
        "_shares",
        "_side_tables",
        "_tables_version",
    )

    def __init__(
        self,
        shares: Sequence[Share],
        own: Sequence[Leaf],
        merged: Sequence[Callable[[], pa.Table]],
        *,
        finish: Finish,
        side_tables: Sequence[Refreshed],
        tables_version: TablesVersion,
    ) -> None:
        self._shares = shares
        self._own = own
        self._merged = merged
        self._finish = finish
        self._side_tables = side_tables
        self._tables_version = tables_version
        self._answer: tuple[Version, Answer] | None = None

    def take_in(self, now: float) -> None:
        """Read what waits into the partials."""
        for share in self._shares:
            share.state.take_in()

    def answers(self, now: float, keep: int) -> Answers:
        """Give no answer, since a view answers when it is asked."""
        return Answers()

    def current(self, now: float) -> Answer:
        """Return the answer over all rows so far: the same one as before if nothing has come."""
        version = self._version()
        if self._answer is None or self._answer[0] != version:
            if self._tables_version.reads_files:
                self._finish.bind_anew()
            since = self.unanswered()
            table, error = self._finish.attempt(self._finished)
            due = now if since is None else since
            answer = Answer(None, None, due, 0, table, error, *self._failed())
            with HeldInterrupt():
                self._answer = version, answer
                for share in self._shares:
                    share.unanswered = None
        return self._answer[1]

    def unanswered(self) -> float | None:
        """Return when the first row arrived that was taken in and is in no answer, or None."""
        moments = [share.unanswered for share in self._shares]
        return min((each for each in moments if each is not None), default=None)

    def is_current(self, answer: Answer) -> bool:
        """Tell whether this would be the answer, as far as rows were taken in."""
        if self._answer is None or self._answer[1] is not answer:
            return False
        taken, tables, sides = self._answer[0]
        is_same = (taken, sides) == (self._taken(), self._versions())
        return is_same and self._tables_version.is_still(tables)

    def due_at(self) -> float | None:
        """Return None, because time alone changes nothing."""
        return None

    def counts(self) -> Counts:
        """Return what became of rows; no row is too late for a view."""
        held = sum(share.state.rows for share in self._shares)
        return Counts(held=held + sum(leaf.rows for leaf in self._own))

    def describe(self) -> Description:
        """Describe how the query is evaluated."""
        kept = [each.merge.describe() for share in self._shares for each in share.state.leaves]
        merges = (*kept, *(leaf.describe() for leaf in self._own))
        return Description("rows are added to partials as they arrive", merges)

    def close(self) -> None:
        """Release its statements and relations in DuckDB, except those of states."""
        self._finish.close()
        for leaf in self._own:
            leaf.close()

    def _finished(self) -> pa.Table:
        return self._finish.run([merged() for merged in self._merged], {})

    def _failed(self) -> tuple[int, str | None]:
        """Return how many rows failed, and how one of them did."""
        failing = [share.state.failing for share in self._shares]
        error = next((each.error for each in failing if each.count), None)
        return sum(each.count for each in failing), error

    def _version(self) -> Version:
        return self._taken(), self._tables_version(), self._versions()

    def _taken(self) -> tuple[int, ...]:
        return tuple(share.state.taken for share in self._shares)

    def _versions(self) -> tuple[int, ...]:
        return tuple(each.version for each in self._side_tables)

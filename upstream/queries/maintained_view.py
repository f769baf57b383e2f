"""A continuous view as the engine has it: a query that other queries read like a table.

It answers when it is read, and it takes in what waits when that is worth while.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ..errors import ClosedError, QueryError, StatementError
from ..rows.stream_definition import StreamDefinition
from .evaluated_query import EvaluatedQuery
from .results.commit import Commit
from .results.view_statistics import ViewStatistics
from .rewriting.explain import parts
from .saved_view import SavedView, write_view

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ..clock import Clock
    from ..tables.relation import Condition, TimeRange
    from .choices import Choices
    from .evaluated_query import Others
    from .evaluation.stream_state import Share
    from .evaluation.view_planning import ViewPlan
    from .results.answer import Answer

_MANY_ROWS: Final = 10_000
"""From this number of waiting rows on, the appending thread takes them in: a statement takes half
a millisecond, however few rows it reads."""
_EAGER_READS: Final = 10.0
"""From this number of reads per refresh on, the result is computed when rows arrive."""
_SMOOTHING: Final = 0.2


class MaintainedView(EvaluatedQuery):
    """A view as the engine has it: evaluated, scanned by queries, and kept up.

    `max_staleness` is for how long a result may be given although rows wait, in seconds. `sign` is
    the column that tells whether a row is added or taken away.
    """

    __slots__ = (
        "_definition",
        "_known",
        "_lacks_since",
        "_last",
        "_made_at",
        "_max_staleness",
        "_name",
        "_reads",
        "_reads_per_refresh",
        "_reads_since_refresh",
        "_refreshes",
        "_sign",
        "_view_plan",
    )

    def __init__(
        self,
        name: str,
        text: str,
        plan: ViewPlan,
        *,
        schema: pa.Schema,
        max_staleness: float | None,
        sign: str | None = None,
        choices: Choices,
        clock: Clock,
        stopwatch: Clock,
        lock: AbstractContextManager[bool],
        others: Others,
    ) -> None:
        super().__init__(
            text,
            plan.plan,
            choices=choices,
            clock=clock,
            stopwatch=stopwatch,
            others=others,
            lock=lock,
            commit=Commit(choices),
        )
        self._name = name
        self._view_plan = plan
        self._max_staleness = max_staleness
        self._sign = sign
        self._definition = StreamDefinition(name, schema, (), None, is_view=True)
        self._known: tuple[Answer, pa.Table] | None = None
        """The last answer, and the result that was made of it."""
        self._last: tuple[ViewStatistics, dict[str, int]] | None = None
        """The counts and positions when it was closed; other views may use its states since."""
        self._made_at = clock.now()
        self._lacks_since: float | None = None
        """Since when there has been something that was taken in, and that the last result lacks."""
        self._reads = self._refreshes = self._reads_since_refresh = 0
        self._reads_per_refresh = 0.0

    @property
    def name(self) -> str:
        """The name of the view."""
        return self._name

    @property
    def weight(self) -> float:
        """How much its staleness counts: more, the more often it is read."""
        return 1.0 + self._reads_per_refresh

    @property
    def definition(self) -> StreamDefinition:
        """Its name and columns."""
        return self._definition

    @property
    def static_tables(self) -> frozenset[str]:
        """The names of the tables whose rows cannot change, because rows of streams met them."""
        return self._view_plan.static_tables

    @property
    def shares(self) -> Sequence[Share]:
        """Its shares in the states of the streams of which it reads all rows."""
        return () if self.is_closed else self._view_plan.shares

    # The result

    def read(self) -> pa.Table:
        """Return the result; see `ContinuousView.table`."""
        with self.lock:
            self._others.end_moment()
            return self.table()

    def table(self) -> pa.Table:
        """Return the result for a query that reads the view, at the moment of that query."""
        with self.lock:
            self._reads += 1
            self._reads_since_refresh += 1
            if self._known is not None and self._is_fresh_enough():
                return self._known[1]
            return self._refreshed()

    def scan(
        self,
        columns: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
        between: TimeRange | None = None,
    ) -> pa.Table:
        """Return the result with these columns; nothing else is left out."""
        table = self.table()
        return table if columns is None else table.select([*columns])

    def is_current(self, table: pa.Table | None) -> bool:
        """Tell whether this is the result of the view, and nothing has come since.

        With `max_staleness`, it is current for as long as it would be given again. Otherwise what
        reads the view would be due all the time.
        """
        known, evaluation = self._known, self._view_plan.evaluation
        if known is None or known[1] is not table or evaluation is None:
            return False
        if self._is_fresh_enough():
            return True
        if self._has_waiting(self.clock.now()) or any(self._due_feeders()):
            return False
        return evaluation.is_current(known[0])

    def first_waiting(self, table: pa.Table | None) -> float | None:
        """Return since when this result has lacked something, at the earliest, or None.

        What an older result lacks is not known any more, but it came after the view was made.
        """
        is_older = self._known is not None and table is not None and table is not self._known[1]
        return self._made_at if is_older else self._lacking_since()

    def due_at(self) -> float | None:
        """Return when the clock alone will change the result, or None."""
        return self._next_due()

    def _unanswered(self) -> float | None:
        """Return when the first row came that was taken in, by any view, and is in no result."""
        evaluation = self._view_plan.evaluation
        return None if evaluation is None else evaluation.unanswered()

    def _is_fresh_enough(self) -> bool:
        """Tell whether the last result may be given although rows wait."""
        if self._max_staleness is None or self.is_closed:
            return False
        since = self._lacking_since()
        return since is not None and self.clock.now() - since < self._max_staleness

    def _lacking_since(self) -> float | None:
        """Return since when the last result has lacked anything that has come, or None."""
        now = self.clock.now()
        moments = [self._lacks_since, self._first_waiting(), self._unanswered()]
        moments += [each._has_waited_since(now) for each in self._due_feeders()]
        return min((moment for moment in moments if moment is not None), default=None)

    def _evaluate_at_this_moment(self) -> float:
        self._lacks_since = self._lacking_since()
        return super()._evaluate_at_this_moment()

    def _refreshed(self) -> pa.Table:
        """Return the result over everything, computed again if anything has come."""
        if self.is_closed:
            raise ClosedError("view")
        with self._others.at_one_moment():
            answer = self._current()
        known = self._known
        if known is None or known[0] is not answer:
            told = self._told(answer)
            if told.error is not None:
                hint = "create the view WITH (on_error = 'skip') to leave out rows that fail"
                reason = f"the view {self.name} has no result: {told.error}"
                raise QueryError(reason, self.text, hint=hint if told.rows_failed else "")
            table = told.table.rename_columns(self._definition.schema.names)
            known = self._known = answer, table
            self._refreshes += 1
            reads, self._reads_since_refresh = self._reads_since_refresh, 0
            self._reads_per_refresh += _SMOOTHING * (reads - self._reads_per_refresh)
        self._lacks_since = None
        return known[1]

    # Upkeep

    def wants_upkeep(self) -> bool:
        """Tell whether it is worth while to take in what waits before the view is read."""
        waiting = self.rows_waiting()
        return waiting >= _MANY_ROWS or (waiting > 0 and self._is_eager())

    def keep_up(self) -> None:
        """Take in what waits; compute the result, too, if it is read often enough."""
        with self.lock:
            self.bring_up_to_date()
            if self._is_eager():
                with suppress(QueryError):  # its next reader gets the error
                    self._refreshed()

    def _is_eager(self) -> bool:
        return self._reads_per_refresh >= _EAGER_READS

    def is_due(self) -> bool:
        """Tell whether `Engine.run` should refresh the view, before it is too stale."""
        if self._max_staleness is None or self.is_closed:
            return False
        if self.staleness() < self._max_staleness / 2:
            return False
        is_due = self._has_waiting(self.clock.now()) or any(self._due_feeders())
        return is_due or self._unanswered() is not None

    def staleness(self) -> float:
        """Return for how long the first row has waited that the result lacks, for each reader.

        So of equally stale views, `Engine.run` refreshes the one that is read most.
        """
        since = self._lacking_since()
        return 0.0 if since is None else max(0.0, self.clock.now() - since)

    def run(self) -> None:
        """Refresh the result. An error is left to the next reader."""
        with self.lock, suppress(QueryError):
            self._refreshed()

    # Saving

    def positions(self) -> dict[str, int]:
        """Return how many rows of each stream were taken in; see `ContinuousView.positions`."""
        with self.lock:
            if self._last is not None:
                return {**self._last[1]}
            state = self._view_plan.state
            found = {} if state is None else state.positions()
            return {stream: each.in_feed for stream, each in found.items()}

    def save(self, path: Path) -> None:
        """Take in what waits, and write a file; see `ContinuousView.save`."""
        with self.lock:
            if self.is_closed:
                raise ClosedError("view")
            state = self._view_plan.state
            if state is None:
                reason = f"the view {self.name} reads windows, and such views cannot be saved yet"
                hint = "save a view of the streams themselves, and read that view by queries"
                raise StatementError(reason, self.text, hint=hint)
            self.bring_up_to_date()
            assert state.is_even(), "all that reads a stream has read the same rows"
            saved = SavedView(
                name=self.name,
                text=self.text,
                columns=tuple(self._definition.schema.names),
                max_staleness=self._max_staleness,
                sign=self._sign,
                on_error=self._on_error,
                state=state.saved(self.clock.now()),
            )
            write_view(path, saved)

    # Description

    def explain(self, *, sql: bool = False) -> str:
        """Describe what ran once, what runs as rows arrive, and what runs when the view is read."""
        plan = self._view_plan
        if plan.evaluation is None:
            return super().explain(sql=sql)
        with self.lock:
            others = {share.state.stream: share.others for share in plan.shares if share.others}
        shared = [f"the state of {s} is shared with {', '.join(o)}" for s, o in others.items()]
        texts = [plan.explanation, *shared, *([parts(plan.plan.split)] if sql else [])]
        return "\n".join(texts)

    def view_statistics(self) -> ViewStatistics:
        """Return the counts since the view was created."""
        with self.lock:
            if self._last is not None:
                return self._last[0]
            counts = self.statistics()
            return ViewStatistics(
                name=self.name,
                rows_read=counts.rows_read,
                rows_waiting=counts.rows_waiting,
                rows_held=counts.rows_held,
                rows_failed=counts.rows_failed,
                reads=self._reads,
                refreshes=self._refreshes,
                reads_per_refresh=self._reads_per_refresh,
                evaluation_seconds=counts.evaluation_seconds,
                error=counts.error,
            )

    def close(self) -> None:
        """Stop reading; other views keep the states that they share. Counts can still be read."""
        with self.lock:
            if self.is_closed:
                return
            last = self.view_statistics(), self.positions()
            super().close()
            self._last = last

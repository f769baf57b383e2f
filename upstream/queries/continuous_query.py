"""A standing query: evaluated when it is asked for results, or when the engine runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..errors import ClosedError, InterruptedQueryError, QueryTypeError, StatementError
from ..rows.arrow_data import empty_table
from .results.backlog import Result
from .results.emission import Emitter
from .results.query_statistics import QueryStatistics

if TYPE_CHECKING:
    import pyarrow as pa

    from ..clock import Clock
    from ..tables.log import LogReader
    from .choices import Semantics
    from .evaluation.planning import Choices, Plan
    from .results.answer import Answer

Callback = Callable[[Result], object]
_SMOOTHING: Final = 0.2


class ContinuousQuery:
    """A standing query over streams; `Engine.continuous_query` makes them.

    Nothing runs by itself: `results`, `latest`, `ask` and iteration evaluate what is due, and so
    does `Engine.run` for all queries. Results are taken once: with a callback, `run` takes them for
    it, and what `results` takes before, it does not get.

    >>> from upstream import Engine, ManualClock
    >>> with Engine(clock=ManualClock()) as engine:
    ...     _ = engine.sql("CREATE STREAM beats (n BIGINT)")
    ...     with engine.continuous_query("SELECT sum(n) AS n FROM rows(beats, 2, 1)") as query:
    ...         _ = engine.append("beats", {"n": [1, 2, 3]})
    ...         print([result.table["n"][0].as_py() for result in query])
    [3, 5]
    """

    __slots__ = (
        "_callback",
        "_callback_failures",
        "_clock",
        "_cost",
        "_emitter",
        "_error",
        "_evaluation",
        "_evaluation_seconds",
        "_evaluations",
        "_holds_back",
        "_interruption",
        "_is_closed",
        "_on_close",
        "_on_error",
        "_plan",
        "_stopwatch",
        "name",
        "semantics",
        "text",
        "weight",
    )

    def __init__(
        self,
        text: str,
        plan: Plan,
        *,
        name: str,
        choices: Choices,
        callback: Callback | None,
        weight: float,
        clock: Clock,
        stopwatch: Clock,
        on_close: Callable[[ContinuousQuery], None],
    ) -> None:
        self.text = text
        """The SQL as it was given."""
        self.name = name
        self.semantics: Semantics = choices.semantics
        self.weight = weight
        """How much its staleness counts beside that of other queries."""
        self._plan = plan
        self._evaluation = plan.evaluation
        self._emitter = Emitter(choices.emission, choices.semantics)
        self._callback = callback
        self._clock = clock
        self._stopwatch = stopwatch
        self._on_close = on_close
        self._on_error = choices.on_error
        self._evaluations = 0
        self._evaluation_seconds = self._cost = 0.0
        self._callback_failures = 0
        self._error: str | None = None
        self._interruption: BaseException | None = None
        self._holds_back = False
        """Whether rows were read since, by `every`, no result could be given."""
        self._is_closed = False

    def __repr__(self) -> str:
        """Return what it is called, and what it reads."""
        streams = ", ".join(sorted(self.streams))
        failed = self._plan.failing.count
        lost = f", {failed} rows failed" if failed else ""
        return f"<ContinuousQuery {self.name!r}, {self.semantics}, over {streams}{lost}>"

    def __enter__(self) -> ContinuousQuery:
        """Return the query, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    # Results

    def results(self) -> list[Result]:
        """Evaluate what is due, and take all results that were not taken yet, oldest first."""
        self.evaluate()
        return list(self._taken())

    def __iter__(self) -> Iterator[Result]:
        """Take result by result, for as long as there are any."""
        self.evaluate()
        while self._emitter.backlog:
            yield from self._taken()
            self.evaluate()

    def latest(self) -> Result | None:
        """Evaluate what is due, and take the newest result; older ones are skipped."""
        self.evaluate()
        self._emitter.skip_to_newest()
        return self._take()

    def ask(self) -> Result | None:
        """Answer for now: for the newest window that is closed, or for all rows so far.

        Where no row came in that window, the answer is what the query gives over no rows: one row
        with `count(*)` as 0, say, or no group. So it is before the first row; then the bounds of
        the result are None if no window was closed yet. Returns the same again if nothing has
        happened, takes nothing that waits, and is not in the counts of results.
        """
        if self._plan.is_by_row and self.semantics == "append":
            raise StatementError(
                "an append query without a window remembers nothing that could be asked for",
                self.text,
                hint="take its results(), or choose semantics='update'",
            )
        now = self._evaluate()
        with self._uninterrupted():
            if self._holds_back and self._plan.has_windows:
                self._give(now)
            answer = self._evaluation.current(now)
        return None if answer is None else Result.of(self._told(answer), self._clock.now())

    @property
    def schema(self) -> pa.Schema:
        """The schema of the tables of results."""
        return self._plan.schema.outer

    @property
    def streams(self) -> frozenset[str]:
        """The names of the streams that it reads."""
        return self._plan.streams

    @property
    def tables(self) -> frozenset[str]:
        """The names of the tables that it reads, in small letters."""
        return self._plan.tables

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, by itself or with its engine."""
        return self._is_closed

    @property
    def is_interrupted(self) -> bool:
        """Whether an evaluation did not come to its end, so that the query answers no more."""
        return self._interruption is not None

    # Evaluation

    def evaluate(self) -> None:
        """Evaluate what is due, and keep the results."""
        self._evaluate()

    def _evaluate(self) -> float:
        """Evaluate what is due at the moment that is returned."""
        if self._is_closed:
            raise ClosedError("query")
        if self._interruption is not None:
            raise InterruptedQueryError(self.name) from self._interruption
        started, watch = self._clock.now(), self._stopwatch.now()
        with self._uninterrupted():
            for side_table in self._plan.side_tables:
                side_table.refresh()
            self._evaluation.take_in(started)
            self._holds_back = self._emitter.held_until(started) is not None
            if not self._holds_back:
                self._give(started)
        self._note_cost(self._stopwatch.now() - watch)
        return started

    @contextmanager
    def _uninterrupted(self) -> Iterator[None]:
        """Evaluate to the end, or never again: in the middle the state is none to go on with."""
        try:
            yield
        except BaseException as interruption:
            self._interruption = interruption
            self._stop_reading()
            raise

    def _give(self, now: float) -> None:
        self._holds_back = False
        answers = self._evaluation.answers(now, self._emitter.keep)
        answers = replace(answers, answers=[self._told(each) for each in answers.answers])
        self._emitter.give(answers, now)
        self._error = next((each.error for each in answers.answers if each.error), self._error)

    def _told(self, answer: Answer) -> Answer:
        """Return an answer as the user gets it: as was chosen for rows that it leaves out."""
        if self._on_error == "fail":
            answer = answer.or_failed()
        try:
            return replace(answer, table=self._plan.schema.handed_out(answer.table))
        except QueryTypeError as error:
            empty = empty_table(self._plan.schema.outer)
            return replace(answer, table=empty, error=f"{error.reason}: {error.hint}")

    def _note_cost(self, seconds: float) -> None:
        self._evaluations += 1
        self._evaluation_seconds += seconds
        if self._evaluations == 1:
            self._cost = seconds
        else:
            self._cost += _SMOOTHING * (seconds - self._cost)

    def _taken(self) -> Iterator[Result]:
        while (result := self._take()) is not None:
            yield result

    def _take(self) -> Result | None:
        result = self._emitter.backlog.take(self._clock.now())
        if result is not None:
            self._evaluation.delivered()
        return result

    # For the engine, which serves queries in an order

    def is_due(self) -> bool:
        """Tell whether running it would do anything."""
        if self._is_closed or self._interruption is not None:
            return False
        if self._callback is not None and self._emitter.backlog:
            return True
        now = self._clock.now()
        return self._emitter.held_until(now) is None and self._has_waited_since(now) is not None

    def staleness(self) -> float:
        """Return since when, in seconds, something has waited that running it would reflect."""
        now = self._clock.now()
        since = self._has_waited_since(now)
        oldest = self._emitter.backlog.oldest() if self._callback is not None else None
        if oldest is not None:
            since = oldest.due if since is None else min(since, oldest.due)
        return 0.0 if since is None else max(0.0, now - since)

    def cost(self) -> float:
        """Return about how long a run takes, in seconds; 0 before the first."""
        return self._cost

    def run(self) -> None:
        """Evaluate what is due, and give the results to the callback, if there is one.

        A callback that fails takes nothing else with it: that is counted, and its error kept.
        """
        self.evaluate()
        if self._callback is None:
            return
        for result in self._taken():
            try:
                self._callback(result)
            except Exception as error:  # noqa: BLE001  # whatever the user's function raises
                self._callback_failures += 1
                self._error = repr(error)
            if self._is_closed:
                return

    def _has_waited_since(self, now: float) -> float | None:
        moments = [reader.first_waiting() for reader in self._readers() if reader.waiting]
        due_at = self._evaluation.due_at()
        if due_at is not None and due_at <= now:
            moments.append(due_at)
        if self._holds_back:
            moments.append(now)
        return min((moment for moment in moments if moment is not None), default=None)

    def _readers(self) -> Iterator[LogReader]:
        yield from self._plan.readers
        for side_table in self._plan.side_tables:
            yield side_table.reader

    # What it is like

    def reset_landmark(self) -> None:
        """Begin anew: rows so far count no more. What they made due is evaluated first."""
        self.evaluate()
        if not self._plan.has_landmark:
            raise StatementError("this query has no landmark to reset", self.text)
        with self._uninterrupted():
            self._evaluation.reset_landmark()
        self._emitter.begin_anew()

    def explain(self, *, sql: bool = False) -> str:
        """Say how it is evaluated: what by increments, what anew for each window, and why.

        With `sql`, the statements that are run as well.
        """
        from .rewriting import explain, parts, whole

        split, description = self._plan.split, self._evaluation.describe()
        if description.merges is None:
            return f"{description.now}\n{whole(split)}" if sql else description.now
        lines = [explain(split, description.merges), description.now]
        return "\n".join([*lines, parts(split)] if sql else lines)

    def statistics(self) -> QueryStatistics:
        """Return counts of what happened so far."""
        emitter, backlog = self._emitter, self._emitter.backlog
        return QueryStatistics(
            name=self.name,
            semantics=self.semantics,
            results_due=emitter.due,
            results_taken=backlog.taken,
            results_skipped=emitter.skipped,
            results_dropped=emitter.dropped,
            results_unchanged=emitter.unchanged,
            results_waiting=len(backlog),
            rows_read=sum(reader.position - reader.origin for reader in self._plan.readers),
            rows_waiting=sum(reader.waiting for reader in self._plan.readers),
            rows_late=self._evaluation.late_rows(),
            rows_superseded=self._evaluation.superseded_rows(),
            rows_failed=self._plan.failing.count,
            rows_held=self._evaluation.memory_rows(),
            evaluations=self._evaluations,
            evaluation_seconds=self._evaluation_seconds,
            staleness_seconds_mean=backlog.staleness_seconds / max(backlog.taken, 1),
            callback_failures=self._callback_failures,
            error=self._plan.failing.error or self._error,
        )

    def close(self) -> None:
        """Stop: it reads its streams no more. What was counted can still be read."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._interruption is None:
            self._stop_reading()
        self._evaluation.close()
        self._on_close(self)

    def _stop_reading(self) -> None:
        for reader in self._plan.readers:
            reader.close()
        for side_table in self._plan.side_tables:
            side_table.close()

"""A standing query: evaluated when it is asked for results, or when the engine runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Final, Protocol

from ..errors import ClosedError, QueryTypeError, StatementError
from ..held_interrupt import HeldInterrupt
from ..rows.arrow_data import empty_table
from .results.backlog import QueryStatistics, Result
from .results.emission import Emitter

if TYPE_CHECKING:
    import pyarrow as pa

    from ..clock import Clock
    from .choices import Choices, Semantics
    from .evaluation.planning import Plan
    from .evaluation.refreshed import Waiting
    from .results.answer import Answer
    from .results.result_stream import ResultStream

Callback = Callable[[Result], object]
_SMOOTHING: Final = 0.2


class Others(Protocol):
    """What a query knows about the other queries and the views of its engine."""

    def feeders_of(self, streams: Set[str]) -> Sequence[ContinuousQuery]:
        """Return the queries that fill these streams, directly or through others, in order."""

    def at_one_moment(self) -> AbstractContextManager[None]:
        """Let everything that is read inside the block be of the moment when it began."""

    def end_moment(self) -> None:
        """Let everything be seen again, if an exception has kept a block from ending."""

    def reading(self, name: str) -> Sequence[ContinuousQuery]:
        """Return the queries and views that read a stream or a view."""


class ContinuousQuery:
    """A standing query over streams; `Engine.continuous_query` creates them.

    Nothing runs in the background. `results`, `latest`, `ask` and iteration evaluate what is due,
    and so does `Engine.run` for all queries. Each result is taken once. With a callback, `run`
    takes results for it; results that `results` takes before do not reach the callback.

    If a query fills a stream, its results are read there. If it reads a stream that another query
    fills, the other one is evaluated first.

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
        "_due_at",
        "_emitter",
        "_error",
        "_evaluation",
        "_evaluation_seconds",
        "_evaluations",
        "_hold",
        "_holds_back",
        "_is_closed",
        "_is_unfinished",
        "_lock",
        "_on_close",
        "_on_error",
        "_others",
        "_plan",
        "_readers",
        "_sink",
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
        clock: Clock,
        stopwatch: Clock,
        others: Others,
        on_close: Callable[[ContinuousQuery], None],
        lock: AbstractContextManager[bool],
        sink: ResultStream | None = None,
    ) -> None:
        self.text = text
        """The SQL as it was given."""
        self.name = name
        self.semantics: Semantics = choices.semantics
        self.weight = choices.weight
        """How much its staleness counts compared with that of other queries."""
        self._lock = lock
        """Held while any thread evaluates the query."""
        self._plan = plan
        self._hold = HeldInterrupt()
        self._readers: list[Waiting] = [*plan.readers]
        self._readers += [each.reader for each in plan.side_tables]
        self._due_at = -inf
        """When the clock alone makes an answer due; minus infinity if that is not known yet."""
        self._is_unfinished = False
        """Whether an evaluation was interrupted and has to be continued."""
        self._evaluation = plan.evaluation
        self._emitter = Emitter(choices, into_stream=sink is not None)
        self._sink = sink
        """What takes the results, if they are rows of a stream."""
        self._others = others
        self._on_close = on_close
        self._callback = callback
        self._clock = clock
        self._stopwatch = stopwatch
        self._on_error = choices.on_error
        self._evaluations = 0
        self._evaluation_seconds = self._cost = 0.0
        self._callback_failures = 0
        self._error: str | None = None
        self._holds_back = False
        """Whether rows were read for which `emit_every` does not allow a result yet."""
        self._is_closed = False

    def __repr__(self) -> str:
        """Return the name of the query, and what it reads."""
        streams = ", ".join(sorted(self.streams))
        failed = self._plan.failing.count
        lost = f", {failed} rows failed" if failed else ""
        return f"<ContinuousQuery {self.name!r}, {self.semantics}, over {streams}{lost}>"

    def __enter__(self) -> ContinuousQuery:
        """Return the query, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the query."""
        self.close()

    # Results

    def results(self) -> list[Result]:
        """Evaluate what is due, and take all results that were not taken yet, oldest first."""
        with self._lock:
            self._check_untaken()
            self._evaluate()
            return self._emitter.backlog.take_all(self._clock.now())

    def __iter__(self) -> Iterator[Result]:
        """Take one result after another, as long as there are any."""
        while (result := self._next()) is not None:
            yield result

    def _next(self) -> Result | None:
        with self._lock:
            self._check_untaken()
            if not self._emitter.backlog:
                self._evaluate()
            return self._take()

    def latest(self) -> Result | None:
        """Evaluate what is due, and take the newest result; older ones are skipped."""
        with self._lock:
            self._check_untaken()
            self._evaluate()
            self._emitter.skip_to_newest()
            return self._take()

    def _check_untaken(self) -> None:
        """Refuse to give results that the query's stream has taken."""
        if self.into is not None:
            raise StatementError(
                f"the results of this query are rows of the stream {self.into}",
                self.text,
                hint=f"read them there: FROM {self.into}; ask() gives the current answer",
            )

    def ask(self) -> Result | None:
        """Return the current answer: for the newest closed window, or for all rows so far.

        If the window has no rows, the answer is what the query returns over no rows, such as one
        row with `count(*)` as 0, or no group. The same holds before the first row; if no window was
        closed yet, the bounds of the result are None. Without news it returns the same answer
        again. It takes no waiting result, and does not count as a result.
        """
        with self._lock:
            self._others.end_moment()
            return Result.of(self._told(self._current()), self._clock.now())

    def _current(self) -> Answer:
        answer = self._evaluation.current(self._evaluate_at_this_moment())
        if answer is None:
            raise StatementError(
                "an append query without a window keeps no rows, so ask() has no answer",
                self.text,
                hint="call results() instead, or choose semantics='update'",
            )
        return answer

    @property
    def schema(self) -> pa.Schema:
        """The schema of the tables of results."""
        return self._plan.schema.outer

    @property
    def streams(self) -> frozenset[str]:
        """The names of the streams and views that the query reads."""
        return self._plan.streams

    @property
    def tables(self) -> frozenset[str]:
        """The names of the tables that the query reads, in lower case."""
        return self._plan.tables

    @property
    def into(self) -> str | None:
        """The name of the stream that the query fills, if it fills one."""
        return None if self._sink is None else self._sink.stream.definition.name

    @property
    def is_closed(self) -> bool:
        """Whether the query was closed, on its own or with its engine."""
        return self._is_closed

    # Evaluation

    def evaluate(self) -> None:
        """Evaluate what is due, and keep the results."""
        with self._lock:
            self._evaluate()

    def _evaluate(self) -> float:
        """Evaluate what is due now, and return the moment of this evaluation.

        The queries that fill the streams of this one are evaluated first. If anything is raised on
        the way, no row and no result is lost: the next evaluation continues where this one was.
        """
        self._others.end_moment()
        return self._evaluate_at_this_moment()

    def _evaluate_at_this_moment(self) -> float:
        if self._is_closed:
            raise ClosedError("query")
        for feeder in self._others.feeders_of(self.streams):
            feeder._evaluate_alone()
        if not self._plan.side_tables:
            return self._evaluate_alone()
        with self._others.at_one_moment():
            return self._evaluate_alone()

    def _evaluate_alone(self) -> float:
        now = self._clock.now()
        if self._is_quiet(now):
            return now
        self._due_at, self._is_unfinished = -inf, True
        watch = self._stopwatch.now()
        for side_table in self._plan.side_tables:
            side_table.refresh(now)
        self._evaluation.take_in(now)
        every = self._emitter.every
        self._holds_back = every is not None and self._emitter.held_until(now) is not None
        if not self._holds_back:
            self._give(now)
        due_at = self._next_due()
        self._note_cost(self._stopwatch.now() - watch)
        self._due_at, self._is_unfinished = inf if due_at is None else due_at, False
        if self._sink is not None and self._sink.stream.is_crowded():
            for reader in self._others.reading(self._sink.stream.definition.name):
                reader._evaluate_alone()
        return now

    def _is_quiet(self, now: float) -> bool:
        """Tell whether nothing has happened since the last evaluation."""
        return not self._holds_back and not self._has_waiting(now)

    def _has_waiting(self, now: float) -> bool:
        """Tell whether anything has come, or become due, since the last evaluation."""
        return now >= self._due_at or any(reader.waiting for reader in self._readers)

    def _first_waiting(self) -> float | None:
        """Return since when anything has waited, or been due by the clock, or None."""
        moments = [reader.first_waiting() for reader in self._readers if reader.waiting]
        due_at = self._next_due()
        if due_at is not None and due_at <= self._clock.now():
            moments.append(due_at)
        return min((moment for moment in moments if moment is not None), default=None)

    def _next_due(self) -> float | None:
        """Return when the clock alone will change the answer, or None."""
        moments = [self._evaluation.due_at()]
        moments += [each.due_at() for each in self._plan.side_tables]
        return min((moment for moment in moments if moment is not None), default=None)

    def _rows_waiting(self) -> int:
        """Return how many rows of streams wait."""
        return sum(reader.waiting_rows for reader in self._plan.readers)

    def _give(self, now: float) -> None:
        answers = self._evaluation.answers(now, self._emitter.keep)
        told = [self._told(each) for each in answers.answers]
        emission = self._emitter.prepared(told, answers.skipped, now)
        store = None if self._sink is None else self._sink.prepared(emission.news)
        error = next((each.error for each in told if each.error), self._error)
        with self._hold:
            answers.commit()
            emission.give()
            self._holds_back, self._error = False, error
            if store is not None:
                self._emitter.backlog.take_all(now)
                store()

    def _told(self, answer: Answer) -> Answer:
        """Return an answer for the user; `on_error` decides about rows that it leaves out."""
        if self._on_error == "fail":
            answer = answer.or_failed()
        if self._plan.schema.outer is self._plan.schema.inner:
            return answer
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

    def _take(self) -> Result | None:
        return self._emitter.backlog.take(self._clock.now())

    # For the engine, which serves queries in an order

    def is_due(self) -> bool:
        """Tell whether running it would do anything."""
        if self._is_closed:
            return False
        return self._is_due_alone() or any(self._due_feeders())

    def _is_due_alone(self) -> bool:
        if self._callback is not None and self._emitter.backlog:
            return True
        now = self._clock.now()
        if self._is_quiet(now):
            return False
        return self._emitter.held_until(now) is None and self._has_waited_since(now) is not None

    def _due_feeders(self) -> Iterator[ContinuousQuery]:
        """Yield the queries that a run of this one would run first."""
        return (each for each in self._others.feeders_of(self.streams) if each._is_due_alone())

    def staleness(self) -> float:
        """Return for how many seconds something has waited that a run would take into account."""
        now = self._clock.now()
        moments = [self._has_waited_since(now)]
        moments += [each._has_waited_since(now) for each in self._due_feeders()]
        oldest = self._emitter.backlog.oldest() if self._callback is not None else None
        if oldest is not None:
            moments.append(oldest.due)
        since = min((each for each in moments if each is not None), default=now)
        return max(0.0, now - since)

    def cost(self) -> float:
        """Return about how many seconds a run takes; 0 before the first.

        This includes the queries that have to run before it.
        """
        return self._cost and self._cost + sum(each._cost for each in self._due_feeders())

    def run(self) -> None:
        """Evaluate what is due, and pass the results to the callback, if there is one.

        An exception of the callback affects nothing else. It is counted, and kept in the
        statistics.
        """
        with self._lock:
            self._evaluate()
            while self._callback is not None and not self._is_closed:
                result = self._take()
                if result is None:
                    return
                try:
                    self._callback(result)
                except Exception as error:  # noqa: BLE001  # whatever the user's function raises
                    self._callback_failures += 1
                    self._error = repr(error)

    def _has_waited_since(self, now: float) -> float | None:
        moments = [self._first_waiting()]
        if self._holds_back or self._is_unfinished:
            moments.append(now)
        return min((moment for moment in moments if moment is not None), default=None)

    # Description and end

    def reset_landmark(self) -> None:
        """Begin again: earlier rows no longer count.

        Answers that they made due are evaluated first.
        """
        if self._plan.reset is None:
            raise StatementError("this query reads no landmark to reset", self.text)
        with self._lock:
            self._evaluate()
            self._plan.reset()
            self._emitter.begin_anew()

    def explain(self, *, sql: bool = False) -> str:
        """Describe how the query is evaluated: which parts incrementally, which anew, and why.

        With `sql`, also the statements that are run.
        """
        from .rewriting.explain import explain, parts, whole

        with self._lock:
            split, description = self._plan.split, self._evaluation.describe()
        into = [] if self._sink is None else [self._sink.describe()]
        if description.merges is None:
            return "\n".join([description.now, *into, *([whole(split)] if sql else [])])
        lines = [explain(split, description.merges), description.now, *into]
        return "\n".join([*lines, parts(split)] if sql else lines)

    def statistics(self) -> QueryStatistics:
        """Return the counts since the query was created."""
        with self._lock:
            return self._statistics()

    def _statistics(self) -> QueryStatistics:
        counts = self._evaluation.counts()
        emitter, backlog, sink = self._emitter, self._emitter.backlog, self._sink
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
            rows_waiting=self._rows_waiting(),
            rows_late=counts.late,
            rows_superseded=counts.superseded,
            rows_deleted=counts.deleted,
            rows_expired=counts.expired,
            rows_failed=self._plan.failing.count,
            rows_held=counts.held,
            evaluations=self._evaluations,
            evaluation_seconds=self._evaluation_seconds,
            staleness_seconds_mean=backlog.staleness_seconds / max(backlog.taken, 1),
            callback_failures=self._callback_failures,
            error=self._plan.failing.error or self._error or (sink.error if sink else None),
            rows_appended=sink.rows_appended if sink else 0,
            rows_refused=sink.rows_refused if sink else 0,
            keys_deleted=sink.keys_deleted if sink else 0,
        )

    def close(self) -> None:
        """Stop reading the streams. The statistics can still be read.

        A stream that the query filled stays, and can be written to from then on.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._plan.close()
            self._on_close(self)

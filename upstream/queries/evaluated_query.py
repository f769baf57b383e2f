"""A query under evaluation: what happens once, however many take its results.

Standing queries take its results, each through a `ResultReader`. A view is such a query too, and
gives its answer when it is read. Nothing runs in the background: taking results, reading a view and
running the engine first evaluate what is due.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import AbstractContextManager
from math import inf
from typing import TYPE_CHECKING, Protocol

from ..errors import ClosedError, CommitError, StatementError
from .evaluation.shared_windows import WindowsOfQuery
from .evaluation_cost import EvaluationCost
from .results.backlog import QueryStatistics
from .results.result_reader import ResultReader

if TYPE_CHECKING:
    import pyarrow as pa

    from ..clock import Clock
    from ..tables.appended import Lead
    from ..tables.engine_stream import EngineStream
    from .choices import Choices, Semantics
    from .evaluation.planning import Plan
    from .evaluation.refreshed import Waiting
    from .results.answer import Answer
    from .results.commit import Commit
    from .results.record_keeper import RecordKeeper
    from .results.result_reader import Callback
    from .results.sink import Sink


class Others(Protocol):
    """What a query knows about the other queries and the views of its engine."""

    def feeders_of(self, streams: Set[str]) -> Sequence[EvaluatedQuery]:
        """Return the queries that fill these streams, directly or through others, in order."""

    def at_one_moment(self) -> AbstractContextManager[None]:
        """Let everything that is read inside the block be of the moment when it began."""

    def end_moment(self) -> None:
        """Let everything be seen again, if an exception has kept a block from ending."""

    def make_room(self, stream: EngineStream) -> None:
        """Let the queries and views that read a stream read it, if many rows wait there.

        Raise CommitError if the stream is full and the sink or the record of a reader fails.
        """


class EvaluatedQuery:
    """A query over streams that is evaluated again and again.

    If it reads a stream that another query fills, the other one is evaluated first. Any thread may
    call any method; `lock` is held while one of them evaluates. For a scheduler it is one query:
    its weight is that of all its readers, and a run evaluates it and hands results to callbacks.
    """

    __slots__ = (
        "_began",
        "_choices",
        "_commit",
        "_cost",
        "_defined",
        "_due_at",
        "_emitter",
        "_evaluation",
        "_holds_back",
        "_is_closed",
        "_is_unfinished",
        "_on_error",
        "_others",
        "_plan",
        "_pushing",
        "_readers",
        "_stopwatch",
        "clock",
        "lock",
        "semantics",
        "text",
    )

    def __init__(
        self,
        text: str,
        plan: Plan,
        *,
        choices: Choices,
        clock: Clock,
        stopwatch: Clock,
        others: Others,
        lock: AbstractContextManager[bool],
        commit: Commit,
        defined: object = None,
    ) -> None:
        self.text = text
        """The SQL as it was given."""
        self.semantics: Semantics = choices.semantics
        self.lock = lock
        """Held while any thread evaluates the query."""
        self.clock = clock
        """Says when something is due, and how old a result is."""
        self._plan = plan
        self._choices = choices.of_evaluation
        self._defined = defined
        """What the names in the text meant when it was planned."""
        self._began = self._positions()
        self._readers: list[Waiting] = [*plan.readers]
        self._readers += [each.reader for each in plan.side_tables]
        self._due_at = -inf
        """When the clock alone makes an answer due; minus infinity if that is not known yet."""
        self._is_unfinished = False
        """Whether an evaluation was interrupted and has to be continued."""
        self._evaluation = plan.evaluation
        self._commit = commit
        self._emitter = commit.emitter
        self._pushing: list[ResultReader] = []
        """The readers with callbacks."""
        self._others = others
        self._stopwatch = stopwatch
        self._on_error = choices.on_error
        self._cost = EvaluationCost()
        self._holds_back = False
        """Whether rows were read for which `emit_every` does not allow a result yet."""
        self._is_closed = False

    # What gives results

    def reader(
        self, name: str, *, weight: float = 1.0, callback: Callback | None = None
    ) -> ResultReader:
        """Return a new reader of the results, of which none was due yet: all have one numbering."""
        assert self._commit.record is not None or not self._emitter.due
        reader = ResultReader(self._emitter.backlog, name, weight=weight, callback=callback)
        self._commit.begin(reader)
        if callback is not None:
            self._pushing = [*self._pushing, reader]
        return reader

    def can_be_joined(self, text: str, choices: Choices) -> bool:
        """Tell whether a new query would have the same results, which are all to come.

        The names in the text must mean the same as before; see `means_the_same`.
        """
        is_same = self._plan.is_shareable and not self._commit.describe()
        is_same = is_same and self.text.strip() == text.strip()
        is_same = is_same and self._choices == choices.of_evaluation
        return is_same and not self._is_closed and self._has_not_begun()

    def means_the_same(self, defined: object) -> bool:
        """Tell whether names mean the same as when the query was planned."""
        return self._defined == defined

    def _has_not_begun(self) -> bool:
        """Tell whether nothing has come since it was planned."""
        has_answered = self._emitter.due or self._is_unfinished
        has_read = self._positions() != self._began
        return not (has_answered or has_read or any(reader.waiting for reader in self._readers))

    def _positions(self) -> list[tuple[int, int | None]]:
        return [(reader.position, reader.deletions) for reader in self._plan.readers]

    def leave(self, reader: ResultReader) -> None:
        """Remove a reader; the evaluation ends with its last one."""
        with self.lock:
            try:
                self._commit.end(reader)
            finally:
                reader.leave()
                self._pushing = [each for each in self._pushing if each is not reader]
                if not self._emitter.backlog.readers:
                    self.close()

    def current(self) -> Answer:
        """Evaluate what is due, and return the current answer; see `ContinuousQuery.ask`."""
        with self.lock:
            self._others.end_moment()
            return self._told(self._current())

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

    def lead_of(self, stream: str) -> Lead:
        """Return how far a stream is ahead of those that it is joined with."""
        return self._plan.lead_of(stream)

    @property
    def tables(self) -> frozenset[str]:
        """The names of the tables that the query reads, in lower case."""
        return self._plan.tables

    @property
    def into(self) -> str | None:
        """The name of the stream that the query fills, if it fills one."""
        into = self._commit.stream
        return None if into is None else into.stream.definition.name

    @property
    def sink(self) -> Sink | None:
        """The sink that takes the results, if the user gave one."""
        writer = self._commit.sink
        return None if writer is None else writer.sink

    @property
    def record(self) -> RecordKeeper | None:
        """What writes each commit to a file, if the query keeps a record."""
        return self._commit.record

    @property
    def works_ahead(self) -> bool:
        """Whether rows are better taken in before results are requested, as those of epochs."""
        return self._plan.works_ahead

    @property
    def rows_failed(self) -> int:
        """How many rows were left out because the query fails on them."""
        return self._plan.failing.count

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._is_closed

    # Evaluation

    def evaluate(self) -> None:
        """Evaluate what is due, and keep the results."""
        with self.lock:
            self.bring_up_to_date()

    def relieve(self) -> bool:
        """Evaluate what is due, because many rows wait; return False if results cannot be stored.

        It is counted and not raised, because the caller has appended rows, which are accepted.
        """
        try:
            self.evaluate()
        except CommitError:
            return False
        return True

    def bring_up_to_date(self) -> None:
        """Evaluate what is due, and keep the results; the caller holds the lock.

        The queries that fill the streams of this one are evaluated first. If anything is raised on
        the way, no row and no result is lost: the next evaluation continues where this one was.
        """
        others, plan = self._others, self._plan
        others.end_moment()
        if plan.side_tables or self._is_closed or others.feeders_of(plan.streams):
            self._evaluate_at_this_moment()
        else:  # in fewer steps, because each of a hundred queries comes here for each result
            self.evaluate_alone()

    def _evaluate_at_this_moment(self) -> float:
        if self._is_closed:
            raise ClosedError("query")
        for feeder in self._others.feeders_of(self._plan.streams):
            feeder.evaluate_alone()
        if not self._plan.side_tables:
            return self.evaluate_alone()
        with self._others.at_one_moment():
            return self.evaluate_alone()

    def evaluate_alone(self) -> float:
        """Evaluate what is due without the queries that fill the streams; return the moment."""
        now = self.clock.now()
        if self._is_quiet(now):
            return now
        self._due_at, self._is_unfinished = -inf, True
        watch = self._stopwatch.now()
        if (before := self._commit.unfinished_at) is not None:
            self._give(before)  # before anything is read, so that rows wait in bounded streams
        if (into := self._commit.stream) is not None:
            self._others.make_room(into.stream)
        for side_table in self._plan.side_tables:
            side_table.refresh(now)
        while self._read_and_give(now):
            pass
        due_at = self._next_due()
        self._cost.note(self._stopwatch.now() - watch)
        self._due_at, self._is_unfinished = inf if due_at is None else due_at, False
        if into is not None:
            self._others.make_room(into.stream)
        return now

    def _read_and_give(self, now: float) -> bool:
        """Read what waits, and give what is due; tell whether more can be read after that."""
        self._evaluation.take_in(now)
        paused = self._plan.paused()
        every = self._emitter.every
        self._holds_back = every is not None and self._emitter.held_until(now) is not None
        if not self._holds_back:
            self._give(now)
        return not all(reader.is_paused for reader in paused)

    def _is_quiet(self, now: float) -> bool:
        """Tell whether nothing has happened since the last evaluation."""
        if self._holds_back and self._emitter.held_until(now) is None:
            return False
        if now >= self._due_at:
            return False
        for reader in self._readers:  # noqa: SIM110  # twice as fast as all(), for each result
            if reader.waiting:
                return False
        return True

    def _has_waiting(self, now: float) -> bool:
        """Tell whether anything has come, or become due, since the last evaluation."""
        return now >= self._due_at or any(reader.waiting for reader in self._readers)

    def _first_waiting(self) -> float | None:
        """Return since when anything has waited, or been due by the clock, or None."""
        moments = [reader.first_waiting() for reader in self._readers if reader.waiting]
        due_at = self._next_due()
        if due_at is not None and due_at <= self.clock.now():
            moments.append(due_at)
        return min((moment for moment in moments if moment is not None), default=None)

    def _next_due(self) -> float | None:
        """Return when the clock alone will change the answer, or None."""
        moments = [self._evaluation.due_at()]
        moments += [each.due_at() for each in self._plan.side_tables]
        return min((moment for moment in moments if moment is not None), default=None)

    def rows_waiting(self) -> int:
        """Return how many rows of streams wait."""
        return sum(reader.waiting_rows for reader in self._plan.readers)

    def _give(self, now: float) -> None:
        answers = self._evaluation.answers(now, self._emitter.keep)
        told = [self._told(each) for each in answers.answers]
        self._commit.give(answers, told, now)

    def _told(self, answer: Answer) -> Answer:
        """Return an answer for the user; `on_error` decides about rows that it leaves out."""
        answer = answer.or_failed() if self._on_error == "fail" else answer
        return answer.handed_out(self._plan.schema)

    # For the engine, which serves queries in an order

    @property
    def shared(self) -> object:
        """What it has in common with the queries that are best evaluated with it, or None."""
        return self._evaluation.shared if isinstance(self._evaluation, WindowsOfQuery) else None

    @property
    def name(self) -> str:
        """The name of its first reader, which nothing else that is served has."""
        return next((reader.name for reader in self._emitter.backlog.readers), "")

    @property
    def weight(self) -> float:
        """How much its staleness counts: for all its readers together."""
        return sum([reader.weight for reader in self._emitter.backlog.readers])

    def is_due(self) -> bool:
        """Tell whether running it would do anything."""
        return self.has_to_evaluate() or any(each.waiting for each in self._pushing)

    def has_to_evaluate(self) -> bool:
        """Tell whether evaluating it would do anything."""
        if self._is_closed:
            return False
        return self._is_due_alone() or any(self._due_feeders())

    def _is_due_alone(self) -> bool:
        now = self.clock.now()
        if self._is_quiet(now) or self._emitter.held_until(now) is not None:
            return False
        if not self._plan.side_tables and any(reader.waiting for reader in self._readers):
            return True  # as is known without looking for the moment
        return self._has_waited_since(now) is not None

    def _due_feeders(self) -> Iterator[EvaluatedQuery]:
        """Yield the queries that a run of this one would run first."""
        return (each for each in self._others.feeders_of(self.streams) if each._is_due_alone())

    def staleness(self) -> float:
        """Return for how many seconds something has waited that a run would take into account."""
        return self.staleness_for(self._pushing)

    def staleness_for(self, readers: Sequence[ResultReader]) -> float:
        """Return the staleness if results are handed to the callbacks of these readers only."""
        now = self.clock.now()
        moments = [self._has_waited_since(now)]
        moments += [each._has_waited_since(now) for each in self._due_feeders()]
        oldest = [answer for each in readers if (answer := each.oldest()) is not None]
        moments += [answer.due for answer in oldest]
        since = min((moment for moment in moments if moment is not None), default=now)
        return max(0.0, now - since)

    def cost(self) -> float:
        """Return about how many seconds a run takes; 0 before the first.

        This includes the queries that have to run before it.
        """
        own = self._cost.estimate
        return own and own + sum(each._cost.estimate for each in self._due_feeders())

    def run(self) -> None:
        """Evaluate what is due, and pass the results to the callbacks of its readers."""
        with self.lock:
            self.bring_up_to_date()
            for reader in self._pushing:
                reader.hand_out(self.clock)

    def _has_waited_since(self, now: float) -> float | None:
        moments = [self._first_waiting()]
        if self._holds_back or self._is_unfinished:
            moments.append(now)
        return min((moment for moment in moments if moment is not None), default=None)

    # Description and end

    def reset_landmark(self) -> None:
        """Begin again: earlier rows no longer count; see `ContinuousQuery.reset_landmark`."""
        if self._plan.reset is None:
            raise StatementError("this query reads no landmark to reset", self.text)
        with self.lock:
            self.bring_up_to_date()
            self._plan.reset()
            self._emitter.begin_anew()

    def explain(self, *, sql: bool = False) -> str:
        """Describe how the query is evaluated; see `ContinuousQuery.explain`."""
        from .evaluation.described import described

        with self.lock:
            split, description = self._plan.split, self._evaluation.describe()
        return described(split, description, self._commit.describe(), sql=sql)

    def statistics(self, callback_error: str | None = None) -> QueryStatistics:
        """Return the counts since it was created, without what readers count.

        `callback_error` is the error of a callback, if it came after the last error of a result.
        """
        counts = self._evaluation.counts()
        emitter, into, sink = self._emitter, self._commit.stream, self._commit.sink
        errors = [self._plan.failing.error, callback_error, self._commit.error]
        errors += [into.error if into else None, sink.error if sink else None]
        return QueryStatistics(
            name="",
            semantics=self.semantics,
            results_due=emitter.due,
            results_taken=0,
            results_skipped=emitter.skipped,
            results_dropped=emitter.dropped,
            results_unchanged=emitter.unchanged,
            results_waiting=0,
            rows_read=sum(reader.position - reader.origin for reader in self._plan.readers),
            rows_waiting=self.rows_waiting(),
            rows_late=counts.late,
            rows_superseded=counts.superseded,
            rows_deleted=counts.deleted,
            rows_expired=counts.expired,
            rows_failed=self._plan.failing.count,
            rows_held=counts.held,
            evaluations=self._cost.count,
            evaluation_seconds=self._cost.seconds,
            staleness_seconds_mean=0.0,
            callback_failures=0,
            error=next((each for each in errors if each), None),
            rows_appended=into.rows_appended if into else 0,
            rows_refused=into.rows_refused if into else 0,
            keys_deleted=into.keys_deleted if into else 0,
            sink_failures=sink.failures if sink else 0,
            late_by_stream={s: counts.late_by_stream.get(s, 0) for s in sorted(self.streams)},
        )

    def close(self) -> None:
        """Stop reading the streams. The counts can still be read."""
        with self.lock:
            if not self._is_closed:
                self._is_closed = True
                self._plan.close()

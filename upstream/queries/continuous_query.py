"""A standing query as users have it; others may share its evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Never

from ..errors import ClosedError, StatementError
from ..held_interrupt import HeldInterrupt
from .results.backlog import Result
from .results.result_reader import Callback

if TYPE_CHECKING:
    import pyarrow as pa

    from .choices import Semantics
    from .evaluated_query import EvaluatedQuery
    from .query_records import QueryRecords
    from .results.backlog import QueryStatistics
    from .results.result_reader import ResultReader

__all__ = ["Callback", "ContinuousQuery"]


class ContinuousQuery:
    """A standing query over streams; `Engine.continuous_query` creates them.

    Nothing runs in the background. `results`, `latest`, `ask` and iteration evaluate what is due,
    and so does `Engine.run` for all queries. Each result is taken once. With a callback, `run`
    takes results for it; results that `results` takes before do not reach the callback.

    If a query fills a stream or has a sink, its results are read there. If it reads a stream that
    another query fills, the other one is evaluated first.

    >>> from upstream import Engine, ManualClock
    >>> with Engine(clock=ManualClock()) as engine:
    ...     _ = engine.sql("CREATE STREAM beats (n BIGINT)")
    ...     with engine.continuous_query("SELECT sum(n) AS n FROM rows(beats, 2, 1)") as query:
    ...         _ = engine.append("beats", {"n": [1, 2, 3]})
    ...         print([result.table["n"][0].as_py() for result in query])
    [3, 5]
    """

    __slots__ = (
        "_evaluated",
        "_final",
        "_is_taken",
        "_lock",
        "_on_close",
        "_reader",
        "_records",
        "text",
    )

    def __init__(
        self,
        text: str,
        evaluated: EvaluatedQuery,
        reader: ResultReader,
        *,
        on_close: Callable[[ContinuousQuery], None],
        records: QueryRecords | None = None,
    ) -> None:
        self.text = text
        """The SQL as it was given."""
        self._evaluated = evaluated
        self._reader = reader
        self._is_taken = not (evaluated.into is None and evaluated.sink is None)
        """Whether a stream or a sink takes the results."""
        self._lock = evaluated.lock
        self._on_close = on_close
        self._records = None if evaluated.record is None else records
        """The records in the engine's directory, if this query keeps one."""
        self._final: QueryStatistics | None = None
        """The counts of the evaluation when the query was closed; None if it was not."""

    def __repr__(self) -> str:
        """Return the name of the query, and what it reads."""
        streams = ", ".join(sorted(self.streams))
        failed = self._evaluated.rows_failed
        lost = f", {failed} rows failed" if failed else ""
        return f"<ContinuousQuery {self.name!r}, {self.semantics}, over {streams}{lost}>"

    def __enter__(self) -> ContinuousQuery:
        """Return the query, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the query."""
        self.close()

    @property
    def name(self) -> str:
        """The name of the query."""
        return self._reader.name

    @property
    def weight(self) -> float:
        """How much its staleness counts compared with that of other queries."""
        return self._reader.weight

    @weight.setter
    def weight(self, weight: float) -> None:
        self._reader.weight = weight

    # Results

    def results(self) -> list[Result]:
        """Evaluate what is due, and take all results that were not taken yet, oldest first."""
        evaluated = self._evaluated
        with self._lock:
            if self._is_taken:
                self._refuse_taken()
            if self._final is not None:
                raise ClosedError("query")
            evaluated.bring_up_to_date()
            return self._reader.take_all(evaluated.clock.now())

    def __iter__(self) -> Iterator[Result]:
        """Take one result after another, as long as there are any."""
        while (result := self._next()) is not None:
            yield result

    def _next(self) -> Result | None:
        with self._lock:
            if self._is_taken:
                self._refuse_taken()
            if not self._reader.waiting:
                self._evaluate()
            return self._reader.take(self._evaluated.clock.now())

    def latest(self) -> Result | None:
        """Evaluate what is due, and take the newest result; older ones are skipped."""
        with self._lock:
            if self._is_taken:
                self._refuse_taken()
            self._evaluate()
            return self._reader.take_newest(self._evaluated.clock.now())

    def _refuse_taken(self) -> Never:
        """Refuse to give results that the query's stream or sink has taken."""
        if self.into is None:
            reason, where = "the results of this query go to its sink", "there"
        else:
            reason = f"the results of this query are rows of the stream {self.into}"
            where = f"there: FROM {self.into}"
        hint = f"read them {where}; ask() gives the current answer"
        raise StatementError(reason, self.text, hint=hint)

    def ask(self) -> Result | None:
        """Return the current answer: for the newest closed window, or for all rows so far.

        If the window has no rows, the answer is what the query returns over no rows, such as one
        row with `count(*)` as 0, or no group. The same holds before the first row; if no window was
        closed yet, the bounds of the result are None. Without news it returns the same answer
        again. It takes no waiting result, and does not count as a result.
        """
        with self._lock:
            self._check_open()
            return Result.of(self._evaluated.current(), self._evaluated.clock.now())

    @property
    def committed(self) -> int | None:
        """The number of the newest result that the query has committed; None before the first.

        All results of an evaluation are committed together, with what the query has read. From then
        on they can be taken, or the sink has sealed them. The number says what was evaluated, and
        `consumed` what has arrived.
        """
        return self._reader.committed

    @property
    def consumed(self) -> int | None:
        """The number of the newest result that has reached its consumer; None before the first.

        The consumer is the caller of `results`, `latest` or the iteration, the callback, which may
        have raised an exception, or the stream that the query fills. With a sink, it is the newest
        result that the sink has committed, also by an earlier query. Results between `consumed` and
        `committed` are waiting.
        """
        return self._reader.consumed

    @property
    def positions(self) -> Mapping[str, int]:
        """After how many rows of each stream its feed has to go on when the engine is opened again.

        They are counted from the first row that the first engine with the directory received. For
        each stream it is the least number that a query in the directory needs. So read it in the
        new engine, before rows are appended. A query that keeps no record has no positions.
        """
        return {} if self._records is None else self._records.positions(self.streams)

    @property
    def semantics(self) -> Semantics:
        """Whether every result counts, or only the newest."""
        return self._evaluated.semantics

    @property
    def schema(self) -> pa.Schema:
        """The schema of the tables of results."""
        return self._evaluated.schema

    @property
    def streams(self) -> frozenset[str]:
        """The names of the streams and views that the query reads."""
        return self._evaluated.streams

    @property
    def tables(self) -> frozenset[str]:
        """The names of the tables that the query reads, in lower case."""
        return self._evaluated.tables

    @property
    def into(self) -> str | None:
        """The name of the stream that the query fills, if it fills one."""
        return self._evaluated.into

    @property
    def is_closed(self) -> bool:
        """Whether the query was closed, on its own or with its engine."""
        return self._final is not None

    # Evaluation

    def evaluate(self) -> None:
        """Evaluate what is due, and keep the results, or give them to the stream or the sink.

        If the sink fails, SinkError is raised, and RecordError if the record cannot be written.
        """
        with self._lock:
            self._evaluate()

    def _evaluate(self) -> None:
        self._check_open()
        self._evaluated.bring_up_to_date()

    def _check_open(self) -> None:
        if self._final is not None:
            raise ClosedError("query")

    # What a run of this query would do; the engine runs it with those that share its evaluation

    def is_due(self) -> bool:
        """Tell whether running it would do anything."""
        if self._final is not None:
            return False
        return self._waits_for_callback() or self._evaluated.has_to_evaluate()

    def _waits_for_callback(self) -> bool:
        return self._reader.callback is not None and self._reader.waiting > 0

    def staleness(self) -> float:
        """Return for how many seconds something has waited that a run would take into account."""
        return self._evaluated.staleness_for([self._reader] if self._waits_for_callback() else [])

    def cost(self) -> float:
        """Return about how many seconds a run takes; 0 before the first.

        This includes the queries that have to run before it.
        """
        return self._evaluated.cost()

    def run(self) -> None:
        """Evaluate what is due, and pass the results to the callback, if there is one.

        An exception of the callback affects nothing else. It is counted, and kept in the
        statistics.
        """
        with self._lock:
            self._evaluate()
            self._reader.hand_out(self._evaluated.clock)

    # Description and end

    def reset_landmark(self) -> None:
        """Begin again: earlier rows no longer count.

        Answers that they made due are evaluated first.
        """
        self._evaluated.reset_landmark()

    def explain(self, *, sql: bool = False) -> str:
        """Describe how the query is evaluated: which parts incrementally, which anew, and why.

        With `sql`, also the statements that are run.
        """
        return self._evaluated.explain(sql=sql)

    def statistics(self) -> QueryStatistics:
        """Return the counts since the query was created."""
        with self._lock:
            counts = self._final or self._evaluated.statistics(self._reader.callback_error)
            return self._reader.counted(counts)

    def close(self) -> None:
        """Stop reading the streams. The statistics can still be read.

        A stream that the query filled stays, and can be written to from then on. If the record of
        the query cannot be written, it is closed, and RecordError is raised: a new engine then has
        results again that were taken.
        """
        with self._lock, HeldInterrupt():
            if self._final is not None:
                return
            self._final = self._evaluated.statistics(self._reader.callback_error)
            try:
                self._evaluated.leave(self._reader)
            finally:
                self._on_close(self)

"""A standing query: evaluated when it is asked for results, or when the engine runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ..errors import ClosedError, InterruptedQueryError, StatementError
from .query_statistics import QueryStatistics
from .results import Backlog, Result

if TYPE_CHECKING:
    import pyarrow as pa

    from ..clock import Clock
    from .evaluation.answer import Answer
    from .evaluation.basket import BasketReader
    from .evaluation.planning import Plan, Semantics

Emit = Literal["slide", "changed", "asked"]
Callback = Callable[[Result], object]
_SMOOTHING: Final = 0.2


@dataclass(frozen=True, slots=True)
class Emission:
    """When results are given, and how many are kept for somebody to take them."""

    emit: Emit = "slide"
    every: float | None = None
    keep: int = 1_000


class ContinuousQuery:
    """A standing query over streams; `Engine.continuous_query` makes them.

    Nothing runs by itself: `results`, `latest`, `ask` and iteration evaluate what is due, and so
    does `Engine.run` for all queries.
    """

    __slots__ = (
        "_backlog",
        "_callback",
        "_callback_failures",
        "_clock",
        "_cost",
        "_due",
        "_emission",
        "_emitted_at",
        "_error",
        "_evaluation",
        "_evaluation_seconds",
        "_evaluations",
        "_holds_back",
        "_interruption",
        "_is_closed",
        "_on_close",
        "_plan",
        "_previous",
        "_skipped",
        "_unchanged",
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
        semantics: Semantics,
        emission: Emission,
        callback: Callback | None,
        weight: float,
        clock: Clock,
        on_close: Callable[[ContinuousQuery], None],
    ) -> None:
        self.text = text
        """The SQL as it was given."""
        self.name = name
        self.semantics = semantics
        self.weight = weight
        """How much its staleness counts beside that of other queries."""
        self._plan = plan
        self._evaluation = plan.evaluation
        self._emission = emission
        self._callback = callback
        self._clock = clock
        self._on_close = on_close
        self._backlog = Backlog(1 if semantics == "update" else emission.keep)
        self._due = self._skipped = self._unchanged = 0
        self._evaluations = 0
        self._evaluation_seconds = self._cost = 0.0
        self._callback_failures = 0
        self._error: str | None = None
        self._emitted_at: float | None = None
        self._previous: pa.Table | None = None
        self._interruption: BaseException | None = None
        self._holds_back = False
        """Whether rows were read since, by `every`, no result could be given."""
        self._is_closed = False

    # Results

    def results(self) -> list[Result]:
        """Evaluate what is due, and take all results that were not taken yet, oldest first."""
        self.evaluate()
        return list(self._taken())

    def __iter__(self) -> Iterator[Result]:
        """Take result by result, for as long as there are any."""
        self.evaluate()
        while self._backlog:
            yield from self._taken()
            self.evaluate()

    def latest(self) -> Result | None:
        """Evaluate what is due, and take the newest result; older ones are skipped."""
        self.evaluate()
        self._skipped += self._backlog.skip_to_newest()
        return self._take()

    def ask(self) -> Result | None:
        """Answer for now: for the newest window that is closed, or for all rows so far.

        Returns the same again if nothing has happened, and takes nothing that waits. None if there
        was no window yet, or no row.
        """
        self.evaluate()
        if self._plan.is_by_row and self.semantics == "append":
            raise StatementError(
                "an append query without a window remembers nothing that could be asked for",
                self.text,
                hint="take its results(), or choose semantics='update'",
            )
        answer = self._evaluation.current(self._clock.now())
        if answer is None:
            return None
        self._due += 1
        return self._backlog.taken_now(answer, self._clock.now())

    @property
    def schema(self) -> pa.Schema:
        """The schema of the tables of results."""
        return self._plan.schema

    @property
    def streams(self) -> frozenset[str]:
        """The names of the streams that it reads."""
        return self._plan.streams

    @property
    def is_interrupted(self) -> bool:
        """Whether an evaluation did not come to its end, so that the query answers no more."""
        return self._interruption is not None

    # Evaluation

    def evaluate(self) -> None:
        """Evaluate what is due, and keep the results."""
        if self._is_closed:
            raise ClosedError("query")
        if self._interruption is not None:
            raise InterruptedQueryError(self.name) from self._interruption
        try:
            self._evaluate()
        except BaseException as interruption:
            self._interruption = interruption
            self._stop_reading()
            raise

    def _evaluate(self) -> None:
        started = self._clock.now()
        for side_table in self._plan.side_tables:
            side_table.refresh()
        self._evaluation.take_in(started)
        if self._emission.emit == "asked":
            self._evaluation.answers(started, 0)
        elif self._is_held(started):
            self._holds_back = True
        else:
            self._holds_back = False
            self._emit(started)
        self._note_cost(self._clock.now() - started)

    def _emit(self, now: float) -> None:
        is_newest_only = self.semantics == "update" or self._emission.every is not None
        answers = self._evaluation.answers(now, 1 if is_newest_only else self._emission.keep)
        self._due += answers.skipped + len(answers.answers)
        if answers.skipped:
            self._skipped += answers.skipped
            self._backlog.miss(answers.skipped)
        for answer in answers.answers:
            self._emitted_at = now
            if answer.error is not None:
                self._error = answer.error
            if self._is_news(answer):
                self._backlog.add(answer)
            else:
                self._unchanged += 1

    def _is_news(self, answer: Answer) -> bool:
        if self._emission.emit != "changed":
            return True
        is_same = self._previous is not None and is_same_relation(answer.table, self._previous)
        self._previous = answer.table
        return not is_same or answer.error is not None

    def _is_held(self, now: float) -> bool:
        every = self._emission.every
        return every is not None and self._emitted_at is not None and now < self._emitted_at + every

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
        result = self._backlog.take(self._clock.now())
        if result is not None:
            self._evaluation.delivered()
        return result

    # For the engine, which serves queries in an order

    def is_due(self) -> bool:
        """Tell whether running it would do anything."""
        if self._is_closed or self._interruption is not None:
            return False
        if self._callback is not None and self._backlog:
            return True
        now = self._clock.now()
        return self._has_waited_since(now) is not None and not self._is_held(now)

    def staleness(self) -> float:
        """Return since when, in seconds, something has waited that running it would reflect."""
        now = self._clock.now()
        since = self._has_waited_since(now)
        oldest = self._backlog.oldest() if self._callback is not None else None
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
        if self._holds_back and not self._is_held(now):
            moments.append(now)
        return min((moment for moment in moments if moment is not None), default=None)

    def _readers(self) -> Iterator[BasketReader]:
        yield from self._plan.readers
        for side_table in self._plan.side_tables:
            yield side_table.reader

    # What it is like

    def reset_landmark(self) -> None:
        """Begin anew: rows so far count no more. What they made due is evaluated first."""
        self.evaluate()
        if not self._plan.has_landmark:
            raise StatementError("this query has no landmark to reset", self.text)
        self._evaluation.reset_landmark()

    def explain(self) -> str:
        """Say how it is evaluated: what by increments, what anew for each window, and why."""
        from .rewriting import explain

        return f"{explain(self._plan.split)}\n{self._evaluation.describe()}"

    def statistics(self) -> QueryStatistics:
        """Return counts of what happened so far."""
        is_update = self.semantics == "update"
        skipped = self._skipped + (self._backlog.lost if is_update else 0)
        dropped = 0 if is_update else self._backlog.lost
        taken, waiting = self._backlog.taken, len(self._backlog)
        return QueryStatistics(
            name=self.name,
            semantics=self.semantics,
            results_due=self._due,
            results_taken=taken,
            results_skipped=skipped,
            results_dropped=dropped,
            results_unchanged=self._unchanged,
            results_waiting=waiting,
            rows_read=sum(reader.position - reader.origin for reader in self._plan.readers),
            rows_waiting=sum(reader.waiting for reader in self._plan.readers),
            rows_late=self._evaluation.late_rows(),
            rows_superseded=self._evaluation.superseded_rows(),
            rows_failed=self._evaluation.failed_rows(),
            rows_held=self._evaluation.memory_rows(),
            evaluations=self._evaluations,
            evaluation_seconds=self._evaluation_seconds,
            staleness_seconds_mean=self._backlog.staleness_seconds / taken if taken else 0.0,
            callback_failures=self._callback_failures,
            error=self._evaluation.last_error() or self._error,
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


def is_same_relation(one: pa.Table, other: pa.Table) -> bool:
    """Tell whether two tables of one schema have the same rows, in any order."""
    import pyarrow as pa

    if one.num_rows != other.num_rows:
        return False
    try:
        one, other = _with_equal_nans(one), _with_equal_nans(other)
        order = [(name, "ascending") for name in one.schema.names]
        return one.equals(other) or bool(one.sort_by(order).equals(other.sort_by(order)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False  # of types that have no order, or of two columns of one name


def _with_equal_nans(table: pa.Table) -> pa.Table:
    """Return a table whose NaNs are equal to themselves: doubles as the integers of their bits."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if pa.types.is_float64(field.type):
            column = table.column(i)
            bits = [chunk.view(pa.int64()) for chunk in column.chunks]
            table = table.set_column(i, field.name, pa.chunked_array(bits, pa.int64()))
    return table

"""One case, run by the engine and by the reference, and what is different between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pyarrow as pa

from upstream import ManualClock
from upstream.engine import Engine
from upstream.errors import QueryError
from upstream.queries.continuous_query import ContinuousQuery
from upstream.queries.results import Result

from .arrivals import MICROSECONDS
from .cases import Case
from .comparison import difference
from .feeds import DEFINITIONS, LISTED, STREAMS, Append, Pause
from .reference import Answer, Reference

START = 1_000.0  # on the clock
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # as TIMESTAMP, which has no zone


@dataclass(slots=True)
class Comparison:
    """What was found. `refusal` is the name of the error with which the engine refused it."""

    problems: list[str] = field(default_factory=list)
    refusal: str = ""
    is_incremental: bool = False
    answers: int = 0


def compare(case: Case) -> Comparison:
    """Run a case both ways."""
    clock = ManualClock(START)
    tables = {"listed": LISTED}
    with Engine(clock=clock) as engine:
        for definition in DEFINITIONS.values():
            engine.sql(definition)
        engine.create_table("listed", LISTED)
        try:
            query = standing(engine, case)
        except QueryError as error:
            return Comparison(refusal=type(error).__name__)
        reference = Reference(case.standing, STREAMS, tables)
        try:
            return SideBySide(case, engine, clock, query, reference).run()
        finally:
            reference.close()


def standing(engine: Engine, case: Case) -> ContinuousQuery:
    """Let the query of a case stand."""
    lateness = case.standing.allowed_lateness
    return engine.continuous_query(
        case.text,
        "update" if case.standing.semantics == "update" else "append",
        emit=case.emit,
        emit_every=case.emit_every,
        allowed_lateness=None if lateness is None else lateness / MICROSECONDS,
        close_after=case.standing.close_after,
        evaluation=case.evaluation,
    )


class SideBySide:
    """Gives both the same events, and holds their answers side by side at each poll."""

    def __init__(
        self,
        case: Case,
        engine: Engine,
        clock: ManualClock,
        query: ContinuousQuery,
        reference: Reference,
    ) -> None:
        self.case = case
        self.engine = engine
        self.clock = clock
        self.query = query
        self.reference = reference
        self.found = Comparison()
        self.previous: pa.Table | None = None  # the last answer, for those that have to differ
        self.emitted_at: float | None = None

    def run(self) -> Comparison:
        """Run the case."""
        for event in self.case.events:
            if isinstance(event, Pause):
                self.clock.advance(event.seconds)
            elif isinstance(event, Append):
                self.reference.append(event.stream, event.rows, self.clock.now())
                self.engine.append(event.stream, event.rows)
            else:
                self._poll()
        self._compare_counts()
        self.found.is_incremental = is_incremental(self.query.explain())
        return self.found

    def _poll(self) -> None:
        now = self.clock.now()
        if self.case.emit == "asked":
            expected, results = self.reference.ask(now), self.query.ask()
            assert not self.query.results(), "nothing was asked for"
            self._pair([expected] if expected else [], [results] if results else [])
            return
        results_now = self.query.results()
        if self._is_held(now):
            self._pair([], results_now)
            return
        expected_now = self.reference.poll(now, newest_only=self.case.emit_every is not None)
        if expected_now:
            self.emitted_at = now
        self._pair(expected_now, results_now)

    def _is_held(self, now: float) -> bool:
        every = self.case.emit_every
        return every is not None and self.emitted_at is not None and now < self.emitted_at + every

    def _pair(self, expected: list[Answer], results: list[Result]) -> None:
        """Compare answer by answer; leave out those that may be or must be as the one before."""
        left = list(results)
        for answer in expected:
            self.found.answers += 1
            is_given = bool(left) and not self._difference(answer, left[0])
            if is_given:
                if self._must_be_left_out(answer):
                    self._note(f"{answer.bounds} is given, and is as before")
                left.pop(0)
            elif not self._may_be_left_out(answer):
                told = self._difference(answer, left[0]) if left else "there is none"
                self._note(f"{answer.bounds}: {told}")
                left = left[1:]
            self.previous = answer.table
        for result in left:
            self._note(f"{result.window_start} to {result.window_end} should not be there")

    def _may_be_left_out(self, answer: Answer) -> bool:
        """Tell whether this answer is as the one before, up to rounding."""
        if self.case.emit != "changed" or self.previous is None or answer.table is None:
            return False
        return not difference(self.previous, answer.table, is_ordered=False)

    def _must_be_left_out(self, answer: Answer) -> bool:
        """Tell whether this answer is as the one before, and that is beyond doubt."""
        if not self._may_be_left_out(answer):
            return False
        schema = answer.table.schema if answer.table is not None else pa.schema([])
        has_order = not any(pa.types.is_nested(kind) for kind in schema.types)
        is_exact = not any(pa.types.is_floating(kind) for kind in schema.types)
        return has_order and is_exact and len(set(schema.names)) == len(schema.names)

    def _difference(self, answer: Answer, result: Result) -> str:
        bounds = (position(result.window_start), position(result.window_end))
        if bounds != answer.bounds:
            return f"the window is {bounds}"
        if result.revision != answer.revision:
            return f"the revision is {result.revision}, not {answer.revision}"
        if answer.table is None:
            return self._difference_of_failed(answer, result)
        if result.error is not None:
            return f"there is an error: {result.error}"
        return difference(answer.table, result.table, is_ordered=self.case.query.is_ordered)

    def _difference_of_failed(self, answer: Answer, result: Result) -> str:
        """Compare where the query fails: an error, or the rows left out on which it does."""
        if result.error is not None:
            return ""
        if answer.spared is None:
            return "there is no error"
        return difference(answer.spared, result.table, is_ordered=self.case.query.is_ordered)

    def _compare_counts(self) -> None:
        if self.case.standing.windows[0].kind in ("tumble", "hop"):
            late = self.query.statistics().rows_late
            if late != self.reference.late:
                self._note(f"{late} rows were late, not {self.reference.late}")

    def _note(self, problem: str) -> None:
        self.found.problems.append(problem)


def position(bound: object) -> int | None:
    """Return a bound of a window as a number of its axis."""
    if isinstance(bound, datetime):
        return (bound - EPOCH) // timedelta(microseconds=1)
    assert bound is None or isinstance(bound, int)
    return bound


def is_incremental(explanation: str) -> bool:
    """Tell whether a query is evaluated by increments, and to the end."""
    return "not deeper because" not in explanation

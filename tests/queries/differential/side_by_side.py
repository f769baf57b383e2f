"""Runs one case by the engine and by the reference, and reports the differences."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from unittest.mock import patch

import duckdb
import pyarrow as pa

from upstream import ManualClock
from upstream.engine import Engine
from upstream.errors import QueryError
from upstream.queries.choices import Semantics
from upstream.queries.continuous_query import ContinuousQuery
from upstream.queries.evaluation import chunk_partials, window_planning
from upstream.queries.evaluation.chosen_way import Portions
from upstream.queries.results.backlog import Result

from .arrivals import MICROSECONDS
from .cases import Case
from .comparison import difference
from .feeds import DEFINITIONS, LISTED, STREAMS, Append, Pause, Poll
from .reference import Answer, Reference

BEGIN = 60.0  # each case begins at a multiple of this on the clock, as all windows do
EPOCH = datetime(1970, 1, 1)  # as TIMESTAMP, which has no zone


@dataclass(slots=True)
class Comparison:
    """What was found. `refusal` is the name of the error with which the engine refused it."""

    problems: list[str] = field(default_factory=list)
    refusal: str = ""
    is_incremental: bool = False
    answers: int = 0


class SmallPortions(Portions):
    """Processes a chunk in four portions from the first one on."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 4


class Sides:
    """An engine and a database for the reference, in which case after case is run."""

    def __init__(self) -> None:
        self.clock = ManualClock(BEGIN)
        self.engine = Engine(clock=self.clock)
        for definition in DEFINITIONS.values():
            self.engine.sql(definition)
        self.engine.create_table("listed", LISTED)
        # Others read the same logs, which keep what these have not read.
        self.engine.continuous_query("SELECT count(*) FROM landmark(trades)")
        self.engine.continuous_query("SELECT max(lots) FROM rows(quotes, 3)", "update")
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.register("listed", LISTED)

    def close(self) -> None:
        """Close both."""
        self.engine.close()
        self.connection.close()

    def compare(self, case: Case) -> Comparison:
        """Run a case both ways; every other one with chunks and portions of a few rows."""
        self.clock.advance(BEGIN - self.clock.now() % BEGIN)
        if not case.seed % 2:
            return self._compare(case)
        with (
            patch.object(chunk_partials, "_SHORT", 6),
            patch.object(chunk_partials, "_TOGETHER", 12),
            patch.object(window_planning, "Portions", SmallPortions),
        ):
            return self._compare(case)

    def _compare(self, case: Case) -> Comparison:
        called_with: list[Result] = []
        try:
            query = self._standing(case, called_with)
        except QueryError as error:
            return Comparison(refusal=type(error).__name__)
        # with another that has the same windows, parts are evaluated for both together
        others = self._beside(case) if case.seed % 4 > 1 else []
        reference = Reference(case.standing, STREAMS, self.connection)
        try:
            return SideBySide(case, self, query, reference, called_with).run()
        finally:
            for each in (query, *others):
                each.close()

    def _beside(self, case: Case) -> list[ContinuousQuery]:
        """Return a standing query with the same text, if there can be one with other results."""
        semantics: Semantics = "append" if case.standing.semantics == "update" else "update"
        try:
            return [self.engine.continuous_query(case.text, semantics, evaluation="increments")]
        except QueryError:
            return []

    def _standing(self, case: Case, called_with: list[Result]) -> ContinuousQuery:
        lateness = case.standing.allowed_lateness
        return self.engine.continuous_query(
            case.text,
            "update" if case.standing.semantics == "update" else "append",
            emit=case.emit,
            emit_every=case.emit_every,
            allowed_lateness=None if lateness is None else lateness / MICROSECONDS,
            close_after=case.standing.close_after,
            evaluation=case.evaluation,
            callback=called_with.append if case.serving == "run" else None,
        )


class SideBySide:
    """Gives both the same events, and holds their answers side by side at each poll."""

    def __init__(
        self,
        case: Case,
        sides: Sides,
        query: ContinuousQuery,
        reference: Reference,
        called_with: list[Result],
    ) -> None:
        self.case = case
        self.engine = sides.engine
        self.clock = sides.clock
        self.query = query
        self.reference = reference
        self.called_with = called_with
        self.found = Comparison()
        self.previous: Answer | None = None  # for those that have to differ from it
        self.emitted_at: float | None = None

    def run(self) -> Comparison:
        """Run the case."""
        for event in self.case.events:
            if isinstance(event, Pause):
                self.clock.advance(event.seconds)
            elif isinstance(event, Append):
                self.reference.append(event.stream, event.rows, self.clock.now())
                self.engine.append(event.stream, event.rows)
            elif isinstance(event, Poll):
                self._poll()
            elif self.case.standing.windows[0].kind == "landmark" and not self.case.emit_every:
                self.reference.reset()  # right after a poll, so that nothing was due
                self.query.reset_landmark()
        self._compare_counts()
        reasons = [leaf.reason for leaf in self.query._evaluated._plan.split.leaves]
        self.found.is_incremental = not any(reasons)
        if self.case.has_to_be_incremental and not self.found.is_incremental:
            self._note(f"it is not incremental: {self.query.explain()}")
        return self.found

    def _poll(self) -> None:
        now = self.clock.now()
        if self.case.emit == "asked":
            expected, results = self.reference.ask(now), self.query.ask()
            assert not self.query.results(), "nothing was asked for"
            self._pair([expected], [results] if results else [])
            return
        results_now = self._results()
        if self._is_held(now):
            self._pair([], results_now)
            return
        expected_now = self.reference.poll(now, newest_only=self.case.emit_every is not None)
        if expected_now:
            self.emitted_at = now
        self._pair(expected_now, results_now)

    def _results(self) -> list[Result]:
        """Take the results that are there, in one of the ways that there are."""
        if self.case.serving == "results":
            return self.query.results()
        if self.case.serving == "iterated":
            return list(self.query)
        self.engine.run(1.0)
        given = [*self.called_with]
        self.called_with.clear()
        return given

    def _is_held(self, now: float) -> bool:
        every = self.case.emit_every
        return every is not None and self.emitted_at is not None and now < self.emitted_at + every

    def _pair(self, expected: list[Answer], results: list[Result]) -> None:
        """Compare answer by answer; leave out those that may be or must be as the one before."""
        left = list(results)
        for answer in expected:
            if self._is_no_news(answer):
                continue
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
            self.previous = answer
        for result in left:
            self._note(f"{result.window_start} to {result.window_end} should not be there")

    def _is_no_news(self, answer: Answer) -> bool:
        """Tell whether no row of keys with news is left, so that there is nothing to give."""
        is_polled = self.case.emit != "asked" and answer.bounds == (None, None)
        is_by_row = is_polled and self.case.standing.is_row_wise
        return is_by_row and answer.table is not None and not answer.table.num_rows

    def _may_be_left_out(self, answer: Answer) -> bool:
        """Tell whether this answer is as the one before, up to rounding."""
        before, now = shown(self.previous), shown(answer)
        if self.case.emit != "changed" or before is None or now is None:
            return False
        return not difference(before, now, is_ordered=False)

    def _must_be_left_out(self, answer: Answer) -> bool:
        """Tell whether this answer is as the one before, and that is beyond doubt."""
        if not self._may_be_left_out(answer) or answer.table is None or answer.revision:
            return False
        if self.previous is None or self.previous.table is None:  # that may be an error or not
            return False
        schema = answer.table.schema
        has_order = not any(pa.types.is_nested(kind) for kind in schema.types)
        is_exact = not any(pa.types.is_floating(kind) for kind in schema.types)
        return has_order and is_exact and len(set(schema.names)) == len(schema.names)

    def _difference(self, answer: Answer, result: Result) -> str:
        bounds = (position(result.window_start), position(result.window_end))
        if bounds != answer.bounds:
            return f"the window is {bounds}"
        if result.revision != answer.revision:
            return f"the revision is {result.revision}, not {answer.revision}"
        if answer.due is not None and self.case.emit != "asked":
            staleness = self.clock.now() - answer.due
            if abs(result.staleness - staleness) > 1e-6:
                return f"it is stale for {result.staleness}, not {staleness}"
        if answer.table is None:
            return self._difference_of_failed(answer, result)
        if result.error is not None:
            return f"there is an error: {result.error}"
        if result.rows_failed:
            return f"{result.rows_failed} rows are left out"
        return difference(answer.table, result.table, is_ordered=self.case.query.is_ordered)

    def _difference_of_failed(self, answer: Answer, result: Result) -> str:
        """Compare where the query fails: an error, or the rows left out on which it does."""
        if result.error is not None:
            return ""
        if not result.rows_failed:
            return "no row is left out"
        if answer.spared is None:
            return "there is no error"
        return difference(answer.spared, result.table, is_ordered=self.case.query.is_ordered)

    def _compare_counts(self) -> None:
        counts = self.query.statistics()
        is_read = not counts.rows_waiting  # run leaves rows that no result may be given about yet
        if is_read and self.case.standing.windows[0].kind in ("tumble", "hop"):
            if counts.rows_late != self.reference.late:
                self._note(f"{counts.rows_late} rows were late, not {self.reference.late}")
            if self.case.emit != "asked" and counts.results_skipped != self.reference.skipped:
                self._note(f"{counts.results_skipped} skipped, not {self.reference.skipped}")
        become = counts.results_taken + counts.results_skipped + counts.results_unchanged
        if counts.results_due != become + counts.results_dropped + counts.results_waiting:
            self._note(f"results are lost: {counts}")

    def _note(self, problem: str) -> None:
        self.found.problems.append(problem)


def shown(answer: Answer | None) -> pa.Table | None:
    """Return the rows of an answer; those without the rows that fail if it fails."""
    if answer is None:
        return None
    return answer.spared if answer.table is None else answer.table


def position(bound: object) -> int | None:
    """Return a bound of a window as a number of its axis."""
    if isinstance(bound, datetime):
        return (bound - EPOCH) // timedelta(microseconds=1)
    assert bound is None or isinstance(bound, int)
    return bound

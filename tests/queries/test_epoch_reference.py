"""Every join, pairing and cut of epochs, against SQL over the whole recorded input.

EPOCH_CASES says how many random cases there are beside those of Hypothesis. The seed of each case
that differs is in the message.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from random import Random

import duckdb
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from upstream import ContinuousQuery, Engine, ManualClock, Result
from upstream.queries.choices import Choices, Emit, Semantics, Way

from .epoch_cases import KINDS, NAMES, STREAMS, Case, Event, random_case
from .epoch_model import TICK, EpochModel

CASES = int(os.environ.get("EPOCH_CASES", "120" if os.environ.get("CI") else "20"))
PARTS = 4  # which run beside one another
SECONDS = 40.0
"""So far the model looks into the future."""
WAYS: tuple[Way, ...] = ("increments", "whole", "measured")


class Sides:
    """An engine, and a database for the model."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.engine = Engine(clock=self.clock, stopwatch=ManualClock())
        for name in STREAMS:
            columns = "t BIGINT, k TEXT, v BIGINT, id BIGINT"
            self.engine.sql(f"CREATE STREAM {name} ({columns}) TIME (t)")
        self.engine.create_table("names", NAMES)
        self.connection = duckdb.connect()
        self.connection.register("names", NAMES)

    def difference(
        self,
        case: Case,
        way: Way = "increments",
        semantics: Semantics = "append",
        *,
        reads: bool = True,
    ) -> str:
        """Return how the engine's answers differ from those of the model, or ''.

        With `reads`, results are also read between the events of a case.
        """
        self.clock.advance(1.0 + int(self.clock.now()) - self.clock.now())
        model = case.model(self.clock.now())
        choices = Choices(semantics, evaluation=way, close_after=case.close_after)
        query = self._query(case, choices)
        found: list[Result] = []
        try:
            for event in case.events:
                self._let_happen(event, model)
                if reads and event.what == "read":
                    found += query.results()
            found += query.results()
            return self._compared(case, model, found, query)
        finally:
            query.close()

    def _query(self, case: Case, choices: Choices) -> ContinuousQuery:
        return self.engine.continuous_query(
            *(case.text, choices.semantics),
            evaluation=choices.evaluation,
            emit=choices.emit,
            close_after=choices.close_after,
            keep=choices.keep,
        )

    def _let_happen(self, event: Event, model: EpochModel) -> None:
        now = self.clock.now()
        if event.what == "append":
            columns = zip(*event.rows, strict=True)
            rows = dict(zip(event.rows[0]._fields, columns, strict=True))
            self.engine.append(event.stream, rows)
            model.append(event.stream, event.rows, now)
        elif event.what == "punctuate":
            self.engine.punctuate(event.stream)
            model.punctuate(event.stream, now)
        elif event.what == "advance":
            self.clock.advance(event.seconds)

    def _compared(
        self, case: Case, model: EpochModel, found: list[Result], query: ContinuousQuery
    ) -> str:
        expected = model.answered(self.clock.now())
        counts = query.statistics()
        if (counts.rows_late, counts.rows_failed) != (model.late, 0):
            return f"late, failed: {counts.rows_late, counts.rows_failed}, not {model.late, 0}"
        epochs = [result.epoch for result in found if result.epoch is not None]
        if query.semantics == "append" or epochs[-1:] != expected[-1:]:
            is_right = epochs == expected
        else:  # an epoch is left out where a newer one was due
            is_right = epochs == sorted(set(epochs) & set(expected))
        if not is_right or not counts.is_balanced:
            return f"answers for {epochs}, not {expected}"
        for epoch, result in zip(epochs, found, strict=True):
            if told := self._compared_rows(case, model, epoch, result):
                return told
            bounds = result.window_start, result.window_end
            if case.cut.sort != "arrival" and case.bounds(model, epoch) != bounds:
                return f"bounds of {epoch}: {bounds}, not {case.bounds(model, epoch)}"
        return ""

    def _compared_rows(self, case: Case, model: EpochModel, epoch: int, result: Result) -> str:
        rows = case.answer(model, epoch, self.connection)
        told = [tuple(row.values()) for row in result.table.to_pylist()]
        if not case.shape.is_ordered:
            rows, told = sorted(rows, key=repr), sorted(told, key=repr)
        if rows != told or result.error:
            return f"epoch {epoch}: {result.error}\n  {told}\n  not\n  {rows}"
        return ""

    def difference_when_asked(self, case: Case, way: Way, semantics: Semantics, emit: Emit) -> str:
        """Return how what the query answers when it is asked differs from the model, or ''."""
        self.clock.advance(1.0 + int(self.clock.now()) - self.clock.now())
        model = case.model(self.clock.now())
        choices = Choices(
            semantics, evaluation=way, emit=emit, close_after=case.close_after, keep=2
        )
        with closing(self._query(case, choices)) as query:
            for event in [*case.events, Event("read"), Event("read")]:
                self._let_happen(event, model)
                if event.what != "read" or not model.answered(self.clock.now()):
                    continue
                newest, result = model.ended(self.clock.now()), query.ask()
                assert newest is not None
                assert result is not None
                if result.epoch != newest - 1:
                    return f"epoch {result.epoch}, not {newest - 1}"
                if told := self._compared_rows(case, model, newest - 1, result):
                    return told
        return ""

    def difference_in_time(self, case: Case, way: Way) -> str:
        """Return when the clock would end an epoch, if the query waits for another moment."""
        self.clock.advance(1.0 + int(self.clock.now()) - self.clock.now())
        model = case.model(self.clock.now())
        choices = Choices(evaluation=way, close_after=case.close_after)
        with closing(self._query(case, choices)) as query:
            for event in [*case.events, Event("read")]:
                self._let_happen(event, model)
                if event.what != "read":
                    continue
                query.results()
                found = query._evaluated._evaluation.due_at()
                expected = self._next_due(model)
                if found != expected and (found is None or found < self.clock.now() + SECONDS):
                    return f"at {self.clock.now()}: {found}, not {expected}"
        return ""

    def _next_due(self, model: EpochModel) -> float | None:
        """Return when there will be another answer if no row comes, or None if it is far away."""
        future, now = deepcopy(model), self.clock.now()
        answered = future.answered(now)
        moments = (now + TICK * number for number in range(1, int(SECONDS / TICK) + 1))
        return next((each for each in moments if future.answered(each) != answered), None)

    def close(self) -> None:
        self.engine.close()
        self.connection.close()


@pytest.fixture(scope="module")
def sides() -> Iterator[Sides]:
    sides = Sides()
    yield sides
    sides.close()


@given(
    random=st.randoms(use_true_random=False),
    way=st.sampled_from(WAYS),
    semantics=st.sampled_from(("append", "update")),
    reads=st.booleans(),
)
def test_epochs_are_answered_as_sql_over_the_recorded_input_does(
    random: Random, way: Way, semantics: Semantics, reads: bool, sides: Sides
) -> None:
    case = random_case(random)
    note(case)
    assert not sides.difference(case, way, semantics, reads=reads)


@given(
    random=st.randoms(use_true_random=False),
    way=st.sampled_from(WAYS),
    semantics=st.sampled_from(("append", "update")),
    emit=st.sampled_from(("slide", "asked")),
)
def test_a_query_that_is_asked_answers_for_the_newest_epoch_that_ended(
    random: Random, way: Way, semantics: Semantics, emit: Emit, sides: Sides
) -> None:
    case = random_case(random)
    note(case)
    assert not sides.difference_when_asked(case, way, semantics, emit)


@given(random=st.randoms(use_true_random=False), way=st.sampled_from(WAYS))
def test_a_query_waits_until_the_moment_at_which_the_clock_ends_an_epoch(
    random: Random, way: Way, sides: Sides
) -> None:
    case = random_case(random)
    note(case)
    assert not sides.difference_in_time(case, way)


@pytest.mark.slow
@pytest.mark.timeout(60 + CASES)
@pytest.mark.parametrize("part", range(PARTS))
def test_many_random_epochs_are_answered_as_sql_over_the_recorded_input_does(
    part: int, sides: Sides
) -> None:
    found = {}
    for seed in range(part, CASES, PARTS):
        case = random_case(Random(seed))
        way: Way = WAYS[seed % len(WAYS)]
        semantics: Semantics = "update" if seed % 7 > 4 else "append"
        if told := sides.difference(case, way, semantics, reads=seed % 5 > 0):
            found[seed] = f"{case.text}\n{told}"
    assert not found


def test_random_cases_have_answers_of_every_sort() -> None:
    cases = [random_case(Random(seed)) for seed in range(300)]
    assert {case.cut.sort for case in cases} == {
        "time",
        "arrival",
        "count",
        "object",
        "punctuation",
    }
    new_pairs = [case for case in cases if case.has_new_pairs]
    assert {case.join.kind for case in new_pairs} == set(KINDS)
    assert {len(case.streams) for case in new_pairs} == {2, 3, 4}
    assert any(case.shape.is_plain for case in new_pairs)
    assert not all(case.shape.is_plain for case in new_pairs)
    assert {case.close_after for case in cases} == {None, 3, 6}
    assert any(len(set(case.streams)) < len(case.streams) for case in new_pairs)

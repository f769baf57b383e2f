"""The result of an epoch is computed before its end, and used only for exactly its rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream import Engine, ManualClock
from upstream.database.failure import DatabaseError
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation.answer_ahead import AnswerAhead

FIRST, SECOND = (Span(0, 1),), (Span(1, 2),)


def table(value: int) -> pa.Table:
    return pa.table({"x": [value]})


def test_a_result_is_known_for_its_epoch_and_its_rows_only() -> None:
    ahead = AnswerAhead()
    assert ahead.result(FIRST, 3) is None
    ahead.compute(FIRST, 3, lambda: table(7))
    assert ahead.result(FIRST, 3) == table(7)
    assert (ahead.result(FIRST, 4), ahead.result(SECOND, 3)) == (None, None)


def test_a_result_that_is_known_is_not_computed_again() -> None:
    ahead = AnswerAhead()
    ahead.compute(FIRST, 3, lambda: table(7))
    ahead.compute(FIRST, 3, lambda: table(8))
    assert ahead.result(FIRST, 3) == table(7)


def test_a_failure_leaves_what_is_known() -> None:
    def fail() -> pa.Table:
        raise DatabaseError("no")

    ahead = AnswerAhead()
    ahead.compute(FIRST, 3, lambda: table(7))
    ahead.compute(FIRST, 4, fail)
    assert (ahead.result(FIRST, 3), ahead.result(FIRST, 4)) == (table(7), None)


def test_an_epoch_that_goes_on_is_computed_a_few_times_only() -> None:
    ahead = AnswerAhead()
    calls: list[None] = []

    def run() -> pa.Table:
        calls.append(None)
        return table(len(calls))

    for rows in range(100):
        ahead.compute(FIRST, rows, run)
    assert len(calls) < 20
    ahead.compute(SECOND, 0, run)
    assert ahead.result(SECOND, 0) == table(len(calls))


@pytest.mark.parametrize("late", [0, 1])
def test_rows_after_the_computation_are_in_the_result(late: int) -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (t BIGINT, v BIGINT) TIME (t)")
        sql = "SELECT sum(v) AS v FROM epochs(s, 10)"
        query = engine.continuous_query(sql, evaluation="increments")
        for epoch in range(3):
            engine.append("s", {"t": [10 * epoch] * 20, "v": [1] * 20})
            query.evaluate()  # nearly all rows of the epoch before it: computed ahead
            engine.append("s", {"t": [10 * epoch] * late, "v": [5] * late})
        engine.append("s", {"t": [30], "v": [1]})
        assert [result.table["v"].to_pylist() for result in query.results()] == [
            [20 + 5 * late]
        ] * 3

"""A filter drops what does not satisfy its predicate, as on append streams."""

from __future__ import annotations

import numpy as np
import pytest

from upstream import TOMBSTONE, ParameterError, Update
from upstream.plans import Arc, Filter, PlanQuery, Source

from .setting import Streams, number_of, operator_of, values_of


def is_positive(update: Update) -> bool:
    return number_of(update) > 0


def two_answers(update: Update) -> object:
    return np.zeros(2)


def test_only_what_satisfies_the_predicate_passes() -> None:
    streams = Streams()
    plan = Arc(Filter(Arc(Source(streams.left), "append"), is_positive), "append")
    query = PlanQuery(plan, clock=streams.clock)
    for value in (1, -1, 0, 2):
        streams.left.enqueue("IBM", value)
    assert values_of(query.results()) == [1, 2]
    counted = operator_of(query, "filter")
    assert (counted.taken, counted.delivered, counted.filtered) == (4, 2, 2)


def test_a_newer_value_that_does_not_pass_leaves_the_older_one() -> None:
    streams = Streams()
    query = PlanQuery(Filter(Source(streams.left), is_positive), input="push", clock=streams.clock)
    streams.left.enqueue("IBM", 1)
    streams.left.enqueue("IBM", -1)
    assert values_of(query.results()) == [1]


def test_a_deletion_passes_without_being_asked_about() -> None:
    streams = Streams()
    query = PlanQuery(Filter(Source(streams.left), is_positive), clock=streams.clock)
    streams.left.enqueue("IBM", TOMBSTONE)
    assert values_of(query.results()) == [TOMBSTONE]
    assert query.error is None


def test_a_row_for_which_the_predicate_fails_is_dropped_and_counted_and_stops_nothing() -> None:
    streams = Streams()
    query = PlanQuery(Filter(Arc(Source(streams.left), "append"), is_positive), clock=streams.clock)
    for key, value in (("a", "high"), ("b", None), ("c", 3)):
        streams.left.enqueue(key, value)
    assert values_of(query.results()) == [3]
    counted = operator_of(query, "filter")
    assert (counted.failed, counted.filtered, counted.delivered) == (2, 0, 1)
    assert str(counted.error) == "'high' is no number"
    assert query.error is counted.error


def test_an_answer_that_is_neither_true_nor_false_is_a_failure() -> None:
    streams = Streams()
    query = PlanQuery(Filter(Source(streams.left), two_answers), clock=streams.clock)
    streams.left.enqueue("IBM", 1)
    assert query.results() == []
    assert operator_of(query, "filter").failed == 1


def test_a_predicate_can_be_called() -> None:
    with pytest.raises(ParameterError, match="predicate"):
        Filter(Source(Streams().left), "value > 0")  # type: ignore[arg-type]  # wrong on purpose

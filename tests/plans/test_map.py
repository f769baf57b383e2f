"""A map changes values, and never keys."""

from __future__ import annotations

import pytest

from upstream import TOMBSTONE, ParameterError, Update
from upstream.errors import KeyChangedError
from upstream.plans import Map, PlanQuery, Source

from .setting import Streams, number_of, operator_of, rows_of, values_of


def doubled(update: Update) -> float:
    return 2 * number_of(update)


def test_a_value_is_mapped_and_key_and_time_are_kept() -> None:
    streams = Streams()
    query = PlanQuery(Map(Source(streams.left), doubled), clock=streams.clock)
    streams.left.enqueue("IBM", 24, 5)
    assert rows_of(query.results()) == [("IBM", 48, 5.0)]


def test_a_map_may_return_the_update_with_another_value() -> None:
    streams = Streams()
    plan = Map(Source(streams.left), lambda update: update._replace(value="new"))
    query = PlanQuery(plan, clock=streams.clock)
    streams.left.enqueue("IBM", 24, 5)
    assert rows_of(query.results()) == [("IBM", "new", 5.0)]


@pytest.mark.parametrize("changed", [Update("GM", 24, 5.0), Update("IBM", 24, 6.0)])
def test_a_map_that_changes_key_or_time_fails(changed: Update) -> None:
    streams = Streams()
    query = PlanQuery(
        Map(Source(streams.left), lambda update: changed if update else None), clock=streams.clock
    )
    streams.left.enqueue("IBM", 24, 5)
    assert query.results() == []
    assert operator_of(query, "map").failed == 1
    error = query.error
    assert isinstance(error, KeyChangedError)
    assert (error.given, error.returned) == (Update("IBM", 24, 5.0), changed)


def test_a_row_for_which_the_function_fails_is_dropped_and_counted_and_stops_nothing() -> None:
    streams = Streams()
    query = PlanQuery(Map(Source(streams.left), doubled), clock=streams.clock)
    streams.left.enqueue("a", "high")
    streams.left.enqueue("b", 3)
    assert values_of(query.results()) == [6]
    counted = operator_of(query, "map")
    assert (counted.taken, counted.delivered, counted.failed) == (2, 1, 1)
    assert isinstance(counted.error, TypeError)


def test_a_deletion_stays_one() -> None:
    streams = Streams()
    query = PlanQuery(Map(Source(streams.left), doubled), clock=streams.clock)
    streams.left.enqueue("IBM", TOMBSTONE)
    assert values_of(query.results()) == [TOMBSTONE]


def test_a_function_can_be_called() -> None:
    with pytest.raises(ParameterError, match="function"):
        Map(Source(Streams().left), 2)  # type: ignore[arg-type]  # wrong on purpose

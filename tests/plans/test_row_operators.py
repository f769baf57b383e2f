"""Filter, Map and Group take updates one by one."""

from __future__ import annotations

import numpy as np
import pytest

from upstream import TOMBSTONE, KeyNotHashableError, ParameterError, Update
from upstream.errors import KeyChangedError
from upstream.plans import Arc, Filter, Map, PlanQuery, Source
from upstream.plans.row_operators import Group, Grouping, Predicate

from .setting import Streams, number_of, operator_of, rows_of, values_of


def is_positive(update: Update) -> bool:
    return number_of(update) > 0


def two_answers(update: Update) -> object:
    return np.zeros(2)


def test_only_what_satisfies_the_predicate_passes(streams: Streams) -> None:
    plan = Arc(Filter(Arc(Source(streams.left), "append"), is_positive), "append")
    query = PlanQuery(plan, clock=streams.clock)
    for value in (1, -1, 0, 2):
        streams.left.enqueue("IBM", value)
    assert values_of(query.results()) == [1, 2]
    counted = operator_of(query, "filter")
    assert (counted.taken, counted.delivered, counted.filtered) == (4, 2, 2)


def test_a_newer_value_that_does_not_pass_leaves_the_older_one(streams: Streams) -> None:
    query = PlanQuery(Filter(Source(streams.left), is_positive), input="push", clock=streams.clock)
    streams.left.enqueue("IBM", 1)
    streams.left.enqueue("IBM", -1)
    assert values_of(query.results()) == [1]


def test_an_answer_that_is_neither_true_nor_false_is_a_failure(streams: Streams) -> None:
    query = PlanQuery(Filter(Source(streams.left), two_answers), clock=streams.clock)
    streams.left.enqueue("IBM", 1)
    assert query.results() == []
    assert operator_of(query, "filter").failed == 1


def doubled(update: Update) -> float:
    return 2 * number_of(update)


def test_a_value_is_mapped_and_key_and_time_are_kept(streams: Streams) -> None:
    query = PlanQuery(Map(Source(streams.left), doubled), clock=streams.clock)
    streams.left.enqueue("IBM", 24, 5)
    assert rows_of(query.results()) == [("IBM", 48, 5.0)]


def test_a_map_may_return_the_update_with_another_value(streams: Streams) -> None:
    plan = Map(Source(streams.left), lambda update: update._replace(value="new"))
    query = PlanQuery(plan, clock=streams.clock)
    streams.left.enqueue("IBM", 24, 5)
    assert rows_of(query.results()) == [("IBM", "new", 5.0)]


@pytest.mark.parametrize("changed", [Update("GM", 24, 5.0), Update("IBM", 24, 6.0)])
def test_a_map_that_changes_key_or_time_fails(streams: Streams, changed: Update) -> None:
    query = PlanQuery(
        Map(Source(streams.left), lambda update: changed if update else None), clock=streams.clock
    )
    streams.left.enqueue("IBM", 24, 5)
    assert query.results() == []
    assert operator_of(query, "map").failed == 1
    error = query.error
    assert isinstance(error, KeyChangedError)
    assert (error.given, error.returned) == (Update("IBM", 24, 5.0), changed)


@pytest.mark.parametrize(
    ("operator", "function", "passed"), [(Filter, is_positive, 3), (Map, doubled, 6)]
)
def test_a_row_for_which_the_function_fails_is_counted_and_stops_nothing(
    streams: Streams, operator: type[Filter | Map], function: Predicate, passed: int
) -> None:
    query = PlanQuery(operator(Arc(Source(streams.left), "append"), function), clock=streams.clock)
    for key, value in (("a", "high"), ("b", None), ("c", 3)):
        streams.left.enqueue(key, value)
    assert values_of(query.results()) == [passed]
    counted = operator_of(query, operator.kind)
    assert (counted.failed, counted.filtered, counted.delivered) == (2, 0, 1)
    assert str(counted.error) == "'high' is no number"
    assert query.error is counted.error


@pytest.mark.parametrize(("operator", "function"), [(Filter, is_positive), (Map, doubled)])
def test_a_deletion_passes_without_a_call(
    streams: Streams, operator: type[Filter | Map], function: Predicate
) -> None:
    query = PlanQuery(operator(Source(streams.left), function), clock=streams.clock)
    streams.left.enqueue("IBM", TOMBSTONE)
    assert values_of(query.results()) == [TOMBSTONE]
    assert query.error is None


@pytest.mark.parametrize(("operator", "name"), [(Filter, "predicate"), (Map, "function")])
def test_a_function_must_be_callable(operator: type[Filter | Map], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        operator(Source(Streams().left), "value > 0")  # type: ignore[arg-type]  # wrong on purpose


def groups_of(streams: Streams, by: Grouping) -> PlanQuery:
    return PlanQuery(Group(Arc(Source(streams.left)), by), clock=streams.clock)


def exchange_of(update: Update) -> object:
    assert isinstance(update.value, dict)
    return update.value["exchange"]


def test_a_group_is_the_key_and_what_the_function_returns(streams: Streams) -> None:
    query = groups_of(streams, exchange_of)
    streams.left.enqueue("IBM", {"exchange": "N"}, 1)
    streams.left.enqueue("GM", {"exchange": "N"}, 2)
    assert rows_of(query.results()) == [
        (("IBM", "N"), {"exchange": "N"}, 1.0),
        (("GM", "N"), {"exchange": "N"}, 2.0),
    ]
    assert query.explain().splitlines()[1] == "└─ index queue from Group by key and exchange_of"


def test_a_group_that_can_be_no_key_is_a_failure(streams: Streams) -> None:
    query = groups_of(streams, exchange_of)
    streams.left.enqueue("IBM", {"exchange": ["N"]})
    streams.left.enqueue("GM", {"exchange": float("nan")})
    streams.left.enqueue("F", {})
    assert query.results() == []
    counted = operator_of(query, "group")
    assert counted.failed == 3
    assert isinstance(counted.error, KeyNotHashableError)


def test_a_deletion_ends_at_a_group(streams: Streams) -> None:
    query = groups_of(streams, exchange_of)
    streams.left.enqueue("IBM", TOMBSTONE)
    assert query.results() == []
    assert operator_of(query, "group").filtered == 1

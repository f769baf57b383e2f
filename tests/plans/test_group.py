"""Groups are made within keys."""

from __future__ import annotations

from upstream import TOMBSTONE, KeyNotHashableError, Update
from upstream.plans import Arc, PlanQuery, Source
from upstream.plans.group import Group, Grouping

from .setting import Streams, operator_of, rows_of


def groups_of(streams: Streams, by: Grouping) -> PlanQuery:
    return PlanQuery(Group(Arc(Source(streams.left)), by), clock=streams.clock)


def exchange_of(update: Update) -> object:
    assert isinstance(update.value, dict)
    return update.value["exchange"]


def test_a_group_is_the_key_and_what_the_function_returns() -> None:
    streams = Streams()
    query = groups_of(streams, exchange_of)
    streams.left.enqueue("IBM", {"exchange": "N"}, 1)
    streams.left.enqueue("GM", {"exchange": "N"}, 2)
    assert rows_of(query.results()) == [
        (("IBM", "N"), {"exchange": "N"}, 1.0),
        (("GM", "N"), {"exchange": "N"}, 2.0),
    ]
    assert query.explain().splitlines()[1] == "└─ index queue from Group by key and exchange_of"


def test_a_group_that_can_be_no_key_is_a_failure() -> None:
    streams = Streams()
    query = groups_of(streams, exchange_of)
    streams.left.enqueue("IBM", {"exchange": ["N"]})
    streams.left.enqueue("GM", {"exchange": float("nan")})
    streams.left.enqueue("F", {})
    assert query.results() == []
    counted = operator_of(query, "group")
    assert counted.failed == 3
    assert isinstance(counted.error, KeyNotHashableError)


def test_a_deletion_ends_at_a_group() -> None:
    streams = Streams()
    query = groups_of(streams, exchange_of)
    streams.left.enqueue("IBM", TOMBSTONE)
    assert query.results() == []
    assert operator_of(query, "group").filtered == 1

"""An aggregate maps updates of tuples to updates of windows."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import (
    TOMBSTONE,
    EagerWindowBuffer,
    ParameterError,
    UnknownPolicyError,
    Update,
)
from upstream.plans import Aggregate, Arc, Filter, Join, PlanQuery, Source
from upstream.plans.aggregate import check_window_arc

from .setting import Streams, arc_of, number_of, operator_of, rows_of, values_of


def all_windows(streams: Streams, function: str = "sum", *, size: float = 3) -> PlanQuery:
    plan = Aggregate(Arc(Source(streams.left), "append"), function, size=size)
    return PlanQuery(Arc(plan, "append"), clock=streams.clock)


def enqueue(streams: Streams, values: dict[int, object], key: str = "IBM") -> None:
    for time, value in values.items():
        streams.left.enqueue(key, value, time)


def test_a_window_becomes_an_update_at_its_end(streams: Streams) -> None:
    query = all_windows(streams)
    enqueue(streams, {0: 1, 1: 2, 2: 4, 3: 8, 6: 16})
    assert rows_of(query.results()) == [("IBM", 7, 3.0), ("IBM", 8, 6.0)]
    counted = operator_of(query, "aggregate")
    assert (counted.made, counted.delivered, counted.absorbed) == (2, 2, counted.taken)


def test_a_newer_window_supersedes_an_older_one_but_no_tuple_inside(streams: Streams) -> None:
    query = PlanQuery(Aggregate(Source(streams.left), "sum", size=3), clock=streams.clock)
    enqueue(streams, dict.fromkeys(range(10), 1))
    assert rows_of(query.results()) == [("IBM", 3, 9.0)]


def test_operators_on_the_way_to_windows_take_every_tuple(streams: Streams) -> None:
    plan = Aggregate(
        Join(
            Filter(Source(streams.left), number_of),
            Filter(Arc(Source(streams.left), "in-place"), number_of),
            window=0,
        ),
        "sum",
        size=3,
    )
    policies = {
        arc.source: arc.policy for arc in PlanQuery(plan, clock=streams.clock).statistics().arcs
    }
    assert policies == {
        "source": "append",
        "filter": "append",
        "source 2": "in-place",  # for once the user wants it so
        "filter 2": "append",
        "join": "index",
        "aggregate": "index",
    }


def test_windows_of_windows_lose_no_window(streams: Streams) -> None:
    hours = Aggregate(Aggregate(Source(streams.left), "sum", size=2), "count", size=6)
    query = PlanQuery(hours, clock=streams.clock)
    enqueue(streams, dict.fromkeys(range(17), 1))
    assert rows_of(query.results()) == [("IBM", 3, 12.0)]


def test_groups_are_a_superset_of_the_key(streams: Streams) -> None:
    plan = Aggregate(
        Arc(Source(streams.left), "append"),
        "sum",
        size=4,
        by=lambda update: number_of(update) % 2,
    )
    query = PlanQuery(plan, clock=streams.clock)
    enqueue(streams, {time: time for time in range(10)})
    assert sorted(rows_of(query.results()), key=str) == [
        (("IBM", 0), 4 + 6, 8.0),
        (("IBM", 1), 5 + 7, 8.0),
    ]


def test_a_function_may_pick_what_is_aggregated(streams: Streams) -> None:
    plan = Aggregate(Source(streams.left), statistics.median, size=3, of=number_in)
    query = PlanQuery(plan, clock=streams.clock)
    enqueue(streams, {0: {"price": 5}, 1: {"price": 1}, 2: {"price": 3}, 3: {"price": 9}})
    assert values_of(query.results()) == [3]
    assert "Aggregate median of number_in" in query.explain()


def number_in(value: dict[str, int]) -> int:
    return value["price"]


def test_eager_windows_supersede_when_they_start(streams: Streams) -> None:
    plan = Aggregate(Source(streams.left), "sum", size=3, slide=1, buffer=EagerWindowBuffer)
    query = PlanQuery(plan, clock=streams.clock)
    enqueue(streams, {0: 1, 1: 2})
    assert query.results() == []
    enqueue(streams, {2: 4, 3: 8, 4: 16})
    assert rows_of(query.results()) == [("IBM", 2 + 4 + 8, 4.0)]


@pytest.mark.parametrize("policy", ["append", "index"])
def test_a_window_is_delivered_when_its_result_is_there(streams: Streams, policy: str) -> None:
    plan = Aggregate(Arc(Source(streams.left), policy), "sum", size=3)
    query = PlanQuery(plan, clock=streams.clock)
    enqueue(streams, {0: 1, 3: "not a number", 4: 1, 6: 1, 9: 1})
    streams.clock.advance(5)
    assert arc_of(query, "source").application_staleness == 2.5
    query.run()
    streams.clock.advance(5)
    arc = arc_of(query, "source")
    assert (arc.queue.in_process, arc.application_staleness) == (0, 1.25)


def test_a_window_in_which_the_function_fails_has_no_result(streams: Streams) -> None:
    query = all_windows(streams)
    enqueue(streams, {0: 1, 1: "two", 2: 4, 3: 8, 4: 16, 6: 32})
    assert rows_of(query.results()) == [("IBM", 24, 6.0)]
    counted = operator_of(query, "aggregate")
    assert (counted.made, counted.delivered, counted.failed) == (2, 1, 1)
    assert isinstance(query.error, TypeError)


@pytest.mark.parametrize("size", [3.0, 1.0])
def test_a_tuple_that_fails_spoils_its_own_windows_only(streams: Streams, size: float) -> None:
    plan = Aggregate(Arc(Source(streams.left), "append"), "count", size=size, slide=1, of=number_in)
    query = PlanQuery(Arc(plan, "append"), clock=streams.clock)
    values: dict[int, object] = {time: {"price": 1} for time in range(12)}
    enqueue(streams, values | {5: "no price"})
    ends = [update.time for update in query.results()]
    complete = [start + size for start in range(12) if start + size <= 11]
    assert ends == [end for end in complete if not end - size <= 5 < end]
    query._check()


class NoResult:
    """A function that computes everything and says nothing."""

    def __init__(self, fails_at: str) -> None:
        self._fails_at = fails_at

    def _fail_at(self, place: str) -> None:
        if place == self._fails_at:
            raise ValueError(place)

    def initial(self) -> object:
        self._fail_at("initial")
        return None

    def add(self, state: object, value: object) -> object:
        self._fail_at("add")
        return state

    def finish(self, state: object) -> object:
        self._fail_at("finish")
        return state


@pytest.mark.parametrize("place", ["initial", "add", "finish"])
def test_a_failing_function_stops_nothing_else(streams: Streams, place: str) -> None:
    plan = Aggregate(Source(streams.left), NoResult(place), size=3)
    query = PlanQuery(plan, clock=streams.clock)
    enqueue(streams, {0: 1, 3: 1})
    assert query.results() == []
    assert str(query.error) == place
    assert operator_of(query, "aggregate").failed == 1
    query._check()


def test_windows_end_without_a_tuple_when_the_user_says_so(streams: Streams) -> None:
    query = all_windows(streams)
    grouped = PlanQuery(
        Aggregate(Source(streams.left), "sum", size=3, by=lambda update: update.key),
        clock=streams.clock,
    )
    enqueue(streams, {0: 1, 1: 2})
    assert query.results() == grouped.results() == []
    for each in (query, grouped):
        each.advance(3)
        assert each.is_due()
    assert rows_of(query.results()) == [("IBM", 3, 3.0)]
    assert rows_of(grouped.results()) == [(("IBM", "IBM"), 3, 3.0)]
    assert not grouped.is_due()


def test_a_deletion_ends_the_open_windows_of_its_key(streams: Streams) -> None:
    query = all_windows(streams)
    enqueue(streams, {0: 1, 1: TOMBSTONE, 3: 4, 6: 8})
    assert rows_of(query.results()) == [("IBM", 4, 6.0)]
    query._check()


NOTHING: Any = "what fits no parameter"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda source: Aggregate(source, "sum", size=0), "size"),
        (lambda source: Aggregate(source, "sum", size=3, slide=-1), "slide"),
        (lambda source: Aggregate(source, "sum", size=3, tick=2), "size"),
        (lambda source: Aggregate(source, "total", size=3), "function"),
        (lambda source: Aggregate(source, "sum", size=3, by=NOTHING), "by"),
        (lambda source: Aggregate(source, "sum", size=3, of=NOTHING), "of"),
        (lambda source: Aggregate(source, "sum", size=3, buffer=NOTHING), "buffer"),
        (lambda source: Aggregate(Arc(source, capacity=9), "sum", size=3), "capacity"),
    ],
)
def test_parameters_make_sense(make: Callable[[Source], Aggregate], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        make(Source(Streams().left))


@pytest.mark.parametrize("policy", ["adaptive", "append-shedding"])
def test_some_policies_cannot_queue_windows(policy: str) -> None:
    with pytest.raises(UnknownPolicyError, match="linecutting"):
        Aggregate(Arc(Source(Streams().left), policy), "sum", size=3)


def test_only_arcs_that_can_carry_windows_are_allowed() -> None:
    source = Source(Streams().left)
    check_window_arc(Arc(source))
    check_window_arc(Arc(source, "append"))
    with pytest.raises(UnknownPolicyError):
        check_window_arc(Arc(source, "adaptive"))
    with pytest.raises(ParameterError, match="capacity"):
        check_window_arc(Arc(source, "in-place", 5))


@given(
    gaps=st.lists(st.integers(0, 4), max_size=40),
    size=st.integers(1, 6),
    slide=st.integers(1, 6),
    batch=st.integers(1, 7),
)
def test_all_windows_are_what_they_are_by_definition(
    gaps: list[int], size: int, slide: int, batch: int
) -> None:
    streams = Streams()
    plan = Aggregate(Arc(Source(streams.left), "append"), list, size=size, slide=slide)
    query = PlanQuery(Arc(plan, "append"), batch=batch, clock=streams.clock)
    tuples: list[tuple[int, int]] = []
    time = 0
    for number, gap in enumerate(gaps):
        time += gap
        streams.left.enqueue("IBM", number, time)
        tuples.append((number, time))
    expected = []
    starts = [index * slide for index in range(time + 1)] if tuples else []
    for start in starts:
        inside: list[object] = [
            number for number, moment in tuples if start <= moment < start + size
        ]
        if inside and start >= tuples[0][1] and start + size <= time:
            expected.append(Update("IBM", inside, float(start + size)))
    assert query.results() == expected
    query._check()

"""A query gets its input and gives its output by push or by pull."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream import (
    ClosedError,
    ManualClock,
    NotInProcessError,
    OnDemandMemory,
    PagePool,
    ParameterError,
    Stream,
    Update,
    WeightError,
)
from upstream.plans import Arc, Filter, Join, Map, PlanQuery, Source, Union

from .setting import Streams, arc_of, number_of, operator_of, values_of


def price(update: Update) -> float:
    return number_of(update)


def query_of(
    streams: Streams,
    *,
    input: str = "pull",  # noqa: A002 - the report's word
    callback: Callable[[Update], object] | None = None,
    policy: str = "in-place",
    batch: int = 1_000,
) -> PlanQuery:
    return PlanQuery(
        Map(Arc(Source(streams.left), policy), price),
        input=input,
        output="pull" if callback is None else "push",
        callback=callback,
        batch=batch,
        clock=streams.clock,
    )


def spend_two_seconds(streams: Streams) -> Callable[[Update], None]:
    def spend(update: Update) -> None:
        streams.clock.advance(2)

    return spend


# The four models


def test_push_push_calls_the_callback_before_enqueue_returns(streams: Streams) -> None:
    results: list[Update] = []
    query_of(streams, input="push", callback=results.append)
    streams.left.enqueue("IBM", 24, 1)
    assert results == [Update("IBM", 24, 1.0)]
    streams.left.enqueue_many(["IBM", "GM"], [25, 7], [2.0, 2.0])
    assert values_of(results) == [24, 25, 7]


def test_push_pull_keeps_results_until_the_application_takes_them(streams: Streams) -> None:
    query = query_of(streams, input="push")
    streams.left.enqueue("IBM", 24)
    streams.left.enqueue("IBM", 25)
    assert arc_of(query, "map").queue.superseded == 1  # type: ignore[union-attr]  # it is there
    assert operator_of(query, "map").taken == 2
    assert values_of(query.results()) == [25]


def test_pull_push_calls_the_callback_when_it_runs(streams: Streams) -> None:
    results: list[Update] = []
    query = query_of(streams, callback=results.append)
    streams.left.enqueue("IBM", 24)
    streams.left.enqueue("IBM", 25)
    assert results == []
    query.run()
    assert values_of(results) == [25]


def test_pull_pull_runs_when_the_application_asks(streams: Streams) -> None:
    query = query_of(streams)
    streams.left.enqueue("IBM", 24)
    streams.left.enqueue("IBM", 25)
    assert operator_of(query, "map").taken == 0
    assert values_of(query.results()) == [25]
    assert operator_of(query, "map").taken == 1


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"input": "pushed"}, "input"),
        ({"output": None}, "output"),
        ({"output": "push"}, "callback"),
        ({"callback": print}, "callback"),
        ({"batch": 0}, "batch"),
        ({"batch": 10_001}, "batch"),
    ],
)
def test_parameters_make_sense(wrong: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        PlanQuery(Map(Source(Stream()), price), **wrong)  # type: ignore[arg-type]  # wrong


@pytest.mark.parametrize("weight", [0, -1, float("inf"), "heavy"])
def test_a_weight_is_above_zero(weight: float) -> None:
    with pytest.raises(WeightError):
        PlanQuery(Map(Source(Stream()), price), weight=weight)


# Results


def test_results_are_taken_one_by_one_or_up_to_a_limit(streams: Streams) -> None:
    query = query_of(streams)
    streams.left.enqueue_many(list("abcd"), [1, 2, 3, 4])
    first = query.dequeue()
    assert first is not None
    assert len(query.results(limit=1)) == 1
    assert len(list(query)) == 2
    assert query.dequeue() is None
    query.deliver(first)
    with pytest.raises(NotInProcessError):
        query.deliver(first)
    assert arc_of(query, "map").queue.delivered == 4


def test_a_result_given_back_comes_again_unless_a_newer_one_exists(streams: Streams) -> None:
    query = query_of(streams)
    streams.left.enqueue("IBM", 24)
    for newer in (None, 25):
        result = query.dequeue()
        assert result is not None
        if newer is not None:
            streams.left.enqueue("IBM", newer)
            query.run()
        query.give_back(result)
    assert values_of(query.results()) == [25]


def test_a_query_that_pushes_results_has_none_to_take() -> None:
    query = query_of(Streams(), callback=print)
    with pytest.raises(ParameterError, match="output"):
        query.results()
    with pytest.raises(ParameterError, match="output"):
        query.dequeue()


def test_a_slow_reader_finds_the_newest_of_each_key(streams: Streams) -> None:
    query = query_of(streams, input="push")
    for number in range(100):
        streams.left.enqueue(number % 3, number)
    assert sorted(map(number_of, query.results())) == [97, 98, 99]


# What goes wrong


def test_a_callback_that_fails_is_counted_and_stops_nothing(streams: Streams) -> None:
    seen: list[object] = []

    def fail_once(update: Update) -> None:
        seen.append(update.value)
        if update.value == 1:
            raise OSError("no connection")

    query = query_of(streams, input="push", callback=fail_once, policy="append")
    for value in range(3):
        streams.left.enqueue("IBM", value)
    assert seen == [0, 1, 2]
    counted = operator_of(query, "application")
    assert (counted.taken, counted.delivered, counted.failed) == (3, 2, 1)
    assert str(query.error) == "no connection"


def test_a_failing_function_does_not_fail_the_enqueue(streams: Streams) -> None:
    failing = query_of(streams, input="push")
    other = query_of(streams, input="push")
    streams.left.enqueue("IBM", "no number")
    streams.left.enqueue("GM", 7)
    assert values_of(failing.results()) == values_of(other.results()) == [7]
    assert isinstance(failing.error, TypeError)


def test_an_update_that_a_callback_enqueues_is_run_after_the_present_one(streams: Streams) -> None:
    events: list[object] = []

    def count_down(update: Update) -> None:
        events.append(("begin", update.value))
        if number_of(update) > 0:
            streams.left.enqueue("IBM", number_of(update) - 1)
        events.append(("end", update.value))

    query = query_of(streams, input="push", callback=count_down)
    streams.left.enqueue("IBM", 2)
    assert events == [(event, value) for value in (2, 1, 0) for event in ("begin", "end")]
    assert not query.is_due()
    query._check()


def test_queries_may_feed_one_another(streams: Streams) -> None:
    doubled = PlanQuery(
        Map(Source(streams.left), lambda update: 2 * number_of(update)),
        input="push",
        output="push",
        callback=lambda update: streams.right.enqueue(*update),
        clock=streams.clock,
    )
    second = PlanQuery(
        Union(Source(streams.left), Source(streams.right)), input="push", clock=streams.clock
    )
    streams.left.enqueue("IBM", 5, 1)
    assert values_of(second.results()) in ([5], [10])
    assert streams.right.read("IBM") == Update("IBM", 10, 1.0)
    doubled._check()
    second._check()


def test_running_within_a_callback_does_nothing(streams: Streams) -> None:
    depth: list[int] = []
    queries: list[PlanQuery] = []

    def run_again(update: Update) -> None:
        depth.append(1)
        queries[0].run()

    queries.append(query_of(streams, callback=run_again, policy="append", batch=1))
    streams.left.enqueue_many(["IBM", "IBM"], [1, 2])
    queries[0].run()
    assert (len(depth), queries[0].statistics().runs) == (1, 1)
    assert queries[0].is_due()


# Staleness, cost, and runs


def test_a_query_is_due_and_stale_while_something_waits_for_it(streams: Streams) -> None:
    query = query_of(streams)
    assert (query.is_due(), query.staleness()) == (False, 0.0)
    streams.left.enqueue("IBM", 1)
    streams.clock.advance(3)
    streams.left.enqueue("IBM", 2)
    assert (query.is_due(), query.staleness()) == (True, 3.0)
    query.run()
    assert (query.is_due(), query.staleness()) == (False, 0.0)


def test_a_query_that_pushes_its_input_is_never_due(streams: Streams) -> None:
    query = query_of(streams, input="push")
    streams.left.enqueue("IBM", 1)
    streams.clock.advance(3)
    assert (query.is_due(), query.staleness()) == (False, 0.0)


def test_the_cost_is_measured_by_the_clock_and_grows_with_what_waits(streams: Streams) -> None:
    query = query_of(streams, callback=spend_two_seconds(streams), policy="append")
    assert query.cost() == 0.0
    for key in range(3):
        streams.left.enqueue(key, key)
    query.run()
    for key in range(5):
        streams.left.enqueue(key, key)
    assert query.cost() == 10.0


def test_a_run_takes_no_more_than_a_batch_from_each_source(streams: Streams) -> None:
    results: list[Update] = []
    query = query_of(streams, policy="append", batch=2, callback=results.append)
    for value in range(5):
        streams.left.enqueue("IBM", value)
    runs = 0
    while query.is_due():
        query.run()
        runs += 1
    assert (runs, query.statistics().runs, operator_of(query, "map").taken) == (3, 3, 5)


def test_asking_for_results_runs_until_nothing_waits(streams: Streams) -> None:
    query = query_of(streams, policy="append", batch=2)
    for value in range(5):
        streams.left.enqueue("IBM", value)
    assert values_of(query.results()) == [4]


def test_staleness_at_a_source_ends_when_the_callback_has_the_result(streams: Streams) -> None:
    query = query_of(streams, callback=spend_two_seconds(streams))
    streams.left.enqueue("IBM", 1)
    streams.clock.advance(2)
    query.run()
    streams.clock.advance(4)
    arc = arc_of(query, "source")
    assert (arc.queue_staleness, arc.application_staleness) == (2 * 2 / 2 / 8, 4 * 4 / 2 / 8)


def test_a_query_without_a_clock_uses_the_system_clock() -> None:
    stream = Stream()
    query = PlanQuery(Map(Source(stream), price))
    stream.enqueue("IBM", 1)
    assert values_of(query.results()) == [1]
    assert 0 < query.cost() < 60


def test_a_query_shows_its_name_and_how_its_data_moves() -> None:
    query = PlanQuery(Map(Source(Stream()), price), name="prices", input="push")
    assert repr(query) == "<PlanQuery prices: input push, output pull>"
    query.close()
    assert repr(query) == "<PlanQuery prices: input push, output pull, closed>"


def test_values_may_be_kept_in_a_page_pool() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, memory=OnDemandMemory(PagePool(4096)))
    for input in ("push", "pull"):  # noqa: A001 - the report's word
        query = PlanQuery(
            Map(Source(stream), lambda update: update.value), input=input, clock=clock
        )
        stream.enqueue("IBM", b"24")
        assert values_of(query.results()) == [b"24"]


# The end


@pytest.mark.parametrize("input", ["push", "pull"])
def test_a_closed_query_leaves_its_streams(input: str) -> None:  # noqa: A002 - the report's word
    streams = Streams()
    with query_of(streams, input=input) as query:
        streams.left.enqueue("IBM", 1)
    streams.left.enqueue("IBM", 2)
    assert streams.left.statistics().queues == 0
    assert query.is_closed
    assert (query.is_due(), query.staleness()) == (False, 0.0)
    assert query.close() == query.statistics()
    assert query.statistics().is_balanced
    for use in (query.run, query.results, query.dequeue, lambda: query.advance(1)):
        with pytest.raises(ClosedError):
            use()


@pytest.mark.parametrize("input", ["push", "pull"])
# `input` is the report's word
def test_a_query_whose_stream_is_closed_has_nothing_to_do(input: str) -> None:  # noqa: A002
    streams = Streams()
    query = PlanQuery(
        Join(Source(streams.left), Source(streams.right), window=1),
        input=input,
        clock=streams.clock,
    )
    streams.left.enqueue("IBM", 1)
    streams.left.close()
    streams.right.enqueue("IBM", 1)
    query.run()
    query.results()
    query._check()
    query.close()
    assert streams.right.statistics().queues == 0


def test_a_callback_may_close_its_query(streams: Streams) -> None:
    seen: list[object] = []
    queries: list[PlanQuery] = []

    def close_at_once(update: Update) -> None:
        seen.append(update.value)
        queries[0].close()

    queries.append(
        PlanQuery(
            Arc(Map(Arc(Source(streams.left), "append"), price), "append"),
            output="push",
            callback=close_at_once,
            clock=streams.clock,
        )
    )
    streams.left.enqueue_many(["IBM", "IBM"], [1, 2])
    queries[0].run()
    assert seen == [1]
    assert streams.left.statistics().queues == 0
    assert arc_of(queries[0], "map").queue.waiting == 1
    assert queries[0].statistics().is_balanced


def test_a_pushed_query_may_be_closed_by_its_callback_while_others_go_on(streams: Streams) -> None:
    queries: list[PlanQuery] = []

    def close_at_once(update: Update) -> None:
        queries[0].close()

    first = query_of(streams, input="push", callback=close_at_once)
    queries.append(first)
    second = query_of(streams, input="push")
    streams.left.enqueue("IBM", 1)
    streams.left.enqueue("IBM", 2)
    assert first.is_closed
    assert operator_of(first, "map").taken == 1
    assert values_of(second.results()) == [2]
    streams.left._check()


def test_explain_begins_with_the_models_of_input_and_output(streams: Streams) -> None:
    query = PlanQuery(
        Filter(Source(streams.left), price), name="prices", input="push", clock=streams.clock
    )
    assert query.explain().splitlines() == [
        "prices: input push, output pull",
        "└─ index queue from Filter price",
        "   └─ index queue from Source",
    ]

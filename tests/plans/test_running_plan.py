"""A running plan has a queue on every arc, and runs from its sources to its results."""

from __future__ import annotations

import pytest

from upstream import (
    AlreadyAttachedError,
    AppendQueue,
    InPlaceScheduler,
    ParameterError,
    Stream,
    Update,
    UpdateQueue,
)
from upstream.plans import Aggregate, Arc, Filter, Join, Map, Operator, Source, Union
from upstream.plans.running_plan import ArrivalTap, RunningPlan
from upstream.policies import make_scheduler

from .setting import Streams, number_of, values_of


def is_liquid(update: Update) -> bool:
    return number_of(update) > 0


def spread(streams: Streams) -> Operator:
    bids = Arc(Source(streams.left, name="bids"), "in-place")
    asks = Arc(Source(streams.right, name="asks"), "append")
    return Join(Arc(Filter(bids, is_liquid), "append", 100), asks, window=5, name="spread")


def test_a_plan_is_shown_as_a_tree_with_the_queue_of_each_arc(streams: Streams) -> None:
    assert RunningPlan(spread(streams), streams.clock).explain().splitlines() == [
        "└─ index queue from Join within 5 s",
        "   ├─ append queue of at most 100 from Filter is_liquid",
        "   │  └─ in-place queue from Source bids",
        "   └─ append queue from Source asks",
    ]


def test_windows_are_shown_with_the_arc_that_makes_them(streams: Streams) -> None:
    plan = Aggregate(
        Source(streams.left), "mean", size=300, slide=60, by=lambda update: update.value
    )
    assert RunningPlan(plan, streams.clock).explain().splitlines() == [
        "└─ index queue from Aggregate mean",
        "   └─ index queue of LAZY windows of 300 s every 60 s from Group by key and <lambda>",
        "      └─ append queue from Source",
    ]


def test_operators_run_after_those_that_feed_them(streams: Streams) -> None:
    plan = RunningPlan(Map(Union(spread(streams), Source(streams.left)), number_of), streams.clock)
    names = [statistics.name for statistics in plan.operator_statistics()]
    assert names == ["filter", "spread", "union", "map"]


def test_names_are_the_users_or_the_kinds_and_never_the_same(streams: Streams) -> None:
    plan: Operator = Source(streams.left)
    for name in ("", "mine", "", "mine", "application"):
        plan = Map(plan, number_of, name=name)
    names = [each.name for each in RunningPlan(plan, streams.clock).operator_statistics()]
    assert names == ["map 2", "mine 2", "map", "mine", "application 2"]


def test_every_arc_has_its_counters_and_its_staleness(streams: Streams) -> None:
    plan = RunningPlan(spread(streams), streams.clock)
    streams.left.enqueue("IBM", 1)
    streams.clock.advance(4)
    arcs = [(each.source, each.target, each.policy) for each in plan.arc_statistics()]
    assert arcs == [
        ("bids", "filter", "in-place"),
        ("filter", "spread", "append"),
        ("asks", "spread", "append"),
        ("spread", "application", "index"),
    ]
    bids = plan.arc_statistics()[0]
    assert (bids.queue.waiting, bids.queue_staleness, bids.application_staleness) == (1, 2.0, 2.0)


def test_one_pass_takes_what_waits_to_the_results(streams: Streams) -> None:
    plan = RunningPlan(
        Map(Map(Map(Source(streams.left), number_of), number_of), number_of), streams.clock
    )
    streams.left.enqueue("IBM", 1)
    plan.run(limit=1)
    plan.settle()
    assert [update.value for update in plan.results.take(None)] == [1]
    assert not any(arc.has_more for arc in plan.arcs)


def test_updates_taken_in_a_run_are_delivered_when_it_settles(streams: Streams) -> None:
    plan = RunningPlan(Map(Map(Source(streams.left), number_of), number_of), streams.clock)
    streams.left.enqueue("IBM", 1)
    plan.run(limit=1)
    assert [arc.queue.statistics().in_process for arc in plan.arcs] == [1, 1]
    plan.settle()
    assert [arc.queue.statistics().delivered for arc in plan.arcs] == [1, 1]


def test_a_plan_that_one_stream_refuses_is_attached_to_none(streams: Streams) -> None:
    queue = UpdateQueue(make_scheduler(), clock=streams.clock)
    plan = Union(Source(streams.left), Source(queue.stream))
    with pytest.raises(AlreadyAttachedError):
        RunningPlan(plan, streams.clock)
    assert streams.left.statistics().queues == 0


def test_a_plan_that_is_closed_leaves_its_streams_and_can_be_counted(streams: Streams) -> None:
    plan = RunningPlan(spread(streams), streams.clock)
    streams.left.enqueue("IBM", 1)
    plan.close()
    assert streams.left.statistics().queues == streams.right.statistics().queues == 0
    assert plan.arc_statistics()[0].queue.waiting == 1


def test_a_part_of_a_plan_may_be_in_several(streams: Streams) -> None:
    shared = Filter(Source(streams.left), is_liquid)
    plans = [RunningPlan(Map(shared, number_of), streams.clock) for _ in range(2)]
    plans.append(RunningPlan(Join(shared, shared, window=0), streams.clock))
    streams.left.enqueue("IBM", 1)
    for plan in plans:
        plan.run(10)
    assert [len(plan.results) for plan in plans] == [1, 1, 1]


def test_a_source_alone_is_not_a_plan() -> None:
    stream = Stream()
    with pytest.raises(ParameterError, match="attach a queue"):
        RunningPlan(Source(stream), Streams().clock)


def test_every_arrival_runs_once_also_of_a_batch_and_late_ones(streams: Streams) -> None:
    runs: list[int] = []
    tap = ArrivalTap(streams.left, lambda: runs.append(streams.left.statistics().arrived))
    streams.left.enqueue("IBM", 1, 5)
    streams.left.enqueue("IBM", 2, 4)
    streams.left.enqueue_many(["IBM", "GM", "IBM"], [1, 2, 3])
    assert runs == [1, 2, 3, 4, 5]
    assert streams.left._intake.log is not None
    assert len(streams.left._intake.log) == 0  # nothing is kept for a tap
    tap.close()
    streams.left.enqueue("IBM", 3)
    assert len(runs) == 5


@pytest.mark.parametrize("taps_first", [True, False])
def test_queues_have_what_arrived_when_a_tap_runs(streams: Streams, *, taps_first: bool) -> None:
    update_queue = UpdateQueue(InPlaceScheduler())
    append_queue = AppendQueue()
    seen: list[object] = []

    def look() -> None:
        seen.extend(values_of(update_queue.dequeue_many(9)))
        seen.extend(values_of(append_queue.dequeue_many(9)))

    if taps_first:
        ArrivalTap(streams.left, look)
    streams.left.attach(update_queue)
    streams.left.attach(append_queue)
    if not taps_first:
        ArrivalTap(streams.left, look)
    streams.left.enqueue_many(["a", "a", "b"], [1, 2, 3])
    assert seen == [1, 1, 2, 2, 3, 3]
    assert update_queue.statistics().is_balanced


def test_an_arrival_that_a_tap_causes_runs_as_well(streams: Streams) -> None:
    runs: list[int] = []

    def enqueue_more() -> None:
        runs.append(streams.left.statistics().arrived)
        if len(runs) < 3:
            streams.left.enqueue("GM", len(runs))

    ArrivalTap(streams.left, enqueue_more)
    streams.left.enqueue("IBM", 0)
    assert len(runs) == 3
    streams.left._check()


def test_a_stream_without_a_tap_is_as_fast_as_before(streams: Streams) -> None:
    streams.left.attach(UpdateQueue(InPlaceScheduler()))
    was_by_reference = streams.left._intake.is_by_reference
    tap = ArrivalTap(streams.left, lambda: None)
    assert (was_by_reference, streams.left._intake.is_by_reference) == (True, False)
    tap.close()
    assert streams.left._intake.is_by_reference

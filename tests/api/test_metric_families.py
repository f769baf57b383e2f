"""Metrics have names as Prometheus wants them, and the numbers of the counters."""

from __future__ import annotations

import re
from collections.abc import Iterable

from prometheus_client.metrics_core import Metric

from api.metric_families import (
    QueueReading,
    StreamReading,
    push_families,
    queue_families,
    request_families,
    service_families,
    stream_families,
)
from api.request_meter import RequestMeter
from upstream import (
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    OnDemandMemory,
    PagePool,
    QueueStatistics,
    Stream,
    UpdateQueue,
    WindowQueue,
    WindowQueueStatistics,
    WindowSpecification,
)

Labels = frozenset[tuple[str, str]]
BASE_UNITS = ("_seconds", "_bytes")


def samples(families: Iterable[Metric]) -> dict[tuple[str, Labels], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def labels(**given: str) -> Labels:
    return frozenset(given.items())


def reading_of(
    statistics: QueueStatistics | WindowQueueStatistics,
    report: dict[str, object] | None = None,
    *,
    name: str = "q",
    values_left_out: int | None = None,
) -> QueueReading:
    return QueueReading(
        name=name,
        stream="s",
        kind="update",
        scheduler="index",
        statistics=statistics,
        report={} if report is None else report,
        values_left_out=values_left_out,
    )


def samples_with(report: dict[str, object]) -> dict[tuple[str, Labels], float]:
    """Return the samples of an empty queue with this staleness report."""
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    return samples(queue_families([reading_of(queue.statistics(), report)]))


def window_queue() -> WindowQueue:
    """Return a window queue with a window that waits, one superseded, and a late tuple."""
    queue = WindowQueue(
        WindowSpecification(size=2, slide=2),
        LazyWindowBuffer,
        InPlaceScheduler(),
        clock=ManualClock(),
    )
    for time in (0, 1, 2, 3, 4, 0):
        queue.enqueue("IBM", 24.0, time=time)
    return queue


def all_families() -> list[Metric]:
    meter = RequestMeter()
    meter.observe("/a", "GET", 200, 0.001)
    return [
        *service_families("1.0", is_ready=True, left_out={"queue": 0}),
        *stream_families([]),
        *queue_families([]),
        *request_families(meter, replays=1),
        *push_families({"websocket": 1}, 1),
    ]


def test_the_counters_of_a_stream_are_shown() -> None:
    stream = Stream(clock=ManualClock())
    stream.enqueue("IBM", 24.0, time=1)
    stream.enqueue("IBM", 23.0, time=0)
    found = samples(stream_families([StreamReading("s", stream.statistics(), None, None, 3)]))
    of_stream = labels(stream="s")
    assert found["upstream_stream_updates_arrived_total", of_stream] == 2
    assert found["upstream_stream_updates_late_total", of_stream] == 1
    assert found["upstream_stream_updates_rejected_total", of_stream] == 0
    assert found["upstream_stream_updates_too_far_ahead_total", of_stream] == 3
    assert found["upstream_stream_keys", of_stream] == 1
    assert ("upstream_stream_pool_used_bytes", of_stream) not in found


def test_the_page_pool_of_a_stream_is_shown() -> None:
    pool = PagePool(8_192, page_bytes=4_096)
    stream = Stream(clock=ManualClock(), memory=OnDemandMemory(pool))
    stream.enqueue("IBM", b"24")
    reading = StreamReading("s", stream.statistics(), stream.memory_usage(), 8_192, 0)
    found = samples(stream_families([reading]))
    assert found["upstream_stream_pool_used_bytes", labels(stream="s")] == 4_096
    assert found["upstream_stream_pool_size_bytes", labels(stream="s")] == 8_192


def test_the_counters_of_an_update_queue_are_shown() -> None:
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock(), capacity=2)
    for key, time in (("IBM", 1), ("IBM", 2), ("IBM", 0), ("GM", 1), ("GOOG", 1)):
        queue.enqueue(key, 24.0, time=time)
    update = queue.dequeue()
    assert update is not None
    queue.give_back(update)
    again = queue.dequeue()
    assert again is not None
    queue.deliver(again)
    found = samples(queue_families([reading_of(queue.statistics())]))
    counted = {
        name.removeprefix("upstream_queue_updates_").removesuffix("_total"): value
        for (name, _), value in found.items()
        if name.startswith("upstream_queue_updates_")
    }
    assert counted == {
        "arrived": 5,
        "returned": 1,
        "dequeued": 2,
        "superseded": 1,
        "late": 1,
        "expired": 0,
        "shed": 0,
        "rejected": 1,
        "delivered": 1,
        "taken_as_delivered": 0,
    }
    assert found["upstream_queue_waiting", labels(queue="q")] == 1
    assert found["upstream_queue_in_process", labels(queue="q")] == 0
    assert found["upstream_queue_keys", labels(queue="q")] == 2


def test_the_counters_of_a_window_queue_are_shown() -> None:
    statistics = window_queue().statistics()
    found = samples(queue_families([reading_of(statistics, values_left_out=3)]))
    of_queue = labels(queue="q")
    assert statistics.windows.superseded == 1
    assert found["upstream_queue_windows_superseded_total", of_queue] == 1
    assert found["upstream_queue_windows_opened_total", of_queue] == statistics.windows.opened
    assert found["upstream_queue_windows_delivered_total", of_queue] == 0
    assert found["upstream_queue_tuples_arrived_total", of_queue] == 6
    assert found["upstream_queue_tuples_late_total", of_queue] == 1
    assert found["upstream_queue_windows_values_left_out_total", of_queue] == 3
    assert found["upstream_queue_waiting", of_queue] == 1
    assert not any(name.startswith("upstream_queue_updates_") for name, _ in found)


def test_staleness_is_shown_beside_its_bound() -> None:
    found = samples_with(
        {
            "queue_staleness": 1.5,
            "application_staleness": 2.5,
            "present_queue_staleness": 3,
            "present_application_staleness": 4.5,
            "lower_bound": 0.5,
            "application_lower_bound": 1.25,
            "cost": 0.125,
        }
    )
    expected = {
        ("upstream_queue_staleness_seconds", "queue"): 1.5,
        ("upstream_queue_staleness_seconds", "application"): 2.5,
        ("upstream_queue_present_staleness_seconds", "queue"): 3,
        ("upstream_queue_present_staleness_seconds", "application"): 4.5,
        ("upstream_queue_staleness_lower_bound_seconds", "queue"): 0.5,
        ("upstream_queue_staleness_lower_bound_seconds", "application"): 1.25,
    }
    for (name, of), value in expected.items():
        assert found[name, labels(queue="q", of=of)] == value
    assert found["upstream_queue_processing_cost_seconds", labels(queue="q")] == 0.125


def test_unknown_numbers_are_left_out() -> None:
    found = samples_with({"lower_bound": None, "cost": None, "queue_staleness": 0.0})
    assert ("upstream_queue_staleness_seconds", labels(queue="q", of="queue")) in found
    assert not any("bound" in name or "cost" in name for name, _ in found)


def test_how_a_queue_is_defined_is_shown() -> None:
    found = samples_with({})
    expected = labels(queue="q", stream="s", kind="update", scheduler="index")
    assert found["upstream_queue_info", expected] == 1


def test_requests_are_a_counter_and_a_histogram() -> None:
    meter = RequestMeter()
    for seconds in (0.0002, 0.0002, 0.3, 60.0):
        meter.observe("/v1/queues/{queue}", "GET", 200, seconds)
    found = samples(request_families(meter, replays=7))
    route = ("route", "/v1/queues/{queue}")
    request = frozenset({route, ("method", "GET"), ("status", "200")})
    assert found["upstream_http_requests_total", request] == 4

    def bucket(bound: str) -> float:
        return found["upstream_http_request_seconds_bucket", frozenset({route, ("le", bound)})]

    assert (bucket("0.00025"), bucket("0.25"), bucket("10.0"), bucket("+Inf")) == (2, 2, 3, 4)
    assert found["upstream_http_request_seconds_count", frozenset({route})] == 4
    assert found["upstream_http_request_seconds_sum", frozenset({route})] == 60.3004
    assert found["upstream_idempotent_replays_total", labels()] == 7


def test_pushes_are_shown_by_transport() -> None:
    found = samples(push_families({"websocket": 2, "sse": 1}, 99))
    assert found["upstream_push_connections", labels(transport="websocket")] == 2
    assert found["upstream_push_connections", labels(transport="sse")] == 1
    assert found["upstream_push_updates_sent_total", labels()] == 99


def test_the_service_says_its_version_and_whether_it_is_ready() -> None:
    found = samples(service_families("1.0", is_ready=False, left_out={"queue": 2}))
    assert found["upstream_build_info", labels(version="1.0")] == 1
    assert found["upstream_ready", labels()] == 0


def test_names_and_units_are_as_prometheus_wants_them() -> None:
    for family in all_families():
        assert re.fullmatch(r"upstream(_[a-z]+)+", family.name), family.name
        assert family.documentation.endswith("."), family.name
        assert not re.search(r"_(ms|milliseconds|minutes|kb|mb|percent|ratio)$", family.name)
        if re.search(r"staleness|cost|request_seconds|pool", family.name):
            assert family.name.endswith(BASE_UNITS), family.name
        if family.type != "counter":
            assert not family.name.endswith("_total"), family.name


def test_no_name_is_used_twice() -> None:
    names = [family.name for family in all_families()]
    assert len(set(names)) == len(names)


def test_without_queues_and_streams_there_are_families_without_samples() -> None:
    assert samples(stream_families([])) == {}
    assert samples(queue_families([])) == {}

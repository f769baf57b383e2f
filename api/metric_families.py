"""The metrics of streams, queues and requests: their names, and the numbers they show.

Names end in their base unit, counters in `_total`. A counter never falls, except if a stream or
queue is deleted and created again under the same name; Prometheus takes that as a restart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.metrics_core import Metric

from upstream import MemoryUsage, QueueStatistics, StreamStatistics, WindowQueueStatistics

from .request_meter import RequestMeter

STREAM_COUNTERS: Final = {
    "arrived": "Updates that were enqueued.",
    "late": "Updates older than the newest accepted of their key.",
    "rejected": "Updates for which the page pool had no room.",
}
UPDATE_COUNTERS: Final = {
    "arrived": "Updates that reached the queue, keys taken over from a snapshot among them.",
    "returned": "Updates given back, or whose lease ran out.",
    "dequeued": "Updates handed out.",
    "superseded": "Waiting values that a newer one replaced.",
    "late": "Updates older than the newest known of their key.",
    "expired": "Updates that waited longer than allowed, or whose key was forgotten.",
    "shed": "Updates that a full append queue dropped at random.",
    "rejected": "Updates that found the queue or the page pool full.",
    "delivered": "Updates delivered, including those that only count as delivered.",
    "taken_as_delivered": "Updates that count as delivered since too many were in process.",
}
WINDOW_COUNTERS: Final = {
    "opened": "Windows whose first tuple has arrived.",
    "committed": "Windows of which tuples have begun to be dequeued.",
    "superseded": "Windows that a newer one of their key replaced, or whose key was forgotten.",
    "shed": "Windows dropped at random.",
    "rejected": "Windows for which there was no memory.",
}
WINDOW_QUEUE_COUNTERS: Final = {
    "delivered": "Windows delivered, including those that only count as delivered.",
    "taken_as_delivered": "Windows that count as delivered since too many were in process.",
    "aborted": "Windows that were dropped after they were committed.",
}
TUPLE_COUNTERS: Final = {
    "arrived": "Updates that reached the window queue.",
    "used": "Updates that were dequeued in at least one window.",
    "dropped": "Updates that were dropped before they were dequeued, with their last window.",
    "outside": "Updates in no window.",
    "late": "Updates older than the newest of their key, or in a tick that was closed already.",
    "rejected": "Updates that memory had no room for.",
}
QUEUE_GAUGES: Final = {
    "waiting": "What waits now: keys, updates in an append queue.",
    "in_process": "What was handed out and not delivered yet.",
    "keys": "Keys that have arrived and were not forgotten.",
}
KINDS_OF_STALENESS: Final = ("queue", "application")

_Row = tuple[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class StreamReading:
    """A stream at one moment."""

    name: str
    statistics: StreamStatistics
    memory: MemoryUsage | None
    pool_bytes: int | None
    too_far_ahead: int
    """How many updates were rejected because of their times."""


@dataclass(frozen=True, slots=True)
class QueueReading:
    """A queue at one moment."""

    name: str
    stream: str
    kind: str
    scheduler: str
    statistics: QueueStatistics | WindowQueueStatistics
    report: Mapping[str, object]
    """Members of the staleness report, by name."""
    values_left_out: int | None
    """How many values a window queue could not aggregate; None for other kinds."""


def service_families(
    version: str, *, is_ready: bool, left_out: Mapping[str, int]
) -> Iterator[Metric]:
    """Yield the families of the service itself."""
    yield InfoMetricFamily("upstream_build", "What runs here.", value={"version": version})
    yield GaugeMetricFamily(
        "upstream_ready",
        "1 while requests are welcome, 0 at the start and at the end.",
        value=is_ready,
    )
    yield _gauge(
        "upstream_metrics_left_out",
        "Streams, and queues, that are not told one by one: UPSTREAM_METRICS_NAMES.",
        ("of",),
        _rows(left_out.items()),
    )


def event_log_families(failed: int) -> Iterator[Metric]:
    """Yield the number of queues whose event logs have ended early."""
    yield CounterMetricFamily(
        "upstream_event_logs_failed",
        "Event logs of queues that ended because they could not be written.",
        value=failed,
    )


def stream_families(streams: Iterable[StreamReading]) -> Iterator[Metric]:
    """Yield the families of streams."""
    streams = list(streams)
    for name, documentation in STREAM_COUNTERS.items():
        rows = _rows((stream.name, getattr(stream.statistics, name)) for stream in streams)
        yield _counter(f"upstream_stream_updates_{name}", documentation, ("stream",), rows)
    rows = _rows((stream.name, stream.too_far_ahead) for stream in streams)
    yield _counter(
        "upstream_stream_updates_too_far_ahead",
        "Updates rejected since their times were too far ahead of the clock.",
        ("stream",),
        rows,
    )
    rows = _rows((stream.name, stream.statistics.keys) for stream in streams)
    yield _gauge("upstream_stream_keys", "Keys that are known.", ("stream",), rows)
    in_use = _rows(
        (stream.name, None if stream.memory is None else stream.memory.page_bytes_in_use)
        for stream in streams
    )
    yield _gauge(
        "upstream_stream_pool_used_bytes", "Pages in use in the page pool.", ("stream",), in_use
    )
    size = _rows((stream.name, stream.pool_bytes) for stream in streams)
    yield _gauge("upstream_stream_pool_size_bytes", "Size of the page pool.", ("stream",), size)


def queue_families(queues: Iterable[QueueReading]) -> Iterator[Metric]:
    """Yield the families of queues."""
    queues = list(queues)
    info = InfoMetricFamily(
        "upstream_queue", "How a queue is defined.", labels=("queue", "stream", "kind", "scheduler")
    )
    for queue in queues:
        info.add_metric((queue.name, queue.stream, queue.kind, queue.scheduler), {})
    yield info
    yield from _update_families(queues)
    yield from _window_families(queues)
    for name, documentation in QUEUE_GAUGES.items():
        rows = _rows((queue.name, getattr(queue.statistics, name)) for queue in queues)
        yield _gauge(f"upstream_queue_{name}", documentation, ("queue",), rows)
    yield from _staleness_families(queues)


def request_families(meter: RequestMeter, *, replays: int) -> Iterator[Metric]:
    """Yield how many requests were answered, how long that took, and how many were retries."""
    requests = CounterMetricFamily(
        "upstream_http_requests", "Requests answered.", labels=("route", "method", "status")
    )
    for (route, method, status), count in list(meter.requests.items()):
        requests.add_metric((route, method, str(status)), count)
    yield requests
    durations = HistogramMetricFamily(
        "upstream_http_request_seconds", "Time to the last byte of the answer.", labels=("route",)
    )
    for route, histogram in list(meter.durations.items()):
        buckets = [(_bound(le), count) for le, count in histogram.cumulative()]
        durations.add_metric((route,), buckets, sum_value=histogram.seconds)
    yield durations
    yield CounterMetricFamily(
        "upstream_idempotent_replays",
        "Requests answered as they had been before, by their idempotency key.",
        value=replays,
    )


def push_families(connections: Mapping[str, int], updates_sent: int) -> Iterator[Metric]:
    """Yield the connections by transport, and how many updates they were sent."""
    yield _gauge(
        "upstream_push_connections",
        "Connections that updates are pushed to, pages that watch the service among them.",
        ("transport",),
        _rows(connections.items()),
    )
    yield CounterMetricFamily(
        "upstream_push_updates_sent", "Updates pushed to connections.", value=updates_sent
    )


def _update_families(queues: list[QueueReading]) -> Iterator[Metric]:
    known = [
        (queue.name, queue.statistics)
        for queue in queues
        if isinstance(queue.statistics, QueueStatistics)
    ]
    for name, documentation in UPDATE_COUNTERS.items():
        rows = _rows((queue, getattr(statistics, name)) for queue, statistics in known)
        yield _counter(f"upstream_queue_updates_{name}", documentation, ("queue",), rows)


def _window_families(queues: list[QueueReading]) -> Iterator[Metric]:
    known = [
        (queue.name, queue.statistics)
        for queue in queues
        if isinstance(queue.statistics, WindowQueueStatistics)
    ]
    for name, documentation in WINDOW_COUNTERS.items():
        rows = _rows((queue, getattr(statistics.windows, name)) for queue, statistics in known)
        yield _counter(f"upstream_queue_windows_{name}", documentation, ("queue",), rows)
    for name, documentation in WINDOW_QUEUE_COUNTERS.items():
        rows = _rows((queue, getattr(statistics, name)) for queue, statistics in known)
        yield _counter(f"upstream_queue_windows_{name}", documentation, ("queue",), rows)
    for name, documentation in TUPLE_COUNTERS.items():
        rows = _rows((queue, getattr(statistics.tuples, name)) for queue, statistics in known)
        yield _counter(f"upstream_queue_tuples_{name}", documentation, ("queue",), rows)
    yield _counter(
        "upstream_queue_windows_values_left_out",
        "Values that are no numbers, and so in no window's result.",
        ("queue",),
        _rows((queue.name, queue.values_left_out) for queue in queues),
    )


def _staleness_families(queues: list[QueueReading]) -> Iterator[Metric]:
    """Yield both kinds of staleness with their bounds, without unknown ones."""
    for family, member, documentation in (
        (
            "upstream_queue_staleness_seconds",
            "{}_staleness",
            "Staleness, averaged over all time so far, then over keys.",
        ),
        (
            "upstream_queue_present_staleness_seconds",
            "present_{}_staleness",
            "Staleness at this moment, averaged over keys.",
        ),
    ):
        rows = _report_rows(queues, {of: member.format(of) for of in KINDS_OF_STALENESS})
        yield _gauge(family, documentation, ("queue", "of"), rows)
    yield _gauge(
        "upstream_queue_staleness_lower_bound_seconds",
        "Lower bound on mean staleness, expected under memoryless arrivals.",
        ("queue", "of"),
        _report_rows(queues, {"queue": "lower_bound", "application": "application_lower_bound"}),
    )
    yield _gauge(
        "upstream_queue_processing_cost_seconds",
        "Time that the consumer needs for one update, or window.",
        ("queue",),
        [((name,), cost) for (name, _), cost in _report_rows(queues, {"": "cost"})],
    )


def _report_rows(queues: list[QueueReading], members: dict[str, str]) -> list[_Row]:
    """Return a row for each number in a queue's report, labelled by `members`."""
    return [
        ((queue.name, label), float(number))
        for queue in queues
        for label, member in members.items()
        if isinstance(number := queue.report.get(member), (int, float))
    ]


def _bound(seconds: float) -> str:
    return "+Inf" if seconds == math.inf else str(seconds)


def _rows(numbers: Iterable[tuple[str, float | None]]) -> list[_Row]:
    return [((name,), float(number)) for name, number in numbers if number is not None]


def _counter(name: str, documentation: str, labels: tuple[str, ...], rows: list[_Row]) -> Metric:
    family = CounterMetricFamily(name, documentation, labels=labels)
    for values, number in rows:
        family.add_metric(values, number)
    return family


def _gauge(name: str, documentation: str, labels: tuple[str, ...], rows: list[_Row]) -> Metric:
    family = GaugeMetricFamily(name, documentation, labels=labels)
    for values, number in rows:
        family.add_metric(values, number)
    return family

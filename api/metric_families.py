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

_Numbers = Iterable[tuple[str, float | None]]


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
        "of",
        left_out.items(),
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
        numbers = [(stream.name, getattr(stream.statistics, name)) for stream in streams]
        yield _counter(f"upstream_stream_updates_{name}", documentation, "stream", numbers)
    yield _counter(
        "upstream_stream_updates_too_far_ahead",
        "Updates rejected since their times were too far ahead of the clock.",
        "stream",
        [(stream.name, stream.too_far_ahead) for stream in streams],
    )
    keys = [(stream.name, stream.statistics.keys) for stream in streams]
    yield _gauge("upstream_stream_keys", "Keys that are known.", "stream", keys)
    pooled = [(stream.name, stream.memory) for stream in streams if stream.memory is not None]
    used = [(name, memory.page_bytes_in_use) for name, memory in pooled]
    yield _gauge(
        "upstream_stream_pool_used_bytes", "Pages in use in the page pool.", "stream", used
    )
    sizes = [(stream.name, stream.pool_bytes) for stream in streams]
    yield _gauge("upstream_stream_pool_size_bytes", "Size of the page pool.", "stream", sizes)


def queue_families(queues: Iterable[QueueReading]) -> Iterator[Metric]:
    """Yield the families of queues."""
    queues = list(queues)
    info = InfoMetricFamily(
        "upstream_queue", "How a queue is defined.", labels=("queue", "stream", "kind", "scheduler")
    )
    for queue in queues:
        info.add_metric((queue.name, queue.stream, queue.kind, queue.scheduler), {})
    yield info
    yield from _queue_counters(queues)
    for name, documentation in QUEUE_GAUGES.items():
        numbers = [(queue.name, getattr(queue.statistics, name)) for queue in queues]
        yield _gauge(f"upstream_queue_{name}", documentation, "queue", numbers)
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
        "transport",
        connections.items(),
    )
    yield CounterMetricFamily(
        "upstream_push_updates_sent", "Updates pushed to connections.", value=updates_sent
    )


def _queue_counters(queues: list[QueueReading]) -> Iterator[Metric]:
    of_updates, of_windows, windows, tuples = {}, {}, {}, {}
    for queue in queues:
        statistics = queue.statistics
        if isinstance(statistics, QueueStatistics):
            of_updates[queue.name] = statistics
        else:
            of_windows[queue.name] = statistics
            windows[queue.name], tuples[queue.name] = statistics.windows, statistics.tuples
    counted: tuple[tuple[str, dict[str, str], Mapping[str, object]], ...] = (
        ("updates", UPDATE_COUNTERS, of_updates),
        ("windows", WINDOW_COUNTERS, windows),
        ("windows", WINDOW_QUEUE_COUNTERS, of_windows),
        ("tuples", TUPLE_COUNTERS, tuples),
    )
    for what, counters, by_queue in counted:
        for name, documentation in counters.items():
            numbers = [(queue, getattr(counts, name)) for queue, counts in by_queue.items()]
            yield _counter(f"upstream_queue_{what}_{name}", documentation, "queue", numbers)
    yield _counter(
        "upstream_queue_windows_values_left_out",
        "Values that are no numbers, and so in no window's result.",
        "queue",
        [(queue.name, queue.values_left_out) for queue in queues],
    )


def _staleness_families(queues: list[QueueReading]) -> Iterator[Metric]:
    """Yield both kinds of staleness with their bounds, without unknown ones."""
    for family, documentation, of_queue, of_application in (
        (
            "upstream_queue_staleness_seconds",
            "Staleness, averaged over all time so far, then over keys.",
            *("queue_staleness", "application_staleness"),
        ),
        (
            "upstream_queue_present_staleness_seconds",
            "Staleness at this moment, averaged over keys.",
            *("present_queue_staleness", "present_application_staleness"),
        ),
        (
            "upstream_queue_staleness_lower_bound_seconds",
            "Lower bound on mean staleness, expected under memoryless arrivals.",
            *("lower_bound", "application_lower_bound"),
        ),
    ):
        gauge = GaugeMetricFamily(family, documentation, labels=("queue", "of"))
        for queue in queues:
            for of, member in (("queue", of_queue), ("application", of_application)):
                number = queue.report.get(member)
                if isinstance(number, int | float):
                    gauge.add_metric((queue.name, of), float(number))
        yield gauge
    costs = [(queue.name, queue.report.get("cost")) for queue in queues]
    yield _gauge(
        "upstream_queue_processing_cost_seconds",
        "Time that the consumer needs for one update, or window.",
        "queue",
        [(name, cost) for name, cost in costs if isinstance(cost, int | float)],
    )


def _bound(seconds: float) -> str:
    return "+Inf" if seconds == math.inf else str(seconds)


def _counter(name: str, documentation: str, label: str, numbers: _Numbers) -> Metric:
    return _with_numbers(CounterMetricFamily(name, documentation, labels=(label,)), numbers)


def _gauge(name: str, documentation: str, label: str, numbers: _Numbers) -> Metric:
    return _with_numbers(GaugeMetricFamily(name, documentation, labels=(label,)), numbers)


def _with_numbers(family: CounterMetricFamily | GaugeMetricFamily, numbers: _Numbers) -> Metric:
    """Add the numbers that are known, each with the value of its label."""
    for value, number in numbers:
        if number is not None:
            family.add_metric((value,), float(number))
    return family

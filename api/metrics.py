"""`/metrics` for Prometheus: counters, staleness and its bound, requests, the process.

Nothing is measured for it. A scrape reads the counters that the library and the service keep. Only
the staleness of a queue takes time, O(keys). So all queues together may take a tenth of the time,
and other tasks run between two queues. Labels name streams, queues, routes and the like, never a
key.

Each stream and queue takes about twenty lines, so a scrape of 50,000 of them would be 60 MB. The
oldest are listed by name, as many as the setting `metrics_names` allows, and the others are
counted.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from prometheus_client import PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector

from upstream import __version__

from .entries import QueueEntry
from .metric_families import (
    QueueReading,
    StreamReading,
    event_log_families,
    push_families,
    queue_families,
    request_families,
    service_families,
    stream_families,
)
from .rationed import DEFAULT_SHARE, Rationed
from .window_results import WindowResults

if TYPE_CHECKING:
    from .service import Service

Known = TypeVar("Known")

TEXT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_END: Final = b"# EOF\n"


class Metrics:
    """Makes the exposition of one service. `clock` measures how long reading a queue takes."""

    def __init__(self, service: Service, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._service = service
        self._clock = clock
        # Without a registry, since the global one is shared.
        self._collectors = (ProcessCollector(registry=None), PlatformCollector(registry=None))
        self._readings: dict[str, tuple[QueueEntry, Rationed[QueueReading]]] = {}
        self._version = __version__

    async def exposition(self, accept: str = "") -> tuple[str, bytes]:
        """Return the content type and the body for a scrape with this `Accept` header."""
        is_openmetrics = accepts_openmetrics(accept)
        encode = generate_openmetrics if is_openmetrics else generate_latest
        queues = await self._read_queues()
        parts = []
        for family in self._families(queues):
            parts.append(encode(_Single(family)).removesuffix(_END))
            await asyncio.sleep(0)  # with a thousand queues a family takes milliseconds
        if is_openmetrics:
            return OPENMETRICS_TYPE, b"".join((*parts, _END))
        return TEXT_TYPE, b"".join(parts)

    async def _read_queues(self) -> list[QueueReading]:
        """Read all queues, and make new reports of those that are due."""
        shown = self._shown(self._service.queues)
        for name in self._readings.keys() - shown.keys():
            del self._readings[name]
        readings = []
        for name, entry in shown.items():
            if self._service.queues.get(name) is not entry:
                continue  # deleted in the meantime
            reading = self._rationed(name, entry)
            reading.share = DEFAULT_SHARE / len(shown)
            is_due = reading.is_due
            readings.append(reading.get())
            if is_due:
                await asyncio.sleep(0)
        return readings

    def _shown(self, known: Mapping[str, Known]) -> dict[str, Known]:
        """Return the streams or queues that are listed by name."""
        of_users = (pair for pair in known.items() if pair[0][0] != "_")
        return dict(islice(of_users, self._service.settings.metrics_names))

    def _left_out(self, known: Mapping[str, object]) -> int:
        of_users = sum(1 for name in known if name[0] != "_")
        return max(of_users - self._service.settings.metrics_names, 0)

    def _rationed(self, name: str, entry: QueueEntry) -> Rationed[QueueReading]:
        known, reading = self._readings.get(name, (None, None))
        if reading is None or known is not entry:
            reading = Rationed(lambda: _read_queue(entry), clock=self._clock)
            self._readings[name] = (entry, reading)
        return reading

    def _families(self, queues: list[QueueReading]) -> Iterator[Metric]:
        service = self._service
        is_ready = service.is_ready and not service.closing.is_set()
        left_out = {
            "queue": self._left_out(service.queues),
            "stream": self._left_out(service.streams),
        }
        yield from service_families(self._version, is_ready=is_ready, left_out=left_out)
        log = service.event_log
        yield from event_log_families(0 if log is None else log.failed)
        yield from stream_families(
            StreamReading(
                name=name,
                statistics=entry.stream.statistics(),
                memory=entry.stream.memory_usage(),
                pool_bytes=entry.definition.pool_bytes,
                too_far_ahead=entry.too_far_ahead,
            )
            for name, entry in self._shown(service.streams).items()
        )
        yield from queue_families(queues)
        connections = Counter[str](
            subscriber.transport
            for entry in service.streams.values()
            for subscriber in entry.subscribers
        )
        yield from push_families(connections, service.meter.push_updates_sent)
        yield from request_families(service.meter, replays=service.idempotent.replays)
        for collector in self._collectors:
            yield from collector.collect()


def _read_queue(entry: QueueEntry) -> QueueReading:
    queue = entry.queue
    return QueueReading(
        name=entry.name,
        stream=entry.stream.name,
        kind=entry.definition.kind,
        scheduler="" if entry.definition.kind == "append" else entry.definition.scheduler,
        statistics=entry.statistics(),
        report=entry.reports.latest() or {},
        values_left_out=queue.left_out if isinstance(queue, WindowResults) else None,
    )


def accepts_openmetrics(accept: str) -> bool:
    """Tell whether a client asks for OpenMetrics rather than for Prometheus' text format.

    >>> accepts_openmetrics("application/openmetrics-text;version=1.0.0;q=0.6,*/*;q=0.1")
    True
    """
    for alternative in accept.lower().split(","):
        media_type, *parameters = (part.strip() for part in alternative.split(";"))
        if media_type == "application/openmetrics-text":
            return not any(_is_zero(parameter) for parameter in parameters)
    return False


def _is_zero(parameter: str) -> bool:
    name, _, weight = parameter.partition("=")
    return name.strip() == "q" and not weight.strip("0. ")


class _Single(Collector):
    """One family, as the encoders take it."""

    __slots__ = ("_family",)

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> tuple[Metric]:
        return (self._family,)

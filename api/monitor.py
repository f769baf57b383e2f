"""The monitor: the service's own state as a stream of updates, while it has subscribers.

Once a second the state of the service, of each stream and of each queue goes into the stream
`_service`, under one key each. Subscribers get the newest states by the same push as any client.
Without subscribers nothing is gathered and nothing is kept.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from upstream import UnknownKeyError, __version__

from . import demo_feed
from .counters import queue_counters, stream_counters
from .definitions import QueueDefinition
from .entries import QueueEntry
from .queue_reports import SHARE
from .service import Service
from .service_state import State, resident_bytes, shown_report
from .staleness_report import Gathered, Report, staleness_report

SERVICE_STREAM: Final = "_service"
INTERVAL_SECONDS: Final = 1.0
IDLE_SECONDS: Final = 0.2
"""How often it looks for subscribers. The first states come within this time."""
GONE_SECONDS: Final = 60.0
"""How long the deletion of a state stays known, for subscribers that are slow."""
SHOWN_SUBSCRIBERS: Final = 50
SCHEDULED_KINDS: Final = ("update", "adaptive", "window")

MakeReport = Callable[[QueueEntry], Report]


def report_of(entry: QueueEntry) -> Report:
    """Return the queue's latest report, or an empty one while the first is being made."""
    return entry.reports.latest() or staleness_report(Gathered((), None, 0.0, 0.0))


class Monitor:
    """Publishes the service's state while `_service` has subscribers.

    It creates that stream, and a queue of the same name. The keys are `service`, `stream/NAME` and
    `queue/NAME`, the values JSON objects. `report` returns the staleness of a queue, `busy` the
    seconds that this thread has worked, and `pause` waits.
    """

    def __init__(
        self,
        service: Service,
        *,
        report: MakeReport = report_of,
        busy: Callable[[], float] = time.thread_time,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._stream = service.define_queue(SERVICE_STREAM, QueueDefinition())[0].stream
        self._now = service.clock.now
        self._report = report
        self._busy = busy
        self._pause = pause
        self._published: set[str] = set()
        self._current: set[str] = set()
        self._gone: deque[tuple[float, str]] = deque()
        self._arrived: int | None = None
        self._looked_at = 0.0

    async def run(self) -> None:
        """Publish while there are subscribers, until cancelled."""
        while True:
            if self._stream.subscribers:
                started = self._now()
                await self.publish()
                await self._pause(max(INTERVAL_SECONDS - (self._now() - started), 0.0))
            else:
                self._forget()
                await self._pause(IDLE_SECONDS)

    async def publish(self) -> None:
        """Publish everything once. Rest after each queue, to use a tenth of the time at most."""
        started_at = self._now()
        states = {"service": self._service_state()} | self._stream_states()
        self._put(states)
        current = set(states)
        for place, (name, queue) in enumerate(list(self._service.queues.items())):
            if name.startswith("_") or self._service.queues.get(name) is not queue:
                continue
            started = self._busy()
            self._put({f"queue/{name}": self._queue_state(name, queue, place)})
            current.add(f"queue/{name}")
            await self._pause((self._busy() - started) * (1 / SHARE - 1))
        for key in self._current - current:
            self._stream.delete(key)
            self._gone.append((started_at, key))
        self._current = current
        while self._gone and self._gone[0][0] < started_at - GONE_SECONDS:
            key = self._gone.popleft()[1]
            if key not in current:
                self._forget_key(key)

    def _put(self, states: Mapping[str, State]) -> None:
        values = [msgspec.json.encode(state) for state in states.values()]
        self._published.update(states)
        self._stream.take_in(list(states), values)

    def _forget(self) -> None:
        """Forget the last states, so that a later subscriber does not get them as present ones."""
        for key in [*self._published]:
            self._forget_key(key)
        self._current.clear()
        self._gone.clear()
        self._arrived = None

    def _forget_key(self, key: str) -> None:
        self._published.discard(key)
        with suppress(UnknownKeyError):  # if its deletion was delivered everywhere
            self._stream.stream.forget(key)

    # The states that are published.

    def _service_state(self) -> State:
        service = self._service
        streams = {name: entry for name, entry in service.streams.items() if name[0] != "_"}
        arrived = sum(entry.stream.statistics().arrived for entry in streams.values())
        return {
            "time": self._now(),
            "uptime": self._now() - service.started_at,
            "memory": resident_bytes(),
            "processor_seconds": time.process_time(),
            "streams": len(streams),
            "queues": sum(1 for name in service.queues if name[0] != "_"),
            "subscribers": sum(len(entry.subscribers) for entry in streams.values()),
            "updates_per_second": self._pace(arrived),
            "event_logs_failed": 0 if service.event_log is None else service.event_log.failed,
            "demo": demo_feed.FACTS if service.settings.demo else None,
            "run": service.run,
            "version": __version__,
        }

    def _pace(self, arrived: int) -> float | None:
        """Return the updates per second since the last call, or None at the first call."""
        now = self._now()
        before, self._arrived = self._arrived, arrived
        since, self._looked_at = self._looked_at, now
        if before is None or now <= since:
            return None
        return max(arrived - before, 0) / (now - since)  # fewer if a stream was deleted

    def _stream_states(self) -> dict[str, State]:
        states: dict[str, State] = {}
        for name, entry in self._service.streams.items():
            if name[0] != "_":
                counts = stream_counters(entry.stream.statistics())
                place = {"name": name, "place": len(states)}
                states[f"stream/{name}"] = {**place, "time": self._now(), **counts}
        return states

    def _queue_state(self, name: str, entry: QueueEntry, place: int) -> State:
        definition = entry.definition
        is_scheduled = definition.kind in SCHEDULED_KINDS
        subscribers = [one for one in entry.stream.subscribers if one.queue == name]
        return {
            "name": name,
            "place": place,  # in the order of creation
            "stream": entry.stream.name,
            "kind": definition.kind,
            "scheduler": definition.scheduler if is_scheduled else None,
            "serves": entry.serves,
            "time": self._now(),
            **queue_counters(entry.statistics()),
            **shown_report(self._report(entry)),
            "subscribers": [one.record() for one in subscribers[:SHOWN_SUBSCRIBERS]],
            "subscriber_count": len(subscribers),
        }

"""The last five minutes of what the page's charts show, so that a page begins with them.

Without subscribers the monitor publishes nothing. So a few numbers of each queue are sampled every
five seconds, and kept for as long as the charts show. This takes at most a hundredth of the time:
many queues are sampled less often, and of queues with many keys only the counters are.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Final

from .counters import queue_counters, stream_counters
from .entries import QueueEntry
from .queue_reports import FEW_KEYS
from .service import Service
from .service_state import State, resident_bytes

SAMPLE_SECONDS: Final = 5.0
SAMPLES: Final = 60
"""How many samples are kept: those of five minutes."""
MOST_NAMES: Final = 200
"""The most queues, and the most streams, whose samples are kept."""
SHARE: Final = 0.01
OF_REPORTS: Final = (
    *("present_queue_staleness", "present_application_staleness"),
    *("lower_bound", "application_lower_bound"),
)
OF_COUNTERS: Final = ("arrived", "superseded", "delivered")

Sample = tuple[float | None, ...]


class History:
    """Samples by the keys of the monitor: `service`, `stream/NAME`, `queue/NAME`.

    `busy` returns the seconds for which this thread has worked, and `pause` waits.
    """

    def __init__(
        self,
        service: Service,
        *,
        busy: Callable[[], float] = time.thread_time,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._now = service.clock.now
        self._busy = busy
        self._pause = pause
        self._names: dict[str, tuple[str, ...]] = {}
        self._samples: dict[str, deque[Sample]] = {}

    async def run(self) -> None:
        """Take samples until cancelled."""
        while True:
            started = self._now()
            await self.sample()
            await self._pause(max(SAMPLE_SECONDS - (self._now() - started), 0.0))

    async def sample(self) -> None:
        """Take one sample of everything, resting after each queue."""
        current = set()
        for key, state in self._states():
            started = self._busy()
            self._add(key, state())
            current.add(key)
            await self._pause((self._busy() - started) * (1 / SHARE - 1))
        for key in self._samples.keys() - current:
            del self._samples[key], self._names[key]

    def states(self) -> dict[str, list[State]]:
        """Return the samples by key, oldest first, each with the names of its numbers."""
        return {
            key: [dict(zip(self._names[key], sample, strict=True)) for sample in samples]
            for key, samples in self._samples.items()
        }

    def _add(self, key: str, state: Mapping[str, float | None]) -> None:
        names = tuple(state)
        if self._names.setdefault(key, names) != names:  # it was created again, as another kind
            del self._samples[key]
            self._names[key] = names
        samples = self._samples.setdefault(key, deque(maxlen=SAMPLES))
        samples.append(tuple(state.values()))

    def _states(self) -> Iterator[tuple[str, Callable[[], Mapping[str, float | None]]]]:
        """Yield each key with a function that takes its sample."""
        service = self._service
        yield "service", self._service_state
        for name in _shown(service.streams):
            if name in service.streams:
                yield f"stream/{name}", partial(self._stream_state, name)
        for name in _shown(service.queues):
            entry = service.queues.get(name)
            if entry is not None:
                yield f"queue/{name}", partial(self._queue_state, entry)

    def _service_state(self) -> Mapping[str, float | None]:
        memory, processor = resident_bytes(), time.process_time()
        return {"time": self._now(), "memory": memory, "processor_seconds": processor}

    def _stream_state(self, name: str) -> Mapping[str, float | None]:
        counts = stream_counters(self._service.streams[name].stream.statistics())
        return {"time": self._now(), "arrived": counts["arrived"]}

    def _queue_state(self, entry: QueueEntry) -> Mapping[str, float | None]:
        counts = queue_counters(entry.source.statistics())
        report = (entry.reports.latest() or {}) if counts["keys"] <= FEW_KEYS else {}
        return {
            "time": self._now(),
            **{name: _number(report.get(name)) for name in OF_REPORTS},
            **{name: counts[name] for name in OF_COUNTERS},
        }


def _shown(known: Mapping[str, object]) -> list[str]:
    return list(islice((name for name in known if name[0] != "_"), MOST_NAMES))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None

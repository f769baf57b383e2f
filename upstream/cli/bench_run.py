"""Measuring how fast updates go in and out, through the client and over as many connections."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Final, TypeAlias

from upstream.client import AsyncClient
from upstream.clock import SystemClock

VALUE: Final = 24.5
Advance: TypeAlias = Callable[[int], None]
"""Called with the number of updates that were measured just now."""


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """What to measure."""

    updates: int
    batch: int
    keys: int
    connections: int
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """How fast something was; latencies are those of whole batches, in seconds."""

    updates: int
    seconds: float
    updates_per_second: float
    latency_p50: float
    latency_p99: float


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured, and of what."""

    settings: BenchSettings
    put: Measured
    dequeue: Measured


class Bench:
    """Measure on a stream and a queue of its own, which are gone afterwards."""

    def __init__(self, url: str, settings: BenchSettings, *, timeout: float = 30.0) -> None:
        self._url = url
        self._settings = settings
        self._timeout = timeout
        self._stream = f"bench-{uuid.uuid4().hex[:12]}"
        self._names = [f"key-{rank}" for rank in range(1, settings.keys + 1)]

    async def run(self, put: Advance, dequeued: Advance) -> BenchResult:
        """Return what was measured; the callbacks hear of the progress."""
        async with AsyncClient(self._url, timeout=self._timeout) as client:
            creating = asyncio.ensure_future(client.create_queue(self._stream))
            try:
                await asyncio.shield(creating)
                ingest = await self._put(client, put)
                drain = await self._dequeue(client, dequeued)
            finally:
                await creating  # whoever was cancelled meanwhile has made it all the same
                await client.drop_stream(self._stream)
        return BenchResult(self._settings, ingest.measured(), drain.measured())

    async def _put(self, client: AsyncClient, advance: Advance) -> Stopwatch:
        batches = iter(list(self._batches()))  # made before, so that making them is not measured

        async def put_next() -> int:
            keys = next(batches, [])
            if keys:
                await client.put_columns(self._stream, keys, [VALUE] * len(keys), batch_size=10**9)
            return len(keys)

        stopwatch = Stopwatch()
        await stopwatch.time(put_next, self._settings.connections, advance)
        return stopwatch

    async def _dequeue(self, client: AsyncClient, advance: Advance) -> Stopwatch:
        """Empty the queue, and fill it again and again for a quarter of the updates."""

        async def take_next() -> int:
            return len(await client.dequeue(self._stream, limit=self._settings.batch))

        stopwatch = Stopwatch()
        while stopwatch.updates < self._settings.updates / 4:
            await client.put_columns(self._stream, self._names, [VALUE] * len(self._names))
            await stopwatch.time(take_next, self._settings.connections, advance)
        return stopwatch

    def _batches(self) -> Iterator[list[str]]:
        """Yield the keys of each batch: Zipf, as keys are."""
        random = Random(self._settings.seed)
        weights = list(accumulate(1 / rank for rank in range(1, self._settings.keys + 1)))
        for begin in range(0, self._settings.updates, self._settings.batch):
            size = min(self._settings.batch, self._settings.updates - begin)
            yield random.choices(self._names, cum_weights=weights, k=size)


class Stopwatch:
    """Times steps that several tasks take side by side."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._latencies: list[float] = []
        self._seconds = 0.0
        self.updates = 0

    async def time(
        self, step: Callable[[], Awaitable[int]], connections: int, advance: Advance
    ) -> None:
        """Repeat `step` in so many tasks until each got 0 from it."""

        async def repeat() -> None:
            while updates := await self._timed(step):
                self.updates += updates
                advance(updates)

        began_at = self._clock.now()
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(connections):
                    tasks.create_task(repeat())
        except ExceptionGroup as group:
            raise group.exceptions[0] from None  # of all that failed alike, one is told
        self._seconds += self._clock.now() - began_at

    def measured(self) -> Measured:
        """Return what all of it came to."""
        latencies = sorted(self._latencies)
        return Measured(
            self.updates,
            self._seconds,
            self.updates / self._seconds,
            latency_p50=latencies[len(latencies) // 2],
            latency_p99=latencies[len(latencies) * 99 // 100],
        )

    async def _timed(self, step: Callable[[], Awaitable[int]]) -> int:
        began_at = self._clock.now()
        updates = await step()
        if updates:
            self._latencies.append(self._clock.now() - began_at)
        return updates

"""`upstream bench`: how fast the service accepts updates and hands them out."""

from __future__ import annotations

import asyncio
import signal
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Annotated, Final, TypeAlias

import typer
from rich.progress import MofNCompleteColumn

from upstream.client import AsyncClient
from upstream.clock import SystemClock

from .arguments import Json
from .connection import TERMINATED, exit_codes, service_of
from .formatting import count, duration, rate
from .output import add_row, progress, table_with, write_json, write_line, write_table

VALUE: Final = 24.5
Advance: TypeAlias = Callable[[int], None]
"""Called with the number of updates that were just measured."""

Updates: TypeAlias = Annotated[int, typer.Option(min=1, help="How many updates to put.")]
Batch: TypeAlias = Annotated[
    int, typer.Option(min=1, max=10_000, help="How many updates are in a request.")
]
Keys: TypeAlias = Annotated[
    int, typer.Option(min=1, max=1_000_000, help="How many keys, with Zipf popularity.")
]
Connections: TypeAlias = Annotated[
    int, typer.Option("--connections", "-c", min=1, max=100, help="How many requests at a time.")
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="The seed for drawing keys.")]


def bench(
    context: typer.Context,
    *,
    updates: Updates = 200_000,
    batch: Batch = 1_000,
    keys: Keys = 10_000,
    connections: Connections = 1,
    seed: Seed = 1,
    is_json: Json = False,
) -> None:
    """Measure how fast the service accepts updates and hands them out.

    The command creates a stream and a queue, and removes them at the end, also if it is
    interrupted. It puts batches of updates as JSON, then dequeues until the queue is empty, and
    fills the queue again a few times. Latencies are those of whole batches. The results include
    the time that this client needs.

    For example:

    - `upstream bench --updates 50000 --connections 4`
    """
    service = service_of(context)
    settings = BenchSettings(updates, batch, keys, connections, seed)
    with exit_codes(), progress(MofNCompleteColumn()) as bar:
        putting = bar.add_task("put", total=updates)
        dequeuing = bar.add_task("dequeue", total=None)
        measuring = Bench(service.url, settings, timeout=service.timeout).run(
            lambda number: bar.advance(putting, number),
            lambda number: bar.advance(dequeuing, number),
        )
        try:
            result = asyncio.run(_until_terminated(measuring))
        except asyncio.CancelledError:
            raise typer.Exit(TERMINATED) from None
    if is_json:
        write_json(result)
    else:
        _write(result)


async def _until_terminated(measuring: Coroutine[None, None, BenchResult]) -> BenchResult:
    """Return the result; SIGTERM cancels the run, which then removes its stream."""
    task = asyncio.ensure_future(measuring)
    with suppress(NotImplementedError):  # where there are no such signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def _write(result: BenchResult) -> None:
    settings = result.settings
    write_line(
        f"{count(settings.keys, 'key')}, batches of {settings.batch:,}, "
        f"{count(settings.connections, 'connection')}\n"
    )
    numbers = ("updates", "seconds", "updates/s", "batch p50", "batch p99")
    table = table_with("", *numbers, right=numbers)
    for name, measured in (("put", result.put), ("dequeue", result.dequeue)):
        add_row(table, name, *_cells(measured))
    write_table(table)


def _cells(measured: Measured) -> tuple[str, ...]:
    return (
        f"{measured.updates:,}",
        f"{measured.seconds:.2f}",
        rate(measured.updates_per_second),
        duration(measured.latency_p50),
        duration(measured.latency_p99),
    )


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """The parameters of a run."""

    updates: int
    batch: int
    keys: int
    connections: int
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """The speed in one direction; latencies are those of whole batches, in seconds."""

    updates: int
    seconds: float
    updates_per_second: float
    latency_p50: float
    latency_p99: float


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The results of a run, with its parameters."""

    settings: BenchSettings
    put: Measured
    dequeue: Measured


class Bench:
    """A run on a stream and a queue of its own, which are removed afterwards."""

    def __init__(self, url: str, settings: BenchSettings, *, timeout: float = 30.0) -> None:
        self._url = url
        self._settings = settings
        self._timeout = timeout
        self._stream = f"bench-{uuid.uuid4().hex[:12]}"
        self._names = [f"key-{rank}" for rank in range(1, settings.keys + 1)]

    async def run(self, put: Advance, dequeued: Advance) -> BenchResult:
        """Measure; the callbacks are called with the progress."""
        async with AsyncClient(self._url, timeout=self._timeout) as client:
            creating = asyncio.ensure_future(client.create_queue(self._stream))
            try:
                await asyncio.shield(creating)
                ingest = await self._put(client, put)
                drain = await self._dequeue(client, dequeued)
            finally:
                await creating  # it may exist, even if the wait for it was cancelled
                await client.drop_stream(self._stream)
        return BenchResult(self._settings, ingest.measured(), drain.measured())

    async def _put(self, client: AsyncClient, advance: Advance) -> Stopwatch:
        batches = iter(list(self._batches()))  # prepared before the measurement

        async def put_next() -> int:
            keys = next(batches, [])
            if keys:
                await client.put_columns(self._stream, keys, [VALUE] * len(keys), batch_size=10**9)
            return len(keys)

        stopwatch = Stopwatch()
        await stopwatch.time(put_next, self._settings.connections, advance)
        return stopwatch

    async def _dequeue(self, client: AsyncClient, advance: Advance) -> Stopwatch:
        """Empty the queue, and fill it again until a quarter of the updates was dequeued."""

        async def take_next() -> int:
            return len(await client.dequeue(self._stream, limit=self._settings.batch))

        stopwatch = Stopwatch()
        while stopwatch.updates < self._settings.updates / 4:
            await client.put_columns(self._stream, self._names, [VALUE] * len(self._names))
            await stopwatch.time(take_next, self._settings.connections, advance)
        return stopwatch

    def _batches(self) -> Iterator[list[str]]:
        """Yield the keys of each batch, which have Zipf popularity."""
        random = Random(self._settings.seed)
        weights = list(accumulate(1 / rank for rank in range(1, self._settings.keys + 1)))
        for begin in range(0, self._settings.updates, self._settings.batch):
            size = min(self._settings.batch, self._settings.updates - begin)
            yield random.choices(self._names, cum_weights=weights, k=size)


class Stopwatch:
    """Measures steps that several tasks repeat concurrently."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._latencies: list[float] = []
        self._seconds = 0.0
        self.updates = 0

    async def time(
        self, step: Callable[[], Awaitable[int]], connections: int, advance: Advance
    ) -> None:
        """Repeat `step` in as many tasks as `connections`, until it returns 0 to each."""

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
            raise group.exceptions[0] from None  # all failed alike; one is enough
        self._seconds += self._clock.now() - began_at

    def measured(self) -> Measured:
        """Return the speed over all steps."""
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

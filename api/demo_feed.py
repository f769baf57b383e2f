"""The demo: one feed of prices, and four queues of it with equally slow consumers.

The feed has about a thousand updates a second of 200 symbols. A few symbols get most of them. Each
consumer takes 250 updates a second. The queues differ in their policy only, so their staleness
shows what the policy is worth.
"""

from __future__ import annotations

import asyncio
import string
from collections.abc import Awaitable, Callable
from typing import Final

import numpy as np

from upstream import Update

from .definitions import QueueDefinition, StreamDefinition
from .entries import QueueEntry, StreamEntry
from .service import Service

STREAM: Final = "demo"
QUEUES: Final[dict[str, dict[str, object]]] = {
    "demo-append": {"kind": "append", "capacity": 100_000},
    "demo-fifo": {"scheduler": "fifo"},
    "demo-in-place": {"scheduler": "in-place"},
    "demo-index": {"scheduler": "index"},
}
"""The queues, and what their definitions do not share.

The append queue is full after about two minutes. From then on it rejects updates, so the demo needs
a bounded amount of memory however long it runs.
"""

SYMBOLS: Final = 200
SKEW: Final = 1.0
"""The exponent of Zipf's law: the second busiest symbol gets half as many updates as the first."""
UPDATES_PER_SECOND: Final = 1_000.0
FEED_SECONDS: Final = 0.01
"""The time between two batches of the feed."""
LONGEST_CATCH_UP_SECONDS: Final = 0.25
"""How much of a delay is made up for. A busy service skips the rest of the demo's work."""
SECONDS_PER_UPDATE: Final = 0.004
"""The time that each consumer needs for an update: four times as long as would be fast enough.

It is part of the queues' definitions. A measured cost would be wrong after a delay, when consumers
take several steps at once.
"""

FACTS: Final[dict[str, object]] = {
    "stream": STREAM,
    "keys": SYMBOLS,
    "updates_per_second": UPDATES_PER_SECOND,
    "seconds_per_update": SECONDS_PER_UPDATE,
}
"""What the page says of the demo."""

_NAMED: Final = ("GOOG", "IBM", "GM")
_LARGEST_MESSAGE: Final = 1_000_000
_VOLATILITY: Final = 0.0005


def demo_queue(name: str) -> QueueDefinition:
    """Return the definition of one of the demo's queues."""
    shared = {"stream": STREAM, "processing_cost": SECONDS_PER_UPDATE}
    return QueueDefinition.model_validate(shared | QUEUES[name])


class Prices:
    """Random walks of prices with Poisson arrivals; the same seed gives the same prices.

    >>> keys, values = Prices(seed=1).during(0.002)
    >>> len(keys) == len(values)
    True
    """

    __slots__ = ("_prices", "_random", "_shares", "symbols")

    def __init__(self, *, seed: int = 0, symbols: int = SYMBOLS, skew: float = SKEW) -> None:
        self._random = np.random.default_rng(seed)
        self.symbols = self._names(symbols)
        weights = np.arange(1, symbols + 1) ** -skew
        self._shares = np.cumsum(weights / weights.sum())
        self._prices = np.exp(self._random.normal(4.0, 1.0, symbols)).tolist()

    def during(self, seconds: float) -> tuple[list[str], list[bytes]]:
        """Return the symbols updated in the next `seconds`, and their values as JSON."""
        count = self._random.poisson(UPDATES_PER_SECOND * seconds)
        drawn = np.searchsorted(self._shares[:-1], self._random.random(count), side="right")
        steps = np.exp(self._random.normal(0.0, _VOLATILITY, count)).tolist()
        sizes = self._random.integers(1, 50, count).tolist()
        rows = drawn.tolist()
        values = []
        for row, step, size in zip(rows, steps, sizes, strict=True):
            price = self._prices[row] = self._prices[row] * step
            values.append(f'{{"price":{price:.2f},"size":{100 * size}}}'.encode())
        return [self.symbols[row] for row in rows], values

    def _names(self, count: int) -> list[str]:
        """Return `count` different names like those of shares, the busiest first."""
        names = dict.fromkeys(_NAMED)
        letters = list(string.ascii_uppercase)
        while len(names) < count:
            names["".join(self._random.choice(letters, self._random.integers(3, 5)))] = None
        return list(names)[:count]


class SlowConsumer:
    """A consumer of a queue that processes one update from each step to the next."""

    __slots__ = ("_queue", "_update")

    def __init__(self, queue: QueueEntry) -> None:
        self._queue = queue
        self._update: Update | None = None

    def step(self) -> None:
        """Deliver the update that was taken at the step before, and take the next one."""
        queue = self._queue
        if queue.is_dropped:
            return
        if self._update is not None:
            queue.deliver([self._update])
        self._update = next(iter(queue.take(1, _LARGEST_MESSAGE)), None)


class DemoFeed:
    """The feed and its consumers, as tasks of the service's event loop."""

    def __init__(
        self,
        service: Service,
        *,
        seed: int = 0,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._prices = Prices(seed=seed)
        self._pause = pause

    async def run(self) -> None:
        """Create the stream and its queues, and run until cancelled or the stream is deleted."""
        stream, _ = self._service.define_stream(STREAM, StreamDefinition())
        queues = [self._service.define_queue(name, demo_queue(name))[0] for name in QUEUES]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._feed(stream), name="demo feed")
            tasks.create_task(self._consume(stream, queues), name="demo consumers")

    async def _feed(self, stream: StreamEntry) -> None:
        now = self._service.clock.now
        fed_until = now()
        while not stream.is_dropped:
            arrived_at = now()
            elapsed = min(arrived_at - fed_until, LONGEST_CATCH_UP_SECONDS)
            fed_until = arrived_at
            keys, values = self._prices.during(elapsed)
            if keys:
                stream.take_in(keys, values)
            await self._pause(FEED_SECONDS)

    async def _consume(self, stream: StreamEntry, queues: list[QueueEntry]) -> None:
        """Let all consumers take their steps together, which makes them equally slow."""
        consumers = [SlowConsumer(queue) for queue in queues]
        now = self._service.clock.now
        consumed_until = now()
        while not stream.is_dropped:
            woken_at = now()
            elapsed = min(woken_at - consumed_until, LONGEST_CATCH_UP_SECONDS)
            steps = int(elapsed / SECONDS_PER_UPDATE)
            consumed_until = woken_at - (elapsed - steps * SECONDS_PER_UPDATE)
            for _ in range(steps):
                for consumer in consumers:
                    consumer.step()
            await self._pause(SECONDS_PER_UPDATE)

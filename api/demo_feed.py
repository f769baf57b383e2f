"""The demo: a feed of prices that is faster than its readers, so that there is something to see.

About a thousand updates a second of 200 symbols, the busiest of which get most of them, and three
queues of it whose readers are equally slow but are served in different orders: which of the three
has the freshest picture?
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
SCHEDULERS: Final = {"demo-index": "index", "demo-in-place": "in-place", "demo-fifo": "fifo"}
"""The queues, and what orders each of them."""

SYMBOLS: Final = 200
SKEW: Final = 1.0
"""The exponent of Zipf's law: the second busiest symbol gets half as many updates as the first."""
UPDATES_PER_SECOND: Final = 1_000.0
FEED_SECONDS: Final = 0.01
"""Between two batches of what arrived meanwhile."""
LONGEST_CATCH_UP_SECONDS: Final = 0.25
"""What was held up longer leaves out the rest: a busy service needs no demo on top."""
SECONDS_PER_UPDATE: Final = 0.004
"""What an update costs each reader: four times what it would take to keep up.

The queues are told, since steps that were held up and then made all at once measure something else.
"""

_NAMED: Final = ("GOOG", "IBM", "GM")
_LARGEST_MESSAGE: Final = 1_000_000
_VOLATILITY: Final = 0.0005


def demo_queue(name: str) -> QueueDefinition:
    """Return the definition of one of the demo's queues."""
    definition = {
        "stream": STREAM,
        "scheduler": SCHEDULERS[name],
        "processing_cost": SECONDS_PER_UPDATE,
    }
    return QueueDefinition.model_validate(definition)


class Prices:
    """Random walks of prices with memoryless arrivals, the same ones for the same seed.

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
        """Return the symbols that are updated within so many seconds, and their values as JSON."""
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
        """Return so many different names, like those of shares; the busiest first."""
        names = dict.fromkeys(_NAMED)
        letters = list(string.ascii_uppercase)
        while len(names) < count:
            names["".join(self._random.choice(letters, self._random.integers(3, 5)))] = None
        return list(names)[:count]


class SlowReader:
    """A reader of a queue that works on one update at a time, from one step to the next."""

    __slots__ = ("_queue", "_update")

    def __init__(self, queue: QueueEntry) -> None:
        self._queue = queue
        self._update: Update | None = None

    def step(self) -> None:
        """Be done with the update taken at the step before, and take the next one."""
        queue = self._queue
        if queue.is_dropped:
            return
        if self._update is not None:
            queue.deliver([self._update])
        self._update = next(iter(queue.take(1, _LARGEST_MESSAGE)), None)


class DemoFeed:
    """The feed and its readers, as tasks of the service's event loop."""

    __slots__ = ("_pause", "_prices", "_service")

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
        """Create the stream and its queues, and feed and read them until cancelled or dropped."""
        stream, _ = self._service.define_stream(STREAM, StreamDefinition())
        queues = [self._service.define_queue(name, demo_queue(name))[0] for name in SCHEDULERS]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._feed(stream), name="demo feed")
            tasks.create_task(self._read(stream, queues), name="demo readers")

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

    async def _read(self, stream: StreamEntry, queues: list[QueueEntry]) -> None:
        """Let all readers take their steps together, which makes them equally slow."""
        readers = [SlowReader(queue) for queue in queues]
        now = self._service.clock.now
        read_until = now()
        while not stream.is_dropped:
            woken_at = now()
            elapsed = min(woken_at - read_until, LONGEST_CATCH_UP_SECONDS)
            steps = int(elapsed / SECONDS_PER_UPDATE)
            read_until = woken_at - (elapsed - steps * SECONDS_PER_UPDATE)
            for _ in range(steps):
                for reader in readers:
                    reader.step()
            await self._pause(SECONDS_PER_UPDATE)

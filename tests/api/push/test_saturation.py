"""A saturated service still serves every connection: all of them get on while writers never pause.

What is compared is counted, not timed: how many batches the service takes in before the last reader
has got something. So the test holds on a busy machine; the timeout is for a service that hangs.
"""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from tests.api.push.raw_readers import Writers, read, read_events
from tests.api.push.test_slow_readers import put_queue
from tests.server_process import running

pytestmark = pytest.mark.slow

KEYS = 1_000
BATCH = 40_000
READERS_OF_EACH_KIND = 45
WRITERS = 4
MOST_BATCHES = 60
PATIENCE = 30.0


class Everyone:
    """Notes which readers have got something lately."""

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._missing = set(range(readers))
        self._is_complete = asyncio.Event()

    def received(self, reader: int, _data: bytes) -> None:
        """Note that a reader got something."""
        self._missing.discard(reader)
        if not self._missing:
            self._is_complete.set()

    async def next_round(self) -> None:
        """Wait until each reader has got something once more."""
        self._missing = set(range(self._readers))
        self._is_complete.clear()
        async with asyncio.timeout(PATIENCE):
            await self._is_complete.wait()


def test_every_reader_progresses_while_writers_never_pause() -> None:
    async def scenario(port: int) -> int:
        everyone = Everyone(2 * READERS_OF_EACH_KIND)
        writers = Writers(port, keys=KEYS, batch=BATCH)
        readers = [
            asyncio.create_task(
                (read if number % 2 else read_events)(
                    port, "snapshot=true", partial(everyone.received, number)
                )
            )
            for number in range(2 * READERS_OF_EACH_KIND)
        ]
        try:
            await everyone.next_round()
            async with writers.saturating(WRITERS):
                await everyone.next_round()  # with what was on its way before
                begun = writers.batches
                await everyone.next_round()
                return writers.batches - begun
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)

    with running() as server:
        put_queue(server, keys=KEYS)
        assert asyncio.run(scenario(server.port)) < MOST_BATCHES

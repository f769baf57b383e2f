"""Readers of a service's websockets that tell how many updates they get, and how old these are.

`python -m tests.benchmarks.push_readers PORT READERS QUERY BYTES_PER_SECOND` connects and says so.
Then each line of its input is a number of seconds, and after these it prints what was received
meanwhile, as JSON. It ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import msgspec

from tests.api.push.raw_readers import read
from tests.server_process import ROOT

PATIENCE = 60.0
CONNECTING_AT_ONCE = 50
MESSAGES_PER_LOOK = 10
"""One message of this many is parsed, because parsing takes longer than counting."""


@dataclass(frozen=True)
class Received:
    """What all readers together received in a while."""

    updates_per_second: float
    """Updates per second of one reader, in the mean."""
    fewest_per_second: float
    """Those of the reader that got the fewest."""
    p50: float
    p99: float
    """How old an update was when it came, in seconds."""


class Readers:
    """A process of readers, started and ended by its `with` block."""

    def __init__(
        self, port: int, readers: int, query: str, *, bytes_per_second: float | None = None
    ) -> None:
        module = "tests.benchmarks.push_readers"
        arguments = [str(port), str(readers), query, str(bytes_per_second or 0)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._next_line() == "here", "the readers did not connect"

    def receive(self, seconds: float) -> Received:
        """Return what is received from now on."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return Received(**json.loads(self._next_line()))

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()

    def _next_line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


class _Reader:
    """Counts what one reader receives."""

    def __init__(self, ages: list[float], messages: Iterator[int]) -> None:
        self.updates = 0
        self.is_here = asyncio.Event()
        self._messages = messages
        """The number of the next message, over all readers."""
        self._ages = ages

    def received(self, data: bytes) -> None:
        self.is_here.set()
        self.updates += data.count(b'{"key":')
        if next(self._messages) % MESSAGES_PER_LOOK == 0:
            now = time.time()
            message: Any = msgspec.json.decode(data)
            self._ages += [now - update["time"] for update in message["updates"]]


async def _serve(port: int, readers: int, query: str, bytes_per_second: float) -> None:
    loop = asyncio.get_running_loop()
    ages: list[float] = []
    messages = count()
    all_readers = [_Reader(ages, messages) for _ in range(readers)]
    tasks = []
    for first in range(0, readers, CONNECTING_AT_ONCE):
        some = all_readers[first : first + CONNECTING_AT_ONCE]
        tasks += [
            asyncio.create_task(
                read(port, query, each.received, bytes_per_second=bytes_per_second or None)
            )
            for each in some
        ]
        async with asyncio.timeout(PATIENCE):
            for each in some:
                await each.is_here.wait()
    print("here", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        seconds = float(line)
        ages.clear()
        before = [each.updates for each in all_readers]
        await asyncio.sleep(seconds)
        counts = [each.updates - old for each, old in zip(all_readers, before, strict=True)]
        assert not any(task.done() for task in tasks), "a reader lost its connection"
        ordered = sorted(ages)
        print(
            json.dumps(
                {
                    "updates_per_second": sum(counts) / readers / seconds,
                    "fewest_per_second": min(counts) / seconds,
                    "p50": ordered[len(ordered) // 2],
                    "p99": ordered[int(0.99 * (len(ordered) - 1))],
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])))

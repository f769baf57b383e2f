"""How long a crowd of push connections should rest (`REST` of `api/push/turns.py`).

    python -m pytest tests/benchmarks/test_push_rests.py -m benchmark -s --timeout=0

Each rest has a service of its own with the same readers. Only one of them runs at a time, and the
others are stopped meanwhile; all have their turn in each round, so that whatever else the machine
does hits all alike. What is told is the median over rounds, and the median of what one rest got
divided by what the present one got in the same round.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from statistics import median

import pytest

from api.push.turns import REST
from tests.api.push.raw_readers import Feed
from tests.api.push.test_slow_readers import SLOW, UPDATES_PER_SECOND, put_queue
from tests.benchmarks.push_readers import Readers, Received
from tests.server_process import RunningServer, running

pytestmark = pytest.mark.benchmark

RESTS = (1.0, 0.5, 0.25, 0.125, 0.0)
KEYS = 1_000
ROUNDS = 5
WARM_UP_SECONDS = 1.0
SECONDS = 3.0
ENVIRONMENT = {"UPSTREAM_HEARTBEAT_SECONDS": "3600"}
"""Without pings: a connection may be stopped for longer than an answer to one may take."""
Measured = dict[float, list[Received]]


class Case:
    """A service with a rest of its own, and its readers; stopped but while it is measured."""

    def __init__(self, server: RunningServer, readers: list[Readers]) -> None:
        self.server = server
        self.readers = readers
        self._pids = [server.pid, *(each.process.pid for each in readers)]
        self._signal(signal.SIGSTOP)

    def measure(self) -> Received:
        """Return what the first of the readers receive beside a feed."""
        self._signal(signal.SIGCONT)
        try:
            return asyncio.run(self._measure())
        finally:
            self._signal(signal.SIGSTOP)

    def close(self) -> None:
        """Let all go on, to their end."""
        self._signal(signal.SIGCONT)

    async def _measure(self) -> Received:
        feed = Feed(self.server.port, keys=KEYS, updates_per_second=UPDATES_PER_SECOND)
        feeding = asyncio.create_task(feed.run())
        try:
            await asyncio.sleep(WARM_UP_SECONDS)
            received = await asyncio.to_thread(self.readers[0].receive, SECONDS)
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
        assert feed.sent > 0
        return received

    def _signal(self, number: int) -> None:
        for pid in self._pids:
            os.kill(pid, number)


@contextmanager
def cases(readers_of: Callable[[RunningServer], list[Readers]]) -> Iterator[dict[float, Case]]:
    """Have a service for each rest, with readers."""
    with ExitStack() as stack:
        made = {}
        for rest in RESTS:
            arguments = ("-m", "tests.benchmarks.rested_service", str(rest))
            server = stack.enter_context(running(arguments, environment=ENVIRONMENT))
            put_queue(server, keys=KEYS)
            readers = [stack.enter_context(closing(each)) for each in readers_of(server)]
            made[rest] = stack.enter_context(closing(Case(server, readers)))
        yield made


def measure(readers_of: Callable[[RunningServer], list[Readers]]) -> Measured:
    """Return what the first of the readers receive, by rest and round."""
    measured: Measured = {rest: [] for rest in RESTS}
    with cases(readers_of) as made:
        for number in range(ROUNDS):
            order = RESTS if number % 2 else RESTS[::-1]
            for rest in order:
                measured[rest].append(made[rest].measure())
    return measured


def show(title: str, measured: Measured) -> None:
    """Print the medians, and the ratios to the present rest."""
    print(f"\n{title}\n{'-' * len(title)}")
    print(f"{'rest':>6}{'updates/s':>18}{'fewest':>9}{'p50, ms':>18}{'p99, ms':>18}")
    for rest, received in measured.items():
        row = f"{rest:>6g}"
        for name, factor in (("updates_per_second", 1), ("p50", 1e3), ("p99", 1e3)):
            values = [getattr(each, name) for each in received]
            present = [getattr(each, name) for each in measured[REST]]
            ratio = median(one / other for one, other in zip(values, present, strict=True))
            row += f"{factor * median(values):>10.3g} ({ratio:.2f})"
            if name == "updates_per_second":
                row += f"{median(each.fewest_per_second for each in received):>9.3g}"
        print(row)
    print("(in brackets: the ratio to the present rest, within one round)")


def test_a_hundred_readers_without_a_limit() -> None:
    measured = measure(lambda server: [Readers(server.port, 100, "snapshot=true")])
    show(f"100 readers without a limit beside {UPDATES_PER_SECOND:,} updates/s", measured)
    assert all(each.fewest_per_second > 0 for rounds in measured.values() for each in rounds)


def test_a_thousand_readers_of_ten_updates_a_second() -> None:
    measured = measure(lambda server: [Readers(server.port, 1_000, "snapshot=true&max_rate=10")])
    show(f"1,000 readers of 10 updates/s beside {UPDATES_PER_SECOND:,} updates/s", measured)
    assert all(each.updates_per_second < 11 for rounds in measured.values() for each in rounds)


def test_a_fast_reader_beside_two_hundred_slow_ones() -> None:
    measured = measure(
        lambda server: [
            Readers(server.port, 1, "snapshot=true"),
            Readers(server.port, 200, "snapshot=true", bytes_per_second=SLOW),
        ]
    )
    show(f"A fast reader beside 200 of {SLOW:,} bytes/s", measured)
    assert all(each.updates_per_second > 0 for rounds in measured.values() for each in rounds)
